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
	// MaxStdinBytes bounds the input that a spec itself carries.
	MaxStdinBytes = 1 << 20
	// MaxColumns and MaxRows bound a terminal's size.
	MaxColumns, MaxRows = 2000, 1000
	// DefaultColumns and DefaultRows are wide enough that ps and the like do not cut lines.
	DefaultColumns, DefaultRows = 200, 50
	// DefaultGrace is the time between asking a command to end and killing it.
	DefaultGrace = 2 * time.Second
	// DefaultDisconnectGrace is how long a command that is to end with its clients goes on
	// without any.
	DefaultDisconnectGrace = 10 * time.Second
	// MaxDuration bounds a timeout and a grace.
	MaxDuration = 365 * 24 * time.Hour
)

// Stdin says what a command reads from its standard input.
type Stdin string

const (
	// StdinNone is an empty standard input, the default: a reader sees end of file.
	StdinNone Stdin = "none"
	// StdinBytes is the spec's own StdinBytes, then end of file.
	StdinBytes Stdin = "bytes"
	// StdinPipe is what clients write, until one of them ends it. An interactive command
	// reads it from its terminal, where it has no end but the one the terminal's
	// end-of-file character makes.
	StdinPipe Stdin = "pipe"
)

// OnDisconnect says what happens to a command that no client follows any more.
type OnDisconnect string

const (
	// Keep lets it run, the default: clients come and go.
	Keep OnDisconnect = "keep"
	// Kill cancels it when it was followed by nobody for the spec's DisconnectGrace, whether
	// the last client left or its connection broke.
	Kill OnDisconnect = "kill"
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
	Command string `json:"command,omitempty"`
	// Argv is run without a shell, instead of Command; its first element is looked up in
	// the command's PATH.
	Argv []string `json:"argv,omitempty"`
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
	// SpillStrict ends the command, with [ReasonSpillFailed], when its whole output cannot
	// be kept. Without it the command goes on and the result says what is missing.
	SpillStrict bool `json:"spillStrict,omitempty"`
	// Timeout ends the command after so long; 0 means never. In JSON, nanoseconds.
	Timeout time.Duration `json:"timeoutNanos,omitempty"`
	// Grace is the time between SIGTERM and SIGKILL; 0 means [DefaultGrace].
	Grace time.Duration `json:"graceNanos,omitempty"`
	// OnDisconnect says whether the command outlives its clients; "" means [Keep].
	OnDisconnect OnDisconnect `json:"onDisconnect,omitempty"`
	// DisconnectGrace is how long it goes on without any, with [Kill]; 0 means
	// [DefaultDisconnectGrace]. In JSON, nanoseconds.
	DisconnectGrace time.Duration `json:"disconnectGraceNanos,omitempty"`
	// Pipe gives the command a pipe for stdout and stderr instead of a PTY.
	Pipe bool `json:"pipe,omitempty"`
	// SplitStderr, with Pipe, gives stderr a pipe of its own, so that a lossless stream
	// can tell the two apart. View and spill hold both, in the order they were read.
	SplitStderr bool `json:"splitStderr,omitempty"`
	// Stdin is what the command reads; "" means [StdinNone], or [StdinPipe] for an
	// interactive command.
	Stdin Stdin `json:"stdin,omitempty"`
	// StdinBytes is the input for [StdinBytes], at most [MaxStdinBytes]. In JSON, base64.
	StdinBytes []byte `json:"stdinBytes,omitempty"`
	// Interactive makes the PTY the command's controlling terminal and its stdin, with
	// output processing on: prompts, job control, Ctrl-C as a byte.
	Interactive bool `json:"interactive,omitempty"`
	// Columns and Rows are the PTY's size; 0 means 200 and 50.
	Columns int `json:"cols,omitempty"`
	Rows    int `json:"rows,omitempty"`
	// RawText leaves escape sequences and carriage returns without effect on the view:
	// control characters are removed, and everything else is text.
	RawText bool `json:"rawText,omitempty"`
	// User runs the command as another user; nil means the agent's own. It takes root.
	User *User `json:"user,omitempty"`
	// Rlimits are resource limits by name without RLIMIT_, such as "NOFILE" or "CPU".
	Rlimits map[string]Rlimit `json:"rlimits,omitempty"`
	// MemoryMax and PIDsMax bound the command's whole tree, in bytes and processes, where
	// the agent has cgroups with those controllers; 0 means no bound.
	MemoryMax int64 `json:"memoryMax,omitempty"`
	PIDsMax   int64 `json:"pidsMax,omitempty"`
}

// User says whom a command runs as.
type User struct {
	UID    uint32   `json:"uid"`
	GID    uint32   `json:"gid"`
	Groups []uint32 `json:"groups,omitempty"` // supplementary; none means none
}

// Rlimit is a soft and a hard limit, in the unit of the resource (setrlimit(2)).
type Rlimit struct {
	Soft uint64 `json:"soft"`
	Hard uint64 `json:"hard"`
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
	for _, check := range []func(*Spec) error{
		checkIdentity, checkText, checkTimes, checkStdin, checkTerminal, checkResources,
	} {
		if err := check(&s); err != nil {
			return s, err
		}
	}
	switch s.EnvProfile {
	case "":
		s.EnvProfile = EnvPlain
		if s.Interactive {
			s.EnvProfile = EnvNone
		}
	case EnvPlain, EnvNone:
	default:
		return s, &SpecError{"envProfile", excerpt(string(s.EnvProfile)), `give "plain" or "none"`}
	}
	var err error
	s.Limits, err = s.Limits.Resolve()
	return s, err
}

