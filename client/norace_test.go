//go:build !race

package client_test

// underRace says that the race detector makes everything some ten times slower.
const underRace = false
