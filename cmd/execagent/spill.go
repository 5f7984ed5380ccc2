//go:build linux

package main

// This file is the flags that bound the spill directory.

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/execagent/execagent/spill"
	"github.com/spf13/pflag"
)

// spillFlags are where complete outputs go, and how much of them is kept.
type spillFlags struct {
	dir      string
	maxFile  bytesFlag
	maxTotal bytesFlag
	keepFree bytesFlag
	maxAge   time.Duration
	floor    time.Duration
}

func (f *spillFlags) set(fs *pflag.FlagSet) {
	f.maxFile, f.maxTotal, f.keepFree = spill.DefaultMaxFile, spill.DefaultMaxTotal, -1
	fs.StringVar(&f.dir, "spill-dir", "", "directory for complete outputs (default: in the user's state directory)")
	fs.Var(&f.maxFile, "spill-max-file", "most bytes of one complete output; it is cut there, and the result says so")
	fs.Var(&f.maxTotal, "spill-max-total", "most bytes of all of them; the oldest go first, never one of a command that runs")
	fs.Var(&f.keepFree, "spill-keep-free", "bytes of the file system that they leave to others, 0 for none (default 1GiB, or a tenth of a small one)")
	fs.DurationVar(&f.maxAge, "spill-max-age", spill.DefaultMaxAge, "how long one stays after its command has ended")
	fs.DurationVar(&f.floor, "spill-floor", spill.DefaultFloor, "how long those of an agent that was killed stay in any case")
	fs.Lookup("spill-keep-free").DefValue = ""
}

// options returns what the flags ask for.
func (f *spillFlags) options() (spill.Options, error) {
	o := spill.Options{MaxFile: int64(f.maxFile), MaxTotal: int64(f.maxTotal), KeepFree: int64(f.keepFree), MaxAge: f.maxAge, Floor: f.floor}
	switch {
	case o.MaxFile <= 0 || o.MaxTotal <= 0:
		return o, &usageError{"--spill-max-file and --spill-max-total bound the disk: give more than 0"}
	case o.MaxAge <= 0 || o.Floor <= 0:
		return o, &usageError{"--spill-max-age and --spill-floor: give a positive time, such as 48h"}
	}
	switch o.KeepFree { // whose 0 means the default, and a negative one none
	case -1:
		o.KeepFree = 0
	case 0:
		o.KeepFree = -1
	}
	return o, nil
}

// bytesFlag is a number of bytes, such as 500000, 512MiB or 4GiB.
type bytesFlag int64

var byteUnits = []struct {
	name  string
	shift int
}{{"TiB", 40}, {"GiB", 30}, {"MiB", 20}, {"KiB", 10}}

// Set reads one.
func (b *bytesFlag) Set(text string) error {
	number, shift := text, 0
	for _, u := range byteUnits {
		if digits, ok := strings.CutSuffix(text, u.name); ok {
			number, shift = digits, u.shift
		}
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n < 0 || n > math.MaxInt64>>shift {
		return errors.New("give bytes, such as 500000, 512MiB or 4GiB")
	}
	*b = bytesFlag(n << shift)
	return nil
}

// String is the shortest exact form.
func (b *bytesFlag) String() string {
	for _, u := range byteUnits {
		if n := int64(*b); n > 0 && n%(1<<u.shift) == 0 {
			return fmt.Sprint(n>>u.shift, u.name)
		}
	}
	return fmt.Sprint(int64(*b))
}

// Type is the value's name in the list of flags.
func (*bytesFlag) Type() string { return "bytes" }
