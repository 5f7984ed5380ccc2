// Limits: what is refused, and how much memory is taken until then.

package chord

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// maxMultiple bounds the memory that decoding takes, in bytes for each byte of the
// batch. It is Go's for many objects of one short key, the worst there is.
const maxMultiple = 64

func TestLimits(t *testing.T) {
	path := func(n int) string { return "[" + strings.Repeat(`"a",`, n-1) + `"a"]` }
	nested := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	definitions := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `["#",%d,["a"]],`, i)
		}
		return `[` + b.String() + `["d",["a"]]]`
	}
	for _, c := range []struct {
		name       string
		limits     Limits
		good, over string
	}{
		{"bytes", Limits{MaxBytes: 11}, `[["d",["a"]]]`[:11], `[["d",["a"]]]`},
		{"operations", Limits{MaxOps: 2}, `[["d",["a"]],["d"]]`, `[["d",["a"]],["d"],["d"]]`},
		{"path definitions", Limits{MaxPaths: 3}, definitions(3), definitions(4)},
		{"segments in a path", Limits{MaxPathDepth: 3}, `[["d",` + path(3) + `]]`, `[["d",` + path(4) + `]]`},
		{"containers around a value", Limits{MaxNesting: 3}, `[["r",` + nested(3) + `]]`, `[["r",` + nested(4) + `]]`},
		{"containers around a value", Limits{MaxNesting: 3}, `[["p",[],0,0,[` + nested(2) + `]]]`, `[["p",[],0,0,[` + nested(3) + `]]]`},
		{"containers around a value", Limits{MaxNesting: 3}, `[["r",{"a":{"a":{}}}]]`, `[["r",{"a":{"a":{"a":{}}}}]]`},
		// The defaults.
		{"bytes", Limits{}, `[["r","` + strings.Repeat("x", DefaultMaxBytes-10) + `"]]`, `[["r","` + strings.Repeat("x", DefaultMaxBytes-9) + `"]]`},
		{"operations", Limits{}, `[["d",["a"]]` + strings.Repeat(`,["d"]`, DefaultMaxOps-1) + `]`, `[["d",["a"]]` + strings.Repeat(`,["d"]`, DefaultMaxOps) + `]`},
		{"segments in a path", Limits{}, `[["d",` + path(DefaultMaxPathDepth) + `]]`, `[["d",` + path(DefaultMaxPathDepth+1) + `]]`},
		{"containers around a value", Limits{}, `[["r",` + nested(DefaultMaxNesting) + `]]`, `[["r",` + nested(DefaultMaxNesting+1) + `]]`},
	} {
		_, err := (&Decoder{Limits: c.limits}).Decode(nil, []byte(c.good))
		if errorType(err) == "LimitError" {
			t.Errorf("%s, %v: at the limit: %v", c.name, c.limits, err)
		}
		_, err = (&Decoder{Limits: c.limits}).Decode(nil, []byte(c.over))
		var limit *LimitError
		if !asError(err, &limit) || limit.What != c.name {
			t.Errorf("%s, %v: beyond the limit: %v", c.name, c.limits, err)
		}
	}
}

// TestDefinitionsAcrossBatches: the table is bounded, not the batch.
func TestDefinitionsAcrossBatches(t *testing.T) {
	decoder := Decoder{Limits: Limits{MaxPaths: 2}}
	for i := range 3 {
		_, err := decoder.Decode(nil, fmt.Appendf(nil, `[["#",%d,["a"]]]`, i))
		if over := errorType(err) == "LimitError"; over != (i == 2) {
			t.Errorf("definition %d: %v", i, err)
		}
	}
}

// TestDecodeAllocation measures the memory of batches made to take much of it.
func TestDecodeAllocation(t *testing.T) {
	const size = 1 << 20
	for _, c := range []struct{ name, begin, repeat, end string }{
		{"objects", `[["r",[`, `{"":0},`, `0]]]`},
		{"empty objects", `[["r",[`, `{},`, `0]]]`},
		{"empty arrays", `[["r",[`, `[],`, `0]]]`},
		{"numbers", `[["r",[`, `7,`, `0]]]`},
		{"strings", `[["r",[`, `"",`, `0]]]`},
		{"escapes", `[["r","`, `\n`, `"]]`},
		{"long escapes", `[["r","`, `\u0041`, `"]]`},
		{"quotes", `[["r","`, `\"`, `"]]`},
		{"not ASCII", `[["r","`, `é`, `"]]`},
		{"operations", `[["d",["a"]]`, `,["d"]`, `]`},
		{"paths", `[["d",["a"]]`, `,["d",["",0,"",0,"",0,"",0]]`, `]`},
		{"moves", `[["m",[],[0]]`, `,["m",[0]]`, `]`},
		{"string without an end", `[["r","`, `\\`, ``},
		{"strings within an operation that ends the stream", `[["r",[`, `"\n",`, ``},
		{"nothing but brackets", `[["s",`, `[`, ``},
		{"a path of one key", `[["s",["`, `xxxxxxxx`, `"],1]]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			wire := []byte(c.begin + strings.Repeat(c.repeat, (size-len(c.begin)-len(c.end))/len(c.repeat)) + c.end)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			ops, err := new(Decoder).Decode(nil, wire)
			runtime.ReadMemStats(&after)
			allocated := after.TotalAlloc - before.TotalAlloc
			t.Logf("%.1f bytes for each of the batch (%d operations, %v)", float64(allocated)/float64(len(wire)), len(ops), err)
			if allocated > maxMultiple*uint64(len(wire)) {
				t.Errorf("allocated %d bytes for a batch of %d", allocated, len(wire))
			}
		})
	}
}
