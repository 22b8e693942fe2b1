package selfcheck

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"time"
)

// burst is the mean length of a burst of work and of a pause. It is about as long as a process'
// window, so that some processes meet much of the load and some none.
const burst = 50 * time.Millisecond

// burn keeps every processor busy half of the time, in bursts and pauses of random length, until
// stop is called.
func burn() (stop func()) {
	ended := make(chan struct{})
	var wg sync.WaitGroup
	for range runtime.NumCPU() {
		wg.Go(func() {
			timer := time.NewTimer(0)
			defer timer.Stop()
			for {
				select {
				case <-ended:
					return
				case <-timer.C:
				}
				length := time.Duration(rand.ExpFloat64() * float64(burst))
				for begin := time.Now(); time.Since(begin) < length; {
				}
				timer.Reset(time.Duration(rand.ExpFloat64() * float64(burst)))
			}
		})
	}
	return func() { close(ended); wg.Wait() }
}
