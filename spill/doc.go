// Package spill keeps the complete raw output of commands in private local files.
//
// A program opens one [Store] on a directory with [Open], makes one [File] per
// command with [Store.Create], and writes every byte of the command's output to it:
//
//	store, err := spill.Open("/var/lib/execagent/spill")
//	...
//	file, err := store.Create("build-17", spill.FileOptions{
//		OnError: func(err error) { publish(err) },
//	})
//	...
//	io.Copy(file, output) // the error is sticky: carry on with the command
//	err = file.Close()    // *WriteError when the file is incomplete
//
// # Shape
//
// The file holds the bytes as they were written, from the first to [File.Safe], with no
// header and no encoding, so that grep, sed and tail work on [File.Path]. Writes are
// gathered into one write(2) per 256 KiB; bytes that wait are written within 200 ms
// even when nothing follows them. An idle File holds a descriptor and no buffer.
//
// # Limits
//
// A full disk is not the end of a command. The first error of a File stays: later bytes
// are dropped, [File.Err] says so, and [WriteError.Safe] is the exact length of the part
// of the output that the file holds. Nothing is synced: the bytes survive the death of this
// process, not that of the machine.
//
// # Concurrency
//
// A Store may be used by any number of goroutines. A File has one writer, for the sake of
// the order of the bytes; its other methods may be called by anyone at any time, and Path,
// Safe and Err never wait for the disk.
//
// # Trust
//
// Output may hold secrets, and the directory may stand in a place where others can write,
// such as /tmp. The directory must be a real one, owned by this process's user and closed to
// everyone else, or Open refuses it with a [DirError]; files are made relative to the
// directory that was checked, not to its path, never through a symbolic link, never over an
// existing file, and with mode 0600 whatever the umask.
//
// # Not here
//
// Quotas, the removal of old files, and what a restarted agent knows of them.
package spill
