// Package faults has a proxy that breaks connections, and the tests of what clients and agents
// make of it.
//
// # Shape
//
//	client ──▶ Proxy ──▶ agent
//	             │
//	           Plan: cut, corrupt, stall, swallow at a byte; delay and rate
//
// A [Plan] says what happens to one connection, in each direction, at which byte: so a test can
// go through all bytes of a session.
//
// # Settings
//
// EXECAGENT_FAULTS=full goes through every byte, with real times, as often as the cases say;
// it takes ten minutes. Without it the tests take a sample, and short times.
package faults
