package token

import (
	"fmt"
	"slices"

	"github.com/zkbench/zkbench/internal/study"
)

// answer returns the beginning of the page.
func (d *data) answer() study.Answer {
	var faster []string
	for _, o := range []struct{ workload, what string }{
		{"TransferProofGeneration", "proved"}, {"VerificationSenderProof", "verified"},
	} {
		if text := d.timesFaster(o.workload); text != "" {
			faster = append(faster, fmt.Sprintf("%s %s as fast as by Panurus (`%s`)", o.what, text, o.workload))
		}
	}
	var first string
	switch len(faster) {
	case 1:
		first = "A transfer of two inputs and two outputs is " + faster[0]
	case 2:
		first = "A transfer of two inputs and two outputs is " + faster[0] + ", and " + faster[1]
	}
	if first != "" {
		first += ", each measured in units of one scalar multiplication on its own machine."
	}
	return study.Answer{Sentences: []string{first, d.example()}, Worse: []string{study.Worse("In these units, we are slower than Panurus", "Panurus", d.besides())}}
}

// placed is a figure with the point at which it was measured.
type placed struct {
	figure
	at point
}

// measuredAt returns the figures of a workload that is compared with Panurus, at all points that have one of both.
func (d *data) measuredAt(workload string) (all []placed) {
	for _, m := range compared() {
		if m.workload != workload || m.apart {
			continue
		}
		for _, at := range points() {
			if f := d.figure(&m, at, m.workload); f.faster > 0 {
				all = append(all, placed{f, at})
			}
		}
	}
	return all
}

// timesFaster returns how many times faster than Panurus a workload is, from the least to the most.
func (d *data) timesFaster(workload string) string {
	var all []float64
	for _, f := range d.measuredAt(workload) {
		all = append(all, f.faster)
	}
	if len(all) == 0 {
		return ""
	}
	least, most := study.Number(slices.Min(all)), study.Number(slices.Max(all))
	if least == most {
		return least + " times"
	}
	return least + " to " + most + " times"
}

// example returns a sentence with the first times to prove and to verify, ours and Panurus'.
func (d *data) example() string {
	prove, verify := d.measuredAt("Sender"), d.measuredAt("VerificationSenderProof")
	if len(prove) == 0 || len(verify) == 0 || prove[0].at != verify[0].at {
		return ""
	}
	p, v := prove[0], verify[0]
	return fmt.Sprintf("For example (%s), `Sender` takes %s and `VerificationSenderProof` %s here; Panurus takes %s and %s on its machine.",
		p.at, study.Time(p.ns), study.Time(v.ns), study.Time(p.theirs.Ns), study.Time(v.theirs.Ns))
}

// besides returns our figures beside those of Panurus, in units.
func (d *data) besides() (all []study.Beside) {
	units := func(v float64) string { return study.Number(v) + " units" }
	for _, m := range slices.Concat(compared(), shapes()) {
		for _, at := range points() {
			f := d.figure(&m, at, m.workload)
			what := fmt.Sprintf("%s, %s/%s, %s", m.titled(m.workload), m.count(), m.count(), at)
			all = append(all, study.Beside{What: what, Ours: f.units, Theirs: f.theirUnits(), Text: units})
		}
	}
	return all
}
