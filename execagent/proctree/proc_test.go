//go:build linux

package proctree

import (
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestParseStat(t *testing.T) {
	// The fields after the name of a line as Linux 6.18 writes it.
	const rest = "S 7 8 9 0 -1 4194304 123 0 0 0 1 2 3 4 20 0 5 0 76543 99 1 18446744073709551615 1\n"
	allow := cmp.AllowUnexported(stat{}, ident{})
	for _, tc := range []struct {
		line string
		ok   bool
		name string
	}{
		{"12 (sleep) " + rest, true, "sleep"},
		{"12 (a b) Z 1 (c) " + rest, true, "a b) Z 1 (c"},
		{"12 ()) " + rest, true, ")"},
		{"12 () " + rest, true, ""},
		{"12 (\xff\n) " + rest, true, "\xff\n"},
		{"", false, ""},
		{"12 (sleep)", false, ""},
		{"12 )sleep( " + rest, false, ""},
		{"12 (sleep) S 7 8 9", false, ""},
	} {
		var got stat
		ok := parseStat(12, []byte(tc.line), &got)
		if ok != tc.ok {
			t.Errorf("parseStat(%q) = %v, want %v", tc.line, ok, tc.ok)
			continue
		}
		if !ok {
			continue
		}
		want := stat{ident{12, 76543}, tc.name, 'S', 7, 9, 5}
		if diff := cmp.Diff(want, got, allow); diff != "" {
			t.Errorf("parseStat(%q) (-want +got):\n%s", tc.line, diff)
		}
	}
}

// TestParseStatTakesAnything does not panic, whatever the file holds.
func TestParseStatTakesAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.SliceOf(rapid.SampledFrom([]byte("()  -0123456789ZSa\n\x00"))).Draw(t, "line")
		var s stat
		parseStat(1, line, &s)
	})
}

func TestReadStatOfOneself(t *testing.T) {
	var s stat
	if !readStat(os.Getpid(), &s) {
		t.Fatal("readStat of this process: false")
	}
	if s.pid != os.Getpid() || s.ppid != os.Getppid() || s.session != ownSession() || !s.living() || s.threads < 2 || s.start == 0 {
		t.Errorf("readStat of this process = %+v", s)
	}
}

func TestLiving(t *testing.T) {
	for _, tc := range []struct {
		state   byte
		threads int
		want    bool
	}{
		{'R', 1, true}, {'S', 1, true}, {'D', 1, true}, {'T', 1, true},
		{'Z', 1, false}, {'X', 1, false}, {'Z', 0, false},
		{'Z', 2, true}, // only the main thread has ended
	} {
		s := stat{state: tc.state, threads: tc.threads}
		if got := s.living(); got != tc.want {
			t.Errorf("state %c with %d threads: living() = %v, want %v", tc.state, tc.threads, got, tc.want)
		}
	}
}

// TestScanCookie compares the scan with one that has everything in memory, over reads of any
// size.
func TestScanCookie(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		variable := rapid.OneOf(
			rapid.SampledFrom([]string{cookieVar + "=a/b", "X" + cookieVar + "=no", cookieVar, cookieVar + "=" + strings.Repeat("z", maxCookie), ""}),
			rapid.Map(rapid.IntRange(0, 40000), func(n int) string { return "V=" + strings.Repeat("x", n) }),
		)
		env := rapid.SliceOfN(variable, 0, 6).Draw(t, "env")
		want := ""
		for _, v := range env {
			if value, ok := strings.CutPrefix(v, cookieVar+"="); ok {
				want = value
				break
			}
		}
		text := strings.NewReader(strings.Join(append(env, ""), "\x00"))
		chunk := rapid.SampledFrom([]int{1, 7, 4096, 1 << 20}).Draw(t, "chunk")
		got := scanCookie(func(b []byte) (int, error) {
			n, err := text.Read(b[:min(chunk, len(b))])
			if err == io.EOF {
				err = nil
			}
			return n, err
		})
		if got != want {
			t.Errorf("scanCookie of %d variables by %d bytes = %q, want %q", len(env), chunk, got, want)
		}
	})
}

// TestScanCookieEnds although the environment does not.
func TestScanCookieEnds(t *testing.T) {
	read := 0
	got := scanCookie(func(b []byte) (int, error) {
		read += len(b)
		return len(b), nil
	})
	if got != "" || read > 2*maxEnviron {
		t.Errorf("an endless environment: %q after %d bytes", got, read)
	}
}

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"a\x00b":            "a b",
		"x\n\t\x1b[31m\x7f": "x   [31m ",
		"\xff\xfe":          "\uFFFD",
		"é\u0085z":          "é z",
	} {
		if got := clean([]byte(in)); got != want {
			t.Errorf("clean(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestCommandLine(t *testing.T) {
	m := manager(t, MethodWalk, true)
	word := tag()
	long := strings.Repeat("é", 300)
	c := shell(t, m, "c", fmt.Sprintf(`bash -c 'kill -STOP $$; : %s' & exec sleep %s`, long, word))
	awaitSleeps(t, word, 1)
	await(t, "the long one", func() bool { return len(c.Members()) == 1 && strings.HasPrefix(c.Members()[0].Command, "bash -c ") })
	got := c.Members()[0].Command
	if len(got) > maxCommand || !strings.HasSuffix(got, "é…") {
		t.Errorf("a long command line became %d bytes, %q", len(got), got)
	}
	s := stat{ident: ident{pid: 2}, name: "kthreadd"} // a kernel thread has no command line
	if os.Getpid() != 1 && readInto(procPath(2, "stat"), make([]byte, 64)) > 0 && commandLine(&s) != "[kthreadd]" {
		t.Errorf("commandLine(kthreadd) = %q", commandLine(&s))
	}
}

// TestIdentity signals a process that is not the one that was looked at.
func TestIdentity(t *testing.T) {
	m := manager(t, MethodWalk, true)
	c := start(t, m, "i", nil, "/bin/sleep", "60")
	old := ident{c.pid, c.leader.start - 1}
	old.signal(9)
	var s stat
	if !readStat(c.pid, &s) || !s.living() {
		t.Fatalf("a signal to %v reached %v", old, c.leader)
	}
	c.leader.signal(9)
	c.awaitExit()
}
