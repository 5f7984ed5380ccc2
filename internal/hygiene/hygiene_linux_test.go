package hygiene

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// roleVariable makes the test binary play a part.
const roleVariable = "HYGIENE_TEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(roleVariable) {
	case "spoil": // a careless parent: ignores, blocks and leaves open
		signal.Ignore(syscall.SIGPIPE, syscall.SIGHUP, syscall.SIGINT)
		var mask unix.Sigset_t
		mask.Val[0] = 1<<(unix.SIGTERM-1) | 1<<(unix.SIGUSR1-1)
		must(unix.PthreadSigmask(unix.SIG_SETMASK, &mask, nil))
		must(unix.Dup2(2, 77))
		must(os.Setenv(roleVariable, os.Getenv("HYGIENE_TEST_NEXT")))
		must(syscall.Exec("/proc/self/exe", os.Args, os.Environ()))
	case "clean":
		must(Clean())
		fallthrough
	case "dirty":
		// grep looks at itself: a shell that forks has everything blocked for a moment.
		show := exec.Command("sh", "-c", "grep -E '^Sig(Blk|Ign)' /proc/self/status; ls /proc/$$/fd | tr '\\n' ' '")
		out, err := show.Output()
		must(err)
		fmt.Printf("%s", out)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func TestClean(t *testing.T) {
	for _, c := range []struct {
		role  string
		clean bool
	}{{"clean", true}, {"dirty", false}} { // the second shows that the first can fail
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), roleVariable+"=spoil", "HYGIENE_TEST_NEXT="+c.role)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		got := string(out)
		clean := signals(t, got, "SigBlk") == 0 && signals(t, got, "SigIgn") == 0 && !strings.Contains(got, "77")
		if clean != c.clean {
			t.Errorf("%s: a command finds\n%s", c.role, got)
		}
	}
}

// signals returns the set that a line of /proc/PID/status holds, less the two signals that C
// libraries keep for themselves and no program sees.
func signals(t *testing.T, status, name string) uint64 {
	t.Helper()
	_, rest, _ := strings.Cut(status, name+":\t")
	line, _, found := strings.Cut(rest, "\n")
	set, err := strconv.ParseUint(line, 16, 64)
	if err != nil || !found {
		t.Fatalf("no %s in %q", name, status)
	}
	return set &^ (1<<31 | 1<<32)
}
