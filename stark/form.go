package stark

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/zkbench/zkbench"
)

// Form is the height of each table, in order: powers of two from 2 on (Set.Height). A table that counts
// to its last row says another thing at another height, so a statement names the forms that it accepts.
type Form []int

// Form returns the form of a proof. It is what the proof says of itself, whether or not it verifies.
func (s *System) Form(proof []byte) (Form, error) {
	if len(proof) < len(s.tables) {
		return nil, &zkbench.DecodeError{Path: "heights", Offset: len(proof), Reason: fmt.Sprintf("heights of %d tables are needed", len(s.tables))}
	}
	var logs []int
	for _, b := range proof[:len(s.tables)] {
		logs = append(logs, int(b))
	}
	if _, err := s.engine.layout(s.statement, logs); err != nil {
		return nil, &zkbench.DecodeError{Path: "heights", Reason: err.Error()}
	}
	return formOf(logs), nil
}

// formOf is the form of logarithms. Those that no int has make none that a statement accepts.
func formOf(logs []int) (f Form) {
	for _, r := range logs {
		f = append(f, 1<<r)
	}
	return f
}

// logs are the logarithms of a form's heights.
func (s *statement) logs(f Form) (logs []int, err error) {
	if len(f) != len(s.tables) {
		return nil, fmt.Errorf("%w: form: heights of %d tables, accepted are %d", zkbench.ErrParams, len(f), len(s.tables))
	}
	for i, n := range f {
		if n < 2 || n&(n-1) != 0 {
			return nil, fmt.Errorf("%w: form: table %q of %d rows, accepted are powers of two from 2 on", zkbench.ErrParams, s.tables[i].Name, n)
		}
		logs = append(logs, bits.TrailingZeros(uint(n)))
	}
	return logs, nil
}

// checkForms refuses a statement without forms, and forms that the tables do not have.
func (s *statement) checkForms(forms []Form) error {
	if len(forms) == 0 {
		return fmt.Errorf("%w: a statement without forms, accepted is one that names the heights of its tables", zkbench.ErrParams)
	}
	for _, f := range forms {
		if _, err := s.logs(f); err != nil {
			return err
		}
	}
	return nil
}

// accepts returns the sentinel if heights are of none of the statement's forms.
func (c *claim[E]) accepts(logs []int, sentinel error) error {
	f := formOf(logs)
	if !slices.ContainsFunc(c.Forms, func(accepted Form) bool { return slices.Equal(accepted, f) }) {
		return fmt.Errorf("%w: tables of %d rows, the statement accepts %d", sentinel, f, c.Forms)
	}
	return nil
}

// asked refuses heights for which tables and statement may ask a bus as often as the field's order says,
// so that sums of multiplicities wrap: lookups.go has the argument.
func (l *layout) asked(order uint64, messages []Message) error {
	asks := make(map[string]uint64)
	add := func(bus string, times, rows uint64) {
		high, product := bits.Mul64(times, rows)
		sum, carry := bits.Add64(asks[bus], product, 0)
		if high > 0 || carry > 0 {
			sum = math.MaxUint64
		}
		asks[bus] = sum
	}
	for t, p := range l.programs {
		for _, m := range p.Messages {
			add(m.Bus, m.Asks, uint64(l.used(t)))
			if m.Link == 0 {
				continue
			}
			for _, v := range l.tables[t].Fixed[m.Link-1] {
				if v > order/2 && v < order {
					add(m.Bus, order-v, 1)
				}
			}
		}
	}
	for _, m := range messages {
		if m.Times < 0 {
			add(m.Bus, uint64(-m.Times), 1)
		}
	}
	for bus, b := range l.buses {
		if asks[bus] >= order {
			return fmt.Errorf("%w: bus %q (%d): tables of %d rows and a statement of %d messages may ask it %d times, accepted are fewer than the field's order, %d",
				zkbench.ErrParams, bus, b.number, formOf(l.rows), len(messages), asks[bus], order)
		}
	}
	return nil
}
