package record

// Headline chooses the case with which the report of a suite begins: a workload, and values of some of its axes.
type Headline struct {
	Workload string `json:"workload"`
	Axes     Axes   `json:"axes"`
}

// Selects reports whether a case of the workload has all values of h. The parameter axes is all axes of the case.
func (h *Headline) Selects(workload string, axes Axes) bool {
	if workload != h.Workload {
		return false
	}
	for _, x := range h.Axes {
		if value, ok := axes.Get(x.Key); !ok || value != x.Value {
			return false
		}
	}
	return true
}

// String returns the workload's name on the command line and the values: sender in=2 out=2.
func (h *Headline) String() string {
	text := WorkloadID(h.Workload)
	for _, x := range h.Axes {
		text += " " + x.Key + "=" + x.Value
	}
	return text
}
