// Package embed runs an agent inside this process: for a first try, for tests, and for a
// harness that runs where its commands run. Everything else is as over a connection, the
// handshake and the framing included.
package embed
