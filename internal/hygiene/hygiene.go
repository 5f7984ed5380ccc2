// Package hygiene rids a process of what its parent left in it, so that the commands it starts
// do not inherit that: open descriptors, ignored signals, blocked signals.
//
// Go's own descriptors are closed on exec, and signals that it handles are reset; what comes
// from outside is not. A command that inherits an ignored SIGPIPE or SIGINT behaves oddly, one
// with a foreign descriptor can hold a port or a lock, or read a secret.
package hygiene
