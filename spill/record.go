// One live execution in the store: its manifest kept up to date, and its file.

package spill

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"
)

// noteInterval is how old the numbers of a manifest may be while the command prints.
const noteInterval = time.Second

// A Record is one execution that the store remembers. It is made by [Store.Begin] and ended by
// [Record.Settle] or [Record.Discard]; its methods may be called by any goroutine.
type Record struct {
	s      *Store
	e      *entry
	totals func() (bytes, lines int64)

	armed  atomic.Bool    // the timer runs
	timers sync.WaitGroup // one while the timer is armed or its function runs

	mu    sync.Mutex // guards what follows; held while the manifest is written
	m     Manifest
	file  *File
	timer *time.Timer // made at the first need
	over  bool        // the manifest changes no more
}

// Begin enters an execution into the store: if this process dies, the next store on the
// directory knows of it. Detail is the caller's own JSON, for [Store.Find] to return. Totals
// tells how many bytes and lines the command has printed; it is called without locks.
//
// The error wraps [ErrInvalidID], or is a [*DirError], a [*LimitError] or the operating
// system's; for an id that runs it wraps [fs.ErrExist]. An ended execution of the same id is
// forgotten.
func (s *Store) Begin(id string, detail []byte, totals func() (bytes, lines int64)) (*Record, error) {
	if err := checkID(id); err != nil {
		return nil, err
	}
	<-s.loaded
	p, err := s.here()
	if err != nil {
		return nil, err
	}
	e, known, err := s.admit(id)
	if err != nil {
		return nil, fmt.Errorf("spill: begin %q: %w", id, err)
	}
	now := s.now()
	r := &Record{s: s, e: e, totals: totals, m: Manifest{
		Version: manifestVersion, ID: id, State: Running, Begun: now, Changed: now, Detail: detail,
	}}
	s.mu.Lock()
	e.record = r
	s.mu.Unlock()
	write := newManifest
	if known {
		write = putManifest
	}
	if err := write(p.root, &r.m); err != nil {
		r.Discard()
		return nil, err
	}
	return r, nil
}

// Create makes the file for the output, named after the id with a random part and the ending
// ".out", once. A directory that was removed is made again; one that was replaced by something
// that Open would refuse is a [*DirError]. The caller closes the File.
func (r *Record) Create(opts FileOptions) (*File, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.file != nil {
		return nil, fmt.Errorf("spill: create file for %q: it has one: %q", r.m.ID, r.file.Path())
	}
	p, err := r.s.here()
	if err != nil {
		return nil, err
	}
	out, err := r.s.create(p, r.m.ID)
	if err != nil {
		return nil, fmt.Errorf("spill: create file in %q: %w", p.dir, err)
	}
	r.m.File = filepath.Base(out.Name())
	r.s.opened(r.e, r.m.File)
	r.file = newFile(filepath.Join(p.dir, r.m.File), r.s.wrap(out), share{r.s, r.e}, opts)
	_ = r.put() // the file first: a manifest names none that is not there
	return r.file, nil
}

// opened notes that a file is being written.
func (s *Store) opened(e *entry, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e.file = name
	e.busy++
}

// Changed says that the totals have: the manifest will have them within a second. It costs
// next to nothing.
func (r *Record) Changed() {
	if !r.armed.Load() && r.armed.CompareAndSwap(false, true) {
		r.arm()
	}
}

func (r *Record) arm() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over {
		return
	}
	r.timers.Add(1)
	if r.timer == nil {
		r.timer = time.AfterFunc(noteInterval, r.timeout)
		return
	}
	r.timer.Reset(noteInterval)
}

func (r *Record) timeout() {
	defer r.timers.Done()
	r.armed.Store(false)
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.over {
		r.note()
		_ = r.put()
	}
}

// note takes the numbers of this moment. What is safe is read before the totals, which
// therefore are no less.
func (r *Record) note() {
	r.m.Changed = r.s.now()
	r.m.Safe = 0
	if r.file != nil {
		r.m.Safe = r.file.Safe()
		if errors.Is(r.file.Err(), ErrRemoved) {
			r.m.File, r.m.Safe = "", 0
		}
	}
	r.m.Bytes, r.m.Lines = r.totals()
	r.m.Safe = min(r.m.Safe, r.m.Bytes)
}

// put writes the manifest. When it cannot, the old one stays, which is true.
func (r *Record) put() error {
	root := r.s.root()
	if root == nil {
		return nil // closed: nothing more is said
	}
	err := putManifest(root, &r.m)
	if err != nil {
		r.s.opts.Logger.Debug("keeping a manifest up to date", "error", err)
	}
	return err
}

// Settle says that the execution has come to its result, which detail describes. The file may
// still be written by what the command left running. Settle may be called once.
func (r *Record) Settle(detail []byte) error {
	defer r.s.settled(r.e)
	defer r.end()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over = true
	r.note()
	r.m.State, r.m.Ended, r.m.Detail = Settled, r.m.Changed, detail
	return r.put()
}

// Discard forgets an execution that has not come to be.
func (r *Record) Discard() {
	r.mu.Lock()
	r.over = true
	r.mu.Unlock()
	r.end()
	r.s.discard(r.e)
}

func (s *Store) discard(e *entry) {
	s.sweeping.Lock()
	defer s.sweeping.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if e.named && s.place != nil {
		s.removeFile(manifestName(e.id))
	}
	if e.named {
		delete(s.records, e.id)
		s.used -= RecordCharge
		e.named = false
	}
	s.live--
}

// end waits for the timer.
func (r *Record) end() {
	r.mu.Lock()
	if r.timer != nil && r.timer.Stop() {
		r.timers.Done()
	}
	r.mu.Unlock()
	r.timers.Wait()
}

// manifest is what the next one would say.
func (r *Record) manifest() Manifest {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.over {
		r.note()
	}
	return r.m
}
