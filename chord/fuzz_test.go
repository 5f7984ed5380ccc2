// Fuzz targets, which begin with the case tables. As tests they run the seeds.

package chord

import (
	"bytes"
	"encoding/json"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
	"unsafe"
)

func addCases(f *testing.F, add func(doc, wire []byte)) {
	for _, file := range []string{"valid.json", "hostile.json"} {
		for _, c := range readCases(f, file) {
			doc, err := json.Marshal(c.Doc)
			if err != nil {
				f.Fatal(err)
			}
			for _, wire := range c.Wire {
				add(doc, []byte(wire))
			}
			// As one batch, so that ids find their definitions.
			add(doc, []byte(strings.ReplaceAll(strings.Join(c.Wire, ","), "],[[", ",[")))
		}
	}
}

// FuzzDecode: whatever the bytes are, decoding ends, takes memory in proportion,
// and gives operations that come back from the encoder.
func FuzzDecode(f *testing.F) {
	addCases(f, func(_, wire []byte) { f.Add(wire) })
	f.Fuzz(func(t *testing.T, wire []byte) {
		var decoder Decoder
		ops, err := decoder.Decode(nil, wire)
		valid := ValidateWire(wire)
		if err != nil {
			if errorType(err) == "another" || errorType(err) == "none" {
				t.Fatalf("Decode(%q): unexpected %T: %v", wire, err, err)
			}
			if shape := new(ShapeError); valid == nil && !asError(err, &shape) {
				t.Fatalf("Decode(%q): %v, but ValidateWire finds nothing", wire, err)
			}
			return
		}
		if valid != nil {
			t.Fatalf("ValidateWire(%q): %v, but Decode finds nothing", wire, valid)
		}
		if size, most := memory(ops), maxMultiple*len(wire)+1024; size > most {
			t.Fatalf("Decode of %d bytes takes %d, more than %d", len(wire), size, most)
		}
		for i := range ops {
			if err := Validate(&ops[i]); err != nil {
				t.Fatalf("Decode(%q) gives an invalid operation: %v", wire, err)
			}
		}
		own, err := new(Encoder).Encode(nil, ops)
		if err != nil {
			t.Fatalf("Encode of what Decode(%q) gave: %v", wire, err)
		}
		if back, err := new(Decoder).Decode(nil, own); err != nil || diffOps(ops, back) != "" {
			t.Fatalf("Decode(%s): %v\n%s", own, err, diffOps(ops, back))
		}
	})
}

func asError[E error](err error, target *E) bool {
	batch, ok := err.(*BatchError)
	if !ok {
		return false
	}
	*target, ok = batch.Cause.(E)
	return ok
}

// memory is what values take, strings and all.
func memory(v any) int { return memoryOf(reflect.ValueOf(v)) }

func memoryOf(v reflect.Value) int {
	switch v.Kind() {
	case reflect.String:
		return v.Len()
	case reflect.Slice:
		size := v.Cap() * int(v.Type().Elem().Size())
		for i := range v.Len() {
			size += memoryOf(v.Index(i))
		}
		return size
	case reflect.Map:
		// A group of eight slots is the least that a map with an element has.
		size := int(unsafe.Sizeof([6]uint64{})) + (v.Len()+7)/8*(8+8*32)*2
		for iter := v.MapRange(); iter.Next(); {
			size += memoryOf(iter.Key()) + memoryOf(iter.Value())
		}
		return size
	case reflect.Struct:
		size := 0
		for i := range v.NumField() {
			size += memoryOf(v.Field(i))
		}
		return size
	case reflect.Interface:
		if v.IsNil() {
			return 0
		}
		return int(v.Elem().Type().Size()) + memoryOf(v.Elem())
	}
	return 0
}

// FuzzJSON compares with encoding/json, which differs only in what Go strings
// cannot hold, and in how deep it goes.
func FuzzJSON(f *testing.F) {
	addCases(f, func(doc, wire []byte) {
		f.Add(doc)
		f.Add(wire)
	})
	for _, s := range []string{`"\ud83d\ude00"`, `"\ud83d"`, "\"\xff\"", `"\u0000"`, ` [ 1 , { "a" : null } ] `, `{"a":1,"a":{"b":2}}`, `-0`, `1e-999`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, err := parse(raw, 0)
		var want any
		wantErr := json.Unmarshal(raw, &want)
		switch {
		case err == nil && wantErr != nil:
			t.Fatalf("read %q as %v, but encoding/json says %v", raw, got, wantErr)
		case err == nil && !equal(got, want):
			t.Fatalf("read %q as %v, encoding/json as %v", raw, got, want)
		case err != nil && wantErr == nil && !isStricter(err, raw):
			t.Fatalf("cannot read %q: %v, but encoding/json reads %v", raw, err, want)
		}
	})
}

var surrogateEscape = regexp.MustCompile(`\\u[dD][89a-fA-F]`)

// isStricter reports whether err is about something in raw that encoding/json
// replaces or has another limit for.
func isStricter(err error, raw []byte) bool {
	switch {
	case strings.Contains(err.Error(), "UTF-8"):
		return !utf8.Valid(raw)
	case strings.Contains(err.Error(), "surrogate"):
		return surrogateEscape.Match(raw)
	}
	_, ok := err.(*LimitError)
	return ok
}

