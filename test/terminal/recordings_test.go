package terminal

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the plain text beside the recordings, to be read before it is kept")

// TestRecordings: of what real programs printed on a terminal of 80×24, the plain text beside it
// was there to be read.
func TestRecordings(t *testing.T) {
	for name, raw := range recordings(t) {
		golden := filepath.Join("testdata", name+".txt")
		got := text(raw, 80, 24)
		if *update {
			if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", golden, diff)
		}
	}
}

// recordings returns what is recorded, by name.
func recordings(t *testing.T) map[string][]byte {
	t.Helper()
	files, err := filepath.Glob("testdata/*.raw")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d recordings, %v: want them in testdata", len(files), err)
	}
	all := make(map[string][]byte)
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all[strings.TrimSuffix(filepath.Base(file), ".raw")] = raw
	}
	return all
}
