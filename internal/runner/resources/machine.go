package resources

import (
	"context"
	"fmt"
	"time"
)

// Machine is what the process had of the processors between two moments, and what else
// happened on the machine. What the platform does not tell is 0.
type Machine struct {
	Wall         time.Duration // between the moments, by the kernel's clock where it has one
	User, System time.Duration // processor time of the process, and of the children that it measures
	Adopted      *CPU          // of that the time of adopted children, which ran the operations; nil: there were none
	Preempted    uint64        // times that a thread of the process lost its processor to another thread
	Waited       time.Duration // that threads of the process could run and had no processor, summed over them

	Processors int           // of the machine
	Others     time.Duration // processor time of other processes
	Stolen     time.Duration // processor time that the hypervisor gave to other machines
	Pressure   time.Duration // that some thread of the machine could run and had no processor
	Load       float64       // load average of the last minute, at the end
}

// CPU is the processor time of the process.
func (m *Machine) CPU() time.Duration { return m.User + m.System }

// OfOperations is the processor time of what ran the operations: of adopted children, or of the
// process.
func (m *Machine) OfOperations() CPU {
	if m.Adopted != nil {
		return *m.Adopted
	}
	return CPU{m.User, m.System}
}

// Disturbances says what kept the process from having the machine to itself, as far as
// these counts can tell it from their own resolution: more than one part in a hundred of
// the processors' time stolen, one in ten used by other processes, or threads that waited
// for a processor more than a fifth of the time for which they had one. A process alone on a
// virtual machine of two processors waits a twentieth, now and then a tenth, since its own
// collector wants a processor too. crowded says that it has more threads than processors by
// itself, so that their waiting tells nothing.
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

// tick is the resolution of the kernel's times of the whole machine on each processor
// (proc(5), USER_HZ, which is 100 on all that Go runs on).
const tick = 10 * time.Millisecond

// own are the kernel's counts of this process at one moment, each since a beginning of its
// own. Reading them takes three system calls and allocates nothing, so that a window has little
// of its own readings in them.
type own struct {
	wall, user, system time.Duration
	adopted            CPU  // of that, by children that were adopted, those that have left too
	adopting           bool // such a child runs
	preempted          uint64
}

// counts are all of the kernel's at one moment.
type counts struct {
	own
	waited       time.Duration
	busy, stolen time.Duration // of the machine's processors, in ticks
	pressure     time.Duration
	processors   int
	load         float64
}

// since is what was counted between two moments; nil where the platform counts nothing.
func (after counts) since(before counts) *Machine {
	if after == (counts{}) {
		return nil
	}
	m := &Machine{
		Wall: after.wall - before.wall,
		User: after.user - before.user, System: after.system - before.system,
		Preempted:  after.preempted - before.preempted,
		Waited:     max(after.waited-before.waited, 0), // a thread that has ended takes its count with it
		Processors: after.processors,
		Stolen:     after.stolen - before.stolen,
		Pressure:   after.pressure - before.pressure,
		Load:       after.load,
	}
	if used := after.adopted.Minus(before.adopted); after.adopting || used != (CPU{}) {
		m.Adopted = &used
	}
	// The machine's times come in ticks, of which a short window may have more than its length.
	all := m.Wall * time.Duration(m.Processors)
	m.Stolen = min(m.Stolen, all)
	m.Others = min(max(after.busy-before.busy-m.CPU(), 0), max(all-m.CPU()-m.Stolen, 0))
	return m
}

// Watch counts from now on; the function tells what was counted until it is called, nil where
// the platform counts nothing.
func Watch() (until func() *Machine) {
	before := counted()
	return func() *Machine { return counted().since(before) }
}

// AwaitQuiet returns when nothing has disturbed this process for a second, in which it
// should do nothing else, or when limit has passed or ctx has ended. quiet tells which; where
// the platform counts nothing that is at once.
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
