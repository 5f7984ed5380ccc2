package protocol

// This file is what a client asks for: one command and how to run it.

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/execagent/execagent/limits"
)

const (
	// MaxIDBytes bounds an execution's ID.
	MaxIDBytes = 128
	// DefaultGrace is the time between asking a command to end and killing it.
	DefaultGrace = 2 * time.Second
	// MaxDuration bounds a timeout and a grace.
	MaxDuration = 365 * 24 * time.Hour
)

// Stdin says what a command reads from its standard input.
type Stdin string

const (
	// StdinNone is an empty standard input, the default: a reader sees end of file.
	StdinNone Stdin = "none"
	// StdinPipe is what the client writes, then end of file.
	StdinPipe Stdin = "pipe"
)

// EnvProfile names the variables an agent adds to a command's environment.
type EnvProfile string

const (
	// EnvPlain asks programs for plain output without pagers and prompts, the default.
	EnvPlain EnvProfile = "plain"
	// EnvNone adds nothing.
	EnvNone EnvProfile = "none"
)

// Spec says what to run and how. The zero value of every field but Command is a default. It
// is plain data: copy it freely.
type Spec struct {
	// ID names the execution: 1 to [MaxIDBytes] letters, digits, ".", "_" and "-". The
	// client chooses it, so that it can attach again after a lost connection.
	ID string `json:"id"`
	// Command is run by a shell.
	Command string `json:"command"`
	// Shell runs Command as "SHELL -c COMMAND"; "" means bash, or sh where there is none.
	Shell string `json:"shell,omitempty"`
	// Cwd is the working directory; "" means the agent's.
	Cwd string `json:"cwd,omitempty"`
	// Env adds to the environment, each as NAME=VALUE; the last of a name counts.
	Env []string `json:"env,omitempty"`
	// CleanEnv leaves out the agent's own environment.
	CleanEnv bool `json:"cleanEnv,omitempty"`
	// EnvProfile names the variables added for plain output; "" means [EnvPlain].
	EnvProfile EnvProfile `json:"envProfile,omitempty"`
	// Limits bound the view.
	Limits limits.Limits `json:"limits,omitzero"`
	// NoSpill keeps no file of the whole output.
	NoSpill bool `json:"noSpill,omitempty"`
	// Timeout ends the command after so long; 0 means never. In JSON, nanoseconds.
	Timeout time.Duration `json:"timeoutNanos,omitempty"`
	// Grace is the time between SIGTERM and SIGKILL; 0 means [DefaultGrace].
	Grace time.Duration `json:"graceNanos,omitempty"`
	// Pipe gives the command a pipe for stdout and stderr instead of a PTY.
	Pipe bool `json:"pipe,omitempty"`
	// Stdin is what the command reads; "" means [StdinNone].
	Stdin Stdin `json:"stdin,omitempty"`
}

// SpecError reports a field of a [Spec] that cannot be used.
type SpecError struct {
	Field  string // the JSON name
	Value  string // what was given, quoted where foreign
	Remedy string // what would be accepted
}

func (e *SpecError) Error() string {
	if e.Value == "" {
		return fmt.Sprintf("%s: %s", e.Field, e.Remedy)
	}
	return fmt.Sprintf("%s %s: %s", e.Field, e.Value, e.Remedy)
}

// Check returns s with its defaults filled in, or a [*SpecError] or [*limits.Error].
func (s Spec) Check() (Spec, error) {
	if err := CheckID(s.ID); err != nil {
		return s, err
	}
	if s.Command == "" {
		return s, &SpecError{"command", "", "give a shell command"}
	}
	for _, text := range append([]string{s.Command, s.Shell, s.Cwd}, s.Env...) {
		if i := strings.IndexByte(text, 0); i >= 0 {
			return s, &SpecError{"text", excerpt(text), fmt.Sprintf("a NUL byte at offset %d; no command, path or variable can hold one", i)}
		}
	}
	for _, v := range s.Env {
		if strings.IndexByte(v, '=') <= 0 {
			return s, &SpecError{"env", excerpt(v), "give NAME=VALUE"}
		}
	}
	if s.Timeout < 0 || s.Timeout > MaxDuration {
		return s, &SpecError{"timeout", s.Timeout.String(), "give a positive time of at most a year, or 0 for none"}
	}
	if s.Grace < 0 || s.Grace > MaxDuration {
		return s, &SpecError{"grace", s.Grace.String(), "give a positive time of at most a year, or 0 for the default"}
	}
	if s.Grace == 0 {
		s.Grace = DefaultGrace
	}
	switch s.Stdin {
	case "":
		s.Stdin = StdinNone
	case StdinNone, StdinPipe:
	default:
		return s, &SpecError{"stdin", excerpt(string(s.Stdin)), `give "none" or "pipe"`}
	}
	switch s.EnvProfile {
	case "":
		s.EnvProfile = EnvPlain
	case EnvPlain, EnvNone:
	default:
		return s, &SpecError{"envProfile", excerpt(string(s.EnvProfile)), `give "plain" or "none"`}
	}
	var err error
	s.Limits, err = s.Limits.Resolve()
	return s, err
}

// CheckID returns a [*SpecError] unless id can name an execution.
func CheckID(id string) error {
	const remedy = `give 1 to 128 letters, digits, ".", "_" or "-", not beginning with "."`
	if id == "" || len(id) > MaxIDBytes || id[0] == '.' {
		return &SpecError{"id", excerpt(id), remedy}
	}
	for _, b := range []byte(id) {
		ok := b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '.' || b == '_' || b == '-'
		if !ok {
			return &SpecError{"id", excerpt(id), remedy}
		}
	}
	return nil
}

// Digest identifies what s asks for: equal for equal specs, whatever their zero fields were.
func (s Spec) Digest() string {
	if checked, err := s.Check(); err == nil {
		s = checked
	}
	b, err := json.Marshal(s)
	if err != nil {
		panic("protocol: a Spec always marshals: " + err.Error())
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// excerpt quotes foreign text, shortened.
func excerpt(s string) string {
	const most = 60
	if len(s) > most {
		return fmt.Sprintf("%q…", s[:most])
	}
	return fmt.Sprintf("%q", s)
}
