package journal

// This file is what a harness may ask of a journal, whatever keeps it.

import (
	"encoding/json"
	"time"
)

// Key names a tool call: within a run, the operation that the harness settles as one, and within
// a turn of it. It converts to and from a lane.CallID.
type Key struct {
	Run  string // 1 to [MaxKeyBytes] bytes
	Turn string // 0 to [MaxKeyBytes] bytes
	ID   string // 1 to [MaxKeyBytes] bytes
}

const (
	// MaxKeyBytes bounds each part of a [Key], in bytes.
	MaxKeyBytes = 1024
	// MaxMemoName bounds the name of a memo, in bytes.
	MaxMemoName = 255
	// MaxMemoBytes bounds the value of a memo.
	MaxMemoBytes = 1 << 20
	// MaxRecordBytes bounds everything else that is one record: a header, a batch, an outcome.
	MaxRecordBytes = 64 << 20
)

// Journal is what package client/sink needs. [Bolt] is the one that comes with it. All methods
// are safe for concurrent use; a transaction is over, and on disk, when they return.
//
// The functions that give a [Batch] are called at most once, inside the transaction. Whatever a
// method returns an error for is not in the journal; a batch that was given then is lost, and
// the next one has to be a base.
type Journal interface {
	// Begin notes a call before its tool runs. A call that is there already is an error.
	Begin(key Key, h Header) error
	// Append adds a batch to the call's output. An empty one changes nothing.
	Append(key Key, batch func() (Batch, error)) error
	// SetMemo sets a memo of the call, or with a nil value removes it, and appends a base
	// batch, in one transaction.
	SetMemo(key Key, name string, value []byte, base func() (Batch, error)) error
	// End notes that the call has ended and appends a last batch, in one transaction.
	End(key Key, end End, batch func() (Batch, error)) error
	// Recover returns what is known of the call, or an error that is [ErrUnknown].
	Recover(key Key) (*Record, error)
}

// Batch is one encoded chord batch.
type Batch struct {
	Wire []byte // belongs to who gave it again when the transaction is over
	Base bool   // it begins with a replacement of the whole document
}

// Header is what is noted of a call before it runs.
type Header struct {
	Parent string          `json:"parent,omitempty"`
	Tool   string          `json:"tool"`
	Args   json.RawMessage `json:"args,omitempty"`
	// ReplaySafe says that the tool may be run again after a crash.
	ReplaySafe bool `json:"replaySafe"`
	// Started is when the call began.
	Started time.Time `json:"started"`
}

// End is how a call ended.
type End struct {
	IsError bool      `json:"isError"`
	Ended   time.Time `json:"ended"`
}

// Record is what a journal knows of a call.
type Record struct {
	Header Header
	// Document is the output as of the last transaction, plain JSON; nil when nothing was
	// written. It belongs to the caller.
	Document any
	// Memos are the values by name. They belong to the caller.
	Memos map[string][]byte
	// End is nil for a call that was running.
	End *End
	// Batches is how many were read to find Document.
	Batches int
}
