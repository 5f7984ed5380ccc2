//go:build linux

package execagent

// This file is what a client may ask of an execution beside its streams.

import "github.com/execagent/execagent/transport/protocol"

// request does what a client asks and fills in the reply. Its error is a [*protocol.Failure].
func (a *Agent) request(r *protocol.Request, reply *protocol.Reply) error {
	switch r.Type {
	case protocol.RequestList:
		reply.Executions, reply.Omitted = a.list()
		return nil
	case protocol.RequestStatus:
		status := a.Status()
		reply.Status = &status
		return nil
	case protocol.RequestCancel, protocol.RequestSignal, protocol.RequestResize:
	default:
		return refuse(protocol.CodeBadRequest, "unknown request %.40q: this agent may be too old for it", r.Type)
	}
	find := a.find
	if r.Type == protocol.RequestCancel && r.Fence {
		find = a.fence
	}
	e, err := find(r.ID)
	if err != nil || e == nil {
		return err
	}
	switch r.Type {
	case protocol.RequestSignal:
		return e.signal(r.Signal)
	case protocol.RequestResize:
		return e.resize(r.Columns, r.Rows)
	}
	e.end(protocol.ReasonCanceled)
	return nil
}
