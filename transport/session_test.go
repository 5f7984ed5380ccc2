package transport

import (
	"errors"
	"io"
	"testing"
)

func TestHelloReachesTheOtherSide(t *testing.T) {
	client, agent := connectPipe(t)
	if got, want := client.Peer(), (Hello{Software: "test agent", Version: 1, Instance: "one"}); got != want {
		t.Errorf("client's Peer = %+v, want %+v", got, want)
	}
	if got, want := agent.Peer(), (Hello{Software: "test client", Version: 1}); got != want {
		t.Errorf("agent's Peer = %+v, want %+v", got, want)
	}
}

func TestHalfClose(t *testing.T) {
	client, agent := connectPipe(t)
	ours, theirs := openPair(t, client, agent)
	if err := ours.WriteFrame(3, []byte("question")); err != nil {
		t.Fatal(err)
	}
	if err := ours.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	kind, payload, err := theirs.ReadFrame()
	if kind != 3 || string(payload) != "question" || err != nil {
		t.Fatalf("ReadFrame = %d, %q, %v; want 3, %q, nil", kind, payload, err, "question")
	}
	if _, _, err := theirs.ReadFrame(); err != io.EOF {
		t.Fatalf("ReadFrame after the peer's CloseWrite: %v, want io.EOF", err)
	}
	if err := theirs.WriteFrame(4, []byte("answer")); err != nil {
		t.Fatal(err)
	}
	if kind, payload, err := ours.ReadFrame(); kind != 4 || string(payload) != "answer" || err != nil {
		t.Fatalf("ReadFrame = %d, %q, %v; want 4, %q, nil", kind, payload, err, "answer")
	}
	if err := ours.WriteFrame(3, nil); !errors.Is(err, ErrStreamClosed) {
		t.Fatalf("WriteFrame after CloseWrite: %v, want ErrStreamClosed", err)
	}
}
