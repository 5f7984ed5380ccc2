// Package chord keeps JSON documents on two machines equal by sending small
// changes: the Chord delta vocabulary, as the JavaScript package
// @earendil-works/chord publishes it under ./delta, in Go.
package chord
