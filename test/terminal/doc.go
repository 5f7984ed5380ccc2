// Package terminal holds no code: its tests compare the text of a view with what terminals and
// people make of the same bytes.
//
// TestRecordings reads what real programs printed under a PTY, kept in testdata with the plain
// text that a person has checked beside it; testdata/record.sh made the recordings.
//
// TestAgainstTmux prints generated streams in a real tmux and compares what it shows, scrollback
// included. It prints the seed; more streams and another seed are asked for by
//
//	go test ./test/terminal -run Tmux -streams 5000 -seed 7
package terminal
