package record

import "strings"

// Whose says to which process the memory or the processor time in a figure belongs. Every figure for which
// OfAProcess is true has a Whose, in records and in views of them. Records of earlier versions have none.
type Whose string

// The processes that a figure can be of.
const (
	// OfOperations is the process that ran the operations. Its figures include everything else that it did at the
	// same time: the load runner and the garbage collector.
	OfOperations Whose = "operations"
	// OfZkbench is zkbench's own process, if another program ran the operations and zkbench only started it and
	// waited for it.
	OfZkbench Whose = "zkbench"
	// OfProver is all processes of an external prover that keeps running between operations.
	OfProver Whose = "prover"
	// OfServer is the process of a server that ran the operations, which zkbench asked for over the network.
	OfServer Whose = "server"
	// OfCommand is a command that `zkbench compare` runs, with all processes that the command waited for.
	OfCommand Whose = "command"
)

// OfProverCommand returns the Whose of one command of an external prover, for example "prove", with all processes
// that the command waited for.
func OfProverCommand(command string) Whose { return OfProver + "/" + Whose(command) }

// andZkbench is the end of the Whose that WithZkbench returns.
const andZkbench = "+zkbench"

// WithZkbench returns the Whose of w and OfZkbench together, for example "prover+zkbench".
func (w Whose) WithZkbench() Whose { return w + andZkbench }

// Foreign reports whether w is, or includes, a process other than the one that measured.
func (w Whose) Foreign() bool {
	return strings.HasPrefix(string(w), string(OfProver)) || strings.HasPrefix(string(w), string(OfServer)) || w == OfCommand
}

// Words returns w in words for a sentence, for example "the process that ran the operations". It returns values of
// newer versions unchanged.
func (w Whose) Words() string {
	switch w {
	case OfOperations:
		return "the process that ran the operations"
	case OfZkbench:
		return "zkbench's own process"
	case OfProver:
		return "the prover's processes"
	case OfServer:
		return "the server's process"
	case OfCommand:
		return "the command's processes"
	}
	if part, ok := strings.CutSuffix(string(w), andZkbench); ok {
		return Whose(part).Words() + " and zkbench's own"
	}
	if command, ok := strings.CutPrefix(string(w), string(OfProver)+"/"); ok {
		return "the prover's processes of " + command
	}
	return string(w)
}

// WithWhose returns m as a figure of the given process.
func (m Metric) WithWhose(w Whose) Metric {
	m.Whose = w
	return m
}

// OfAProcess reports whether figures of this quantity measure the memory or time of a process.
func (q Quantity) OfAProcess() bool {
	return q.group == Memory || q.group == Runtime || q.group == Processes
}

// OfAProcess reports whether the series measures the memory or time of a process.
func (s Series) OfAProcess() bool {
	_, found := find(table, func(row Quantity) bool { return row.name == s.Name && row.OfAProcess() })
	return found
}

// SetWhose sets Whose to w in the record's stages, and in its figures that measure a process. It does not change
// stages and figures that already have a Whose.
func (r *Record) SetWhose(w Whose) {
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

// PeakMemory returns the maximum resident set of the measured program. For a load test it is the maximum in the
// window. For a case with stages it is the largest of the stages' maximums. If an external prover ran the stages,
// zkbench's own memory does not count. The result ok is false if the record does not have the figure.
func (r *Record) PeakMemory() (peak Metric, ok bool) {
	if !r.Staged() {
		return r.Metric(PeakRSS)
	}
	for _, s := range r.Stages {
		if s.Whose != OfZkbench && s.PeakRSS > 0 && float64(s.PeakRSS) > peak.Value {
			peak, ok = PeakRSS.Metric(float64(s.PeakRSS)).WithWhose(s.Whose), true
		}
	}
	return peak, ok
}

// stagesByProver corrects the stages of an external prover in a record of an earlier version. Such a record has
// zkbench's own memory as the stage's memory, and the prover's memory among the sizes.
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
