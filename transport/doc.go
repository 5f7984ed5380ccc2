// Package transport moves opaque frames between an execagent agent and its
// clients. Most callers need [ParseAddress], [DialConn] and [Client], or on the
// agent's side [Listen] and [Server]; both sides then exchange frames on the
// [Stream]s of a [Session].
//
//	conn, err := transport.DialConn(ctx, addr, o)   l, err := transport.Listen(ctx, addr, o)
//	                                                conn, err := l.Accept()
//	s, err := transport.Client(ctx, conn, opts)     s, err := transport.Server(ctx, conn, opts)
//	st, err := s.Open(ctx)                          st, err := s.Accept(ctx)
//	err = st.WriteFrame(kind, payload)              kind, payload, err := st.ReadFrame()
//	err = st.CloseWrite()                           _, _, err = st.ReadFrame() // io.EOF
//
// # Shape
//
// An [Address] leads to a connection, any [io.ReadWriteCloser]. The handshake
// makes sure that the other side is what it should be, with a [Token] also that it
// is who it should be, and settles a version. Client and agent are roles: with
// [DialOut] it is the agent that dials. Records with a checksum carry what
// follows; yamux divides it into streams. A stream carries frames: a kind,
// which means nothing here, and a payload, compressed with zstd when that pays.
// SPEC.md has the bytes. An agent with no room says so with [Refuse].
//
// # Limits
//
// A payload is at most [MaxPayload] bytes, on the wire and decompressed; a side
// can lower what it reads with [Options].ReadLimit. All of it is checked before
// memory is taken, and memory follows the bytes that arrive, not those announced.
// An idle stream holds no frame buffer and no compression table, only what its
// largest frame took of yamux's receive buffer and the last 8 KiB of each direction.
//
// # Ends
//
// io.EOF from [Stream.ReadFrame] means one thing: the peer said that it was
// finished. Everything else that ends a stream is another error. Trouble on one
// stream ends that stream; trouble with the connection ends the [Session], and
// [Session.Err] says what it was.
//
// # Concurrency
//
// Sessions are safe for concurrent use; a stream has one reader and one writer
// at a time. Every goroutine belongs to a session or a connection, whose Close
// waits for it, except those in which yamux answers a ping: they end when the
// session does, at the latest.
//
// # Trust
//
// A unix socket has mode 0600 and its peers are of the same user or root. Whatever
// else strangers can reach is not opened without a token or certificates, and plain
// TCP stays on the loopback interface unless insisted on. A peer
// is hostile until it has shaken hands and its bytes remain so: they are bounded,
// checked, and quoted in messages. A [Listener] bounds how many strangers wait. What
// is not bounded is how many streams a peer opens: whoever accepts them decides that.
//
// # Not here
//
// The meaning of frames (package protocol), reconnecting a client.
package transport
