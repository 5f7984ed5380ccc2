// What an earlier agent left in the directory.

package spill

import (
	"bytes"
	"cmp"
	"io"
	"os"
	"slices"
	"strings"
	"time"
)

// load makes entries of everything in the directory, and marks what was running as lost. It
// is called once, before anything else uses the directory.
func (s *Store) load() {
	defer close(s.loaded)
	root := s.root()
	names, err := namesIn(root)
	if err != nil {
		s.opts.Logger.Warn("reading the spill directory", "dir", s.Dir(), "error", err)
	}
	var found []*entry
	claimed := make(map[string]*entry) // by the name of the file
	for _, name := range names {
		if strings.HasSuffix(name, manifestEnding+temporaryEnding) {
			_ = root.Remove(name) // of a file that was not replaced
		}
		id := idOfManifest(name)
		if id == "" {
			continue
		}
		e := s.remember(root, id)
		found = append(found, e)
		if e.file != "" {
			claimed[e.file] = e
		}
	}
	for _, name := range names {
		if idOfFile(name) == "" {
			continue
		}
		info, err := root.Lstat(name)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		e := claimed[name]
		if e == nil {
			e = &entry{id: idOfFile(name), file: name, ended: info.ModTime(), until: info.ModTime().Add(s.opts.Floor)}
			found = append(found, e)
		}
		e.size = info.Size()
		delete(claimed, name)
	}
	for _, e := range claimed {
		e.file = "" // it is gone
	}
	s.adopt(found)
}

// remember makes an entry of one manifest. One that cannot be read stays until it is too old.
func (s *Store) remember(root *os.Root, id string) *entry {
	e := &entry{id: id, named: true}
	m, err := getManifest(root, id)
	if err != nil {
		s.opts.Logger.Warn("what an earlier agent left is not to be read", "error", err)
		e.ended = modTime(root, manifestName(id))
		return e
	}
	if m.State == Running {
		m.State, m.Ended = Lost, s.now()
		recount(root, m)
		if err := putManifest(root, m); err != nil {
			s.opts.Logger.Warn("marking an execution as lost", "error", err)
		}
	}
	e.file, e.ended = m.File, m.Ended
	if m.State == Lost {
		e.until = m.Ended.Add(s.opts.Floor)
	}
	return e
}

// recount brings the numbers of a lost execution up to what its file holds: more than its last
// manifest knew, by what it printed within a second or so.
func recount(root *os.Root, m *Manifest) {
	if m.File == "" {
		return
	}
	file, err := openRegular(root, m.File)
	if err != nil {
		return
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil || info.Size() <= m.Bytes {
		return
	}
	c := lineCounter{open: m.Bytes > 0 && !endsLine(file, m.Bytes), lines: m.Lines}
	n, err := io.Copy(&c, io.NewSectionReader(file, m.Bytes, info.Size()-m.Bytes))
	if err != nil {
		return
	}
	m.Bytes += n
	m.Lines, m.Safe = c.lines, m.Bytes
}

// endsLine reports whether the byte before an offset ends a line.
func endsLine(r io.ReaderAt, offset int64) bool {
	var last [1]byte
	_, err := r.ReadAt(last[:], offset-1)
	return err == nil && last[0] == '\n'
}

// lineCounter counts lines, an unfinished one among them.
type lineCounter struct {
	lines int64
	open  bool // the last byte did not end a line, which is counted
}

// Write counts on.
func (c *lineCounter) Write(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	c.lines += int64(bytes.Count(p, newline))
	if c.open {
		c.lines--
	}
	if c.open = p[len(p)-1] != '\n'; c.open {
		c.lines++
	}
	return len(p), nil
}

// adopt takes the entries up, the oldest first.
func (s *Store) adopt(found []*entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	slices.SortFunc(found, func(a, b *entry) int {
		return cmp.Or(a.ended.Compare(b.ended), strings.Compare(a.id, b.id))
	})
	for _, e := range found {
		if e.named {
			s.records[e.id] = e
		}
		s.used += e.charge()
	}
	s.ended = found
}

// namesIn lists the directory.
func namesIn(root *os.Root) ([]string, error) {
	dir, err := root.Open(".")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return dir.Readdirnames(-1)
}

func modTime(root *os.Root, name string) time.Time {
	info, err := root.Lstat(name)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}
