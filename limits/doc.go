// Package limits bounds the output of a command where it is born.
//
// A [Window] takes every byte a command writes and keeps three things: exact totals of the
// raw bytes, a bounded view of the text (its head or its tail, within [Limits]), and the
// position of that view in the stream. A [Cursor] remembers what one watcher has been sent;
// [Window.Delta] says what to send next. A [Publisher] says when.
//
// # Shape
//
//	raw bytes ─▶ Totals
//	          └▶ terminal ─▶ screen ─▶ settled text (tail | head) ─▶ Delta ─▶ watcher
//	             (UTF-8,     (rows that
//	             escapes)    can change)
//
// The text of a view is Text + Live: Text grows at its end and shrinks at its front; Live is
// what may still be rewritten. That is the unfinished line, until a command moves the cursor
// up: then the lines it goes to are taken back out of Text, which watchers are sent anew, and
// they settle again when they scroll off or are left alone for a screenful. Positions are
// absolute, counted in bytes and in UTF-16 code units since the start of the stream, so a delta
// is arithmetic and never a comparison of texts. [Terminal] says what the bytes are for;
// docs/terminal-text.md has the sequences followed, and what differs from a terminal on purpose.
//
// # Limits
//
// A view never holds more than [Limits].MaxBytes bytes of UTF-8 or MaxLines lines, Live
// included. A line includes its newline. The final view is a function of the bytes alone:
// neither read boundaries nor the moments of publication change it.
//
// # Concurrency
//
// A Window and its Cursors have one owner, who locks around them. A [Publisher] is safe for
// concurrent use by the writer that reports changes and the one goroutine that publishes.
//
// # Trust
//
// The bytes are hostile. A view is always valid UTF-8 without control characters but
// newline and tab. Memory stays under 4 × MaxBytes, or that and 96 KiB where MaxBytes is below
// the default: a screen needs its room.
package limits
