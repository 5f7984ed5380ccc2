// Sizes on the command line and in the report.

package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A size is a number of bytes; as a flag it is written such as 64MiB.
type size int64

// units are the powers of 1024, the largest first.
var units = []struct {
	name  string
	bytes int64
}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}}

// Set implements [flag.Value].
func (s *size) Set(text string) error {
	number, unit := text, int64(1)
	for _, u := range units {
		if rest, ok := strings.CutSuffix(text, u.name); ok {
			number, unit = rest, u.bytes
			break
		}
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n < 1 || n > math.MaxInt64/unit {
		return fmt.Errorf("%q is no size: write such as 64MiB, 1GiB or 1000000", text)
	}
	*s = size(n * unit)
	return nil
}

// String implements [flag.Value]: the largest unit in which the size is whole.
func (s size) String() string {
	for _, u := range units {
		if n := int64(s); n >= u.bytes && n%u.bytes == 0 {
			return strconv.FormatInt(n/u.bytes, 10) + u.name
		}
	}
	return strconv.FormatInt(int64(s), 10)
}