func checkIdentity(s *Spec) error {
	switch {
	case s.Command == "" && len(s.Argv) == 0:
		return &SpecError{"command", "", "give a shell command, or argv"}
	case s.Command != "" && len(s.Argv) > 0:
		return &SpecError{"argv", "", "give it or a command, not both"}
	case len(s.Argv) > 0 && s.Argv[0] == "":
		return &SpecError{"argv", "", "its first element names the program"}
	case len(s.Argv) > 0 && s.Shell != "":
		return &SpecError{"shell", excerpt(s.Shell), "argv is run without one"}
	}
	if s.SpillStrict && s.NoSpill {
		return &SpecError{"spillStrict", "", "it cannot be had together with noSpill"}
	}
	return CheckID(s.ID)
}

func checkText(s *Spec) error {
	all := append([]string{s.Command, s.Shell, s.Cwd}, s.Env...)
	for _, text := range append(all, s.Argv...) {
		if i := strings.IndexByte(text, 0); i >= 0 {
			return &SpecError{"text", excerpt(text), fmt.Sprintf("a NUL byte at offset %d; no command, path or variable can hold one", i)}
		}
	}
	for _, v := range s.Env {
		if strings.IndexByte(v, '=') <= 0 {
			return &SpecError{"env", excerpt(v), "give NAME=VALUE"}
		}
	}
	return nil
}

func checkTimes(s *Spec) error {
	if s.Timeout < 0 || s.Timeout > MaxDuration {
		return &SpecError{"timeout", s.Timeout.String(), "give a positive time of at most a year, or 0 for none"}
	}
	if s.Grace < 0 || s.Grace > MaxDuration {
		return &SpecError{"grace", s.Grace.String(), "give a positive time of at most a year, or 0 for the default"}
	}
	if s.Grace == 0 {
		s.Grace = DefaultGrace
	}
	return checkDisconnect(s)
}

func checkDisconnect(s *Spec) error {
	if s.OnDisconnect == "" {
		s.OnDisconnect = Keep
	}
	switch {
	case s.OnDisconnect != Keep && s.OnDisconnect != Kill:
		return &SpecError{"onDisconnect", excerpt(string(s.OnDisconnect)), `give "keep" or "kill"`}
	case s.DisconnectGrace < 0 || s.DisconnectGrace > MaxDuration:
		return &SpecError{"disconnectGrace", s.DisconnectGrace.String(), "give a positive time of at most a year, or 0 for the default"}
	case s.DisconnectGrace > 0 && s.OnDisconnect == Keep:
		return &SpecError{"disconnectGrace", s.DisconnectGrace.String(), `it goes with onDisconnect "kill"`}
	case s.DisconnectGrace == 0 && s.OnDisconnect == Kill:
		s.DisconnectGrace = DefaultDisconnectGrace
	}
	return nil
}

func checkStdin(s *Spec) error {
	switch {
	case s.Stdin == "" && s.Interactive:
		s.Stdin = StdinPipe
	case s.Stdin == "":
		s.Stdin = StdinNone
	case s.Stdin != StdinNone && s.Stdin != StdinBytes && s.Stdin != StdinPipe:
		return &SpecError{"stdin", excerpt(string(s.Stdin)), `give "none", "bytes" or "pipe"`}
	}
	switch {
	case s.Interactive && s.Stdin != StdinPipe:
		return &SpecError{"stdin", excerpt(string(s.Stdin)), "an interactive command reads its terminal"}
	case len(s.StdinBytes) > MaxStdinBytes:
		return &SpecError{"stdinBytes", fmt.Sprint(len(s.StdinBytes)), fmt.Sprintf("at most %d bytes; give more through a pipe", MaxStdinBytes)}
	case len(s.StdinBytes) > 0 && s.Stdin != StdinBytes:
		return &SpecError{"stdinBytes", "", `they go with stdin "bytes"`}
	}
	return nil
}

func checkTerminal(s *Spec) error {
	switch {
	case s.Interactive && s.Pipe:
		return &SpecError{"pipe", "", "an interactive command needs a terminal"}
	case s.SplitStderr && !s.Pipe:
		return &SpecError{"splitStderr", "", "a terminal has one output: ask for pipe too"}
	}
	if s.Columns == 0 {
		s.Columns = DefaultColumns
	}
	if s.Rows == 0 {
		s.Rows = DefaultRows
	}
	return CheckSize(s.Columns, s.Rows)
}

// CheckSize returns a [*SpecError] unless a terminal can have this size.
func CheckSize(columns, rows int) error {
	if columns < 1 || columns > MaxColumns || rows < 1 || rows > MaxRows {
		return &SpecError{"size", fmt.Sprintf("%d×%d", columns, rows), fmt.Sprintf("give 1 to %d columns and 1 to %d rows", MaxColumns, MaxRows)}
	}
	return nil
}

func checkResources(s *Spec) error {
	for name, limit := range s.Rlimits {
		if limit.Soft > limit.Hard {
			return &SpecError{"rlimits", excerpt(name), fmt.Sprintf("the soft limit %d is above the hard one %d", limit.Soft, limit.Hard)}
		}
	}
	if s.MemoryMax < 0 || s.PIDsMax < 0 {
		return &SpecError{"memoryMax, pidsMax", fmt.Sprintf("%d, %d", s.MemoryMax, s.PIDsMax), "give a positive number, or 0 for no bound"}
	}
	return nil
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
