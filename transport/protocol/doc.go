// Package protocol holds the message types that the agent and its clients share.
//
// # Shape
//
// On a session every stream begins with one [Open] frame from the client, which says what
// the stream is for:
//
//   - "control": one a session, for what must not queue behind output: acknowledgements and
//     requests such as cancel, each request answered by a [Reply].
//   - "start" and "attach": one execution and one watcher of it. The agent answers with a
//     [Started] or a [Failure], then sends batches, the settled [Result] last, and ends its
//     side. The client may send the command's stdin on it.
//
// SPEC.md beside this file has the tables.
//
// # Limits
//
// Message sizes are bounded by the transport; the fields of a [Spec] by [Spec.Check].
//
// # Trust
//
// Messages are JSON. What a client sends is decoded strictly: an unknown field is an error,
// so that an agent never ignores a wish it does not know.
package protocol
