package main

import "runtime/debug"

const (
	// usual is how much a build may read before it gets more memory, and heapOf what each byte above comes to, about:
	// a byte of a manifest is tens of bytes of nodes, and a build has some copies of them.
	usual  = 512 << 10
	heapOf = 192
	// most is nearly all that the sandbox gives (src/limit.rs).
	most = 896 << 20
)

// heap is how the collector works while a build is large. The host sets a limit that suits those that are not
// (src/render/host.rs): near to it the collector would do nothing but run, ten times as long as the build takes.
type heap struct {
	taken int64
	limit int64
	share int
}

// spend notes that so much was read.
func (h *heap) spend(bytes int) {
	h.taken += int64(bytes)
	if h.taken <= usual {
		return
	}
	if h.limit == 0 {
		h.limit = debug.SetMemoryLimit(-1)
	}
	if wanted := min(h.limit+(h.taken-usual)*heapOf, most); wanted > debug.SetMemoryLimit(-1) {
		debug.SetMemoryLimit(wanted)
		if share := debug.SetGCPercent(100); h.share == 0 {
			h.share = share
		}
	}
}

// end gives back what a build got.
func (h *heap) end() {
	if h.limit != 0 {
		debug.SetMemoryLimit(h.limit)
	}
	if h.share != 0 {
		debug.SetGCPercent(h.share)
	}
}
