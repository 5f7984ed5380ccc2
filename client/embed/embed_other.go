//go:build !linux

package embed

import (
	"context"
	"errors"

	"github.com/execagent/execagent/client"
)

// Options are the settings of an embedded agent.
type Options struct {
	// SpillDir is the directory for complete outputs, made when first needed; "" means
	// the user's state directory.
	SpillDir string
	// Client is handed to the connection.
	Client client.Options
}

// Conn is a connection to an agent of its own. Close ends both.
type Conn struct{ *client.Conn }

// Dial fails: the agent runs on Linux.
func Dial(context.Context, Options) (*Conn, error) {
	return nil, errors.New("embed: the agent runs on Linux only: connect to one there instead (execctl --addr)")
}
