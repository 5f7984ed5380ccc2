// This file holds the other systems' limit for a socket's path.

//go:build !linux

package transport

// maxSocketPath is sizeof(sun_path) less its NUL, in bytes, on the BSDs and
// macOS, which have the smallest.
const maxSocketPath = 103
