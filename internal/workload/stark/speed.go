package stark

import (
	"context"
	"time"

	"github.com/zkbench/zkbench/executor"
	hash "github.com/zkbench/zkbench/hash/keccak"
	"github.com/zkbench/zkbench/stark"
	"github.com/zkbench/zkbench/stark/keccak"
)

// CellsPerSecond is how many cells of traces a STARK of this module proves in a second: those of the
// Keccak-256 of a message of 13,600 bytes, with the parameters that prove 100 bits, on one thread; the best of
// three.
func CellsPerSecond(ctx context.Context) (best float64, err error) {
	const bytes, times = 13_600, 3
	set, err := sets["secure100"](stark.KoalaBear)
	if err != nil {
		return 0, err
	}
	s, err := keccak.New(stark.Config{Field: stark.KoalaBear, Hash: stark.Keccak, Set: set}, stark.Exposed)
	if err != nil {
		return 0, err
	}
	messages := [][]byte{make([]byte, bytes)}
	cells := float64(s.Cells(hash.Blocks(bytes)))
	for range times {
		start := time.Now()
		if _, err := s.Prove(ctx, executor.Serial(), messages, nil, stark.Options{}); err != nil {
			return 0, err
		}
		best = max(best, cells/time.Since(start).Seconds())
	}
	return best, nil
}
