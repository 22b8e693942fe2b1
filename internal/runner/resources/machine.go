package resources

import (
	"context"
	"fmt"
	"time"
)

// Machine says how much processor time the process got between two points in time, and how much
// other load the machine had. Fields that the platform does not report are 0.
type Machine struct {
	Wall         time.Duration // time between the two points, by the kernel's clock if it has one
	User, System time.Duration // processor time of the process, and of the children that it measures
	Adopted      *CPU          // the part used by adopted children, which ran the operations; nil: there were none
	Preempted    uint64        // times that a thread of the process lost its processor to another thread
	Waited       time.Duration // time that runnable threads of the process had no processor, summed over threads

	Processors int           // number of the machine's processors
	Others     time.Duration // processor time of other processes
	Stolen     time.Duration // processor time that the hypervisor gave to other machines
	Pressure   time.Duration // time in which some runnable thread of the machine had no processor
	Load       float64       // load average of the last minute, at the end
}

// CPU returns the processor time of the process, including the children that it measures.
func (m *Machine) CPU() time.Duration { return m.User + m.System }

// OfOperations returns the processor time of the processes that ran the operations. If there were
// adopted children, they ran the operations; otherwise this process ran them.
func (m *Machine) OfOperations() CPU {
	if m.Adopted != nil {
		return *m.Adopted
	}
	return CPU{m.User, m.System}
}

// Disturbances describes other load that disturbed the process, one text for each kind. Each of
// the three kinds has a margin for the resolution of the counts:
//
//   - more than 1 % of the processors' time was stolen,
//   - more than 10 % was used by other processes,
//   - threads waited for a processor for more than a fifth of the time for which they had one.
//
// A process that is alone on a virtual machine with two processors waits for a twentieth,
// sometimes a tenth, of the time for which it has a processor, because its garbage collector also
// needs a processor. Set crowded if the process itself has more threads than there are
// processors: waiting is then ignored.
func (m *Machine) Disturbances(crowded bool) (found []string) {
	all := m.Wall * time.Duration(m.Processors)
	share := func(d time.Duration) float64 { return 100 * float64(d) / float64(all) }
	if m.Stolen > all/100+tick {
		found = append(found, fmt.Sprintf("the hypervisor took %.1f %% of the processors' time", share(m.Stolen)))
	}
	if m.Others > all/10+2*tick*time.Duration(m.Processors) {
		found = append(found, fmt.Sprintf("other processes used %.1f %% of the processors' time", share(m.Others)))
	}
	if !crowded && m.Waited > m.CPU()/5+tick/2 {
		found = append(found, fmt.Sprintf("its threads waited %v for a processor and had one for %v", m.Waited.Round(time.Millisecond), m.CPU().Round(time.Millisecond)))
	}
	return found
}

// tick is the resolution of the kernel's times for the whole machine on each processor
// (proc(5), USER_HZ, which is 100 on every platform of Go).
const tick = 10 * time.Millisecond

// own holds the kernel's counts for this process at one point in time. Each count has a starting
// point of its own. Reading them takes three system calls and does not allocate, so that
// reading hardly affects a window's figures.
type own struct {
	wall, user, system time.Duration
	adopted            CPU  // the part used by adopted children, including those that have left
	adopting           bool // an adopted child runs
	preempted          uint64
}

// counts holds all of the kernel's counts at one point in time.
type counts struct {
	own
	waited       time.Duration
	busy, stolen time.Duration // of the machine's processors, in ticks
	pressure     time.Duration
	processors   int
	load         float64
}

// since returns what was counted since before, or nil if the platform counts nothing.
func (after counts) since(before counts) *Machine {
	if after == (counts{}) {
		return nil
	}
	m := &Machine{
		Wall: after.wall - before.wall,
		User: after.user - before.user, System: after.system - before.system,
		Preempted:  after.preempted - before.preempted,
		Waited:     max(after.waited-before.waited, 0), // the count of a thread that has ended is lost
		Processors: after.processors,
		Stolen:     after.stolen - before.stolen,
		Pressure:   after.pressure - before.pressure,
		Load:       after.load,
	}
	if used := after.adopted.Minus(before.adopted); after.adopting || used != (CPU{}) {
		m.Adopted = &used
	}
	// The machine's times come in ticks, so they may exceed the length of a short window.
	all := m.Wall * time.Duration(m.Processors)
	m.Stolen = min(m.Stolen, all)
	m.Others = min(max(after.busy-before.busy-m.CPU(), 0), max(all-m.CPU()-m.Stolen, 0))
	return m
}

// Watch reads the current counts of processor time and of other load on the machine. Watch
// returns the function until. This function reads the counts again, and returns the processor
// time and the other load since the call of Watch, or nil if the platform has no such counts.
func Watch() (until func() *Machine) {
	before := counted()
	return func() *Machine { return counted().since(before) }
}

// AwaitQuiet waits until nothing has disturbed this process for a second. It stops waiting when
// the given limit has passed or ctx has ended. The result quiet reports whether the machine
// became quiet. The process should do nothing else meanwhile. If the platform counts nothing, the
// machine counts as quiet.
func AwaitQuiet(ctx context.Context, limit time.Duration) (waited time.Duration, quiet bool) {
	return awaitQuiet(ctx, limit, counted)
}

func awaitQuiet(ctx context.Context, limit time.Duration, counted func() counts) (waited time.Duration, quiet bool) {
	begin := time.Now()
	for before := counted(); ; {
		select {
		case <-ctx.Done():
			return time.Since(begin), false
		case <-time.After(min(time.Second, limit-time.Since(begin))):
		}
		after := counted()
		m := after.since(before)
		before = after
		switch waited = time.Since(begin); {
		case m == nil || len(m.Disturbances(false)) == 0 && m.Wall >= time.Second/2:
			return waited, true
		case waited >= limit:
			return waited, false
		}
	}
}
