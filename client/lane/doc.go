// Package lane is what a harness tells of its running tools, and what anyone who listens makes
// of it.
//
// A producer, such as the package client/sink, emits an [Event] for everything that happens to
// a tool call. A consumer keeps a [View] and hands each event to [Reduce]: what it has folded
// is the result, and nothing is sent again to confirm it. [Encoder] and [Decoder] carry the
// events to another process as lines of JSON.
//
// # Shape
//
//	tool_start ─▶ tool_update* ─▶ tool_end                the call and its output, as chord ops
//	              tool_step*                              what it is doing
//	              approval_requested ─▶ approval_resolved a person has to decide
//
// The output of a call is a document, described by [State], that its tool_update events change;
// the first of them is a base batch. Its [Activity] is for a card that answers at a glance what
// the call is doing, how much has happened, whether somebody has to decide, and where the rest is.
//
// # Folding
//
// Reduce needs the view and the event and nothing else: no registry, no tool. A tool that was
// rewritten since cannot make its old events unreadable. An event for a call that the view never
// saw changes nothing. When a change does not fit the output that the view has, the output stays
// as it is and the call is [Call].Stale until a base batch; [Call.Base] makes one.
//
// # Limits
//
// A view keeps every call that runs, the last [MaxEnded] that ended, [MaxSteps] steps of each and
// [MaxTitleBytes] of a title. How large the output of a call may be is its producer's to say.
//
// # Concurrency
//
// A view has one owner. The events may be shared: Reduce leaves them as they are, and what it
// has put into a view it does not change later, only replaces.
//
// # Trust
//
// Events may come from anyone. What does not fit is ignored; nothing panics.
package lane
