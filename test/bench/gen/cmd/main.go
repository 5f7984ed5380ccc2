// Command cmd writes an input of the benchmarks to standard output:
//
//	go run ./test/bench/gen/cmd KIND BYTES > FILE
package main

import (
	"fmt"
	"os"
	"strconv"

	"github.com/execagent/execagent/test/bench/gen"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("usage: cmd KIND BYTES, where KIND is one of %v", gen.Kinds())
	}
	size, err := strconv.ParseInt(args[1], 10, 64)
	if err != nil {
		return fmt.Errorf("gen: read the number of bytes: %w", err)
	}
	reader, err := gen.NewReader(gen.Kind(args[0]), size)
	if err != nil {
		return err
	}
	_, err = reader.WriteTo(os.Stdout)
	return err
}
