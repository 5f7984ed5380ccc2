// Common to the tests: the package must not leave goroutines behind.

package chord

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
