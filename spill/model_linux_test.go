// Random histories of a store: executions, sizes, quotas, failures, crashes and restarts. After
// each step the bounds hold, live files are there, and manifests claim nothing that is not so.

package spill

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestRandomHistories(t *testing.T) {
	parent := mountTmpfs(t, "size=64m") // what a disk does is not the subject
	rapid.Check(t, func(rt *rapid.T) {
		m := newModel(parent, rt)
		defer m.end()
		rt.Repeat(map[string]func(*rapid.T){
			"begin":   m.begin,
			"create":  m.create,
			"write":   m.write,
			"note":    m.note,
			"settle":  m.settle,
			"close":   m.close,
			"discard": m.discard,
			"remove":  m.remove,
			"break":   m.breakDisk,
			"fill":    m.fill,
			"time":    m.pass,
			"crash":   m.crash,
			"":        m.check,
		})
	})
}

// modeled is an execution, and the truth about it.
type modeled struct {
	id      string
	r       *Record
	f       *File
	path    string
	output  []byte // everything the command has printed
	settled bool
	closed  bool
	removed bool // by us, not by the store
}

func (x *modeled) totals() (bytes_, lines int64) {
	return int64(len(x.output)), linesIn(x.output)
}

func (x *modeled) live() bool { return x.f != nil && !x.closed && !x.removed }

type model struct {
	dir     string
	opts    Options
	s       *Store
	now     time.Time
	free    int64
	failing error // what the disk answers from now on

	running map[string]*modeled // by id, since the last crash
	truth   map[string][]*modeled
	lost    map[string]time.Time // when found so
	count   int
}

func newModel(parent string, rt *rapid.T) *model {
	m := &model{
		dir: filepath.Join(parent, fmt.Sprint(time.Now().UnixNano())),
		opts: Options{
			MaxFile:  rapid.Int64Range(1, 3000).Draw(rt, "max file"),
			MaxTotal: rapid.Int64Range(RecordCharge, 6*RecordCharge).Draw(rt, "max total"),
			KeepFree: 1000,
			MaxAge:   time.Hour,
			Floor:    time.Minute,
		},
		now:   time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
		free:  1 << 40,
		truth: make(map[string][]*modeled),
		lost:  make(map[string]time.Time),
	}
	m.start()
	return m
}

// start opens the store without its goroutine: time passes when the history says so.
func (m *model) start() {
	s, err := open(m.dir, m.opts)
	if err != nil {
		panic(err)
	}
	s.now = func() time.Time { return m.now }
	s.space = func(string) (space, bool) { return space{m.free, 1 << 50}, true }
	s.wrap = func(f *os.File) io.WriteCloser { return faulty{f, &m.failing} }
	s.load()
	s.sweep()
	m.s, m.running = s, make(map[string]*modeled)
}

// faulty is a file on a disk that can be broken: half of a write arrives then.
type faulty struct {
	*os.File
	failing *error
}

func (f faulty) Write(p []byte) (int, error) {
	if *f.failing == nil {
		return f.File.Write(p)
	}
	n, err := f.File.Write(p[:len(p)/2])
	return n, errors.Join(err, *f.failing)
}

// pick draws one of those that ok says yes to, or skips the step.
func (m *model) pick(t *rapid.T, ok func(*modeled) bool) *modeled {
	var ids []string
	for i := range 5 {
		if x := m.running[fmt.Sprint(i)]; x != nil && ok(x) {
			ids = append(ids, x.id)
		}
	}
	if len(ids) == 0 {
		t.Skip("none")
	}
	return m.running[rapid.SampledFrom(ids).Draw(t, "id")]
}

func (m *model) begin(t *rapid.T) {
	id := fmt.Sprint(rapid.IntRange(0, 4).Draw(t, "id"))
	x := &modeled{id: id}
	r, err := m.s.Begin(id, nil, x.totals)
	if old := m.running[id]; old != nil && !old.settled {
		if !errors.Is(err, fs.ErrExist) {
			t.Fatalf("Begin of %s, which runs: %v, want fs.ErrExist", id, err)
		}
		return
	}
	if err != nil {
		if CauseOf(err) != StoreQuota {
			t.Fatalf("Begin of %s: %v", id, err)
		}
		return
	}
	if old := m.running[id]; old != nil && old.f != nil && !old.closed {
		old.f.Close() // the model follows one of an id
		old.closed = true
	}
	x.r = r
	m.running[id] = x
	m.truth[id] = append(m.truth[id], x)
	delete(m.lost, id)
}

func (m *model) create(t *rapid.T) {
	x := m.pick(t, func(x *modeled) bool { return x.f == nil && !x.settled })
	f, err := x.r.Create(FileOptions{})
	if err != nil {
		t.Fatalf("Create for %s: %v", x.id, err)
	}
	x.f, x.path = f, f.Path()
	f.Write(x.output)
}

func (m *model) write(t *rapid.T) {
	x := m.pick(t, func(x *modeled) bool { return !x.settled })
	m.count++
	line := fmt.Sprintf("%s-%d\n", x.id, m.count)
	p := []byte(strings.Repeat(line, rapid.IntRange(1, 200).Draw(t, "lines")))
	x.output = append(x.output, p...)
	if x.f != nil {
		x.f.Write(p)
		if rapid.Bool().Draw(t, "flush") {
			_ = x.f.Flush()
		}
	}
}

// note is the timer of a record.
func (m *model) note(t *rapid.T) {
	x := m.pick(t, func(x *modeled) bool { return !x.settled })
	x.r.timers.Add(1)
	x.r.timeout()
}

