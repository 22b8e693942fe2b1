package record

import "strings"

// Whose says whose memory and processor time a figure is. Every figure that is measured of a
// process has one (OfAProcess), in records and in what is made of them. A record of an earlier
// version says nothing.
type Whose string

const (
	// OfOperations is the process that ran the operations, with all else that it did in the
	// time: the load runner, its collector.
	OfOperations Whose = "operations"
	// OfZkbench is zkbench's own process, where another program ran the operations: zkbench
	// started it and waited for it.
	OfZkbench Whose = "zkbench"
	// OfProver is a foreign prover that is resident: all its processes.
	OfProver Whose = "prover"
	// OfProverAndZkbench is both together.
	OfProverAndZkbench Whose = "prover+zkbench"
	// OfCommand is a command that compare runs, with all processes that it waited for.
	OfCommand Whose = "command"
)

// OfProverCommand is one of a foreign prover's commands, for example prove, with all processes
// that it waited for.
func OfProverCommand(command string) Whose { return OfProver + "/" + Whose(command) }

// Foreign reports whether the figure is of another program than the one that measures.
func (w Whose) Foreign() bool {
	return strings.HasPrefix(string(w), string(OfProver)) || w == OfCommand
}

// Words says it in a sentence's words, for example "the process that ran the operations". A
// value that a newer version wrote is returned as it is.
func (w Whose) Words() string {
	switch w {
	case OfOperations:
		return "the process that ran the operations"
	case OfZkbench:
		return "zkbench's own process"
	case OfProver:
		return "the prover's processes"
	case OfProverAndZkbench:
		return "the prover's processes and zkbench's own"
	case OfCommand:
		return "the command's processes"
	}
	if command, ok := strings.CutPrefix(string(w), string(OfProver)+"/"); ok {
		return "the prover's processes of " + command
	}
	return string(w)
}

// Of returns the figure as one of this process.
func (m Metric) Of(w Whose) Metric {
	m.Whose = w
	return m
}

// OfAProcess reports whether figures of this quantity are memory or time of a process.
func (q Quantity) OfAProcess() bool {
	return q.group == Memory || q.group == Runtime || q.group == Processes
}

// OfAProcess reports whether the series is of memory or time of a process.
func (s Series) OfAProcess() bool {
	_, found := find(table, func(row Quantity) bool { return row.name == s.Name && row.OfAProcess() })
	return found
}

// Belong gives the record's figures that are of a process, and do not say of which, this one.
func (r *Record) Belong(w Whose) {
	for i := range r.Metrics {
		if m := &r.Metrics[i]; m.OfAProcess() && m.Whose == "" {
			m.Whose = w
		}
	}
	for i := range r.Stages {
		if r.Stages[i].Whose == "" {
			r.Stages[i].Whose = w
		}
	}
}

// PeakMemory returns the greatest resident set of what was measured: within the window of a
// load; of a case that goes through stages that of the greatest. It is never zkbench's own
// beside a prover. ok is false where it was not told.
func (r *Record) PeakMemory() (peak Metric, ok bool) {
	if !r.Staged() {
		return r.Metric(PeakRSS)
	}
	for _, s := range r.Stages {
		if s.Whose != OfZkbench && s.PeakRSS > 0 && float64(s.PeakRSS) > peak.Value {
			peak, ok = PeakRSS.Metric(float64(s.PeakRSS)).Of(s.Whose), true
		}
	}
	return peak, ok
}

// stagesByProver repairs the stages of a prover in a record of an earlier version, which had
// zkbench's own memory there, and the prover's among the sizes.
func (r *Record) stagesByProver() {
	for i := range r.Stages {
		s := &r.Stages[i]
		if s.Whose != "" {
			continue
		}
		for _, m := range s.Sizes {
			if m.name == PeakRSS.name && m.Value >= 0 && m.Value < 1<<63 {
				s.Whose, s.PeakRSS, s.Allocated = OfProverCommand(s.Name), uint64(m.Value), 0
			}
		}
	}
}
