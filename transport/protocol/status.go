package protocol

// This file is what an agent says of itself.

// Status is how an agent is doing.
type Status struct {
	// Software is its name and version, Instance which start of it this is.
	Software string `json:"software"`
	Instance string `json:"instance"`
	PID      int    `json:"pid"`
	// Seconds is the time since its start.
	Seconds float64 `json:"seconds"`
	// KillMethod is how it finds all processes of a command: "cgroup" or "walk".
	KillMethod string `json:"killMethod"`
	// Clients is how many connections it serves, this one included.
	Clients int `json:"clients"`
	// Running and Settled are how many executions have not settled, and have but can still be
	// asked for.
	Running int `json:"running"`
	Settled int `json:"settled"`
	// Watchers is how many streams follow an execution.
	Watchers int `json:"watchers"`
	// OutputBytes is everything that commands have written since the agent's start.
	OutputBytes int64 `json:"outputBytes"`
	// Closing says that it ends its commands and takes no new ones.
	Closing bool `json:"closing,omitempty"`
}
