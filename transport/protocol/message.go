package protocol

// This file is the frames of a stream and the messages in them.

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// The kinds of frames: what the transport carries as a number.
const (
	// KindOpen is the first frame of a stream, client to agent: an [Open].
	KindOpen = 1
	// KindStarted answers a start or attach, agent to client: a [Started].
	KindStarted = 2
	// KindFailure ends a stream, agent to client: a [Failure].
	KindFailure = 3
	// KindBatch is one batch, agent to client: a JSON array of WireOps.
	KindBatch = 4
	// KindResult is the last frame of an execution's stream, agent to client: a [Result].
	KindResult = 5
	// KindStdin is bytes of standard input behind their offset, client to agent: see
	// [AppendStdin].
	KindStdin = 6
	// KindStdinEnd is the end of standard input, client to agent: an offset alone. At a terminal it
	// is Ctrl-D. The end of the client's side of the stream is no end of the input: it may
	// be a client that only stops watching.
	KindStdinEnd = 7
	// KindRequest is a request on the control stream, client to agent: a [Request].
	KindRequest = 8
	// KindReply answers it, agent to client: a [Reply].
	KindReply = 9
	// KindNotice on the control stream says, agent to client, what nobody asked: a [Notice].
	KindNotice = 10
	// KindOutput is output as the command wrote it, agent to client, at most
	// [MaxOutputFrame] bytes.
	KindOutput = 11
	// KindGap says, agent to client, that output is missing here: a [Gap].
	KindGap = 12
	// KindErrOutput is stderr where it comes apart, as KindOutput.
	KindErrOutput = 13
	// KindOutputEnd says, agent to client, that no KindOutput follows; empty. The command
	// may go on.
	KindOutputEnd = 14
	// KindErrOutputEnd is the same for KindErrOutput.
	KindErrOutputEnd = 15
	// KindSpill is one execution in the spill directory, agent to client: a [Spill].
	KindSpill = 16
)

// MaxStdinFrame is the most bytes of standard input a client puts into one frame: small, so
// that nothing waits long behind them.
const MaxStdinFrame = 32 << 10

// StdinWindow is how many bytes a client keeps that the command may not have been given, to send
// them again on another connection: less than a stream's window, so that a repetition never
// waits. The agent says at least every quarter of it what it has given to the command.
const StdinWindow = 128 << 10

// MaxOutputFrame is the most bytes in a frame of output, for the same reason.
const MaxOutputFrame = 32 << 10

const (
	// MaxRawBehind is how many bytes a raw watcher's client may be behind the command;
	// beyond, it is told how much it misses instead.
	MaxRawBehind = 256 << 10
	// RawWindow is how many of them may be on their way: without it the multiplexer's
	// window would hold as much again of what is no longer news. Clients acknowledge at
	// least every half of it.
	RawWindow = 128 << 10
)

// MaxClientPayload is the largest payload in bytes that an agent accepts: a start with a long
// command and a large environment.
const MaxClientPayload = 4 << 20

// The purposes of a stream.
const (
	OpenControl = "control"
	OpenStart   = "start"
	OpenAttach  = "attach"
	OpenSpills  = "spills" // list the spill directory
	OpenRead    = "read"   // read a spill
)

// Mode says what of an execution's output a stream carries.
type Mode string

const (
	// ModeView is batches of the bounded view, the default.
	ModeView Mode = ""
	// ModeRaw is the command's bytes as they come, with gaps for a client that is behind.
	ModeRaw Mode = "raw"
	// ModeStream is all of the command's bytes, without loss: a client that does not read
	// holds the command back. Only for a start that makes the execution.
	ModeStream Mode = "stream"
)

// ForStream returns s as [ModeStream] runs it: with pipes, and stdin for clients unless it
// names another.
func ForStream(s Spec) Spec {
	s.Pipe = true
	if s.Stdin == "" {
		s.Stdin = StdinPipe
	}
	return s
}

// Open says what a stream is for.
type Open struct {
	Type string `json:"type"`
	// Watcher is the client's number for this stream's watcher, unique in the session;
	// acknowledgements name it. For start and attach.
	Watcher uint64 `json:"watcher,omitempty"`
	// Input, if not "", names the writer of stdin that this stream is for, at most
	// [MaxInputBytes]: the same one on another connection goes on where it was. "" is a writer
	// that ends with the stream.
	Input string `json:"input,omitempty"`
	// Mode is what a start or attach carries.
	Mode Mode `json:"mode,omitempty"`
	// Spec is what to start.
	Spec *Spec `json:"spec,omitempty"`
	// ID is what to attach to, or whose spill to read.
	ID string `json:"id,omitempty"`
	// Lines is what of it to read; nil means all.
	Lines *Lines `json:"lines,omitempty"`
}

