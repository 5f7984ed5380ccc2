// File names: the id for a person, a random suffix against collisions.

package spill

import (
	"crypto/rand"
	"fmt"
	"strings"
)

const (
	// MaxIDLength is the longest id that [Store.Create] takes, in bytes. With suffix and
	// ending it stays well under the 255 bytes that file systems allow for a name.
	MaxIDLength = 128

	fileEnding   = ".out"
	suffixLength = 8 // base32 characters: 40 bits
)

// checkID returns an error wrapping ErrInvalidID unless id can stand in a file name.
func checkID(id string) error {
	valid := len(id) >= 1 && len(id) <= MaxIDLength
	for i := 0; valid && i < len(id); i++ {
		valid = isIDByte(id[i])
	}
	if !valid {
		return fmt.Errorf("spill: create file: %w %.*q: use 1 to %d characters of A-Z a-z 0-9 . _ -",
			ErrInvalidID, MaxIDLength, id, MaxIDLength)
	}
	return nil
}

func isIDByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
		c == '.' || c == '_' || c == '-'
}

// fileName joins the parts of a name; the suffix keeps ids such as ".." harmless.
func fileName(id, suffix string) string { return id + "-" + suffix + fileEnding }

func randomSuffix() string { return strings.ToLower(rand.Text()[:suffixLength]) }
