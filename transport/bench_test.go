package transport

import (
	"net"
	"path/filepath"
	"testing"
)

// connectUnix is connect over a unix socket.
func connectUnix(t testing.TB, clientOpts, agentOpts Options) (client, agent *Session) {
	t.Helper()
	ctx := testContext(t)
	addr := Address{SchemeUnix, filepath.Join(t.TempDir(), "s")}
	l, err := Listen(ctx, addr)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	accepted := make(chan net.Conn, 1)
	go func() {
		defer close(accepted)
		if conn, err := l.Accept(); err == nil {
			accepted <- conn
		}
	}()
	conn, err := DialConn(ctx, addr)
	if err != nil {
		t.Fatal(err)
	}
	agentConn, ok := <-accepted
	if !ok {
		t.Fatal("Accept failed")
	}
	return connect(t, conn, agentConn, clientOpts, agentOpts)
}

func BenchmarkRoundTrip(b *testing.B) {
	for _, size := range []int{1, 50 << 10} {
		payload := logText(size)
		for name, start := range map[string]func() (*Session, *Session){
			"unix":   func() (*Session, *Session) { return connectUnix(b, Options{}, Options{}) },
			"inproc": func() (*Session, *Session) { return connectPipe(b) },
		} {
			b.Run(name+"/"+byteSize(size), func(b *testing.B) {
				client, agent := start()
				ours, theirs := openPair(b, client, agent)
				echoed := make(chan error, 1)
				go func() { echoed <- echo(theirs) }()
				b.SetBytes(int64(size))
				b.ReportAllocs()
				for b.Loop() {
					if err := ours.WriteFrame(1, payload); err != nil {
						b.Fatal(err)
					}
					if _, _, err := ours.ReadFrame(); err != nil {
						b.Fatal(err)
					}
				}
				ours.Close()
				<-echoed
			})
		}
	}
}

func byteSize(n int) string {
	if n < 1<<10 {
		return "1B"
	}
	return "50KiB"
}
