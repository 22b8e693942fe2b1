package workload

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/result/record"
)

// MixKey is the key of a mix's axis. The axis' value names the workloads and their
// shares, for example issue:1,transfer:8.
const MixKey = "mix"

// MaxShare is the maximum share of one part of a mix.
const MaxShare = 1000

// part is one workload of a mix, with its share.
type part struct {
	name  string // as the user typed it
	def   Def
	share int
}

// caseOf returns c with only those axes that the part's workload has.
func (p part) caseOf(c Case) Case {
	return NewCase(slices.DeleteFunc(c.Axes(), func(x record.Axis) bool {
		_, has := p.def.Axis(x.Key)
		return !has
	})...)
}

// Mix returns a workload that runs several of the workloads in defs in the proportions that the
// parameter text gives. If the text is "issue=1,transfer=8", one of every nine operations is an
// issue, and the others are transfers. Parts are named by command-line id, name or alias. The
// mix has the axes of all its parts. Mix returns an *argument.ValueError if the text has another
// form, or names a workload that comes from a prover's file.
func Mix(defs []Def, text string) (Def, error) {
	parts, err := parseMix(defs, text)
	if err != nil {
		return Def{}, err
	}
	value := strings.ReplaceAll(text, "=", ":")
	axes := []Axis{{
		Name: "mix", Key: MixKey, Flag: MixKey, Usage: "workloads of the mix with their shares", Accepted: value,
		Default: []string{value}, Smoke: value, Parse: func(string) ([]string, error) { return []string{value}, nil },
	}}
	for _, p := range parts {
		if p.def.Spec != nil {
			return Def{}, &argument.ValueError{Field: MixKey, Value: p.def.ID(), Accepted: "workloads of the program, not of provers' files"}
		}
		for _, a := range p.def.Axes {
			if !slices.ContainsFunc(axes, func(b Axis) bool { return a.Key == b.Key }) {
				axes = append(axes, a)
			}
		}
	}
	def := mixOf(defs)
	def.Axes = axes
	return def, nil
}

// WithMix returns a copy of defs with one more workload, Mix. The axis "mix" of a case of Mix
// says which workloads in defs the case runs, and in which proportions.
func WithMix(defs []Def) []Def { return append(slices.Clone(defs), mixOf(defs)) }

func mixOf(defs []Def) Def {
	return Def{
		Name: "Mix", Doc: "operations of several workloads in fixed proportions",
		Memory: func(c Case) (all Memory, err error) {
			parts, err := parseMix(defs, strings.ReplaceAll(c.Get(MixKey), ":", "="))
			for _, p := range parts {
				if p.def.Memory == nil {
					continue
				}
				one, err := p.def.Memory(p.caseOf(c))
				if err != nil {
					return all, fmt.Errorf("%s: %w", p.name, err)
				}
				all = all.merge(one)
			}
			return all, err
		},
		New: func(ctx context.Context, c Case, seed uint64) (Instance, error) {
			parts, err := parseMix(defs, strings.ReplaceAll(c.Get(MixKey), ":", "="))
			if err != nil {
				return nil, err
			}
			return newMix(ctx, parts, c, seed)
		},
	}
}

func parseMix(defs []Def, text string) ([]part, error) {
	refuse := func(value string) error {
		var names []string
		for _, d := range defs {
			if d.Alias != "" {
				names = append(names, d.Alias)
			}
		}
		for _, d := range defs {
			names = append(names, d.ID())
		}
		return &argument.ValueError{Field: MixKey, Value: value, Accepted: fmt.Sprintf(
			"workload=share,... with at least two different ones of %s, and shares from 1 to %d", strings.Join(names, ", "), MaxShare)}
	}
	var parts []part
	for item := range strings.SplitSeq(text, ",") {
		item = strings.TrimSpace(item)
		name, number, _ := strings.Cut(item, "=")
		i := slices.IndexFunc(defs, func(d Def) bool { return name != "" && (name == d.Alias || name == d.ID() || name == d.Name) })
		share, err := strconv.Atoi(number)
		if i < 0 || err != nil || share < 1 || share > MaxShare {
			return nil, refuse(item)
		}
		if slices.ContainsFunc(parts, func(p part) bool { return p.def.Name == defs[i].Name }) {
			return nil, refuse(text)
		}
		parts = append(parts, part{name, defs[i], share})
	}
	if len(parts) < 2 {
		return nil, refuse(text)
	}
	return parts, nil
}

// mix is the instance of a mix. Operations come in turns; the length of a turn is the sum
// of the shares. All turns have the same order, in which each part is spread evenly
// (smooth weighted round robin), so every turn has exactly the requested proportions.
type mix struct {
	names     []string
	shares    []int
	instances []Instance
	turn      []int // the class of each position
	rank      []int // how many earlier positions in the turn have the same class
}

func newMix(ctx context.Context, parts []part, c Case, seed uint64) (_ Instance, err error) {
	m := new(mix)
	defer func() {
		if err != nil {
			err = errors.Join(err, m.Close())
		}
	}()
	for _, p := range parts {
		instance, err := p.def.New(ctx, p.caseOf(c), seed)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.name, err)
		}
		m.names, m.shares, m.instances = append(m.names, p.name), append(m.shares, p.share), append(m.instances, instance)
	}
	m.turn, m.rank = turnOf(m.shares)
	return m, nil
}

// turnOf spreads the shares over a turn. At each position every class earns its share;
// the richest class gets the position and pays the sum of the shares.
func turnOf(shares []int) (turn, rank []int) {
	sum := 0
	for _, s := range shares {
		sum += s
	}
	wealth, seen := make([]int, len(shares)), make([]int, len(shares))
	for range sum {
		richest := 0
		for i, s := range shares {
			if wealth[i] += s; wealth[i] > wealth[richest] {
				richest = i
			}
		}
		wealth[richest] -= sum
		turn, rank = append(turn, richest), append(rank, seen[richest])
		seen[richest]++
	}
	return turn, rank
}

func (m *mix) Classes() []string { return m.names }

func (m *mix) Class(seq uint64) int { return m.turn[seq%uint64(len(m.turn))] }

func (m *mix) Turn() int { return len(m.turn) }

// mixed is an input for one part.
type mixed struct {
	class int
	input any
}

func (m *mix) Input(ctx context.Context, seq uint64) (any, error) {
	n := uint64(len(m.turn))
	class := m.Class(seq)
	input, err := m.instances[class].Input(ctx, seq/n*uint64(m.shares[class])+uint64(m.rank[seq%n]))
	return &mixed{class, input}, err
}

func (m *mix) Run(ctx context.Context, input any) ([]byte, error) {
	in := input.(*mixed)
	return m.instances[in.class].Run(ctx, in.input)
}

func (m *mix) Check(ctx context.Context, input any, output []byte) error {
	in := input.(*mixed)
	return m.instances[in.class].Check(ctx, in.input, output)
}

// Metrics returns the metrics of all parts, with the part's name in each metric's name and unit.
func (m *mix) Metrics(ctx context.Context) ([]record.Metric, error) {
	var all []record.Metric
	for i, instance := range m.instances {
		sizes, err := instance.Metrics(ctx)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.names[i], err)
		}
		for _, s := range sizes {
			all = append(all, s.InClass(m.names[i]))
		}
	}
	return all, nil
}

func (m *mix) Close() error {
	var errs []error
	for _, instance := range m.instances {
		errs = append(errs, instance.Close())
	}
	return errors.Join(errs...)
}
