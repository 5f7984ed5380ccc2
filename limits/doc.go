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
//	          └▶ terminal ─▶ live line ─▶ settled text (tail | head) ─▶ Delta ─▶ watcher
//	             (UTF-8, escapes, CR)
//
// The text of a view is Text + Live: Text only ever grows at its end and shrinks at its
// front; Live is the unfinished line, which a carriage return may still rewrite. Positions
// are absolute, counted in bytes and in UTF-16 code units since the start of the stream, so
// a delta is arithmetic and never a comparison of texts.
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
// newline and tab, and memory stays under 4 × MaxBytes plus a few KiB.
package limits
