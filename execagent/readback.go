//go:build linux

package execagent

// This file shows clients what is in the spill directory.

import (
	"encoding/json"
	"errors"
	"io"
	"time"

	"github.com/execagent/execagent/spill"
	"github.com/execagent/execagent/transport"
	"github.com/execagent/execagent/transport/protocol"
)

// readBack serves a stream that lists the spills or reads one. Frames are small, so that nothing
// waits long behind them, and a client that does not take them holds up nobody else.
func (s *session) readBack(stream *transport.Stream, open *protocol.Open) error {
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		for {
			if _, _, err := stream.ReadFrame(); err != nil {
				break // the client has left
			}
		}
		stream.SetWriteDeadline(time.Unix(1, 0)) // releases a write
	}()
	var err error
	if open.Type == protocol.OpenRead {
		err = s.agent.sendLines(stream, open)
	} else {
		err = s.agent.sendSpills(stream)
	}
	if err != nil {
		select {
		case <-gone:
			return nil // there is nobody to be told
		default:
		}
		s.fail(stream, err)
	} else if err = stream.CloseWrite(); err != nil {
		stream.Close()
	}
	<-gone
	return nil
}

// sendSpills sends one frame for each execution in the directory.
func (a *Agent) sendSpills(stream *transport.Stream) error {
	store := a.spills.opened()
	if store == nil {
		return nil
	}
	for info := range store.All() {
		if err := stream.WriteFrame(protocol.KindSpill, protocol.Encode(spillOf(info))); err != nil {
			return err
		}
	}
	return nil
}

// sendLines sends what the file is, then the lines asked for.
func (a *Agent) sendLines(stream *transport.Stream, open *protocol.Open) error {
	var lines protocol.Lines
	if open.Lines != nil {
		lines = *open.Lines
	}
	if err := lines.Check(); err != nil {
		return refuse(protocol.CodeBadRequest, "%v", err)
	}
	output, err := a.openOutput(open.ID)
	if err != nil {
		return err
	}
	defer output.Close()
	if err := stream.WriteFrame(protocol.KindSpill, protocol.Encode(spillOf(&output.Info))); err != nil {
		return err
	}
	buf := readBuffers.Get().(*[readSize]byte)
	defer readBuffers.Put(buf)
	chunk := buf[:protocol.MaxOutputFrame]
	for r := spill.Lines(output, lines.From, lines.To); ; {
		n, err := r.Read(chunk)
		if n > 0 {
			if err := stream.WriteFrame(protocol.KindOutput, chunk[:n]); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return nil
		} else if err != nil {
			return refuse(protocol.CodeRefused, "reading the output of %q: %v", open.ID, err)
		}
	}
}

// openOutput opens a spill file. Its error is a [*protocol.Failure].
func (a *Agent) openOutput(id string) (*spill.Output, error) {
	store, err := a.spills.opened(), spill.ErrUnknown
	if store != nil {
		var output *spill.Output
		if output, err = store.Output(id); err == nil {
			return output, nil
		}
	}
	switch {
	case errors.Is(err, spill.ErrUnknown):
		return nil, refuse(protocol.CodeUnknownID, "no spill of %.140q on this agent: it never ran here, or made room for others; list them (execctl spills)", id)
	case errors.As(err, new(*spill.NoFileError)):
		return nil, refuse(protocol.CodeNoSpill, "%v", err)
	}
	return nil, refuse(protocol.CodeRefused, "%v", err)
}

func spillOf(i *spill.Info) *protocol.Spill {
	p := &protocol.Spill{
		ID:         i.ID,
		State:      protocol.SpillState(i.State),
		Begun:      i.Begun,
		Ended:      i.Ended,
		TotalBytes: i.Bytes,
		TotalLines: i.Lines,
		Path:       i.Path,
		FileBytes:  i.Size,
	}
	var d detail
	if json.Unmarshal(i.Detail, &d) != nil {
		return p
	}
	p.Command = protocol.Shorten(d.Command)
	if d.Result != nil {
		p.Reason, p.ExitCode = d.Result.Reason, &d.Result.ExitCode
	} else if i.State == spill.Lost {
		p.Reason = protocol.ReasonAgentLost
	}
	return p
}
