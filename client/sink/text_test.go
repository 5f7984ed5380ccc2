package sink

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/execagent/execagent/chord"
	"github.com/execagent/execagent/client"
	"github.com/execagent/execagent/client/lane"
	"github.com/execagent/execagent/limits"
	"github.com/execagent/execagent/transport/protocol"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func someLimits(t *rapid.T) limits.Limits {
	l, err := limits.Limits{
		MaxBytes: rapid.IntRange(1, 60).Draw(t, "maxBytes"),
		MaxLines: rapid.IntRange(1, 8).Draw(t, "maxLines"),
		Retain:   rapid.SampledFrom([]limits.Retain{limits.RetainHead, limits.RetainTail}).Draw(t, "retain"),
	}.Resolve()
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// anyBytes is what a program may print: text of several alphabets, control characters, garbage.
var anyBytes = rapid.Custom(func(t *rapid.T) []byte {
	var b []byte
	for range rapid.IntRange(0, 8).Draw(t, "pieces") {
		b = append(b, rapid.SampledFrom([]string{
			"a", "bc", "line\n", "\n", "é", "😀", "x\r", "\r\n", "\x1b[1m", "\xff", "\b", "a longer line of words\n", "\xf0\x9f",
		}).Draw(t, "piece")...)
	}
	return b
})

// TestWritesAreAWindow: whatever the chunks and the flushes between, what a tool writes ends as
// one window over all of it would have it.
func TestWritesAreAWindow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := someLimits(t)
		out, err := New[struct{}](l)
		if err != nil {
			t.Fatal(err)
		}
		oracle := limits.NewWindow(l, limits.Terminal{})
		for range rapid.IntRange(0, 20).Draw(t, "writes") {
			p := anyBytes.Draw(t, "p")
			out.Write(p)
			oracle.Write(p)
			if rapid.Bool().Draw(t, "flush") {
				out.Flush()
			}
		}
		out.finish("")
		oracle.Finish()
		s, err := out.State()
		if err != nil {
			t.Fatal(err)
		}
		text, _ := oracle.Text()
		if s.Text() != text {
			t.Fatalf("text %q, want %q", s.Text(), text)
		}
		if d := cmp.Diff(oracle.Truncation(), s.Truncation); d != "" {
			t.Fatalf("truncation (-want +got):\n%s", d)
		}
	})
}

// TestSeedGoesOn: an output that is seeded with an earlier one, between two lines, ends as if
// there had been one.
func TestSeedGoesOn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := someLimits(t)
		l.MaxBytes += 50 // so that no line is cut: that it was is not in its text
		oracle := limits.NewWindow(l, limits.Terminal{})
		var state *lane.State
		for range rapid.IntRange(1, 4).Draw(t, "lives") {
			out, err := newToolOutput[struct{}](l, state)
			if err != nil {
				t.Fatal(err)
			}
			for range rapid.IntRange(0, 5).Draw(t, "lines") {
				line := rapid.StringMatching(`[a-zé]{0,20}`).Draw(t, "line") + "\n"
				out.WriteString(line)
				oracle.Write([]byte(line))
				if rapid.Bool().Draw(t, "flush") {
					out.Flush()
				}
			}
			if state, err = out.State(); err != nil {
				t.Fatal(err)
			}
		}
		oracle.Finish()
		text, _ := oracle.Text()
		want := oracle.Truncation()
		if state.Text() != text || state.Truncation.TotalBytes != want.TotalBytes || state.Truncation.TotalLines != want.TotalLines ||
			state.Truncation.Truncated != want.Truncated || state.Truncation.FirstLine != want.FirstLine {
			t.Fatalf("%q, %+v, want %q, %+v", state.Text(), state.Truncation, text, want)
		}
	})
}

// fakeSource is a command's view as an agent keeps it, and the batches that it sends.
type fakeSource struct {
	window  *limits.Window
	tracker chord.Tracker
	view    viewDocument
}

// viewDocument is what of a view an output looks at.
type viewDocument struct {
	Text       string            `json:"text"`
	Live       string            `json:"live"`
	Truncation limits.Truncation `json:"truncation"`
	SpillPath  string            `json:"spillPath,omitempty"`
}

func newFakeSource(l limits.Limits) *fakeSource {
	return &fakeSource{window: limits.NewWindow(l, limits.Terminal{})}
}

// into sends the source's present state to o.
func (s *fakeSource) into(o *Output) error {
	s.view.Text, s.view.Live = s.window.Text()
	s.view.Truncation = s.window.Truncation()
	ops, err := s.tracker.Flush(s.view)
	if err != nil {
		return err
	}
	v := clientView(s.view)
	return o.fromSource("id", ops, v)
}

