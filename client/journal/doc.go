// Package journal keeps on disk what a crash of the harness must not lose: the output of the
// tool calls that run, and the tools' memos of work that is done.
//
// [Open] opens the journal in a file. The package client/sink writes it, and reads it when a
// call is run that was running before the crash; a harness itself calls [Bolt.Pending] when it
// starts, and [Bolt.Settle] when a run is over.
//
// # Shape
//
//	run ─┬─ call ─┬─ header         tool, arguments, whether it may be replayed
//	     │        ├─ batches        a list of encoded chord batches, bases tagged
//	     │        ├─ memos          name ▶ value
//	     │        └─ end            once it has ended
//	     └─ …
//	run ─── outcome                 once it is settled; all of the above is gone
//
// Every flush of an output appends one batch as chord encodes it. [Bolt.Recover] reads the list
// backwards to the last base batch and folds forward with a fresh decoder. A base batch makes
// those before it useless, and they go in its transaction. Nothing but chord's own operations
// is needed to read a journal: no tool, and so no version of a tool.
//
// # Promises
//
//   - A memo and the output it stands for are in one transaction: after a crash there are both
//     or neither.
//   - What is written is asked for inside the transaction, so that an older state is never
//     written after a newer one.
//   - A run's outcome and the removal of everything pending of it are one transaction.
//   - Records carry a version. One from a newer version is a [*VersionError], one that is
//     damaged a [*CorruptError]; neither ends the process.
//
// # Cost
//
// 256 KiB of a build's output through a window of 50 KiB, in so many flushes, as package client/sink
// writes it (a base every 64 batches); "whole" is what writing the state itself would be:
//
//	                              20 flushes    500 flushes
//	written as ops                   268 kB         648 kB
//	  without rebase                 268 kB         302 kB
//	written whole                    968 kB       23 595 kB
//	batches read by recovery             21             46
//	  without rebase                     21            501
//	names and values left,
//	  the run being settled           8 bytes        8 bytes
//	a flush, nothing durable           35 µs          6.8 µs
//	  into a journal on a disk       4230 µs          665 µs
//	  into one in memory              599 µs           47 µs
//	encoding the whole                155 µs          129 µs
//
// Sizes are exact, times medians of a run (of three on the disk, of one in memory) on two shared cores with a
// load of 20; most of a durable flush is bbolt's two fsyncs.
//
//	go test -run TestTable -v -count=1 ./client/sink -sink.disk
//
// # Concurrency
//
// A [Bolt] is safe for concurrent use within one process; a second process that opens the file
// gets [ErrInUse]. Whoever opened it closes it.
//
// # Trust
//
// The file is the user's own (0600). What a crash of the process leaves is a whole file: bbolt
// writes its root last. Of a file that was damaged otherwise, records are checked as they are
// read. bbolt's own pages have no checksums: it panics at most kinds of damage there, which is a
// [*CorruptError], but may also not return.
package journal
