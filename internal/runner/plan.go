package runner

import "time"

// Bounds of what is kept of the warm-up's results. They are few because they take up memory
// while the window is measured.
const (
	warmupKept  = 1 << 10
	warmupArena = 16 << 20 // B
)

// keepWarm reserves the arena of the warm-up. None of it is made resident, because page faults
// in the warm-up are not measured. If it is full, it holds a sample, as the window's does.
func (r *run) keepWarm() error {
	cfg := *r.cfg
	if cfg.Check.Policy == CheckAll {
		cfg.Check.Policy = CheckFit // the number of results is not known
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

// keep makes an arena of n slots and gives each shard its part. Slots for the expected results
// are made resident.
func (r *run) keep(slot, n int, expected float64, keeperOf func(s *shard) *keeper) error {
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
		*keeperOf(s) = k
		s.mu.Unlock()
	}
	return nil
}

// plan reserves the arena of the window, sized by what the probe and the warm-up have shown.
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
