//go:build linux

package execagent

import (
	"encoding/json"
	"testing"

	"github.com/execagent/execagent/limits"
	"github.com/execagent/execagent/spill"
	"github.com/execagent/execagent/transport/protocol"
)

// Whatever a manifest says, a client can be told of it.
func TestRecallForgedManifests(t *testing.T) {
	a := newAgent(t)
	for _, text := range []string{
		`{}`, `{"limits":{"maxBytes":-1,"maxLines":-7,"retain":"x"}}`, `{"limits":{"maxBytes":9223372036854775807}}`,
		`{"result":{}}`, `{"result":{"exitCode":-1,"leftovers":null,"truncation":{"totalLines":9223372036854775807,"totalBytes":-5}}}`,
		`{"interactive":true,"stdin":"x","result":{"reason":"nonsense","signal":"","spillError":{}}}`,
	} {
		for _, state := range []spill.State{spill.Settled, spill.Lost} {
			var d detail
			if err := json.Unmarshal([]byte(text), &d); err != nil {
				t.Fatal(err)
			}
			e := a.recalled(&spill.Info{Manifest: spill.Manifest{ID: "x", State: state, Bytes: 5, Lines: 1}}, &d)
			w := document{e: e}
			var b batch
			if final, err := w.next(&b); err != nil || !final || !json.Valid(b.wire) {
				t.Errorf("%s, %s: batch %s, %v, %v, want the last", state, text, b.wire, final, err)
			}
			if !json.Valid(protocol.Encode(e.result)) || e.signal("INT") == nil || e.resize(80, 25) == nil {
				t.Errorf("%s, %s: it takes a signal or a size", state, text)
			}
			e.end(protocol.ReasonCanceled)
		}
	}
}

// However long names are, a detail fits a manifest.
func TestDetailFits(t *testing.T) {
	long := string(make([]byte, 200)) // each byte takes six in JSON
	r := protocol.Result{SpillError: &protocol.SpillError{Message: long}}
	for range 100 {
		r.Leftovers = append(r.Leftovers, protocol.Process{PID: 1, Command: long})
	}
	d := detail{Command: protocol.Shorten(long), Result: &r, Limits: limits.Limits{MaxBytes: 1}}
	if got := len(d.encode()); got > spill.MaxDetail {
		t.Errorf("%d bytes, want at most %d", got, spill.MaxDetail)
	}
}
