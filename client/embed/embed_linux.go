package embed

import (
	"context"
	"errors"
	"sync"

	"github.com/execagent/execagent/client"
	"github.com/execagent/execagent/execagent"
	"github.com/execagent/execagent/transport"
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
type Conn struct {
	*client.Conn
	agent *execagent.Agent
	wg    sync.WaitGroup
}

// Dial starts an agent in this process and connects to it.
func Dial(ctx context.Context, opts Options) (*Conn, error) {
	agent, err := execagent.New(execagent.Options{
		SpillDir: opts.SpillDir,
		Software: opts.Client.Software,
		Logger:   opts.Client.Logger,
	})
	if err != nil {
		return nil, err
	}
	here, there := transport.Pipe()
	c := &Conn{agent: agent}
	served := make(chan error, 1)
	c.wg.Go(func() { served <- agent.ServeConn(context.Background(), there) })
	conn, err := client.NewConn(ctx, here, opts.Client)
	if err != nil {
		err = errors.Join(err, agent.Close())
		c.wg.Wait()
		return nil, errors.Join(err, <-served)
	}
	c.Conn = conn
	return c, nil
}

// Close ends the agent's commands (SIGTERM, after their grace SIGKILL), then the connection.
func (c *Conn) Close() error {
	err := c.agent.Close()
	err = errors.Join(err, c.Conn.Close())
	c.wg.Wait()
	return err
}
