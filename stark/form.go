package stark

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"math/bits"
	"slices"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
)

// Form lists the heights of the tables, in the order of the tables. A height is a power of two and at least
// 2; Params.Height computes it from a number of rows. If a table counts up to its last row, it states
// something different at each height. So a statement lists the forms that it accepts.
type Form []int

// MaxForms is the maximum number of forms in a statement. A verifier in a circuit is another program for each form.
const MaxForms = 16

// Fit returns a form that holds the given numbers of rows, one number for each table: of the given forms that do, the
// one with the fewest cells. If none does, Fit returns a *zkbench.LimitError. It names the table that lacks the most
// rows, in the form that comes nearest. Fit returns zkbench.ErrParams if there are no forms, if rows are not those
// of all tables, or if the tables cannot have one of the forms.
func (s *System) Fit(forms []Form, rows []int) (Form, error) {
	if len(forms) == 0 || len(rows) != len(s.tables) {
		return nil, fmt.Errorf("%w: %d forms and rows of %d tables, accepted are 1 form and more, and %d tables", zkbench.ErrParams, len(forms), len(rows), len(s.tables))
	}
	type candidate struct {
		form, cells  int
		lacks, table int // how often heights would have to be doubled, and the table of which most often
	}
	var all []candidate
	for i, f := range forms {
		l, err := s.layoutOf(f)
		if err != nil {
			return nil, fmt.Errorf("form %d: %w", i, err)
		}
		c := candidate{form: i, cells: l.cells}
		most := 0
		for t, n := range rows {
			lacks := max(0, bits.Len(uint(s.params.Height(n)))-bits.Len(uint(f[t])))
			if c.lacks += lacks; lacks > most {
				c.table, most = t, lacks
			}
		}
		all = append(all, c)
	}
	best := slices.MinFunc(all, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.lacks, b.lacks), cmp.Compare(a.cells, b.cells))
	})
	if t, f := best.table, forms[best.form]; best.lacks > 0 {
		return nil, &zkbench.LimitError{What: fmt.Sprintf("rows of table %q", s.tables[t].Name), Estimate: int64(rows[t]), Max: int64(f[t] - s.params.Random())}
	}
	return forms[best.form], nil
}

// Form returns the form that a proof names, that is, the heights of its tables. It does not check whether
// the proof verifies. Form returns a *zkbench.DecodeError if the proof is too short, or if the tables
// cannot have the heights that the proof names.
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

// formOf returns the form with these logarithms. A logarithm that no int can have gives a form that no
// statement accepts.
func formOf(logs []int) (f Form) {
	for _, r := range logs {
		f = append(f, 1<<r)
	}
	return f
}

// logs returns the logarithms of a form's heights.
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

// checkForms refuses a statement without forms or with more than MaxForms, a form that the tables cannot have, and a form for which
// buses may be asked too often.
func (s *statement) checkForms(order uint64, about *Statement) error {
	if len(about.Forms) == 0 {
		return fmt.Errorf("%w: the statement has no forms, it needs the heights of its tables", zkbench.ErrParams)
	}
	if n := len(about.Forms); n > MaxForms {
		return fmt.Errorf("%w: the statement has %d forms, accepted are 1 to %d", zkbench.ErrParams, n, MaxForms)
	}
	for _, f := range about.Forms {
		logs, err := s.logs(f)
		if err == nil {
			err = s.asked(order, logs, about.Messages)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// accepts returns the sentinel if the heights match none of the statement's forms.
func (c *claim[E]) accepts(logs []int, sentinel error) error {
	f := formOf(logs)
	if !slices.ContainsFunc(c.Forms, func(accepted Form) bool { return slices.Equal(accepted, f) }) {
		return fmt.Errorf("%w: tables of %d rows, the statement accepts %d", sentinel, f, c.Forms)
	}
	return nil
}

// asked refuses heights for which tables and statement may ask a bus as often as the field's order, so that
// sums of multiplicities could wrap. lookups.go has the argument.
func (s *statement) asked(order uint64, logs []int, messages []Message) error {
	asks := maps.Clone(s.linked)
	for t, p := range s.programs {
		random := uint64(s.params.Random())
		rows := max(uint64(1)<<logs[t], random) - random // 0 for a table that is too low, which a layout refuses
		for _, m := range p.Messages {
			asks[m.Bus] = addProduct(asks[m.Bus], m.Asks, rows)
		}
	}
	for _, m := range messages {
		if m.Times < 0 {
			asks[m.Bus] = addProduct(asks[m.Bus], uint64(-m.Times), 1)
		}
	}
	for bus, n := range asks {
		if n >= order {
			return fmt.Errorf("%w: bus %q: tables of %d rows and a statement of %d messages may ask it %d times, accepted are fewer than the field's order, %d",
				zkbench.ErrParams, bus, formOf(logs), len(messages), n, order)
		}
	}
	return nil
}

// link counts how often fixed columns ask each bus: a cell -v, in the field's upper half, asks v times.
func (s *statement) link(ctx context.Context, ex executor.Executor, order uint64) error {
	type linked struct {
		bus    string
		column []uint64
		times  uint64
	}
	var all []linked
	for t, p := range s.programs {
		for _, m := range p.Messages {
			if m.Link > 0 {
				all = append(all, linked{bus: m.Bus, column: s.tables[t].Fixed[m.Link-1]})
			}
		}
	}
	err := ex.Do(ctx, len(all), func(_ context.Context, i int) error {
		var times uint64
		for _, v := range all[i].column {
			if v > order/2 && v < order {
				times = addProduct(times, order-v, 1)
			}
		}
		all[i].times = times
		return nil
	})
	s.linked = make(map[string]uint64)
	for _, l := range all {
		if l.times == 0 {
			continue
		}
		s.linked[l.bus] = addProduct(s.linked[l.bus], l.times, 1)
	}
	return err
}

// addProduct returns sum + x y, or math.MaxUint64 if that overflows.
func addProduct(sum, x, y uint64) uint64 {
	high, product := bits.Mul64(x, y)
	total, carry := bits.Add64(sum, product, 0)
	if high > 0 || carry > 0 {
		return math.MaxUint64
	}
	return total
}
