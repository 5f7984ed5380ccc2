// A stranger's first program.

package spill_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/execagent/execagent/spill"
)

func Example() {
	parent, err := os.MkdirTemp("", "spill-example-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(parent)

	store, err := spill.Open(filepath.Join(parent, "spill"), spill.Options{})
	if err != nil {
		panic(err) // *spill.DirError: says what is wrong and what to do
	}
	defer store.Close()

	record, err := store.Begin("build-17", nil, func() (bytes, lines int64) { return 20, 2 })
	if err != nil {
		panic(err)
	}
	file, err := record.Create(spill.FileOptions{})
	if err != nil {
		panic(err)
	}
	fmt.Fprintln(file, "cc -c a.c")
	fmt.Fprintln(file, "cc -c b.c")

	var incomplete *spill.WriteError
	if err := file.Close(); errors.As(err, &incomplete) {
		fmt.Println("only the first", incomplete.Safe, "bytes were kept")
	}
	if err := record.Settle(nil); err != nil {
		panic(err)
	}

	text, err := os.ReadFile(file.Path())
	fmt.Print(strings.ToUpper(string(text)), err)
	// Output:
	// CC -C A.C
	// CC -C B.C
	// <nil>
}
