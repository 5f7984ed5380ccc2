// This file reads the shared secret, from wherever it may come.

package transport

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
)

// Bounds of a token, in bytes.
const (
	// MinToken is the least: 16 random bytes cannot be guessed, fewer perhaps.
	MinToken = 16
	// MaxToken is the most.
	MaxToken = 4096
)

// The variables of the environment that [TokenFromEnvironment] reads.
const (
	EnvToken     = "EXECAGENT_TOKEN"      // the token itself
	EnvTokenFile = "EXECAGENT_TOKEN_FILE" // the path of a file that holds it
)

// Token is the secret that an agent and its clients share. It is a value to hand around, and
// prints as a placeholder. The zero value means that there is none.
type Token struct{ secret *string }

// NewToken returns the token of these bytes, less one newline at their end.
func NewToken(text []byte) (Token, error) {
	text = bytes.TrimSuffix(bytes.TrimSuffix(text, []byte("\n")), []byte("\r"))
	if n := len(text); n < MinToken || n > MaxToken {
		return Token{}, fmt.Errorf("a token of %d bytes: it has %d to %d, and should be random, such as from: head -c 32 /dev/urandom | base64", n, MinToken, MaxToken)
	}
	secret := string(text)
	return Token{&secret}, nil
}

// IsZero reports whether there is no token.
func (t Token) IsZero() bool { return t.secret == nil }

// String returns a placeholder, so that no log has the secret.
func (t Token) String() string {
	if t.IsZero() {
		return "no token"
	}
	return "token (not shown)"
}

// GoString is String.
func (t Token) GoString() string { return t.String() }

// LogValue implements [slog.LogValuer].
func (t Token) LogValue() slog.Value { return slog.StringValue(t.String()) }

// ReadToken reads a token to the end of r.
func ReadToken(r io.Reader) (Token, error) {
	text, err := io.ReadAll(io.LimitReader(r, MaxToken+3)) // with its newline, and one too many
	if err != nil {
		return Token{}, fmt.Errorf("transport: reading the token: %w", err)
	}
	t, err := NewToken(text)
	if err != nil {
		return Token{}, fmt.Errorf("transport: reading the token: %w", err)
	}
	return t, nil
}

// ReadTokenFile reads a token from a file. On Unix the file has to belong to this user or to
// root, and nobody else may have any right to it: what others can read is no secret, and what
// others can write is theirs.
func ReadTokenFile(path string) (Token, error) {
	f, err := os.Open(path)
	if err != nil {
		return Token{}, fmt.Errorf("transport: reading the token: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil {
		err = checkSecret(info)
	}
	if err != nil {
		return Token{}, fmt.Errorf("transport: reading the token from %q: %w", path, err)
	}
	t, err := ReadToken(f)
	if err != nil {
		return Token{}, fmt.Errorf("%w (from %q)", err, path)
	}
	return t, nil
}

// TokenFromEnvironment returns the token that the environment holds or names, or none, and
// removes both variables from it.
func TokenFromEnvironment() (Token, error) {
	text, path := os.Getenv(EnvToken), os.Getenv(EnvTokenFile)
	os.Unsetenv(EnvToken)
	os.Unsetenv(EnvTokenFile)
	switch {
	case text != "" && path != "":
		return Token{}, errors.New("transport: " + EnvToken + " and " + EnvTokenFile + " are both set: which token is meant?")
	case path != "":
		return ReadTokenFile(path)
	case text != "":
		t, err := NewToken([]byte(text))
		if err != nil {
			return Token{}, fmt.Errorf("transport: %s: %w", EnvToken, err)
		}
		return t, nil
	}
	return Token{}, nil
}
