package group

import "sync"

// pool keeps working memory between the calls that need it.
type pool interface {
	Get() any
	Put(x any)
}

// kept is a pool that gives nothing up, and has no more than were in use at once.
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

// WithScratch is g with working memory of its own for MSM, which one sum leaves to the next and the
// garbage collector does not take in between: for who computes many large ones in turn. It ends
// with the group that is returned. A group that has no such memory is returned as it is.
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
