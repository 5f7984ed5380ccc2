//go:build linux

package test

// This file folds batches, the naive way: the wire form of the Chord deltas as its
// documentation has it, on plain maps, for the ops that an agent's batches are made of.

import (
	"encoding/json"
	"fmt"
	"unicode/utf16"
)

// replica is the document of one stream of batches.
type replica struct {
	root  any
	paths map[int][]any // defined by "#"; empty again at each "r"
}

// apply folds one batch.
func (d *replica) apply(wire []byte) error {
	var ops [][]any
	if err := json.Unmarshal(wire, &ops); err != nil {
		return err
	}
	var last []any // an op without a path is about that of the op before it
	for _, op := range ops {
		verb, args := op[0], op[1:]
		switch verb {
		case "r":
			d.root, d.paths, last = args[0], map[int][]any{}, nil
			continue
		case "#":
			d.paths[int(args[0].(float64))] = args[1].([]any)
			continue
		}
		values := map[any]int{"s": 1, "a": 1, "t": 1, "d": 0}
		want, known := values[verb]
		if !known {
			return fmt.Errorf("unknown op %v", op)
		}
		if len(args) > want {
			switch path := args[0].(type) {
			case []any:
				last = path
			case float64:
				last = d.paths[int(path)]
			}
			args = args[1:]
		}
		if len(last) == 0 || len(args) != want {
			return fmt.Errorf("op %v has no path", op)
		}
		if err := d.change(verb, last, args); err != nil {
			return fmt.Errorf("op %v: %w", op, err)
		}
	}
	return nil
}

func (d *replica) change(verb any, path, args []any) error {
	parent, ok := d.get(path[:len(path)-1]...).(map[string]any)
	if !ok {
		return fmt.Errorf("no object above %v", path)
	}
	key := path[len(path)-1].(string)
	if verb == "s" {
		parent[key] = args[0]
		return nil
	}
	old, present := parent[key]
	if verb == "d" && present {
		delete(parent, key)
		return nil
	}
	text, ok := old.(string)
	if !ok {
		return fmt.Errorf("no string at %v", path)
	}
	if verb == "a" {
		parent[key] = text + args[0].(string)
		return nil
	}
	units := utf16.Encode([]rune(text))
	n := int(args[0].(float64))
	if n > len(units) {
		return fmt.Errorf("the string has %d units", len(units))
	}
	parent[key] = string(utf16.Decode(units[n:]))
	return nil
}

// get returns the value at a path, nil where there is none.
func (d *replica) get(path ...any) any {
	at := d.root
	for _, key := range path {
		object, ok := at.(map[string]any)
		if !ok {
			return nil
		}
		at = object[key.(string)]
	}
	return at
}
