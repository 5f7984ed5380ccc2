package protocol

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"testing"
)

// messages makes one of each message that is decoded from a peer's bytes.
var messages = []func() any{
	func() any { return new(Open) },
	func() any { return new(Started) },
	func() any { return new(Failure) },
	func() any { return new(Result) },
	func() any { return new(Request) },
	func() any { return new(Reply) },
	func() any { return new(Notice) },
	func() any { return new(Gap) },
	func() any { return new(View) },
	func() any { return new(Status) },
	func() any { return new(Summary) },
}

// FuzzMessages: whatever a peer sends as any message is refused or understood, strictly by an
// agent and with what it does not know by a client; what is understood comes back the same from
// what it encodes to.
func FuzzMessages(f *testing.F) {
	for _, m := range messages {
		f.Add(Encode(m()))
	}
	f.Add([]byte(`{"id":"x","reason":"exited","exitCode":0,"signal":null,"truncation":{"truncatedBy":null},"leftovers":[{"pid":1,"command":"sleep"}],"seconds":1e-3}`))
	f.Add([]byte(`{"seq":1,"status":{"running":-1},"executions":[{"id":"a","exitCode":null,"seconds":1e300}]}`))
	f.Add([]byte(`{"watcher":18446744073709551615,"taken":9223372036854775807}`))
	f.Fuzz(func(t *testing.T, payload []byte) {
		for _, m := range messages {
			strict, lenient := m(), m()
			errStrict, errLenient := Decode(payload, strict), json.Unmarshal(payload, lenient)
			if errStrict == nil && errLenient != nil {
				t.Errorf("%q is a %T to an agent, and to a client: %v", payload, strict, errLenient)
			}
			if errLenient != nil {
				continue
			}
			again := m()
			if err := Decode(Encode(lenient), again); err != nil {
				t.Errorf("%q as a %T encodes to %q: %v", payload, lenient, Encode(lenient), err)
			} else if once, twice := Encode(lenient), Encode(again); !bytes.Equal(once, twice) {
				t.Errorf("%q as a %T encodes to %q and then to %q", payload, lenient, once, twice)
			}
			if errStrict == nil && !reflect.DeepEqual(strict, lenient) {
				t.Errorf("%q is %+v to an agent and %+v to a client", payload, strict, lenient)
			}
		}
	})
}

// FuzzStdin: a frame of input is refused, or its offset and bytes are those that it was made of.
func FuzzStdin(f *testing.F) {
	f.Add(AppendStdin(nil, 0, nil))
	f.Add(AppendStdin(nil, 1<<40, []byte("input")))
	f.Add(AppendStdin(nil, -1, []byte("input")))
	f.Add(AppendStdin(nil, math.MaxInt64, nil))
	f.Add([]byte("short"))
	f.Fuzz(func(t *testing.T, payload []byte) {
		offset, p, err := CutStdin(payload)
		if err != nil {
			return
		}
		if offset < 0 || offset+int64(len(p)) < 0 || len(p) > MaxStdinFrame {
			t.Errorf("% X: %d bytes at %d", payload, len(p), offset)
		}
		if again := AppendStdin(nil, offset, p); !bytes.Equal(again, payload) {
			t.Errorf("% X: made again it is % X", payload, again)
		}
	})
}

func TestCutStdin(t *testing.T) {
	for _, bad := range [][]byte{nil, make([]byte, 7), make([]byte, 8+MaxStdinFrame+1), AppendStdin(nil, -1, nil), AppendStdin(nil, math.MaxInt64, []byte("x"))} {
		if offset, p, err := CutStdin(bad); err == nil {
			t.Errorf("%.20X…: %d bytes at %d, want an error", bad, len(p), offset)
		}
	}
	largest := AppendStdin(nil, math.MaxInt64-MaxStdinFrame, make([]byte, MaxStdinFrame))
	if offset, p, err := CutStdin(largest); err != nil || offset != math.MaxInt64-MaxStdinFrame || len(p) != MaxStdinFrame {
		t.Errorf("the largest: %d bytes at %d, %v", len(p), offset, err)
	}
}
