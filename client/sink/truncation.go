package sink

// This file puts what is said of the text into the document, field by field: it changes with every
// flush, and comparing documents to find that out would be most of a flush's time.

import (
	"github.com/execagent/execagent/chord"
	"github.com/execagent/execagent/limits"
)

var (
	pathTruncated    = chord.P("truncation", "truncated")
	pathTruncatedBy  = chord.P("truncation", "truncatedBy")
	pathTotalLines   = chord.P("truncation", "totalLines")
	pathTotalBytes   = chord.P("truncation", "totalBytes")
	pathFirstLine    = chord.P("truncation", "firstLine")
	pathOutputLines  = chord.P("truncation", "outputLines")
	pathOutputBytes  = chord.P("truncation", "outputBytes")
	pathLastPartial  = chord.P("truncation", "lastLinePartial")
	pathFirstTooLong = chord.P("truncation", "firstLineExceedsLimit")
	pathMaxLines     = chord.P("truncation", "maxLines")
	pathMaxBytes     = chord.P("truncation", "maxBytes")
)

// setTruncation makes the document say now where it said was.
func (t *text) setTruncation(was, now *limits.Truncation) {
	setField(t, pathFirstLine, was.FirstLine, now.FirstLine)
	setField(t, pathFirstTooLong, was.FirstLineExceedsLimit, now.FirstLineExceedsLimit)
	setField(t, pathLastPartial, was.LastLinePartial, now.LastLinePartial)
	setField(t, pathMaxBytes, was.MaxBytes, now.MaxBytes)
	setField(t, pathMaxLines, was.MaxLines, now.MaxLines)
	setField(t, pathOutputBytes, was.OutputBytes, now.OutputBytes)
	setField(t, pathOutputLines, was.OutputLines, now.OutputLines)
	setField(t, pathTotalBytes, was.TotalBytes, now.TotalBytes)
	setField(t, pathTotalLines, was.TotalLines, now.TotalLines)
	setField(t, pathTruncated, was.Truncated, now.Truncated)
	setField(t, pathTruncatedBy, bound(was), bound(now))
}

// bound is the limit that bound the view, as JSON: a string or null.
func bound(t *limits.Truncation) any {
	if t.TruncatedBy == nil {
		return nil
	}
	return string(*t.TruncatedBy)
}

func setField[T comparable](t *text, path chord.Path, was, now T) {
	if was == now {
		return
	}
	var v any = now
	if n, ok := v.(int64); ok {
		v = float64(n) // a plain value, which the document need not convert by way of JSON
	}
	t.must(t.doc.Set(path, v))
}
