package resources

import (
	"sync"
	"time"
)

// CPU is processor time, in user mode and in the kernel.
type CPU struct{ User, System time.Duration }

// Sum returns User + System.
func (c CPU) Sum() time.Duration { return c.User + c.System }

func (c CPU) plus(d CPU) CPU { return CPU{c.User + d.User, c.System + d.System} }

// Minus returns the processor time used since the earlier reading d. Between two readings, the
// kernel may change how it splits the sum into User and System. Minus therefore adjusts the two,
// so that neither is negative.
func (c CPU) Minus(d CPU) CPU {
	user, sum := max(c.User-d.User, 0), max(c.Sum()-d.Sum(), 0)
	user = min(user, sum)
	return CPU{user, sum - user}
}

// Adopt counts a running child's processor time, which the function cpu returns, as time of this
// process. Adopted children run the operations, so Machine.Adopted reports their time
// separately. When the child has ended and was waited for, call the returned function with the
// child's total processor time. From then on, the kernel counts this time as this process's.
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

// adopted holds the children that were adopted. It is state of the package because the kernel's
// counts, to which it belongs, are those of the process.
var adopted = adoptions{running: make(map[*byte]func() CPU)}

type adoptions struct {
	mu      sync.Mutex
	running map[*byte]func() CPU
	gone    CPU // of children that have left
}

// cpu returns the processor time of the children that run and of all that were adopted, and
// whether any runs.
func (a *adoptions) cpu() (running, all CPU, any bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, used := range a.running {
		running = running.plus(used())
	}
	return running, running.plus(a.gone), len(a.running) > 0
}
