// Tests of the directory and of the creation of files in it: who is let in, who is not.

package spill

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

func TestOpenMakesPrivateDirectory(t *testing.T) {
	for _, umask := range []int{0o000, 0o022, 0o277} {
		parent := t.TempDir()
		setUmask(t, umask)
		s, err := Open(parent+"/spill", Options{})
		if err != nil {
			t.Fatalf("umask %03o: %v", umask, err)
		}
		defer s.Close()
		f := createFile(t, s, "x", FileOptions{})
		if got := modeOf(t, s.Dir()); got != dirMode {
			t.Errorf("umask %03o: directory has mode %04o, want %04o", umask, got, dirMode)
		}
		if got := modeOf(t, f.Path()); got != fileMode {
			t.Errorf("umask %03o: file has mode %04o, want %04o", umask, got, fileMode)
		}
	}
}

func TestOpenMakesParents(t *testing.T) {
	setUmask(t, 0)
	top := t.TempDir()
	s, err := Open(top+"/a/b/c", Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, dir := range []string{"a", "a/b", "a/b/c"} {
		if got := modeOf(t, filepath.Join(top, dir)); got != dirMode {
			t.Errorf("%s has mode %04o, want %04o", dir, got, dirMode)
		}
	}
}

// The directory that was looked at and the one that was opened must be one.
func TestOpenNoticesExchange(t *testing.T) {
	looked, opened := t.TempDir(), openStore(t)
	info, err := os.Lstat(looked)
	if err != nil {
		t.Fatal(err)
	}
	wantDirError(t, checkOpened(opened.Dir(), opened.root(), info, false), opened.Dir(), "replaced")
}

func TestOpenReturnsAbsolutePaths(t *testing.T) {
	t.Chdir(t.TempDir())
	s, err := Open("spill", Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	f := createFile(t, s, "x", FileOptions{})
	if !filepath.IsAbs(s.Dir()) || filepath.Dir(f.Path()) != s.Dir() {
		t.Errorf("Dir() = %q, Path() = %q: want an absolute directory and a file in it", s.Dir(), f.Path())
	}
}

// refusals are the states of a path in which it must not be used.
var refusals = []struct {
	name    string
	arrange func(t *testing.T, dir string)
	problem string
}{
	{"symbolic link", func(t *testing.T, dir string) { mustDo(t, os.Symlink(t.TempDir(), dir)) }, "symbolic link"},
	{"dangling link", func(t *testing.T, dir string) { mustDo(t, os.Symlink(dir+"-none", dir)) }, "symbolic link"},
	{"file", func(t *testing.T, dir string) { mustDo(t, os.WriteFile(dir, nil, 0o600)) }, "not a directory"},
	{"fifo", func(t *testing.T, dir string) { mustDo(t, syscall.Mkfifo(dir, 0o600)) }, "not a directory"},
	{"foreign owner", func(t *testing.T, dir string) {
		if os.Geteuid() != 0 {
			t.Skip("only root can give a directory away")
		}
		mustDo(t, os.Mkdir(dir, 0o700))
		mustDo(t, os.Chown(dir, 12345, -1))
	}, "uid 12345"},
	{"group may read", func(t *testing.T, dir string) { mkdir(t, dir, 0o740) }, "mode 0740"},
	{"others may enter", func(t *testing.T, dir string) { mkdir(t, dir, 0o701) }, "mode 0701"},
}

func TestOpenRefuses(t *testing.T) {
	for _, tt := range refusals {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir() + "/spill"
			tt.arrange(t, dir)
			s, err := Open(dir, Options{})
			if err == nil {
				s.Close()
			}
			wantDirError(t, err, dir, tt.problem)
		})
	}
}

func TestOpenRefusesLinkWithSlash(t *testing.T) {
	dir := t.TempDir() + "/spill"
	mustDo(t, os.Symlink(t.TempDir(), dir))
	_, err := Open(dir+"/", Options{})
	wantDirError(t, err, dir, "symbolic link")
}

func TestOpenRefusesNoName(t *testing.T) {
	_, err := Open("", Options{})
	wantDirError(t, err, "", "no name")
}

func TestOpenBelowFile(t *testing.T) {
	dir := t.TempDir() + "/file/spill"
	mustDo(t, os.WriteFile(filepath.Dir(dir), nil, 0o600))
	_, err := Open(dir, Options{})
	wantDirError(t, err, dir, "cannot be created")
	if !errors.Is(err, syscall.ENOTDIR) {
		t.Errorf("error %v does not wrap ENOTDIR", err)
	}
}

func TestCreateAfterDirectoryVanished(t *testing.T) {
	setUmask(t, 0)
	s := openStore(t)
	mustDo(t, os.RemoveAll(filepath.Dir(s.Dir())))
	f := createFile(t, s, "x", FileOptions{})
	if got := modeOf(t, s.Dir()); got != dirMode {
		t.Errorf("new directory has mode %04o, want %04o", got, dirMode)
	}
	if got := modeOf(t, f.Path()); got != fileMode {
		t.Errorf("file has mode %04o, want %04o", got, fileMode)
	}
}

func TestCreateAfterDirectoryWasReplaced(t *testing.T) {
	for _, tt := range refusals {
		t.Run(tt.name, func(t *testing.T) {
			s := openStore(t)
			mustDo(t, os.Rename(s.Dir(), s.Dir()+"-moved"))
			tt.arrange(t, s.Dir())
			_, err := create(s, "x", FileOptions{})
			wantDirError(t, err, s.Dir(), tt.problem)
			mustDo(t, os.RemoveAll(s.Dir()))
			createFile(t, s, "x", FileOptions{}) // the refusal did not break the store
		})
	}
}

