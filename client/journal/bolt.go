package journal

// This file is the journal in one file, by bbolt.

import (
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

// The names of buckets and keys. Every name that a caller gives is in a bucket of its own kind.
var (
	bucketPending = []byte("pending") // run ▶ call ▶ the following
	bucketBatches = []byte("batches") // 8 bytes of number, big end first ▶ batch
	bucketMemos   = []byte("memos")
	keyHeader     = []byte("header")
	keyEnd        = []byte("end")
	bucketSettled = []byte("settled") // run ▶ outcome
)

// lockTimeout is how long Open waits for another process to let go of the file.
const lockTimeout = time.Second

// Bolt is a [Journal] in a file. Make one with [Open], and Close it.
type Bolt struct{ db *bbolt.DB }

// Open opens the journal in this file, which is made, private to its user, if it is not there.
// A file that another process has open is [ErrInUse], one that is no journal a
// [*CorruptError].
func Open(path string) (*Bolt, error) {
	b := new(Bolt)
	err := guard("the file", func() (err error) {
		b.db, err = bbolt.Open(path, 0o600, &bbolt.Options{Timeout: lockTimeout, FreelistType: bbolt.FreelistMapType})
		return err
	})
	switch {
	case errors.Is(err, bolterrors.ErrTimeout):
		return nil, ErrInUse
	case errors.Is(err, bolterrors.ErrInvalid) || errors.Is(err, bolterrors.ErrChecksum) || errors.Is(err, bolterrors.ErrVersionMismatch):
		return nil, &CorruptError{fmt.Sprintf("%q", path), err}
	case err != nil:
		return nil, fmt.Errorf("journal: opening %q: %w", path, err)
	}
	err = b.update(func(tx *bbolt.Tx) error {
		for _, name := range [][]byte{bucketPending, bucketSettled} {
			if _, err := tx.CreateBucketIfNotExists(name); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, errors.Join(err, b.db.Close())
	}
	return b, nil
}

// Close closes the file. It may be called more than once.
func (b *Bolt) Close() error { return b.db.Close() }

// update runs f in a transaction that writes.
func (b *Bolt) update(f func(*bbolt.Tx) error) error {
	return guard("the file", func() error { return b.db.Update(f) })
}

// view runs f in a transaction that reads.
func (b *Bolt) view(f func(*bbolt.Tx) error) error {
	return guard("the file", func() error { return b.db.View(f) })
}

// guard makes an error of the panics and page faults by which bbolt reports a damaged file.
func guard(where string, f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = &CorruptError{where, fmt.Errorf("%v", p)}
		}
	}()
	return f()
}

// call returns the bucket of a call, or [ErrUnknown].
func call(tx *bbolt.Tx, key Key) (*bbolt.Bucket, error) {
	if err := key.check(); err != nil {
		return nil, err
	}
	if run := tx.Bucket(bucketPending).Bucket([]byte(key.Run)); run != nil {
		if c := run.Bucket(key.inRun()); c != nil {
			return c, nil
		}
	}
	if tx.Bucket(bucketSettled).Get([]byte(key.Run)) != nil {
		return nil, fmt.Errorf("%w: %.100q", ErrSettled, key.Run)
	}
	return nil, fmt.Errorf("%w: %v", ErrUnknown, key)
}
