// This file holds the benchmarks, and a bound on what idle streams hold.

package transport

import (
	"bytes"
	"runtime"
	"testing"
)

// benchPayloads are a full view's worth of text, of the compressible and of the
// other kind, and a keystroke.
var benchPayloads = []struct {
	name    string
	payload []byte
}{
	{"log50KiB", logText(50 << 10)},
	{"noise50KiB", noise(50 << 10)},
	{"1B", []byte{'x'}},
}

// BenchmarkWriteFrame writes over a unix socket to a peer that throws away.
func BenchmarkWriteFrame(b *testing.B) {
	for _, p := range benchPayloads {
		b.Run(p.name, func(b *testing.B) {
			client, agent := connectUnix(b, Options{}, Options{})
			ours, theirs := openPair(b, client, agent)
			drained := make(chan struct{})
			go func() {
				defer close(drained)
				buf := make([]byte, 64<<10)
				for {
					if _, err := theirs.mux.Read(buf); err != nil {
						return
					}
				}
			}()
			b.SetBytes(int64(len(p.payload)))
			b.ReportAllocs()
			before := client.BytesWritten()
			for b.Loop() {
				if err := ours.WriteFrame(1, p.payload); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(client.BytesWritten()-before)/float64(b.N), "wire-B/op")
			client.Close()
			<-drained
		})
	}
}

// BenchmarkReadFrame reads frames that are already in memory.
func BenchmarkReadFrame(b *testing.B) {
	for _, p := range benchPayloads {
		b.Run(p.name, func(b *testing.B) {
			frame := appendFrame(nil, 1, p.payload, nil)
			source := bytes.NewReader(frame)
			r := frameReader{r: source, limit: MaxPayload}
			b.SetBytes(int64(len(p.payload)))
			b.ReportAllocs()
			for b.Loop() {
				source.Reset(frame)
				if _, payload, _, err := r.next(); err != nil || len(payload) != len(p.payload) {
					b.Fatalf("%d bytes, %v", len(payload), err)
				}
			}
		})
	}
}

// BenchmarkRoundTrip sends a frame and waits for its echo.
func BenchmarkRoundTrip(b *testing.B) {
	for _, p := range benchPayloads {
		for _, over := range []struct {
			name  string
			start func(testing.TB) (client, agent *Session)
		}{
			{"unix", func(b testing.TB) (client, agent *Session) { return connectUnix(b, Options{}, Options{}) }},
			{"inproc", connectPipe},
		} {
			b.Run(p.name+"/"+over.name, func(b *testing.B) {
				client, agent := over.start(b)
				ours, theirs := openPair(b, client, agent)
				echoed := make(chan error, 1)
				go func() { echoed <- echo(theirs) }()
				b.SetBytes(int64(len(p.payload)))
				b.ReportAllocs()
				for b.Loop() {
					if err := ours.WriteFrame(1, p.payload); err != nil {
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

// BenchmarkHandshake connects two sides in this process and parts them.
func BenchmarkHandshake(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		clientConn, agentConn := Pipe()
		served := make(chan error, 1)
		go func() {
			s, err := Server(b.Context(), agentConn, Options{})
			if err == nil {
				<-s.Done()
				s.Close()
			}
			served <- err
		}()
		s, err := Client(b.Context(), clientConn, Options{})
		if err != nil {
			b.Fatal(err)
		}
		s.Close()
		if err := <-served; err != nil {
			b.Fatal(err)
		}
	}
}

// TestIdleStreamsAreSmall opens many streams, uses each once with a frame of a
// full view, and looks at what stays.
func TestIdleStreamsAreSmall(t *testing.T) {
	const streams = 200
	client, agent := connectPipe(t)
	view := logText(50 << 10)
	use := func() (ends []*Stream) {
		for i := range streams {
			ours, theirs := openPair(t, client, agent)
			wrote := make(chan error, 1)
			go func() { wrote <- theirs.WriteFrame(1, view) }()
			if _, payload, err := ours.ReadFrame(); err != nil || !bytes.Equal(payload, view) {
				t.Fatalf("stream %d: %d bytes, %v", i, len(payload), err)
			}
			if err := <-wrote; err != nil {
				t.Fatal(err)
			}
			ours.frames.release() // as the next ReadFrame does first
			mustWrite(t, ours, 2, `{"ack":1}`)
			mustRead(t, theirs, 2, `{"ack":1}`)
			theirs.frames.release()
			ends = append(ends, ours, theirs)
		}
		return ends
	}
	use() // the coders and pools
	before := liveHeap()
	ends := use()
	each := (liveHeap() - before) / int64(len(ends))
	t.Logf("%d bytes for each end of an idle stream", each)
	// Most of it is yamux's receive buffer on the reading side.
	if each > 40<<10 {
		t.Errorf("%d bytes for each end of an idle stream, want at most 40 KiB", each)
	}
	runtime.KeepAlive(ends)
}

func liveHeap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
