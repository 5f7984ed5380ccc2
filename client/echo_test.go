package client

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
)

// ServeEcho in the environment makes the test binary a JSON-RPC server on stdin and stdout,
// which answers each line with its params as result.
const ServeEcho = "CLIENT_TEST_SERVE_ECHO"

func serveEcho(r io.Reader, w io.Writer) error {
	in := bufio.NewReader(r)
	for {
		line, err := in.ReadBytes('\n')
		if err == io.EOF && len(line) == 0 {
			return nil
		} else if err != nil {
			return err
		}
		var m struct {
			ID     int             `json:"id"`
			Params json.RawMessage `json:"params"`
		}
		if err := json.Unmarshal(line, &m); err != nil {
			return err
		}
		if _, err := fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%d,"result":%s}`+"\n", m.ID, m.Params); err != nil {
			return err
		}
	}
}

// serveEchoIfAsked does not return if it was asked for.
func serveEchoIfAsked() {
	if os.Getenv(ServeEcho) == "" {
		return
	}
	if err := serveEcho(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}