// FuzzApply compares Apply, ApplyImmutable and the oracle.
func FuzzApply(f *testing.F) {
	addCases(f, func(doc, wire []byte) { f.Add(doc, wire) })
	f.Fuzz(func(t *testing.T, raw, wire []byte) {
		doc, err := parse(raw, 0)
		if err != nil {
			return
		}
		ops, err := new(Decoder).Decode(nil, wire)
		if err != nil {
			return
		}
		before := clone(doc)
		frozen, frozenErr := ApplyImmutable(doc, ops)
		if !equal(doc, before) {
			t.Fatalf("ApplyImmutable(%s, %s) changed its argument", raw, wire)
		}
		got, err := Apply(clone(doc), cloneOps(ops))
		if (err == nil) != (frozenErr == nil) || err != nil && err.Error() != frozenErr.Error() {
			t.Fatalf("Apply(%s, %s): %v, ApplyImmutable: %v", raw, wire, err, frozenErr)
		}
		if err != nil {
			if !equal(frozen, before) {
				t.Fatalf("ApplyImmutable(%s, %s) returned %v with its error", raw, wire, frozen)
			}
		}
		folded := fold(t, doc, wire, err)
		if err != nil {
			return
		}
		want := doc
		for _, op := range ops {
			want = oracle(want, op)
		}
		if !equal(got, want) || !equal(frozen, want) || !equal(folded, want) {
			t.Fatalf("Apply(%s, %s) = %v\nApplyImmutable = %v\nFold = %v\nwant %v", raw, wire, got, frozen, folded, want)
		}
	})
}

// fold returns what a replica of doc makes of wire, when that is to end as want says.
func fold(t *testing.T, doc any, wire []byte, want error) any {
	t.Helper()
	var replica Replica
	if err := replica.Apply([]Op{{Verb: Replace, Value: clone(doc)}}); err != nil {
		t.Fatal(err)
	}
	lent := bytes.Clone(wire)
	err := replica.Fold(new(Decoder), lent)
	clear(lent) // to which the document must not refer
	if (err == nil) != (want == nil) || err != nil && err.Error() != want.Error() {
		t.Fatalf("Fold(%v, %s): %v, want %v", doc, wire, err, want)
	}
	value, _ := replica.Value()
	return value
}

// FuzzDocument performs a batch on a Document, with flushes between, and compares
// with the oracle and a replica.
func FuzzDocument(f *testing.F) {
	addCases(f, func(doc, wire []byte) { f.Add(doc, wire, uint64(0)) })
	f.Fuzz(func(t *testing.T, raw, wire []byte, flushes uint64) {
		doc, err := parse(raw, 0)
		if err != nil {
			return
		}
		ops, err := new(Decoder).Decode(nil, wire)
		if err != nil || IsBase(ops) {
			return
		}
		document, err := NewDocument(doc)
		if err != nil {
			t.Fatal(err)
		}
		var replica Replica
		flush := func() {
			batch := document.Flush(nil)
			if err := replica.Apply(batch); err != nil {
				t.Fatalf("%s, %s, %b: flushed %v: %v", raw, wire, flushes, batch, err)
			}
			if value, _ := replica.Value(); !equal(value, doc) {
				t.Fatalf("%s, %s, %b: replica is %v, want %v", raw, wire, flushes, value, doc)
			}
		}
		flush()
		for i := range ops {
			before := doc
			_, wantErr := ApplyImmutable(doc, ops[i:i+1])
			if err := perform(document, &ops[i]); (err == nil) != (wantErr == nil) {
				t.Fatalf("%s, %s: operation %d: %v, want %v", raw, wire, i, err, wantErr)
			}
			if wantErr == nil {
				doc = oracle(before, ops[i])
			}
			if flushes>>(i%64)&1 == 1 {
				flush()
			}
		}
		flush()
		if !equal(document.Value(), doc) {
			t.Fatalf("%s, %s: document is %v, want %v", raw, wire, document.Value(), doc)
		}
	})
}

// FuzzTracker compares two documents and applies the difference.
func FuzzTracker(f *testing.F) {
	addCases(f, func(doc, wire []byte) { f.Add(doc, wire) })
	f.Fuzz(func(t *testing.T, rawOld, rawNext []byte) {
		old, err := parse(rawOld, 0)
		if err != nil {
			return
		}
		next, err := parse(rawNext, 0)
		if err != nil {
			return
		}
		var tracker Tracker
		if _, err := tracker.Flush(old); err != nil {
			t.Fatal(err)
		}
		ops, err := tracker.Flush(next)
		if err != nil {
			t.Fatal(err)
		}
		wire, err := new(Encoder).Encode(nil, ops)
		if err != nil {
			t.Fatalf("from %s to %s: Encode(%v): %v", rawOld, rawNext, ops, err)
		}
		decoded, err := new(Decoder).Decode(nil, wire)
		if err != nil {
			t.Fatalf("from %s to %s: Decode(%s): %v", rawOld, rawNext, wire, err)
		}
		got, err := Apply(clone(old), decoded)
		if err != nil || !equal(got, next) {
			t.Fatalf("from %s to %s: Apply(%s) = %v, %v", rawOld, rawNext, wire, got, err)
		}
		if len(ops) > 0 && equal(old, next) && !IsBase(ops) {
			t.Fatalf("from %s to %s: %s for equal documents", rawOld, rawNext, wire)
		}
	})
}
