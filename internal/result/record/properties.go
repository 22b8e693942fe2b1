package record

import (
	"strconv"
	"strings"
)

// Properties describes a proof system for people who choose one. Empty fields are unknown.
type Properties struct {
	ProvedBits    float64 `json:"proved_bits,omitempty"`    // bits of soundness that are proved, without conjectures
	ClaimedBits   float64 `json:"claimed_bits,omitempty"`   // bits of soundness that its authors claim
	ZeroKnowledge string  `json:"zero_knowledge,omitempty"` // yes, no
	Setup         string  `json:"setup,omitempty"`          // trusted set-up: none, universal, circuit (one for each circuit)
	Audited       string  `json:"audited,omitempty"`        // no, yes, or by whom
}

// The values of properties.
const (
	Yes            = "yes"
	No             = "no"
	SetupNone      = "none"
	SetupUniversal = "universal"
	SetupCircuit   = "circuit"
)

// Words returns the known properties as pairs of a label and a value in words.
func (p *Properties) Words() (all [][2]string) {
	if p == nil {
		return nil
	}
	add := func(label, value string) {
		if value != "" {
			all = append(all, [2]string{label, value})
		}
	}
	for _, bits := range []struct {
		label string
		n     float64
	}{{"Proved soundness", p.ProvedBits}, {"Claimed soundness", p.ClaimedBits}} {
		if bits.n > 0 {
			add(bits.label, strconv.FormatFloat(bits.n, 'f', -1, 64)+" bits")
		}
	}
	add("Zero knowledge", p.ZeroKnowledge)
	add("Trusted set-up", p.Setup)
	add("Audited", p.Audited)
	return all
}

func (p *Properties) String() string {
	var parts []string
	for _, w := range p.Words() {
		parts = append(parts, strings.ToLower(w[0])+": "+w[1])
	}
	return strings.Join(parts, ", ")
}
