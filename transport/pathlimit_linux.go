// This file holds Linux's limit for a socket's path.

package transport

// maxSocketPath is sizeof(sun_path) less its NUL, in bytes; see unix(7).
const maxSocketPath = 107
