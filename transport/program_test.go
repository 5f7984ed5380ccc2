package transport

import (
	"os"
	"testing"
)

func TestProgramEchoes(t *testing.T) {
	t.Setenv(helperEnv, "agent")
	ctx := testContext(t)
	conn, err := DialConn(ctx, Address{SchemeStdio, os.Args[0]})
	if err != nil {
		t.Fatal(err)
	}
	s, err := Client(ctx, conn, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	st, err := s.Open(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	if err := st.WriteFrame(1, []byte("over two pipes")); err != nil {
		t.Fatal(err)
	}
	if _, payload, err := st.ReadFrame(); string(payload) != "over two pipes" || err != nil {
		t.Fatalf("ReadFrame = %q, %v; want the payload back", payload, err)
	}
}
