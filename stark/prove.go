package stark

import (
	"context"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/stark/internal/challenger"
	"github.com/zkbench/zkbench/stark/internal/field"
	"github.com/zkbench/zkbench/stark/internal/tree"
)

// proof is what is sent.
type proof[E field.Element[E], X field.Extension[E, X]] struct {
	rows   []int
	caps   [phases][]tree.Digest // of fixed columns it is the system's, and not sent
	sums   []X                   // of each table with messages
	values [phases][][2][]X      // of each table, at y and, of stacks that are read there, at g y
	// Of each distinct place, in rising order, the leaves; of each tree one path.
	leaves [phases][][]E
	paths  [phases][]tree.Digest
	fri    friProof[E, X]
}

// prover is the state of one proof.
type prover[E field.Element[E], X field.Extension[E, X]] struct {
	ctx        context.Context
	ex         executor.Executor
	field      field.Field[E, X]
	vectors    *field.Vectors[E, X]
	hash       tree.Hash[E]
	challenger challenger.Challenger[E, X]
	proximity  proximityProver[E]
	layout     *layout
	points     *points[E, X]
	codes      []codes[E]
	claim      *claim[E]
	span       func(string) func()
	proof      *proof[E, X]

	columns  [][][]E         // of each table, values
	fixed    [][][]E         // those of fixed columns
	random   *random[E, X]   // nil but in zero knowledge, as are
	masks    [][2][]X        // of each table, of the tuples with which its sum begins and ends,
	salts    [phases][][][]E // and of each coset what is hashed with leaves
	kept     [][][]E         // of each table, of the columns that its sums need
	extended [phases][]*extended[E]
	trees    [phases]*tree.Tree[E]
	drawn    drawn[X]
	alpha    X
	y        X
	inverses [][2]field.Vector[E] // of each table, of u - y and of u - g y
}

func (p *prover[E, X]) one() X { return one[E, X](p.field) }

// embed is e in the extension.
func embed[E field.Element[E], X field.Extension[E, X]](e E) (x X) {
	x[0] = e
	return x
}

func one[E field.Element[E], X field.Extension[E, X]](f field.Field[E, X]) X {
	return embed[E, X](f.New(1))
}

// neg is -x.
func neg[E field.Element[E], X field.Extension[E, X]](x X) X {
	var zero X
	return zero.Sub(x)
}

// Phases of Prove, in order.
const (
	PhaseCommit   = "commit"   // columns extended and hashed
	PhaseSums     = "sums"     // of messages
	PhaseQuotient = "quotient" // of the constraints
	PhaseOpen     = "open"     // values at the point
	PhaseFRI      = "fri"      // the word of all, and its folds
	PhaseQueries  = "queries"
)

func (p *prover[E, X]) run() error {
	for _, phase := range []struct {
		name  string
		steps []func() error
	}{
		{PhaseCommit, []func() error{p.commitColumns}},
		{PhaseSums, []func() error{p.sums, p.balanced}},
		{PhaseQuotient, []func() error{p.quotients}},
		{PhaseOpen, []func() error{p.open, p.identities}},
		{PhaseFRI, []func() error{p.batch}},
		{PhaseQueries, []func() error{p.queries}},
	} {
		end := p.span(phase.name)
		for _, step := range phase.steps {
			if err := step(); err != nil {
				return err
			}
		}
		end()
	}
	return nil
}

func (p *prover[E, X]) commitColumns() error {
	if err := p.extendColumns(); err != nil {
		return err
	}
	return p.commit(ofColumns, "columns")
}

func (p *prover[E, X]) extendColumns() error {
	for t, columns := range p.columns {
		if err := p.keep(t, columns); err != nil {
			return err
		}
		x, err := p.points.extend(p.ctx, p.ex, p.layout.phases[ofColumns][t], columns, true, p.layout.kept())
		if err != nil {
			return err
		}
		p.extended[ofColumns] = append(p.extended[ofColumns], x)
		p.columns[t] = nil
	}
	return nil
}

// checker is a verifier of what is proved so far.
func (p *prover[E, X]) checker() *verifier[E, X] {
	return &verifier[E, X]{field: p.field, layout: p.layout, claim: p.claim, proof: p.proof}
}

// balanced and identities find out whether sums and constraints hold: it costs little, and so
// nothing is made that a verifier rejects.
func (p *prover[E, X]) balanced() error { return p.checker().balanced(p.drawn) }

func (p *prover[E, X]) identities() error {
	return p.ex.Do(p.ctx, len(p.layout.programs), func(_ context.Context, t int) error {
		return p.checker().identity(t, p.alpha, p.y, p.drawn)
	})
}

// queries shows the words at places that the challenger picks.
func (p *prover[E, X]) queries() error {
	l := p.layout
	places, err := p.proximity.query()
	if err != nil {
		return err
	}
	for phase := range phases {
		if l.leaf(phase) == 0 {
			continue
		}
		shown := groupsOf(places, l.size, l.shared[phase])
		log := l.size - l.shared[phase]
		leaves := make([][]E, len(shown))
		lower := make(tree.Lower)
		memory := p.points.lent()
		for from := 0; from < len(shown); {
			c, to := shown[from]>>log, from
			for to < len(shown) && shown[to]>>log == c {
				to++
			}
			row := func(leaf int) []E { return p.leaf(phase, leaf) }
			err := p.lending(p.extended[phase], c, memory, func() error {
				err := p.ex.Do(p.ctx, to-from, func(_ context.Context, i int) error {
					leaves[from+i] = row(shown[from+i])
					return nil
				})
				if err != nil {
					return err
				}
				return p.trees[phase].Again(p.ctx, p.ex, lower, shown[from:to], row)
			})
			if err != nil {
				return err
			}
			from = to
		}
		memory.release()
		p.proof.leaves[phase] = leaves
		p.proof.paths[phase] = p.trees[phase].Path(shown, lower)
	}
	return nil
}

// leaf is what a leaf shows.
func (p *prover[E, X]) leaf(phase, number int) (elements []E) {
	l := p.layout
	for _, place := range placesOf(number, l.size, l.shared[phase]) {
		for _, x := range p.extended[phase] {
			elements = append(elements, p.points.opened(x, place)...)
		}
	}
	log := l.size - l.shared[phase]
	for _, column := range p.salts[phase][number>>log] {
		elements = append(elements, column[number&(1<<log-1)])
	}
	return elements
}
