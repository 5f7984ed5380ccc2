package terminal

import "github.com/execagent/execagent/limits"

// text is the final text of a stream.
func text(stream []byte, columns, rows int) string {
	l, _ := limits.Limits{MaxBytes: limits.MaxMaxBytes, MaxLines: limits.MaxMaxBytes}.Resolve()
	w := limits.NewWindow(l, limits.Terminal{Columns: columns, Rows: rows})
	w.Write(stream)
	w.Finish()
	text, live := w.Text()
	return text + live
}
