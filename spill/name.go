// File names: the id for a person, a random suffix against collisions.

package spill

import (
	"crypto/rand"
	"fmt"
	"strings"
)

const (
	// MaxIDLength is the longest id that [Store.Begin] takes, in bytes. With suffix and
	// ending it stays well under the 255 bytes that file systems allow for a name.
	MaxIDLength = 128

	fileEnding      = ".out"
	suffixLength    = 8 // base32 characters: 40 bits
	manifestEnding  = ".json"
	temporaryEnding = ".tmp"
)

// checkID returns an error wrapping ErrInvalidID unless id can stand in a file name.
func checkID(id string) error {
	if !validID(id) {
		return fmt.Errorf("spill: create file: %w %.*q: use 1 to %d characters of A-Z a-z 0-9 . _ -",
			ErrInvalidID, MaxIDLength, id, MaxIDLength)
	}
	return nil
}

func validID(id string) bool {
	valid := len(id) >= 1 && len(id) <= MaxIDLength
	for i := 0; valid && i < len(id); i++ {
		valid = isIDByte(id[i])
	}
	return valid
}

func isIDByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
		c == '.' || c == '_' || c == '-'
}

// fileName joins the parts of a name; the suffix keeps ids such as ".." harmless.
func fileName(id, suffix string) string { return id + "-" + suffix + fileEnding }

// idOfFile is the id in a name that fileName made, or "".
func idOfFile(name string) string {
	stem, ok := strings.CutSuffix(name, fileEnding)
	cut := strings.LastIndexByte(stem, '-')
	if !ok || cut < 0 || !validID(stem[:cut]) || !validID(stem[cut+1:]) {
		return ""
	}
	return stem[:cut]
}

func manifestName(id string) string { return id + manifestEnding }

// idOfManifest is the id whose manifest has this name, or "".
func idOfManifest(name string) string {
	id, ok := strings.CutSuffix(name, manifestEnding)
	if !ok || !validID(id) {
		return ""
	}
	return id
}

func randomSuffix() string { return strings.ToLower(rand.Text()[:suffixLength]) }
