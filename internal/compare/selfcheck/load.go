package selfcheck

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"time"
)

// burst is the mean length of a time for which a processor is kept busy, and of a pause:
// about that of a process' window, so that some processes meet much of it and some none.
const burst = 50 * time.Millisecond

// burn keeps every processor busy half of the time, in bursts and pauses of random length,
// until stop is called.
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