func (m *model) settle(t *rapid.T) {
	x := m.pick(t, func(x *modeled) bool { return !x.settled })
	if err := x.r.Settle(nil); err != nil {
		t.Fatalf("Settle of %s: %v", x.id, err)
	}
	x.settled = true
}

func (m *model) close(t *rapid.T) {
	x := m.pick(t, (*modeled).live)
	x.f.Close()
	x.closed = true
}

func (m *model) discard(t *rapid.T) {
	x := m.pick(t, func(x *modeled) bool { return x.f == nil && !x.settled })
	x.r.Discard()
	delete(m.running, x.id)
}

// remove is somebody else's rm.
func (m *model) remove(t *rapid.T) {
	x := m.pick(t, (*modeled).live)
	if err := os.Remove(x.path); err != nil {
		t.Fatal(err)
	}
	x.removed = true
}

func (m *model) breakDisk(t *rapid.T) {
	m.failing = rapid.SampledFrom([]error{nil, nil, syscall.ENOSPC, syscall.EIO}).Draw(t, "error")
}

func (m *model) fill(t *rapid.T) {
	m.free = rapid.SampledFrom([]int64{0, 999, 1001, 1500, 1 << 40, 1 << 40}).Draw(t, "free")
}

func (m *model) pass(t *rapid.T) {
	m.now = m.now.Add(time.Duration(rapid.IntRange(1, 2000).Draw(t, "seconds")) * time.Second)
	m.s.sweep()
}

// crash ends the process as SIGKILL does: what waits in buffers is gone, the lock is dropped.
func (m *model) crash(t *rapid.T) {
	for _, x := range m.running {
		x.r.mu.Lock()
		x.r.over = true
		x.r.mu.Unlock()
		if x.f != nil {
			x.f.abandon()
		}
	}
	m.s.Close()
	m.start()
}

// abandon drops what waits and closes the file under its File.
func (f *File) abandon() {
	f.mu.Lock()
	f.used = 0
	f.out.Close()
	f.mu.Unlock()
	f.Close()
}

func (m *model) end() {
	for _, x := range m.running {
		if x.f != nil {
			x.f.Close()
		}
	}
	m.s.Close()
	os.RemoveAll(m.dir)
}

func (m *model) check(t *rapid.T) {
	m.checkQuota(t)
	m.checkLive(t)
	for i := range m.s.All() {
		m.checkClaims(t, i)
		if raw := overclaim(m.s, i); raw != nil {
			t.Fatalf("%s: the manifest claims more than there is: %+v of %+v", i.ID, *raw, *i)
		}
	}
}

// overclaim returns the manifest on the disk if it claims more of its file than Find, which
// looks at the file, would repeat.
func overclaim(s *Store, i *Info) *Manifest {
	raw, err := getManifest(s.root(), i.ID)
	if err != nil || i.Path == "" || raw.File != i.File || raw.Safe <= i.Size {
		return nil
	}
	return raw
}

// checkQuota: no file and not all together are larger than they may be, and the account is exact.
func (m *model) checkQuota(t *rapid.T) {
	entries, err := os.ReadDir(m.dir)
	if err != nil {
		t.Fatal(err)
	}
	var sizes int64
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		if idOfFile(e.Name()) != "" {
			sizes += info.Size()
			if info.Size() > m.opts.MaxFile {
				t.Fatalf("%s has %d bytes, want at most %d", e.Name(), info.Size(), m.opts.MaxFile)
			}
		} else if idOfManifest(e.Name()) != "" {
			sizes += min(info.Size(), RecordCharge)
		} else if e.Name() != lockName {
			t.Fatalf("%s is in the directory", e.Name())
		}
	}
	if sizes > m.opts.MaxTotal || m.s.used > m.opts.MaxTotal {
		t.Fatalf("the directory takes %d bytes and is charged %d, want at most %d", sizes, m.s.used, m.opts.MaxTotal)
	}
	if sizes > m.s.used {
		t.Fatalf("the directory takes %d bytes and is charged %d", sizes, m.s.used)
	}
}

// checkLive: a file that is being written is there, and begins as the output did.
func (m *model) checkLive(t *rapid.T) {
	for _, x := range m.running {
		if !x.live() {
			continue
		}
		b, err := os.ReadFile(x.path)
		if err != nil {
			t.Fatalf("the file of %s, which is live: %v", x.id, err)
		}
		if !bytes.HasPrefix(x.output, b) || int64(len(b)) != x.f.Safe() {
			t.Fatalf("the file of %s has %d bytes, %d of them said to be safe: no beginning of the %d printed", x.id, len(b), x.f.Safe(), len(x.output))
		}
	}
}

// checkClaims: what is said of an execution is true of one that had its id.
func (m *model) checkClaims(t *rapid.T, i *Info) {
	said := i.File != "" || i.State != Lost
	for _, x := range m.truth[i.ID] {
		if x.isIt(i) || !said {
			return
		}
	}
	t.Fatalf("%s: %+v is true of none of the %d that had this id", i.ID, *i, len(m.truth[i.ID]))
}

func (x *modeled) isIt(i *Info) bool {
	if i.File != "" && filepath.Base(x.path) != i.File {
		return false
	}
	if i.Bytes > int64(len(x.output)) || linesIn(x.output[:i.Bytes]) != i.Lines {
		return false
	}
	if i.State == Settled && i.Bytes != int64(len(x.output)) {
		return false
	}
	if i.Path == "" {
		return i.Safe == 0
	}
	b, err := os.ReadFile(i.Path)
	return err == nil && int64(len(b)) == i.Size && bytes.HasPrefix(x.output, b)
}
