// Operations: the seven verbs and what each one carries.

package chord

// Verb says what an operation does. Its value is the letter that stands for it
// on the wire.
type Verb byte

// The verbs of the vocabulary, with the fields of [Op] that each one uses.
const (
	Replace  Verb = 'r' // replace the complete document by Value; first in its batch, no Path
	Set      Verb = 's' // set the property or element at Path to Value
	Delete   Verb = 'd' // delete the object property at Path
	Append   Verb = 'a' // append Text to the string at Path
	Truncate Verb = 't' // remove Count UTF-16 code units from the front of the string at Path
	Splice   Verb = 'p' // in the array at Path, replace Remove elements from Index on by Items
	Move     Verb = 'm' // reorder the array at Path: new[i] = old[Perm[i]]
)

// String returns the verb's letter, or a number for a byte that is no verb.
func (v Verb) String() string {
	if v.valid() {
		return string(rune(v))
	}
	return "Verb(" + quote(string([]byte{byte(v)})) + ")"
}

func (v Verb) valid() bool {
	switch v {
	case Replace, Set, Delete, Append, Truncate, Splice, Move:
		return true
	}
	return false
}

// Op is one operation with its complete path. Fields that the verb does not use
// are ignored and should be zero.
//
// Value and Items hold plain JSON values: nil, bool, float64, string, []any and
// map[string]any. [Apply] puts them into the document as they are, so an Op that
// carries a container belongs to the first document it is applied to.
type Op struct {
	Verb   Verb
	Path   Path   // all verbs but Replace; empty (the root) only for Splice and Move
	Value  any    // Replace, Set
	Text   string // Append; valid UTF-8
	Count  int    // Truncate: UTF-16 code units, 0 or more
	Index  int    // Splice: first element concerned, 0 to the array's length
	Remove int    // Splice: number of elements removed, 0 or more
	Items  []any  // Splice: elements inserted
	Perm   []int  // Move: a permutation of 0 … length-1
}

// IsBase reports whether the batch begins with a [Replace], so that a replica
// can start from it without having seen what came before.
func IsBase(ops []Op) bool { return len(ops) > 0 && ops[0].Verb == Replace }
