// This file looks at who has a right to a file with a secret.

//go:build unix

package transport

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

func checkSecret(info fs.FileInfo) error {
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return fmt.Errorf("its mode is %#o, so others have a right to it: chmod 600 it, or where that cannot be done give it by a descriptor (execagent --token-fd 3 3<FILE) or in EXECAGENT_TOKEN", mode)
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && st.Uid != 0 && int(st.Uid) != os.Geteuid() {
		return fmt.Errorf("it belongs to user %d, neither to us (%d) nor to root", st.Uid, os.Geteuid())
	}
	return nil
}
