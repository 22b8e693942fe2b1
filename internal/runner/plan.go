package runner

import "time"

// Of the warm-up few results are kept: they are there while the window is measured.
const (
	warmupKept  = 1 << 10
	warmupArena = 16 << 20 // B
)

// keepWarm reserves the arena of the warm-up, of which nothing is made resident: what it waits
// for is not measured. Results beyond it are a sample, as those of the window are.
func (r *run) keepWarm() error {
	cfg := *r.cfg
	if cfg.Check.Policy == CheckAll {
		cfg.Check.Policy = CheckFit // nobody knows how many there will be
	}
	cfg.Arena = min(cfg.Arena, warmupArena)
	slot, n, err := cfg.reserve(0, r.resultSize)
	if err != nil {
		return err
	}
	if err := r.keep(slot, min(n, warmupKept), 0, func(s *shard) *keeper { return &s.warm }); err != nil {
		return err
	}
	for _, s := range r.shards {
		s.warm.heap = warmupArena / len(r.shards)
	}
	return nil
}

// keep makes an arena of n slots, those for the expected results resident, and gives each shard
// its part.
func (r *run) keep(slot, n int, expected float64, of func(s *shard) *keeper) error {
	workers := make([]int, len(r.shards))
	for i, s := range r.shards {
		workers[i] = len(s.workers)
	}
	a, err := newArena(slot, n, workers, expected)
	if err != nil {
		return err
	}
	r.arenas = append(r.arenas, a)
	for i, s := range r.shards {
		k := a.keeper(i, r.cfg.Seed)
		s.mu.Lock()
		*of(s) = k
		s.mu.Unlock()
	}
	return nil
}

// plan reserves the arena of the window, on what probe and warm-up have shown.
func (r *run) plan() error {
	fastest, size := r.fastest, r.resultSize
	var warmed uint64
	var warmTime time.Duration
	for _, s := range r.shards {
		s.mu.Lock()
		warmed, warmTime = warmed+s.warmed-s.warmFailed, warmTime+s.warmTime
		size = max(size, s.resultSize)
		s.mu.Unlock()
	}
	if warmed > 0 {
		fastest = min(fastest, warmTime/time.Duration(warmed))
	}
	r.fastest = fastest
	expected := r.expected()
	slot, n, err := r.cfg.reserve(expected, size)
	if err != nil {
		return err
	}
	return r.keep(slot, n, min(expected, float64(n)), func(s *shard) *keeper { return &s.kept })
}
