// Stand-ins for execagent and execctl that speak a protocol of their own. They run the command and
// keep its output, so that what the side checks is real.

package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// fakes are what the test binary is when its first argument says so.
var fakes = map[string]func(args []string) error{
	"fake-agent": fakeAgent,
	"fake-ctl":   fakeCtl,
}

// faultVariable names the fault that a fake commits.
const faultVariable = "EXECAGENT_BENCH_FAULT"

// fakeResult is the line that fakeCtl prints.
type fakeResult struct {
	Type       string           `json:"type"`
	ExitCode   int              `json:"exitCode"`
	Seconds    float64          `json:"seconds"`
	WireBytes  *int64           `json:"wireBytes,omitempty"`
	SpillPath  string           `json:"spillPath"`
	Truncation map[string]int64 `json:"truncation"`
}

// fakePrograms are scripts that run the test binary as the fakes.
func fakePrograms(t *testing.T) ownPrograms {
	t.Helper()
	dir := t.TempDir()
	write := func(role string) string {
		path := filepath.Join(dir, role)
		text := fmt.Sprintf("#!/bin/sh\nexec '%s' %s \"$@\"\n", os.Args[0], role)
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
		return path
	}
	return ownPrograms{agent: write("fake-agent"), ctl: write("fake-ctl")}
}

// fakeAgent runs the commands that it is sent, one a connection.
func fakeAgent(args []string) error {
	flags := flag.NewFlagSet("serve", flag.ExitOnError)
	listen, spillDir := flags.String("listen", "", ""), flags.String("spill-dir", "", "")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	if err := os.Mkdir(*spillDir, 0o700); err != nil {
		return err
	}
	l, err := net.Listen("unix", strings.TrimPrefix(*listen, "unix:"))
	if err != nil {
		return err
	}
	for {
		conn, err := l.Accept()
		if err != nil {
			return err
		}
		var command string
		if json.NewDecoder(conn).Decode(&command) == nil { // else somebody asks whether we listen
			path := filepath.Join(*spillDir, "x.out")
			if err := exec.Command("sh", "-c", command+" > "+path).Run(); err != nil {
				return err
			}
			if err := json.NewEncoder(conn).Encode(path); err != nil {
				return err
			}
		}
		conn.Close()
	}
}

// fakeCtl sends its command to the agent and prints the result, with the fault it is told to commit.
func fakeCtl(args []string) error {
	flags := flag.NewFlagSet("run", flag.ExitOnError)
	addr := flags.String("addr", "", "")
	flags.Bool("json", false, "")
	flags.Bool("pipe", false, "")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	conn, err := net.Dial("unix", strings.TrimPrefix(*addr, "unix:"))
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := json.NewEncoder(conn).Encode(flags.Arg(0)); err != nil {
		return err
	}
	result := fakeResult{Type: "result", Seconds: 0.001, WireBytes: new(int64), Truncation: map[string]int64{}}
	*result.WireBytes = 4711
	if err := json.NewDecoder(conn).Decode(&result.SpillPath); err != nil {
		return err
	}
	data, err := os.ReadFile(result.SpillPath)
	if err != nil {
		return err
	}
	result.Truncation["totalBytes"] = int64(len(data))
	lines := int64(strings.Count(string(data), "\n"))
	if len(data) > 0 && data[len(data)-1] != '\n' {
		lines++
	}
	result.Truncation["totalLines"] = lines
	if err := result.commit(os.Getenv(faultVariable)); err != nil {
		return err
	}
	fmt.Println(`{"type":"update","text":"many\nlines"}`)
	return json.NewEncoder(os.Stdout).Encode(result)
}

// commit makes the result wrong.
func (r *fakeResult) commit(fault string) error {
	switch fault {
	case "exit code":
		r.ExitCode = 1
	case "time":
		r.Seconds = 1000
	case "no time":
		r.Seconds = 0
	case "no wire":
		r.WireBytes = nil
	case "total bytes":
		r.Truncation["totalBytes"]--
	case "total lines":
		r.Truncation["totalLines"]--
	case "no result":
		r.Type = "update"
	case "no spill":
		return os.Remove(r.SpillPath)
	case "short spill":
		return os.Truncate(r.SpillPath, 1000)
	case "crash":
		return fmt.Errorf("crash")
	}
	return nil
}
