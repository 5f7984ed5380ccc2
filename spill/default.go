// Where spill files go when nobody says.

package spill

import (
	"fmt"
	"os"
	"path/filepath"
)

// DefaultDir returns the directory for spill files when none is configured: execagent/spill
// in $XDG_STATE_HOME, or in ~/.local/state, or, for a user without a home, a directory of
// the user's own in the system's one for temporary files.
func DefaultDir() string {
	if state := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(state) {
		return filepath.Join(state, "execagent", "spill")
	}
	if home, err := os.UserHomeDir(); err == nil && home != "/" && filepath.IsAbs(home) {
		return filepath.Join(home, ".local", "state", "execagent", "spill")
	}
	return filepath.Join(os.TempDir(), fmt.Sprintf("execagent-%d", os.Geteuid()), "spill")
}
