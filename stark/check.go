package stark

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/stark/air"
	"github.com/zkbench/zkbench/stark/internal/field"
	"github.com/zkbench/zkbench/stark/internal/omit"
)

// Check returns nil if the traces satisfy the tables and every tuple is answered as often as it is asked
// for. Otherwise it returns zkbench.ErrWitness. The error names the first table, row and constraint that
// fail. If all constraints hold, it names a bus with an unbalanced tuple, and a table and row that send this
// tuple. The error contains no values. Prove calls Check if it has made a proof that does not hold.
func (s *System) Check(ctx context.Context, ex executor.Executor, traces []Trace, about Statement) error {
	return s.engine.check(ctx, ex, s.statement, traces, about)
}

func (y *system[E, X]) check(ctx context.Context, ex executor.Executor, s *statement, traces []Trace, about Statement) error {
	claim, err := y.claim(s, about)
	if err != nil {
		return err
	}
	rows, err := s.heights(traces)
	if err != nil {
		return err
	}
	if err := claim.accepts(rows, zkbench.ErrParams); err != nil {
		return err
	}
	l, err := y.layout(s, rows)
	if err != nil {
		return err
	}
	image, err := y.imageOf(s, about.Image)
	if err != nil {
		return err
	}
	m := &memory[E]{kept: &y.kept}
	defer m.release()
	b := &balance{y.field.Order(), make(map[string]map[string]uint64), make(map[string]map[string]string)}
	for t, trace := range traces {
		columns := [phases][][]E{ofFixed: y.fixed.values[t], ofImage: image.values[t]}
		columns[ofColumns], err = fill[E, X](ctx, ex, y.field, m, s.tables[t], trace, s.programs[t].Columns, l.used(t))
		if err == nil {
			err = checkTable[E, X](ctx, ex, y.field, l, t, columns, y.codes[t].all, claim.publics, b)
		}
		if err != nil {
			return err
		}
	}
	for i, m := range about.Messages {
		var key []byte
		for _, t := range m.Tuple {
			key = binary.LittleEndian.AppendUint64(key, t)
		}
		b.add(m.Bus, string(key), m.Times, fmt.Sprintf("message %d of the statement", i))
	}
	return b.check()
}

// checkTable checks a table's rows and records what they send.
func checkTable[E field.Element[E], X field.Extension[E, X]](ctx context.Context, ex executor.Executor, f field.Field[E, X], l *layout, t int, columns [phases][][]E, code *code[E], publics []E, b *balance) error {
	p, rows, used := l.programs[t], 1<<l.rows[t], l.used(t)
	left := omit.From(ctx, l.tables[t].Name)
	size := min(rows, tile)
	failed := make([]error, rows/size)
	sent := make([][]sending, rows/size)
	var zero E
	memory := &memory[E]{kept: new(kept[E])}
	scratch := scratches[*machine[E, X]]{make: func() *machine[E, X] { return newMachine[E, X](f, memory, code, publics, rows) }}
	err := tiles(ctx, ex, rows, size, &scratch, func(m *machine[E, X], lo int) error {
		i := lo / size
		// The first row in which a constraint fails, and of the constraints that fail there the one that is
		// stated first.
		first, failing := size, -1
		m.run(func(phase, c int) []E { return columns[phase][c] }, rows, 1, i*size, func(w air.Where, bounds []int, values [][]E) {
			from, to := 0, used
			switch w {
			case air.First:
				to = 1
			case air.Last:
				from = used - 1
			case air.Transition:
				to = used - 1
			}
			from, to = max(from-i*size, 0), min(to-i*size, size)
			for n, bound := range bounds {
				if left.Constraint(bound) {
					continue
				}
				for j := from; j < min(to, first+1); j++ {
					if values[n][j] != zero && (j < first || bound < failing) {
						first, failing = j, bound
					}
				}
			}
		})
		if failing >= 0 {
			failed[i] = fmt.Errorf("%w: table %q, row %d: %s", zkbench.ErrWitness, l.tables[t].Name, i*size+first, p.Constraints[failing].Name)
		}
		for n, message := range p.Messages {
			if left.Message(n) {
				continue
			}
			times := m.value(message.Multiplicity)
			for j := range min(used-i*size, size) {
				if times[j] == zero {
					continue
				}
				var key []byte
				for _, step := range message.Tuple {
					key = binary.LittleEndian.AppendUint64(key, f.Uint64(m.value(step)[j]))
				}
				n := int64(f.Uint64(times[j]))
				if minus := int64(f.Uint64(zero.Sub(times[j]))); uint64(minus) < uint64(n) {
					n = -minus
				}
				sent[i] = append(sent[i], sending{message.Bus, string(key), n, i*size + j})
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, err := range failed {
		if err != nil {
			return err
		}
	}
	for _, part := range sent {
		for _, m := range part {
			b.add(m.bus, m.tuple, m.times, fmt.Sprintf("table %q, row %d", l.tables[t].Name, m.row))
		}
	}
	return nil
}

type sending struct {
	bus, tuple string
	times      int64
	row        int
}

// balance counts what has been sent to buses, modulo the field's order.
type balance struct {
	order uint64
	times map[string]map[string]uint64
	who   map[string]map[string]string // the first sender of each tuple
}

func (b *balance) add(bus, tuple string, times int64, who string) {
	if b.times[bus] == nil {
		b.times[bus], b.who[bus] = make(map[string]uint64), make(map[string]string)
	}
	if _, ok := b.who[bus][tuple]; !ok {
		b.who[bus][tuple] = who
	}
	residue := uint64(times) % b.order
	if times < 0 {
		residue = (b.order - uint64(-times)%b.order) % b.order
	}
	sum, carry := bits.Add64(b.times[bus][tuple], residue, 0)
	if carry > 0 || sum >= b.order {
		sum -= b.order
	}
	b.times[bus][tuple] = sum
}

func (b *balance) check() error {
	var bad []string
	for bus, tuples := range b.times {
		for tuple, times := range tuples {
			switch {
			case times == 0:
			case times > b.order/2:
				bad = append(bad, fmt.Sprintf("bus %q: the tuple of %s is asked for %d times more than it is answered", bus, b.who[bus][tuple], b.order-times))
			default:
				bad = append(bad, fmt.Sprintf("bus %q: the tuple of %s is answered %d times more than it is asked for", bus, b.who[bus][tuple], times))
			}
		}
	}
	if len(bad) == 0 {
		return nil
	}
	slices.Sort(bad)
	return fmt.Errorf("%w: %s", zkbench.ErrWitness, bad[0])
}
