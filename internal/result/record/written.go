package record

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/zkbench/zkbench"
)

// Add appends figures to the record. If the record already has a figure with the same name, Add leaves the new figure
// out and returns zkbench.ErrParams. The text of the error names the figure.
func (r *Record) Add(figures ...Metric) (err error) {
	for _, m := range figures {
		if twice := CheckOnce(r.Metrics, m); twice != nil {
			err = errors.Join(err, twice)
		} else {
			r.Metrics = append(r.Metrics, m)
		}
	}
	return err
}

// CheckOnce returns zkbench.ErrParams if a metric in others has the same name as m. Records are compared by the names
// of their figures, so a name must not occur twice.
func CheckOnce(others []Metric, m Metric) error {
	if slices.ContainsFunc(others, func(other Metric) bool { return other.name == m.name }) {
		return fmt.Errorf("%w: figure %s occurs twice; accepted: each name once", zkbench.ErrParams, m.name)
	}
	return nil
}

// readable returns an error if no reader would accept the record.
func (r *Record) readable() error {
	switch {
	case r.Schema != Schema:
		return fmt.Errorf("%w: schema %d; accepted: %d", zkbench.ErrParams, r.Schema, Schema)
	case !r.Status.known():
		return fmt.Errorf("%w: status %q; accepted: %s, %s, %s", zkbench.ErrParams, r.Status, OK, Failed, Partial)
	}
	for i, a := range r.Axes {
		if _, twice := r.Axes[:i].Get(a.Key); twice {
			return fmt.Errorf("%w: axis %s occurs twice; accepted: each key once", zkbench.ErrParams, a.Key)
		}
		if !utf8.ValidString(a.Key) { // JSON would replace every invalid byte by the same character
			return fmt.Errorf("%w: axis %q; accepted: UTF-8", zkbench.ErrParams, a.Key)
		}
	}
	for i, m := range r.Metrics {
		if !utf8.ValidString(m.name) {
			return fmt.Errorf("%w: figure %q; accepted: UTF-8", zkbench.ErrParams, m.name)
		}
		if err := CheckOnce(r.Metrics[:i], m); err != nil {
			return err
		}
	}
	return nil
}

// notFinite is the name of the finding for figures that were left out.
const notFinite = "not finite"

// finite returns the record without figures that are NaN or infinite. JSON does not have such numbers, and nothing
// can be compared with them. A finding says which figures were left out.
func (r *Record) finite() *Record {
	isFinite := func(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
	var left []string
	numbers := func(where string, figures []Metric) []Metric {
		return slices.DeleteFunc(slices.Clone(figures), func(m Metric) bool {
			if !isFinite(m.Value) {
				left = append(left, fmt.Sprintf("%s%s is %v", where, m.name, m.Value))
			}
			return !isFinite(m.Value)
		})
	}
	out := *r
	out.Metrics = numbers("", r.Metrics)
	out.Stages = slices.Clone(r.Stages)
	for i, s := range r.Stages {
		out.Stages[i].Sizes = numbers("stage "+s.Name+": ", s.Sizes)
	}
	out.Series = slices.DeleteFunc(slices.Clone(r.Series), func(s Series) bool {
		i := slices.IndexFunc(s.Values, func(v float64) bool { return !isFinite(v) })
		if i >= 0 {
			left = append(left, fmt.Sprintf("series %s is %v at %d", s.Name, s.Values[i], i))
		}
		return i >= 0
	})
	if p := r.Properties; p != nil && !(isFinite(p.ProvedBits) && isFinite(p.ClaimedBits)) {
		left = append(left, fmt.Sprintf("bits of soundness are %v proved, %v claimed", p.ProvedBits, p.ClaimedBits))
		said := *p
		said.ProvedBits, said.ClaimedBits = 0, 0
		out.Properties = &said
	}
	if !isFinite(r.Env.Quota) {
		left = append(left, fmt.Sprintf("quota is %v", r.Env.Quota))
		out.Env.Quota = 0
	}
	if len(left) > 0 {
		out.Findings = append(slices.Clone(r.Findings), Finding{notFinite, strings.Join(left, "; ") + ": not finite, so left out"})
	}
	return &out
}

// known reports whether the status is one of those that readers accept.
func (s Status) known() bool { return s == OK || s == Failed || s == Partial }
