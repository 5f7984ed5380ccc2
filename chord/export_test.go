// What the tests outside the package share with those inside.

package chord

import (
	"fmt"
	"strings"
)

// BuildOutput returns lines of build output, each with another number, of n bytes
// and a little more.
func BuildOutput(n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "line %d some build output here\n", i)
	}
	return b.String()
}
