//go:build linux

package proctree

// This file knows the leaders of all trees of this process: somebody waits for each.

import "sync"

// leaders are children between Started and LeaderReaped.
var leaders pidSet

type pidSet struct {
	mu   sync.Mutex
	pids map[int]struct{}
}

func (p *pidSet) add(pid int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.pids == nil {
		p.pids = make(map[int]struct{})
	}
	p.pids[pid] = struct{}{}
}

func (p *pidSet) remove(pid int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.pids, pid)
}

func (p *pidSet) has(pid int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, ok := p.pids[pid]
	return ok
}