// Started says that the execution exists and batches follow.
type Started struct {
	ID  string `json:"id"`
	PID int    `json:"pid"`
	// Shell is the path of the shell that runs the command, or of the program.
	Shell string `json:"shell"`
	// Interactive says that the command has a terminal of its own.
	Interactive bool `json:"interactive,omitempty"`
	// Stdin says whether the command takes input.
	Stdin Stdin `json:"stdin"`
	// Position is, with [ModeRaw], how many bytes of output there were before those that follow.
	Position int64 `json:"position,omitempty"`
	// Existing is set when a start found this same execution instead of making it.
	Existing bool `json:"existing,omitempty"`
}

// The requests on a control stream.
const (
	// RequestAck acknowledges batches or raw output; it has no reply.
	RequestAck = "ack"
	// RequestCancel ends an execution.
	RequestCancel = "cancel"
	// RequestSignal sends an execution one signal.
	RequestSignal = "signal"
	// RequestResize changes the size of an execution's terminal.
	RequestResize = "resize"
	// RequestList asks for all executions.
	RequestList = "list"
	// RequestStatus asks how the agent is doing.
	RequestStatus = "status"
)

// Request is a message on the control stream.
type Request struct {
	Type string `json:"type"`
	// Seq numbers requests that want a reply, from 1.
	Seq uint64 `json:"seq,omitempty"`
	// Watcher and Count are for ack: which watcher has taken how many batches, or bytes of
	// raw output.
	Watcher uint64 `json:"watcher,omitempty"`
	Count   int    `json:"count,omitempty"`
	// ID is for cancel, signal and resize.
	ID string `json:"id,omitempty"`
	// Fence has a cancel also refuse a start of this ID that comes later, instead of being
	// refused because the ID is unknown.
	Fence bool `json:"fence,omitempty"`
	// Signal is a name with or without SIG, or a number of the agent's system.
	Signal string `json:"signal,omitempty"`
	// Columns and Rows are for resize; see [CheckSize].
	Columns int `json:"cols,omitempty"`
	Rows    int `json:"rows,omitempty"`
}

// Reply answers the request of the same Seq.
type Reply struct {
	Seq     uint64   `json:"seq"`
	Failure *Failure `json:"failure,omitempty"`
	// Executions answers a list: those that have not settled first, then the latest first.
	Executions []Summary `json:"executions,omitempty"`
	// Omitted is how many more there are than the [MaxListed] in Executions.
	Omitted int `json:"omitted,omitempty"`
	// Status answers a status request.
	Status *Status `json:"status,omitempty"`
}

// Gap says how much output a raw watcher does not get.
type Gap struct {
	Bytes int64 `json:"bytes"`
}

// Notice says what became of the input a watcher's client sends. Either it is dropped, as Failure
// says once a watcher; what the client sent before it learnt of it is lost. Or the command was
// given everything before the offset Taken, of a writer that has a name.
type Notice struct {
	Watcher uint64   `json:"watcher"`
	Failure *Failure `json:"failure,omitempty"`
	Taken   int64    `json:"taken,omitempty"`
}

// Code tells failures apart.
type Code string

const (
	CodeBadRequest  Code = "bad-request"  // the message cannot be understood
	CodeBadSpec     Code = "bad-spec"     // the spec cannot be run
	CodeStartFailed Code = "start-failed" // the system refused to start the command
	CodeIDInUse     Code = "id-in-use"    // another spec runs under this ID
	CodeUnknownID   Code = "unknown-id"   // no execution has this ID
	CodeClosing     Code = "closing"      // the agent is shutting down
	CodeEnded       Code = "ended"        // the command has ended, so it takes no signal, size or input
	CodeNoStdin     Code = "no-stdin"     // the command was started without stdin for clients
	CodeStdinClosed Code = "stdin-closed" // its stdin was ended by a client, or by itself
	CodeNoStream    Code = "no-stream"    // a stream begins with its execution, which exists
	CodeBadSignal   Code = "bad-signal"   // no signal has this name or number
	CodeBadSize     Code = "bad-size"     // no terminal can have this size
	CodeNoTerminal  Code = "no-terminal"  // the execution has pipes, which have no size
	CodeNoSpill     Code = "no-spill"     // the execution has no file to read
	CodeRefused     Code = "refused"      // the system refused it
	CodeCanceled    Code = "canceled"     // it was canceled before its start came
)

// Failure is an agent's refusal. It is the error that callers of the client see.
type Failure struct {
	Code    Code   `json:"code"`
	Message string `json:"message"`
}

func (f *Failure) Error() string { return f.Message }

// Encode returns v as the payload of a frame.
func Encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(fmt.Sprintf("protocol: a %T always marshals: %v", v, err))
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// Decode parses a payload from a client into v, strictly.
func Decode(payload []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(payload))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return fmt.Errorf("protocol: decoding a %T: %w", v, err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("protocol: decoding a %T: something follows the message", v)
	}
	return nil
}
