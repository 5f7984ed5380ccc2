package profiler

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// ask sends a request and returns everything that comes back.
func ask(t *testing.T, path, request string) []byte {
	t.Helper()
	conn, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	_ = conn.(*net.UnixConn).CloseWrite()
	got, err := io.ReadAll(conn)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestServe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- Serve(ctx, l) }()

	for _, request := range []string{"heap\n", "goroutine\n", "cpu 1\n"} {
		got := ask(t, path, request)
		z, err := gzip.NewReader(bytes.NewReader(got))
		if err != nil {
			t.Errorf("%q: %v in %.40q", request, err, got)
			continue
		}
		if profile, err := io.ReadAll(z); err != nil || len(profile) == 0 {
			t.Errorf("%q: a profile of %d bytes, %v", request, len(profile), err)
		}
	}
	for _, request := range []string{
		"", "\n", "heap", "nothing\n", "heap 3\n", "cpu 0\n", "cpu 601\n", "cpu x\n", "cpu 1 1\n",
		strings.Repeat("x", maxRequest), "GET / HTTP/1.1\r\n",
	} {
		if got := ask(t, path, request); !bytes.HasPrefix(got, []byte("error: ")) || bytes.Count(got, []byte("\n")) != 1 || len(got) > 300 {
			t.Errorf("%.40q: answered %q, want one line that says error", request, got)
		}
	}

	silent, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	cancel()
	if err := <-served; err != nil {
		t.Error(err)
	}
	if _, err := silent.Read(make([]byte, 1)); err == nil {
		t.Error("a client is kept after the end")
	}
}
