//go:build linux

package execagent

// This file is step 4, view to chord ops: the only place that knows both the window and the
// document that watchers hold ([protocol.View]).

import (
	"sync"

	"github.com/execagent/execagent/chord"
	"github.com/execagent/execagent/limits"
	"github.com/execagent/execagent/transport/protocol"
)

// The paths of the document.
var (
	pathState        = chord.P("state")
	pathText         = chord.P("text")
	pathLive         = chord.P("live")
	pathAltScreen    = chord.P("altScreen")
	pathLastLine     = chord.P("lastLineBytes")
	pathSpillPath    = chord.P("spillPath")
	pathSpillError   = chord.P("spillError")
	pathExitCode     = chord.P("exitCode")
	pathSignal       = chord.P("signal")
	pathTruncated    = chord.P("truncation", "truncated")
	pathTruncatedBy  = chord.P("truncation", "truncatedBy")
	pathTotalLines   = chord.P("truncation", "totalLines")
	pathTotalBytes   = chord.P("truncation", "totalBytes")
	pathFirstLine    = chord.P("truncation", "firstLine")
	pathOutputLines  = chord.P("truncation", "outputLines")
	pathOutputBytes  = chord.P("truncation", "outputBytes")
	pathLastPartial  = chord.P("truncation", "lastLinePartial")
	pathFirstTooLong = chord.P("truncation", "firstLineExceedsLimit")
)

// document is what one watcher has been told. Its watcher's goroutine owns it.
type document struct {
	e       *execution
	begun   bool // the base batch was made
	cursor  limits.Cursor
	encoder chord.Encoder
	sent    state
}

// state is everything in the document but the text and its truncation.
type state struct {
	progress
	spillPath string
	spillErr  *protocol.SpillError
}

// batch is the room for one publication, shared by all watchers: one that waits holds none.
type batch struct {
	delta limits.Delta
	wire  []byte
}

var batches = sync.Pool{New: func() any { return new(batch) }}

// next encodes what changed since the last call as one batch into b.wire, empty when nothing
// did. final says that nothing will change any more.
func (d *document) next(b *batch) (final bool, err error) {
	// Settled is set after the window is final, so it is read before the window.
	now := state{progress: d.e.progress()}
	out := d.e.out
	out.mu.Lock()
	out.window.Delta(&d.cursor, &b.delta)
	if out.known != nil {
		b.delta.Truncation = *out.known
	}
	now.spillPath, now.spillErr = out.spillPath, out.spillErr
	out.mu.Unlock()

	ops := d.encoder.Begin(b.wire[:0])
	if !d.begun {
		ops.ReplaceJSON(protocol.Encode(now.view(&b.delta)))
	} else {
		textOps(ops, &b.delta)
		truncationOps(ops, &b.delta)
		stateOps(ops, &d.sent, &now)
	}
	d.begun, d.sent = true, now
	changed := ops.Len() > 0
	b.wire, err = ops.End()
	if !changed {
		b.wire = b.wire[:0]
	}
	return now.state == protocol.Settled, err
}

// view is the whole document.
func (s *state) view(d *limits.Delta) *protocol.View {
	v := &protocol.View{
		State:         s.state,
		Text:          string(d.Append),
		Live:          string(d.Live),
		AltScreen:     d.AltScreen,
		Truncation:    d.Truncation,
		LastLineBytes: d.LastLineBytes,
		SpillPath:     s.spillPath,
		SpillError:    s.spillErr,
		Signal:        s.signal,
	}
	if s.state != protocol.Running {
		code := s.exitCode
		v.ExitCode = &code
	}
	return v
}

func textOps(ops *chord.Batch, d *limits.Delta) {
	if d.Reset {
		ops.SetString(pathText, d.Append)
	} else {
		if d.Truncate > 0 {
			ops.Truncate(pathText, d.Truncate)
		}
		if len(d.Append) > 0 {
			ops.AppendText(pathText, d.Append)
		}
	}
	if d.LiveReset {
		ops.SetString(pathLive, d.Live)
	} else if len(d.Live) > 0 {
		ops.AppendText(pathLive, d.Live)
	}
	switch {
	case d.AltScreen == d.PreviousAltScreen:
	case d.AltScreen:
		ops.SetBool(pathAltScreen, true)
	default:
		ops.Delete(pathAltScreen)
	}
}

func truncationOps(ops *chord.Batch, d *limits.Delta) {
	now, was := &d.Truncation, d.Previous
	setInt := func(path chord.Path, now, was int64) {
		if now != was {
			ops.SetInt(path, now)
		}
	}
	setBool := func(path chord.Path, now, was bool) {
		if now != was {
			ops.SetBool(path, now)
		}
	}
	setInt(pathTotalBytes, now.TotalBytes, was.TotalBytes)
	setInt(pathTotalLines, now.TotalLines, was.TotalLines)
	setInt(pathFirstLine, now.FirstLine, was.FirstLine)
	setInt(pathOutputLines, now.OutputLines, was.OutputLines)
	setInt(pathOutputBytes, now.OutputBytes, was.OutputBytes)
	setBool(pathTruncated, now.Truncated, was.Truncated)
	setBool(pathLastPartial, now.LastLinePartial, was.LastLinePartial)
	setBool(pathFirstTooLong, now.FirstLineExceedsLimit, was.FirstLineExceedsLimit)
	switch {
	case now.TruncatedBy == nil && was.TruncatedBy != nil:
		ops.SetNull(pathTruncatedBy)
	case now.TruncatedBy != nil && (was.TruncatedBy == nil || *was.TruncatedBy != *now.TruncatedBy):
		ops.SetString(pathTruncatedBy, []byte(*now.TruncatedBy))
	}
	switch {
	case d.LastLineBytes == d.PreviousLastLineBytes:
	case d.LastLineBytes == 0:
		ops.Delete(pathLastLine)
	default:
		ops.SetInt(pathLastLine, d.LastLineBytes)
	}
}

func stateOps(ops *chord.Batch, was, now *state) {
	if now.state != was.state {
		ops.SetString(pathState, []byte(now.state))
		if was.state == protocol.Running {
			ops.SetInt(pathExitCode, int64(now.exitCode))
			if now.signal != "" {
				ops.SetString(pathSignal, []byte(now.signal))
			}
		}
	}
	switch {
	case now.spillPath == was.spillPath:
	case now.spillPath == "": // it was removed
		ops.Delete(pathSpillPath)
	default:
		ops.SetString(pathSpillPath, []byte(now.spillPath))
	}
	if now.spillErr != was.spillErr {
		ops.Set(pathSpillError, map[string]any{
			"cause":     now.spillErr.Cause,
			"message":   now.spillErr.Message,
			"safeBytes": now.spillErr.SafeBytes,
		})
	}
}
