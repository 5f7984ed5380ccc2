// What records are made from: a counter, random bits that are always the same, phrases, words.

package gen

import "math/rand/v2"

// phraseBits is how many bits pick a phrase: there are 1024.
const phraseBits = 10

// source is the state of a stream between two records.
type source struct {
	count   uint64   // records made so far
	pcg     rand.PCG // the sequence of a zero PCG is part of what the inputs are
	bits    uint64   // random bits not yet used
	have    uint     // how many of them
	phrases [1 << phraseBits][]byte
}

// newSource returns the beginning of a stream with phrases of that make.
func newSource(phrase func(s *source, dst []byte) []byte) *source {
	s := new(source)
	for i := range s.phrases {
		s.phrases[i] = phrase(s, nil)
	}
	return s
}

// pick returns n random bits, n at most 16.
func (s *source) pick(n uint) int {
	if s.have < n {
		s.bits, s.have = s.pcg.Uint64(), 64
	}
	v := s.bits & (1<<n - 1)
	s.bits >>= n
	s.have -= n
	return int(v)
}

// next returns the number of the record to make.
func (s *source) next() uint64 {
	s.count++
	return s.count - 1
}

// phrase returns one of the phrases.
func (s *source) phrase() []byte { return s.phrases[s.pick(phraseBits)] }

// word returns a word and the blank before it.
func (s *source) word() string { return words[s.pick(6)] }

// appendWords appends a phrase of four words.
func appendWords(s *source, dst []byte) []byte {
	for range 4 {
		dst = append(dst, s.word()...)
	}
	return dst
}

// words begin with the blank: one append each.
var words = [64]string{
	" accept", " agent", " alloc", " append", " archive", " base", " batch", " block",
	" branch", " buffer", " build", " cache", " channel", " checksum", " client", " close",
	" commit", " compile", " config", " connection", " copy", " deadline", " decode", " delta",
	" digest", " encode", " error=nil", " fetch", " flush", " frame", " handler", " index",
	" install", " journal", " latency=12ms", " link", " lock", " manifest", " module", " offset=4096",
	" open", " package", " parse", " peer", " pid=4711", " queue", " read", " release",
	" request", " resolve", " retry", " session", " shard", " signal", " snapshot", " socket",
	" status=200", " stream", " sync", " test", " timeout", " update", " window", " write",
}

// appendPadded appends v with leading zeros: the last width decimal digits of it.
func appendPadded(dst []byte, v uint64, width int) []byte {
	start := len(dst)
	dst = append(dst, "00000000000000000000"[:width]...)
	for i := len(dst) - 1; i >= start && v > 0; i-- {
		dst[i] = byte('0' + v%10)
		v /= 10
	}
	return dst
}
