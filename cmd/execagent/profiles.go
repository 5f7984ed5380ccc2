//go:build linux

package main

import (
	"context"
	"fmt"
	"sync"

	"github.com/execagent/execagent/internal/profiler"
	"github.com/execagent/execagent/transport"
)

// serveProfiles hands out profiles at a unix socket until end is called.
func serveProfiles(ctx context.Context, text string, opts transport.Options) (end func(), err error) {
	addr, err := transport.ParseAddress(text)
	if err == nil && addr.Scheme != transport.SchemeUnix {
		err = &usageError{fmt.Sprintf("--pprof %q: profiles are handed out on a unix socket only, such as unix:/run/execagent.pprof", text)}
	}
	if err != nil {
		return nil, err
	}
	l, err := transport.Listen(ctx, addr, opts)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := profiler.Serve(ctx, l); err != nil {
			opts.Logger.Error("profiles", "error", err)
		}
	})
	return func() {
		cancel()
		serving.Wait()
	}, nil
}
