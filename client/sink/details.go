package sink

// This file is the details: a value of the tool's own type, which changes by difference.

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	"github.com/execagent/execagent/chord"
	"github.com/execagent/execagent/client/lane"
	"github.com/execagent/execagent/limits"
)

// ToolOutput is what one call of a tool produces. It is the result: what its flushes were folded
// to is what the model gets. D is the tool's own type of details, any that encoding/json can
// marshal.
//
// [Runner.Run] makes one for each call. [New] is for a harness that runs tools in its own way.
type ToolOutput[D any] struct {
	*Output
	value *D
}

// New returns an empty output. The limits bound its text; their error is a [*limits.Error].
func New[D any](l limits.Limits) (*ToolOutput[D], error) { return newToolOutput[D](l, nil) }

// newToolOutput returns an output that begins as state, or empty for nil. Details that are no D
// are an error.
func newToolOutput[D any](l limits.Limits, state *lane.State) (*ToolOutput[D], error) {
	out := &ToolOutput[D]{value: new(D)}
	if state != nil {
		if err := json.Unmarshal(state.Details, out.value); err != nil {
			return nil, fmt.Errorf("sink: details of an earlier run: %w", err)
		}
	}
	o, err := newOutput(l, state)
	if err != nil {
		return nil, err
	}
	out.Output = o
	o.details.encode = func() ([]byte, error) { return json.Marshal(out.value) }
	o.details.fixed = reflect.TypeFor[D]().Size() == 0
	if err := o.takeDetails(); err != nil {
		return nil, err
	}
	return out, nil
}

// Details returns the tool's details, to be changed as the tool likes. The output looks at them
// in each of its methods, in [Output.Changed] and when the call ends; so they belong to the
// goroutine that uses the output, and a tool with several holds a lock around both.
//
// Details over 4 KiB of JSON are looked at every 10 ms at most, except by Changed and at the end. Over
// [MaxDetailsBytes] they stay as they were, and the call fails.
func (out *ToolOutput[D]) Details() *D { return out.value }

const (
	// largeDetails is the size from which details are not looked at in every call, in bytes.
	largeDetails = 4 << 10
	lookInterval = 10 * time.Millisecond
)

// details is the state of looking at them.
type details struct {
	encode func() ([]byte, error)
	fixed  bool   // the type holds nothing
	last   []byte // encoded
	plain  any    // the same, as the document has it
	looked time.Time
	err    error // of the last look, nil when it was taken
}

// Changed looks at the details. It is for a tool that changes them and calls nothing else, and
// returns what is wrong with them, such as a [*BoundError].
func (o *Output) Changed() error {
	o.mu.Lock()
	if o.ended {
		o.mu.Unlock()
		return ErrEnded
	}
	looked := o.lookNow(true)
	err := o.details.err
	o.mu.Unlock()
	if looked {
		o.changed(limits.Shown)
	}
	return err
}

// lookNow takes the details if they have changed. The caller holds mu, and is the goroutine
// that may look.
func (o *Output) lookNow(force bool) (changed bool) {
	d := &o.details
	if d.encode == nil || d.fixed || !force && len(d.last) > largeDetails && time.Since(d.looked) < lookInterval {
		return false
	}
	was := d.last
	d.err = o.takeDetails()
	return d.err == nil && !bytes.Equal(was, d.last)
}

func (o *Output) takeDetails() error {
	d := &o.details
	d.looked = time.Now()
	raw, err := d.encode()
	if err != nil {
		return fmt.Errorf("sink: encoding the details: %w", err)
	}
	if err := checkBound("details", len(raw), MaxDetailsBytes, "bytes of JSON"); err != nil {
		return err
	}
	if bytes.Equal(raw, d.last) {
		return nil
	}
	// Within an object, as in the document, for the bound of nesting.
	wrapped, err := chord.Plain(map[string]any{"details": json.RawMessage(raw)})
	if err != nil {
		return fmt.Errorf("sink: encoding the details: %w", err)
	}
	d.last, d.plain = raw, wrapped.(map[string]any)["details"]
	o.dirty, o.aside = true, true
	return nil
}
