package journal

// This file is the form of a record: one byte of version, then what the kind of record has.

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
)

// version is what this program writes. Version 1:
//
//	header, end    JSON of [Header], [End]
//	memo, outcome  the value as it was given
//	batch          one byte, 1 for a base batch and 0 for another, then the batch as chord
//	               encodes it
const version = 1

var errShort = errors.New("it is too short")

func seal(payload ...[]byte) []byte {
	r := []byte{version}
	for _, p := range payload {
		r = append(r, p...)
	}
	return r
}

// unseal returns what follows the version. It is part of the record.
func unseal(where string, record []byte) ([]byte, error) {
	switch {
	case len(record) == 0:
		return nil, &CorruptError{where, errShort}
	case record[0] == 0:
		return nil, &CorruptError{where, errors.New("its version is 0")}
	case record[0] > version:
		return nil, &VersionError{where, record[0]}
	}
	return record[1:], nil
}

func sealJSON(what string, v any) ([]byte, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("journal: encoding a %s: %w", what, err)
	}
	if err := checkSize(what, raw, MaxRecordBytes); err != nil {
		return nil, err
	}
	return seal(raw), nil
}

func unsealJSON(where string, record []byte, v any) error {
	raw, err := unseal(where, record)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, v); err != nil {
		return &CorruptError{where, err}
	}
	return nil
}

func sealBatch(b Batch) ([]byte, error) {
	if err := checkSize("batch", b.Wire, MaxRecordBytes); err != nil {
		return nil, err
	}
	tag := []byte{0}
	if b.Base {
		tag[0] = 1
	}
	return seal(tag, b.Wire), nil
}

func unsealBatch(where string, record []byte) (Batch, error) {
	raw, err := unseal(where, record)
	if err != nil {
		return Batch{}, err
	}
	if len(raw) == 0 {
		return Batch{}, &CorruptError{where, errShort}
	}
	if raw[0] > 1 {
		return Batch{}, &CorruptError{where, fmt.Errorf("its tag is %d", raw[0])}
	}
	return Batch{Wire: raw[1:], Base: raw[0] == 1}, nil
}

func checkSize(what string, p []byte, most int) error {
	if len(p) > most {
		return &LimitError{what, len(p), most}
	}
	return nil
}

func checkName(what, name string, most int) error {
	if name == "" || len(name) > most {
		return &LimitError{what, len(name), most}
	}
	return nil
}

func (k Key) check() error {
	if err := checkName("run", k.Run, MaxKeyBytes); err != nil {
		return err
	}
	if err := checkSize("turn", []byte(k.Turn), MaxKeyBytes); err != nil {
		return err
	}
	return checkName("call", k.ID, MaxKeyBytes)
}

// inRun is the key within its run: the length of the turn, the turn, the ID.
func (k Key) inRun() []byte {
	name := binary.AppendUvarint(nil, uint64(len(k.Turn)))
	name = append(name, k.Turn...)
	return append(name, k.ID...)
}

func parseKey(run, name []byte) (Key, error) {
	n, size := binary.Uvarint(name)
	if size <= 0 || n > uint64(len(name)-size) {
		return Key{}, &CorruptError{fmt.Sprintf("a call of run %.100q", run), fmt.Errorf("its name is %.100q", name)}
	}
	turn, id := name[size:size+int(n)], name[size+int(n):]
	return Key{string(run), string(turn), string(id)}, nil
}

// String names the call in errors.
func (k Key) String() string {
	return fmt.Sprintf("call %.100q of turn %.100q of run %.100q", k.ID, k.Turn, k.Run)
}
