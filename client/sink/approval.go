package sink

// This file is decisions that a person has to make. Nothing of a call goes on while it waits for one.

import (
	"context"
	"errors"
	"fmt"

	"github.com/execagent/execagent/client"
	"github.com/execagent/execagent/client/lane"
)

// approval is a decision that is wanted. It is in the runner's map until it is made or
// withdrawn, which only one of Approve, Deny and the waiting call can do.
type approval struct {
	decided chan error // holds one: nil, or a *DeniedError
}

// DeniedError says that a call, or what a tool asked for, was denied.
type DeniedError struct {
	Reason string // in the words of who decided; may be ""
}

func (e *DeniedError) Error() string {
	if e.Reason == "" {
		return "denied"
	}
	return "denied: " + e.Reason
}

// ErrNoApproval is returned by Approve and Deny for a decision that nobody waits for: it was
// made, or its call has ended.
var ErrNoApproval = errors.New("sink: nobody waits for this decision")

// Approve lets the call that waits for this decision go on. The ID is that of its
// [lane.Approval].
func (r *Runner) Approve(id string) error { return r.decide(id, nil) }

// Deny refuses what the call waits for. The model is told the reason, which may be empty.
func (r *Runner) Deny(id, reason string) error { return r.decide(id, &DeniedError{reason}) }

func (r *Runner) decide(id string, decision error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	a := r.approvals[id]
	if a == nil {
		return fmt.Errorf("%w: %.100q", ErrNoApproval, id)
	}
	delete(r.approvals, id)
	a.decided <- decision
	return nil
}

// Ask has a person decide, and waits: nil is a yes, a [*DeniedError] a no. It ends with the
// context's error when that or the call ends first. A call asks one question at a time; others
// wait for their turn.
//
// The call as a whole was asked about before the tool began, if the policy wants that. This is
// for a tool that needs another decision on the way, such as one that runs a coding agent.
func (inv *Invocation) Ask(ctx context.Context, title, detail string) error {
	ctx, stop := either(ctx, inv.ctx)
	defer stop()
	select {
	case inv.asking <- struct{}{}:
		defer func() { <-inv.asking }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return inv.runner.await(ctx, inv, title, detail)
}

// either returns a context that ends with the first of two.
func either(a, b context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(a)
	release := context.AfterFunc(b, func() { cancel(context.Cause(b)) })
	return ctx, func() { release(); cancel(nil) }
}

// await tells of the wish for a decision, and of the decision.
func (r *Runner) await(ctx context.Context, inv *Invocation, title, detail string) error {
	id, a := client.NewID(), &approval{make(chan error, 1)}
	r.mu.Lock()
	r.approvals[id] = a
	r.mu.Unlock()
	r.emit(inv, &lane.ApprovalRequested{About: inv.about(), Parent: inv.call.Parent, Approval: id, Title: title, Detail: detail})
	decision, err := lane.Withdrawn, error(nil)
	select {
	case err = <-a.decided:
		decision = decisionOf(err)
	case <-ctx.Done():
		if r.withdraw(id) {
			err = context.Cause(ctx)
		} else {
			err = <-a.decided
			decision = decisionOf(err)
		}
	}
	r.emit(inv, &lane.ApprovalResolved{About: inv.about(), Approval: id, Decision: decision})
	return err
}

func decisionOf(err error) lane.Decision {
	if err != nil {
		return lane.Denied
	}
	return lane.Approved
}

// withdraw reports whether the decision was still to be made.
func (r *Runner) withdraw(id string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, pending := r.approvals[id]
	delete(r.approvals, id)
	return pending
}

// permit asks about the call as the policy wants it.
func (inv *Invocation) permit() error {
	verdict := Ask
	if policy := inv.runner.options.Policy; policy != nil {
		verdict = policy(inv.tool, inv.call)
	}
	switch verdict {
	case Allow:
		return nil
	case Ask:
		return inv.Ask(inv.ctx, inv.tool, string(inv.call.Args))
	}
	return &DeniedError{"by policy"}
}
