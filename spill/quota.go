// How much a file may still grow: the quotas, and the room others need on the file system.

package spill

// share is the part of a store that one file has.
type share struct {
	s *Store
	e *entry
}

// grant lets the file grow by n bytes, after removing old files if it takes that. It grants
// less, with a [*LimitError], when that is all there is.
func (h share) grant(n int64) (int64, error) {
	got, limit := h.take(n, false)
	if limit == nil || limit.Cause == FileQuota {
		return h.result(got, limit, n)
	}
	h.s.sweeping.Lock()
	defer h.s.sweeping.Unlock()
	for {
		got, limit := h.take(n, false)
		if limit == nil || limit.Cause == FileQuota || !h.s.sweepOldestLocked() {
			return h.result(got, limit, n)
		}
	}
}

// result takes what there is when it is less than what was asked for.
func (h share) result(got int64, limit *LimitError, n int64) (int64, error) {
	if limit != nil {
		got, limit = h.take(n, true)
	}
	if limit != nil {
		return got, limit
	}
	return got, nil
}

// take charges n bytes to the file. When they do not fit it says why, and charges nothing, or
// what fits if part is set.
func (h share) take(n int64, part bool) (int64, *LimitError) {
	s := h.s
	s.mu.Lock()
	defer s.mu.Unlock()
	room, cause, bound := s.room(h.e)
	limit := (*LimitError)(nil)
	if room < n {
		limit = &LimitError{cause, bound}
		if !part {
			return 0, limit
		}
		n = room
	}
	s.used += n
	h.e.size += n
	return n, limit
}

// refund gives back what was granted and not written.
func (h share) refund(n int64) {
	h.s.mu.Lock()
	defer h.s.mu.Unlock()
	h.s.used -= n
	h.e.size -= n
}

// closed says that the file does not grow any more.
func (h share) closed() { h.s.dismiss(h.e) }

// room is how many bytes e may grow as things are, what bounds them and at which size.
func (s *Store) room(e *entry) (room int64, cause Cause, bound int64) {
	room, cause, bound = s.opts.MaxFile-e.size, FileQuota, s.opts.MaxFile
	if left := s.opts.MaxTotal - s.used; left < room {
		room, cause, bound = left, StoreQuota, s.opts.MaxTotal
	}
	if has, ok := s.space(s.dir()); ok {
		keep := has.keep(s.opts.KeepFree)
		if left := has.free - keep; keep > 0 && left < room {
			room, cause, bound = left, LowSpace, keep
		}
	}
	return max(0, room), cause, bound
}

// dir is Dir for callers that hold mu.
func (s *Store) dir() string {
	if s.place == nil {
		return s.base
	}
	return s.place.dir
}