// TestSourceIsShown: while a source has the end, the text is what was before and its view, except
// that what the source has dropped takes what was before with it.
func TestSourceIsShown(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := someLimits(t)
		out, err := New[struct{}](l)
		if err != nil {
			t.Fatal(err)
		}
		before := rapid.StringMatching(`([a-zé]{0,5}\n){0,3}`).Draw(t, "before")
		out.WriteString(before)
		front, err := out.State()
		if err != nil {
			t.Fatal(err)
		}
		out.change(limits.Shown, func() error { out.text.beginSource(); return nil })
		s := newFakeSource(l)
		dropped := false // a tail shows nothing before what was dropped
		for i := range rapid.IntRange(1, 12).Draw(t, "steps") {
			s.window.Write(anyBytes.Draw(t, "p"))
			if i > 0 && rapid.IntRange(0, 9).Draw(t, "attach again") == 0 {
				s.tracker.Rebase()
			}
			if err := s.into(out.Output); err != nil {
				t.Fatal(err)
			}
			out.Flush()
			if l.Retain == limits.RetainTail && s.view.Truncation.FirstLine > 1 {
				dropped = true
			}
			want := s.view.Text + s.view.Live
			got := stateText(t, out.Output)
			switch {
			case l.Retain == limits.RetainHead && front.Truncation.Truncated:
				if got != front.Text() {
					t.Fatalf("%q was added to a head that is cut: %q", got, front.Text())
				}
			case dropped && got != want, !strings.HasSuffix(got, want), got != want && got != front.Text()+want:
				t.Fatalf("shown %q, want %q, or after %q", got, want, front.Text())
			}
			if len(got) > 2*l.MaxBytes {
				t.Fatalf("%d bytes with a limit of %d", len(got), l.MaxBytes)
			}
		}
	})
}

func stateText(t *rapid.T, o *Output) string {
	s, err := o.State()
	if err != nil {
		t.Fatal(err)
	}
	return s.Text()
}

// TestSources: however many sources come one after the other, the text stays within twice its
// limit and says that it lost something.
func TestSources(t *testing.T) {
	for _, retain := range []limits.Retain{limits.RetainHead, limits.RetainTail} {
		l, err := limits.Limits{MaxBytes: 100, Retain: retain}.Resolve()
		must(t, err)
		out, err := New[struct{}](l)
		must(t, err)
		for i := range 10 {
			out.change(limits.Shown, func() error { out.text.beginSource(); return nil })
			s := newFakeSource(l)
			for range 3 {
				s.window.Write(fmt.Appendf(nil, "source %d %s\n", i, strings.Repeat("x", 10)))
				must(t, s.into(out.Output))
			}
			if got := textOf(t, out.Output); len(got) > 2*l.MaxBytes || retain == limits.RetainTail && !strings.Contains(got, fmt.Sprint("source ", i)) {
				t.Errorf("%s, source %d: %q", retain, i, got)
			}
		}
		out.WriteString("the end\n")
		out.finish("")
		s, err := out.State()
		must(t, err)
		first, most := "source 0", 2*l.MaxBytes // nothing that a head has shown is removed
		if retain == limits.RetainTail {
			first, most = "source 9", l.MaxBytes
		}
		if !s.Truncation.Truncated || len(s.Text()) > most || !strings.Contains(s.Text(), first) {
			t.Errorf("%s: %d bytes, %+v, %q", retain, len(s.Text()), s.Truncation, s.Text())
		}
	}
}

// TestBigText: a flush does not look at the text that is there already.
func TestBigText(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	out, err := New[struct{}](limits.Limits{MaxBytes: 1 << 20, MaxLines: 1 << 20})
	must(t, err)
	for range 1 << 14 {
		fmt.Fprintf(out, "line %x of the output that fills the window\n", r.Uint64())
	}
	out.Flush()
	const flushes = 200
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range flushes {
		fmt.Fprintln(out, "one more")
		out.Flush()
	}
	runtime.ReadMemStats(&after)
	allocated := (after.TotalAlloc - before.TotalAlloc) / flushes
	if allocated > 64<<10 {
		t.Errorf("a flush of 9 bytes allocates %d, with 1 MiB of text", allocated)
	}
}

func clientView(v viewDocument) client.View {
	return client.View{Text: v.Text, Live: v.Live, Truncation: v.Truncation, SpillPath: v.SpillPath}
}

// TestHostileSource: an agent that does not keep to the limits it was given, or names files at
// length, does not make the output large.
func TestHostileSource(t *testing.T) {
	out := newTestOutput(t, limits.Limits{MaxBytes: 100})
	must(t, out.change(limits.Shown, func() error { out.text.beginSource(); return nil }))
	long := strings.Repeat("x", 1<<20)
	ops := []chord.Op{{Verb: chord.Replace}}
	err := out.fromSource("id", ops, client.View{Text: long})
	if bound := (*BoundError)(nil); !errors.As(err, &bound) {
		t.Errorf("a text of %d bytes gives %v, want a *BoundError", len(long), err)
	}
	must(t, out.fromSource("id", ops, client.View{Text: "short", SpillPath: long, SpillError: &protocol.SpillError{Message: long}}))
	s, err := out.State()
	must(t, err)
	if got := len(s.Source.SpillPath) + len(s.Source.SpillError); got > maxSpillPath+maxSpillError+10 || s.Text() != "short" {
		t.Errorf("%d bytes about the source, text %q", got, s.Text())
	}
}
