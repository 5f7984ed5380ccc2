// Package spill keeps the complete raw output of commands in private local files.
//
// A program opens one [Store] on a directory with [Open], enters each command with
// [Store.Begin], makes its [File] when there is something to keep, writes every byte of the
// output to it, and settles it:
//
//	store, err := spill.Open("/var/lib/execagent/spill", spill.Options{})
//	...
//	record, err := store.Begin("build-17", detail, totals)
//	file, err := record.Create(spill.FileOptions{
//		OnError: func(err error) { publish(err) },
//	})
//	...
//	io.Copy(file, output) // the error is sticky: carry on with the command
//	err = file.Close()    // *WriteError when the file is incomplete
//	err = record.Settle(result)
//
// # Shape
//
// The file holds the bytes as they were written, from the first to [File.Safe], with no
// header and no encoding, so that grep, sed and tail work on [File.Path]. Writes are
// gathered, up to 256 KiB, and go out in pieces of 128 KiB; bytes that wait are written within 200 ms
// even when nothing follows them. An idle File holds a descriptor and no buffer.
//
// Beside it a [Manifest] says what is known of the command, for the process that comes after
// this one: [Store.Find], [Store.All] and [Store.Output] read back what any earlier store left in
// the directory. SPEC.md has the layout and the format.
//
// # Limits
//
// [Options] bound each file, all together, and what is left free on the file system. What has
// ended goes for what is written, the oldest first; what is live never does, but is cut at the
// very byte of the bound. What a crash left behind stays for a while in any case.
//
// A full disk, or quota, is not the end of a command. The first error of a File stays: later
// bytes are dropped, [File.Err] says so, [WriteError.Safe] is the exact length of the part
// of the output that the file holds, and [CauseOf] is the trouble in one word. Nothing is synced:
// what is written survives the death of this process, not that of the machine.
//
// # Concurrency
//
// A Store and a Record may be used by any number of goroutines. A File has one writer, for the
// sake of the order of the bytes; its other methods may be called by anyone at any time, and Path,
// Safe and Err never wait for the disk. Two processes never share a directory: the second gets a
// subdirectory.
//
// # Trust
//
// Output may hold secrets, and the directory may stand in a place where others can write,
// such as /tmp. The directory must be a real one, owned by this process's user and closed to
// everyone else, or Open refuses it with a [DirError]; files are made relative to the
// directory that was checked, not to its path, never through a symbolic link, never over an
// existing file, and with mode 0600 whatever the umask. What is in the directory is read as if
// anybody had written it.
package spill
