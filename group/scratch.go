package group

import "sync"

// pool keeps working memory from one call for the next.
type pool interface {
	Get() any
	Put(x any)
}

// kept is a pool that never frees anything. It holds at most as many values as were in use at once.
type kept struct {
	mu   sync.Mutex
	free []any
	made func() any
}

func (k *kept) Get() any {
	k.mu.Lock()
	defer k.mu.Unlock()
	if n := len(k.free); n > 0 {
		x := k.free[n-1]
		k.free = k.free[:n-1]
		return x
	}
	return k.made()
}

func (k *kept) Put(x any) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.free = append(k.free, x)
}

// WithScratch returns g with its own working memory for MSM. Each sum reuses the memory of the
// previous sum, and the garbage collector does not free that memory between two sums. Use the
// returned group to compute many large sums one after another. The memory is freed with the
// returned group. If g keeps no such memory, WithScratch returns g itself.
func WithScratch[S, P any](g Group[S, P]) Group[S, P] {
	if own, ok := g.(interface{ withScratch() Group[S, P] }); ok {
		return own.withScratch()
	}
	return g
}

func (g *native[S, E, P, J, PS, PE, PP, PJ]) withScratch() Group[S, P] {
	own, sums := *g, *g.sums
	sums.scratch = &kept{made: func() any { return sums.newScratch() }}
	own.sums = &sums
	return &own
}
