//go:build linux

package execagent

// This file is the cancels that came before what they cancel.

import (
	"slices"
	"time"
)

// maxFences bounds the IDs that are remembered; the oldest is forgotten for another.
const maxFences = 1024

// fences are the IDs whose start is refused, the oldest first. The zero value has none.
type fences []fence

type fence struct {
	id string
	at time.Time
}

// add remembers an ID for so long.
func (f *fences) add(id string, keep time.Duration) {
	f.expire(keep)
	if i := f.index(id); i >= 0 {
		*f = slices.Delete(*f, i, i+1)
	}
	if len(*f) == maxFences {
		*f = slices.Delete(*f, 0, 1)
	}
	*f = append(*f, fence{id, time.Now()})
}

// has reports whether an ID is remembered.
func (f *fences) has(id string, keep time.Duration) bool {
	f.expire(keep)
	return f.index(id) >= 0
}

func (f *fences) index(id string) int {
	return slices.IndexFunc(*f, func(x fence) bool { return x.id == id })
}

func (f *fences) expire(keep time.Duration) {
	n := 0
	for n < len(*f) && time.Since((*f)[n].at) >= keep {
		n++
	}
	*f = slices.Delete(*f, 0, n)
}
