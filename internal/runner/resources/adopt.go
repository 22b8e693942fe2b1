package resources

import (
	"sync"
	"time"
)

// CPU is processor time.
type CPU struct{ User, System time.Duration }

// Sum is both parts together.
func (c CPU) Sum() time.Duration { return c.User + c.System }

func (c CPU) plus(d CPU) CPU { return CPU{c.User + d.User, c.System + d.System} }

// Minus is the time since d. How it is divided may change between two looks, and no part is less
// than nothing.
func (c CPU) Minus(d CPU) CPU {
	user, sum := max(c.User-d.User, 0), max(c.Sum()-d.Sum(), 0)
	user = min(user, sum)
	return CPU{user, sum - user}
}

// Adopt has the processor time of a child that runs, as a function tells it, count as this
// process' own until it leaves. What has ended counts anyway, once it was waited for. A child
// that is adopted runs the operations, so that a Machine tells its time apart too; leave is told
// what it has used in all.
func Adopt(cpu func() CPU) (leave func(CPU)) {
	adopted.mu.Lock()
	defer adopted.mu.Unlock()
	key := new(byte)
	adopted.running[key] = cpu
	return func(all CPU) {
		adopted.mu.Lock()
		defer adopted.mu.Unlock()
		delete(adopted.running, key)
		adopted.gone = adopted.gone.plus(all)
	}
}

// adopted are the children that were adopted. The kernel's counts are those of the process,
// whatever this package does, so this is state of the package.
var adopted = adoptions{running: make(map[*byte]func() CPU)}

type adoptions struct {
	mu      sync.Mutex
	running map[*byte]func() CPU
	gone    CPU // of those that have left
}

// cpu is the processor time of those that run, of all that there were, and whether any runs.
func (a *adoptions) cpu() (running, all CPU, any bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, of := range a.running {
		running = running.plus(of())
	}
	return running, running.plus(a.gone), len(a.running) > 0
}
