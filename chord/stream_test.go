// The example stream of the specification, end to end.

package chord

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSpecificationExample(t *testing.T) {
	var e Encoder
	var d Decoder
	var r Replica
	text, total := P("text"), P("truncation", "totalBytes")
	want := []string{
		`[["r",{"text":"","truncation":{"totalBytes":0}}]]`,
		`[["a",["text"],"cc -c a.c\n"],["s",["truncation","totalBytes"],10]]`,
		`[["#",0,["text"]],["a",0,"cc -c b.c\n"],["#",1,["truncation","totalBytes"]],["s",1,20]]`,
		`[["t",0,10],["a","cc -c c.c\n"],["s",1,30]]`,
	}
	for i := range want {
		b := e.Begin(nil)
		switch i {
		case 0:
			b.ReplaceJSON([]byte(`{"text":"","truncation":{"totalBytes":0}}`))
		case 3:
			b.Truncate(text, 10)
			fallthrough
		default:
			b.AppendText(text, []byte("cc -c "+string(rune('a'+i-1))+".c\n"))
			b.SetInt(total, int64(i)*10)
		}
		out, err := b.End()
		if err != nil || string(out) != want[i] {
			t.Fatalf("batch %d: %s, %v", i, out, err)
		}
		ops, err := d.Decode(out)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Apply(ops); err != nil {
			t.Fatal(err)
		}
	}
	v, _ := r.Value()
	var w any
	json.Unmarshal([]byte(`{"text":"cc -c b.c\ncc -c c.c\n","truncation":{"totalBytes":30}}`), &w)
	if d := cmp.Diff(w, v); d != "" {
		t.Fatal(d)
	}
}
