// Reading back: what is in the store, and the output of one execution.

package spill

import (
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
)

// Info is an execution as the store knows it.
type Info struct {
	Manifest
	// Path is the file's, absolute; "" when there is none, or no longer.
	Path string
	// Size is that of the file now, in bytes.
	Size int64
}

// Find returns what is known of the execution id. The error wraps [ErrUnknown] when that is
// nothing, and is another when its manifest cannot be used.
func (s *Store) Find(id string) (*Info, error) {
	<-s.loaded
	if !validID(id) {
		return nil, fmt.Errorf("spill: find %.*q: %w", MaxIDLength, id, ErrUnknown)
	}
	s.mu.Lock()
	e := s.records[id]
	s.mu.Unlock()
	if e == nil {
		return nil, fmt.Errorf("spill: find %q: %w", id, ErrUnknown)
	}
	return s.infoOf(e)
}

// infoOf asks the record of a live entry, or the directory.
func (s *Store) infoOf(e *entry) (*Info, error) {
	s.mu.Lock()
	r, root, dir, named := e.record, (*os.Root)(nil), s.dir(), e.named
	if s.place != nil {
		root = s.place.root
	}
	i := &Info{Manifest: Manifest{ID: e.id, State: Lost, Begun: e.ended, Changed: e.ended, Ended: e.ended, File: e.file}}
	s.mu.Unlock()
	if root == nil {
		return nil, fmt.Errorf("spill: find %q: store is closed: %w", e.id, os.ErrClosed)
	}
	if r != nil {
		i.Manifest = r.manifest()
	} else if named {
		m, err := getManifest(root, e.id)
		if err != nil {
			return nil, err
		}
		i.Manifest = *m
	}
	if i.File != "" {
		if info, err := root.Lstat(i.File); err == nil && info.Mode().IsRegular() {
			i.Path, i.Size = filepath.Join(dir, i.File), info.Size()
		}
	}
	i.Safe = min(i.Safe, i.Size)
	return i, nil
}

// All yields every execution that has a manifest or a file: those that run, then the latest
// that ended first. One whose manifest cannot be used is left out.
func (s *Store) All() iter.Seq[*Info] {
	return func(yield func(*Info) bool) {
		<-s.loaded
		s.mu.Lock()
		all := make([]*entry, 0, s.live+len(s.ended))
		for _, e := range s.records {
			if e.record != nil {
				all = append(all, e)
			}
		}
		slices.SortFunc(all, func(a, b *entry) int { return b.record.m.Begun.Compare(a.record.m.Begun) })
		for _, e := range slices.Backward(s.ended) {
			all = append(all, e)
		}
		s.mu.Unlock()
		for _, e := range all {
			if i, err := s.infoOf(e); err == nil && !yield(i) {
				return
			}
		}
	}
}

// Output opens what the file of the execution id holds now: of one that runs, everything it has
// printed so far. The caller closes it; that it is swept meanwhile does not matter.
func (s *Store) Output(id string) (*Output, error) {
	s.flush(id)
	i, err := s.Find(id)
	if err != nil {
		return nil, err
	}
	root := s.root()
	if i.Path == "" || root == nil {
		return nil, &NoFileError{ID: id}
	}
	file, err := openRegular(root, i.File)
	if err != nil {
		return nil, fmt.Errorf("spill: open the output of %q: %w", id, err)
	}
	return &Output{Info: *i, file: file, Reader: io.NewSectionReader(file, 0, i.Size)}, nil
}

// flush brings what waits in a live file's buffer to where a reader finds it.
func (s *Store) flush(id string) {
	<-s.loaded
	s.mu.Lock()
	r := (*Record)(nil)
	if e := s.records[id]; e != nil {
		r = e.record
	}
	s.mu.Unlock()
	if r == nil {
		return
	}
	r.mu.Lock()
	file := r.file
	r.mu.Unlock()
	if file != nil {
		_ = file.Flush() // its own error, told to its own owner
	}
}

// An Output is a spill file opened for reading, up to the size it had then.
type Output struct {
	Info
	io.Reader
	file *os.File
}

// Close closes the file.
func (o *Output) Close() error { return o.file.Close() }

// A NoFileError says that an execution is known, and has no file.
type NoFileError struct{ ID string }

func (e *NoFileError) Error() string {
	return fmt.Sprintf("spill: read the output of %q: it has no file: the view showed everything, or the file was not kept", e.ID)
}
