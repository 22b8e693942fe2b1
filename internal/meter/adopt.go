package meter

import (
	"sync"
	"sync/atomic"
	"time"
)

// Adopt has the processor time of a child that runs, as a function tells it, count as this
// process' own until it leaves. What has ended counts anyway, once it was waited for.
func Adopt(cpu func() time.Duration) (leave func()) {
	adopted.mu.Lock()
	defer adopted.mu.Unlock()
	key := new(byte)
	adopted.running[key] = cpu
	adopted.any.Store(true)
	return func() {
		adopted.mu.Lock()
		defer adopted.mu.Unlock()
		delete(adopted.running, key)
		adopted.any.Store(len(adopted.running) > 0)
	}
}

// adopted are the children that run. The kernel's counts are those of the process, whatever this
// package does, so this is state of the package.
var adopted = adoptions{running: make(map[*byte]func() time.Duration)}

type adoptions struct {
	any     atomic.Bool
	mu      sync.Mutex
	running map[*byte]func() time.Duration
}

func (a *adoptions) cpu() (sum time.Duration) {
	if !a.any.Load() {
		return 0
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, of := range a.running {
		sum += of()
	}
	return sum
}
