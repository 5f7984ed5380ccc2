// Package test holds the end-to-end tests: the real programs, built once and run as children,
// seen from outside.
//
// # Shape
//
//	main_test.go     build the programs, run the tests, look for leaks
//	agent_test.go    one execagent as a child, from start to a clean end
//	follow_test.go   a watcher that checks every state it is shown
//	page_test.go     bytes ─▶ text, the naive way       what the final view
//	want_test.go     text ─▶ view, the naive way        is compared with
//	fold_test.go     wire ops ─▶ document, the naive way
//	display_test.go  bytes ─▶ terminal screen, the naive way
//	secrets_test.go  tokens and certificates
//	ways_test.go     every way in; ssh_test.go through a real ssh; c31_test.go strangers
//	volume_test.go   much of every kind of output, both modes, both ends
//	..._test.go      one subject each
//	testdata/script  execctl as its user sees it, one behaviour a file
//
// # Settings
//
// EXECAGENT_TEST_MIB is the size of each input of the volume test in MiB, 64 without it.
//
// # Rules
//
// Nothing of the product decides what is right: the expected view, text and document are
// computed here, from the bytes, in a way a reader can check by eye. No test sleeps in order
// to wait; where there is no event to wait for, it asks again until a generous deadline.
//
// The tests are for Linux.
package test
