package journal

// This file is the transactions of a call that runs.

import (
	"encoding/binary"
	"errors"
	"fmt"

	"go.etcd.io/bbolt"
)

// errUnchanged ends a transaction in which there was nothing to write.
var errUnchanged = errors.New("unchanged")

// Begin notes a call before its tool runs. One that is there already is [ErrKnown]; for a
// run that is settled it is [ErrSettled].
func (b *Bolt) Begin(key Key, h Header) error {
	header, err := sealJSON("header", h)
	if err != nil {
		return err
	}
	return b.update(func(tx *bbolt.Tx) error {
		_, err := call(tx, key)
		if err == nil {
			return fmt.Errorf("%w: %v", ErrKnown, key)
		}
		if !errors.Is(err, ErrUnknown) {
			return err
		}
		run, err := tx.Bucket(bucketPending).CreateBucketIfNotExists([]byte(key.Run))
		if err != nil {
			return err
		}
		c, err := run.CreateBucket(key.inRun())
		if err != nil {
			return err
		}
		for _, name := range [][]byte{bucketBatches, bucketMemos} {
			if _, err := c.CreateBucket(name); err != nil {
				return err
			}
		}
		return c.Put(keyHeader, header)
	})
}

// Append adds a batch to the call's output; see [Journal].
func (b *Bolt) Append(key Key, batch func() (Batch, error)) error {
	err := b.update(func(tx *bbolt.Tx) error {
		c, err := call(tx, key)
		if err != nil {
			return err
		}
		wrote, err := appendBatch(c, batch)
		if err == nil && !wrote {
			return errUnchanged
		}
		return err
	})
	if errors.Is(err, errUnchanged) {
		return nil
	}
	return err
}

// SetMemo sets or removes a memo and appends a base batch in one transaction; see [Journal].
func (b *Bolt) SetMemo(key Key, name string, value []byte, base func() (Batch, error)) error {
	if err := checkName("memo name", name, MaxMemoName); err != nil {
		return err
	}
	if err := checkSize("memo", value, MaxMemoBytes); err != nil {
		return err
	}
	return b.update(func(tx *bbolt.Tx) error {
		c, err := call(tx, key)
		if err != nil {
			return err
		}
		memos := c.Bucket(bucketMemos)
		if value == nil {
			err = memos.Delete([]byte(name))
		} else {
			err = memos.Put([]byte(name), seal(value))
		}
		if err != nil {
			return err
		}
		_, err = appendBatch(c, base)
		return err
	})
}

// End notes that the call has ended, with its last batch, in one transaction; see [Journal].
func (b *Bolt) End(key Key, end End, batch func() (Batch, error)) error {
	record, err := sealJSON("end", end)
	if err != nil {
		return err
	}
	return b.update(func(tx *bbolt.Tx) error {
		c, err := call(tx, key)
		if err != nil {
			return err
		}
		if _, err := appendBatch(c, batch); err != nil {
			return err
		}
		return c.Put(keyEnd, record)
	})
}

// appendBatch asks for the batch and adds it to the call's list. A base replaces the list.
func appendBatch(c *bbolt.Bucket, batch func() (Batch, error)) (wrote bool, err error) {
	given, err := batch()
	if err != nil || len(given.Wire) == 0 {
		return false, err
	}
	record, err := sealBatch(given)
	if err != nil {
		return false, err
	}
	list := c.Bucket(bucketBatches)
	number, err := list.NextSequence()
	if err != nil {
		return false, err
	}
	if given.Base {
		for cursor := list.Cursor(); ; {
			k, _ := cursor.First()
			if k == nil {
				break
			}
			if err := cursor.Delete(); err != nil {
				return false, err
			}
		}
	}
	return true, list.Put(binary.BigEndian.AppendUint64(nil, number), record)
}