// An exchange between the check and the creation must not lead elsewhere.
func TestCreateIsNotRedirected(t *testing.T) {
	s := openStore(t)
	victim := t.TempDir()
	s.suffix = func() string { // called after the check
		mustDo(t, os.Rename(s.Dir(), s.Dir()+"-moved"))
		mustDo(t, os.Symlink(victim, s.Dir()))
		return "suffix"
	}
	createFile(t, s, "x", FileOptions{})
	if got := names(t, victim); len(got) != 0 {
		t.Errorf("the victim's directory holds %q, want nothing", got)
	}
	if got := names(t, s.Dir()+"-moved"); !slices.Contains(got, "x-suffix.out") {
		t.Errorf("the checked directory holds %q, want x-suffix.out", got)
	}
}

func TestCreateDoesNotFollowPlantedLink(t *testing.T) {
	for _, target := range []string{"existing", "missing"} {
		s := openStore(t)
		victim := filepath.Join(t.TempDir(), target)
		if target == "existing" {
			mustDo(t, os.WriteFile(victim, []byte("precious"), 0o600))
		}
		mustDo(t, os.Symlink(victim, filepath.Join(s.Dir(), fileName("x", "planted"))))
		suffixes := []string{"planted", "free"}
		s.suffix = func() string { next := suffixes[0]; suffixes = suffixes[1:]; return next }
		f := createFile(t, s, "x", FileOptions{})
		if want := filepath.Join(s.Dir(), "x-free.out"); f.Path() != want {
			t.Errorf("%s: Path() = %q, want %q", target, f.Path(), want)
		}
		f.Write([]byte("output"))
		mustDo(t, f.Close())
		got, err := os.ReadFile(victim)
		if target == "missing" && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the link's target was made and holds %q (%v)", got, err)
		}
		if target == "existing" && string(got) != "precious" {
			t.Errorf("the link's target holds %q (%v), want it untouched", got, err)
		}
	}
}

func TestCreateGivesUpOnTakenNames(t *testing.T) {
	s := openStore(t)
	s.suffix = func() string { return "same" }
	createFile(t, s, "x", FileOptions{})
	if _, err := create(s, "x", FileOptions{}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("Create with every name taken: error %v, want one wrapping fs.ErrExist", err)
	}
}

func TestCreateSameIDTwice(t *testing.T) {
	s := openStore(t)
	a, b := createFile(t, s, "same", FileOptions{}), createFile(t, s, "same", FileOptions{})
	if a.Path() == b.Path() {
		t.Errorf("two files of one id share the path %q", a.Path())
	}
	for _, f := range []*File{a, b} {
		base := filepath.Base(f.Path())
		if !strings.HasPrefix(base, "same-") || !strings.HasSuffix(base, ".out") {
			t.Errorf("file is named %q, want same-*.out", base)
		}
	}
}

func TestCreateID(t *testing.T) {
	longest := strings.Repeat("a", MaxIDLength)
	tests := []struct {
		id    string
		valid bool
	}{
		{"a", true}, {"Build_17.x-Z09", true}, {".", true}, {"..", true}, {"-rf", true}, {longest, true},
		{"", false}, {longest + "a", false}, {"a/b", false}, {"../x", false}, {"a\x00", false},
		{"a b", false}, {"é", false}, {"a\n", false}, {strings.Repeat("/", 1<<20), false},
	}
	s := openStore(t)
	for _, tt := range tests {
		f, err := create(s, tt.id, FileOptions{})
		if err == nil {
			f.Close()
		}
		if tt.valid && err != nil || !tt.valid && !errors.Is(err, ErrInvalidID) {
			t.Errorf("Create(%.140q): error %v, want valid = %v", tt.id, err, tt.valid)
		}
		if err != nil && len(err.Error()) > 1024 {
			t.Errorf("Create(%.140q): the error repeats %d bytes of the id", tt.id, len(err.Error()))
		}
	}
	for _, name := range names(t, filepath.Dir(s.Dir())) {
		if name != filepath.Base(s.Dir()) {
			t.Errorf("%q was made outside the directory", name)
		}
	}
}

func TestCloseStore(t *testing.T) {
	s := openStore(t)
	f := createFile(t, s, "x", FileOptions{})
	for range 2 {
		if err := s.Close(); err != nil {
			t.Errorf("Close() = %v, want nil", err)
		}
	}
	if _, err := create(s, "y", FileOptions{}); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Create after Close: error %v, want one wrapping fs.ErrClosed", err)
	}
	f.Write([]byte("late"))
	mustDo(t, f.Close())
	if got := readFile(t, f.Path()); got != "late" {
		t.Errorf("file that outlived its store holds %q, want %q", got, "late")
	}
}

func wantDirError(t *testing.T, err error, dir, problem string) {
	t.Helper()
	var dirErr *DirError
	if !errors.As(err, &dirErr) {
		t.Fatalf("error %v (%T), want a *DirError", err, err)
	}
	if dirErr.Dir != dir || !strings.Contains(dirErr.Problem, problem) || dirErr.Remedy == "" {
		t.Errorf("error %+v, want directory %q, a problem with %q and a remedy", *dirErr, dir, problem)
	}
}

func modeOf(t *testing.T, path string) fs.FileMode {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode().Perm()
}

func names(t testing.TB, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

func mkdir(t *testing.T, dir string, mode fs.FileMode) {
	t.Helper()
	mustDo(t, os.Mkdir(dir, 0o700))
	mustDo(t, os.Chmod(dir, mode))
}

func mustDo(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
