// Package gen makes the inputs of the benchmarks: endless texts of a few kinds, the same
// bytes on every machine and for every way of reading them.
//
//	r, err := gen.NewReader(gen.Lines, 1<<30)
//	...
//	io.Copy(file, r)
//
// A kind names a way in which output is hard on whoever shows it: many lines, no line at all,
// escape sequences, carriage returns, bytes that are not text. The first N bytes of a kind are
// the same whatever the size asked for. There is no seed: a figure measured on an input
// is comparable only if the input is.
package gen
