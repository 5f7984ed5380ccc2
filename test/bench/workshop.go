// Where things are: the module, the inputs, a folder for outputs, one for sockets and binaries.

package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

// places are folders of the module.
type places struct {
	root    string // the module
	data    string // inputs, and outputs while a side runs: one file system for both
	peers   string // the JavaScript peers
	results string // the file of the recorded results
}

// findPlaces asks the go command, so that the program can be started anywhere in the module.
func findPlaces() (places, error) {
	out, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return places{}, fmt.Errorf("ask for the module: %w", err)
	}
	mod := string(bytes.TrimSpace(out))
	if mod == "" || mod == os.DevNull {
		return places{}, fmt.Errorf("not in a module: start it in the folder of go.mod")
	}
	root := filepath.Dir(mod)
	bench := filepath.Join(root, "test", "bench")
	return places{
		root:    root,
		data:    filepath.Join(bench, "data"),
		peers:   filepath.Join(bench, "peers"),
		results: filepath.Join(bench, "RESULTS.md"),
	}, nil
}

// A workshop is what all sides share. Whoever makes it closes it.
type workshop struct {
	places
	self string    // this program, to start the limits' children
	temp string    // short-named: a unix socket's path has at most 107 bytes
	log  io.Writer // progress
}

func newWorkshop(p places, log io.Writer) (*workshop, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(p.data, 0o755); err != nil {
		return nil, err
	}
	temp, err := os.MkdirTemp("", "eab-")
	if err != nil {
		return nil, err
	}
	return &workshop{places: p, self: self, temp: temp, log: log}, nil
}

func (w *workshop) close() { os.RemoveAll(w.temp) }

// build compiles a command of the module as it is shipped and returns the binary's path.
func (w *workshop) build(name string) (string, error) {
	binary := filepath.Join(w.temp, name)
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", binary, "./cmd/"+name)
	cmd.Dir = w.root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build ./cmd/%s: %w: %s", name, err, lastLine(out))
	}
	return binary, nil
}

// lastLine returns the last line of a program's complaint.
func lastLine(out []byte) string {
	out = bytes.TrimSpace(out)
	return string(out[bytes.LastIndexByte(out, '\n')+1:])
}
