package journal

// This file reads a call back: from the last base batch forward.

import (
	"fmt"
	"slices"

	"github.com/execagent/execagent/chord"
	"go.etcd.io/bbolt"
)

// Recover returns what the journal knows of a call. One it does not know is [ErrUnknown], one of
// a run that is settled [ErrSettled].
func (b *Bolt) Recover(key Key) (*Record, error) {
	r := &Record{Memos: make(map[string][]byte)}
	err := b.view(func(tx *bbolt.Tx) error {
		c, err := call(tx, key)
		if err != nil {
			return err
		}
		return r.read(c, key.String())
	})
	if err != nil {
		return nil, err
	}
	return r, nil
}

func (r *Record) read(c *bbolt.Bucket, where string) error {
	if err := unsealJSON("the header of "+where, c.Get(keyHeader), &r.Header); err != nil {
		return err
	}
	if end := c.Get(keyEnd); end != nil {
		r.End = new(End)
		if err := unsealJSON("the end of "+where, end, r.End); err != nil {
			return err
		}
	}
	memos, list := c.Bucket(bucketMemos), c.Bucket(bucketBatches)
	if memos == nil || list == nil {
		return &CorruptError{where, fmt.Errorf("it has no lists")}
	}
	err := memos.ForEach(func(name, record []byte) error {
		value, err := unseal(fmt.Sprintf("memo %.100q of %s", name, where), record)
		r.Memos[string(name)] = slices.Clone(value)
		return err
	})
	if err != nil {
		return err
	}
	batches, err := sinceBase(list, where)
	if err != nil {
		return err
	}
	return r.fold(batches, where)
}

// sinceBase returns the batches from the last base on, in order. They are valid for the
// transaction.
func sinceBase(list *bbolt.Bucket, where string) ([]Batch, error) {
	var batches []Batch
	cursor := list.Cursor()
	for number, record := cursor.Last(); number != nil; number, record = cursor.Prev() {
		b, err := unsealBatch(fmt.Sprintf("batch %x of %s", number, where), record)
		if err != nil {
			return nil, err
		}
		batches = append(batches, b)
		if b.Base {
			slices.Reverse(batches)
			return batches, nil
		}
	}
	if len(batches) > 0 {
		return nil, &CorruptError{where, fmt.Errorf("%d batches and no base among them", len(batches))}
	}
	return nil, nil
}

func (r *Record) fold(batches []Batch, where string) error {
	decoder := chord.Decoder{Limits: chord.Limits{MaxBytes: MaxRecordBytes}}
	var replica chord.Replica
	for i, b := range batches {
		ops, err := decoder.Decode(nil, b.Wire)
		if err == nil && chord.IsBase(ops) != b.Base {
			err = fmt.Errorf("its tag says base: %t", b.Base)
		}
		if err == nil {
			err = replica.Apply(ops)
		}
		if err != nil {
			return &CorruptError{fmt.Sprintf("batch %d from the last base of %s", i, where), err}
		}
	}
	r.Document, _ = replica.Value()
	r.Batches = len(batches)
	return nil
}
