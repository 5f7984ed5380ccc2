package journal

// This file is the runs: which are pending, and how they are settled.

import (
	"fmt"
	"slices"

	"go.etcd.io/bbolt"
)

// Pending returns the calls of all runs that are not settled, ended calls included, in
// the order of their keys. It is what a harness looks at when it starts.
func (b *Bolt) Pending() ([]Key, error) {
	var keys []Key
	err := b.view(func(tx *bbolt.Tx) error {
		pending := tx.Bucket(bucketPending)
		return pending.ForEachBucket(func(run []byte) error {
			return pending.Bucket(run).ForEachBucket(func(name []byte) error {
				key, err := parseKey(run, name)
				keys = append(keys, key)
				return err
			})
		})
	})
	return keys, err
}

// Settle notes the outcome of a run, whatever the harness wants to find again, and
// removes everything pending of it, in one transaction. A run without calls may be
// settled too; one that is settled keeps its first outcome, and the error is [ErrSettled].
func (b *Bolt) Settle(run string, outcome []byte) error {
	if err := checkName("run", run, MaxKeyBytes); err != nil {
		return err
	}
	if err := checkSize("outcome", outcome, MaxRecordBytes); err != nil {
		return err
	}
	name := []byte(run)
	return b.update(func(tx *bbolt.Tx) error {
		settled, pending := tx.Bucket(bucketSettled), tx.Bucket(bucketPending)
		if settled.Get(name) != nil {
			return fmt.Errorf("%w: %.100q", ErrSettled, run)
		}
		if pending.Bucket(name) != nil {
			if err := pending.DeleteBucket(name); err != nil {
				return err
			}
		}
		return settled.Put(name, seal(outcome))
	})
}

// Outcome returns the outcome of a settled run, or [ErrUnknown].
func (b *Bolt) Outcome(run string) ([]byte, error) {
	var outcome []byte
	err := b.view(func(tx *bbolt.Tx) error {
		record := tx.Bucket(bucketSettled).Get([]byte(run))
		if record == nil {
			return fmt.Errorf("%w: outcome of run %.100q", ErrUnknown, run)
		}
		value, err := unseal(fmt.Sprintf("the outcome of run %.100q", run), record)
		outcome = slices.Clone(value)
		return err
	})
	return outcome, err
}

// Forget removes the outcome of a run, once the harness has it elsewhere. A call of that
// run is then unknown, not settled. What is not there is no error.
func (b *Bolt) Forget(run string) error {
	return b.update(func(tx *bbolt.Tx) error {
		return tx.Bucket(bucketSettled).Delete([]byte(run))
	})
}
