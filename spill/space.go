// What the file system says of itself: free space, free inodes, and whether it is memory.

package spill

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// space is what a file system has, in bytes.
type space struct{ free, total int64 }

// spaceOf asks for the file system of a directory. A system that does not tell has room: the
// write itself will show.
func spaceOf(dir string) (space, bool) {
	var st syscall.Statfs_t
	if syscall.Statfs(dir, &st) != nil {
		return space{}, false
	}
	size := int64(st.Bsize)
	return space{int64(st.Bavail) * size, int64(st.Blocks) * size}, true
}

// keep is how much of it must stay free, for [Options].KeepFree.
func (s space) keep(asked int64) int64 {
	if asked == 0 {
		return min(DefaultKeepFree, s.total/10)
	}
	return max(0, asked)
}

// The file systems that are memory: statfs(2).
const (
	tmpfsMagic = 0x01021994
	ramfsMagic = 0x858458f6
)

// inMemory reports whether what is written to the directory takes memory.
func inMemory(dir string) bool {
	var st syscall.Statfs_t
	err := syscall.Statfs(dir, &st)
	return err == nil && (int64(st.Type) == tmpfsMagic || int64(st.Type)&0xffffffff == ramfsMagic)
}

// explainSpace tells "no inodes" from "no bytes", which are one error number.
func explainSpace(root *os.Root, err error) error {
	if !errors.Is(err, syscall.ENOSPC) {
		return err
	}
	dir, openErr := root.Open(".")
	if openErr != nil {
		return err
	}
	defer dir.Close()
	var st syscall.Statfs_t
	if syscall.Fstatfs(int(dir.Fd()), &st) == nil && st.Files > 0 && st.Ffree == 0 {
		return fmt.Errorf("%w: %w", ErrNoInodes, err)
	}
	return err
}
