package stark

import (
	"context"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/stark/internal/challenger"
	"github.com/zkbench/zkbench/stark/internal/field"
	"github.com/zkbench/zkbench/stark/internal/tree"
)

// proof is everything that the prover sends.
type proof[E field.Element[E], X field.Extension[E, X]] struct {
	rows   []int
	caps   [phases][]tree.Digest // those of fixed columns and of the image are not sent
	sums   []X                   // one for each table with messages
	values [phases][][2][]X      // for each table, at y and, for stacks that are read there, at g y
	// The leaf of each distinct position, in rising order, and one path for each tree.
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
	digests    *memory[tree.Digest]
	codes      []codes[E]
	claim      *claim[E]
	span       func(string) func()
	proof      *proof[E, X]

	columns  [][][]E         // for each table, values
	fixed    [][][]E         // for each table, values of its fixed columns or of its image
	random   *random[E, X]   // nil without zero knowledge, like masks and salts
	masks    [][2][]X        // for each table, the tuples with which its sum begins and ends
	salts    [phases][][][]E // for each coset, what is hashed with its leaves
	kept     [][][]E         // for each table, the columns that its sums need
	sending  *memory[E]      // memory of these columns, which the sums release
	extended [phases][]*extended[E]
	trees    [phases]*tree.Tree[E]
	drawn    drawn[X]
	alpha    X
	y        X
	inverses [][2]field.Vector[E] // for each table, of u - y and of u - g y
}

func (p *prover[E, X]) one() X { return one[E, X](p.field) }

// embed returns e as an element of the extension.
func embed[E field.Element[E], X field.Extension[E, X]](e E) (x X) {
	x[0] = e
	return x
}

func one[E field.Element[E], X field.Extension[E, X]](f field.Field[E, X]) X {
	return embed[E, X](f.New(1))
}

// neg returns -x.
func neg[E field.Element[E], X field.Extension[E, X]](x X) X {
	var zero X
	return zero.Sub(x)
}

// The phases of Prove, in order, as Options.Span gets them.
const (
	PhaseCommit   = "commit"   // columns are extended and hashed
	PhaseSums     = "sums"     // sums of messages are computed and hashed
	PhaseQuotient = "quotient" // quotients of the constraints are computed and hashed
	PhaseOpen     = "open"     // columns are evaluated at the evaluation point
	PhaseFRI      = "fri"      // the batched codeword is computed and folded
	PhaseQueries  = "queries"  // proof of work, then leaves at the queried positions
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
	p.kept = make([][][]E, len(p.columns))
	return p.extendTables(ofColumns, func(t int) ([][]E, error) {
		columns := p.columns[t]
		p.columns[t] = nil
		return columns, p.keep(t, columns)
	}, true)
}

// extendTables extends a phase's columns, or coefficients if values is not set. All tables are in tasks, because
// those of a single one may be fewer than there are processors.
func (p *prover[E, X]) extendTables(phase int, columns func(t int) ([][]E, error), values bool) error {
	extended := make([]*extended[E], len(p.layout.rows))
	p.extended[phase] = extended
	return p.ex.Do(p.ctx, len(extended), func(_ context.Context, t int) error {
		of, err := columns(t)
		if err == nil {
			extended[t], err = p.points.extend(p.ctx, p.ex, p.layout.phases[phase][t], of, values, p.layout.held())
		}
		return err
	})
}

// checker returns a verifier of what is proved so far.
func (p *prover[E, X]) checker() *verifier[E, X] {
	return &verifier[E, X]{field: p.field, layout: p.layout, claim: p.claim, proof: p.proof}
}

// balanced and identities check whether sums and constraints hold. The check is cheap, and so the prover
// finishes no proof that a verifier would reject.
func (p *prover[E, X]) balanced() error { return p.checker().balanced(p.drawn) }

func (p *prover[E, X]) identities() error {
	return p.ex.Do(p.ctx, len(p.layout.programs), func(_ context.Context, t int) error {
		return p.checker().identity(t, p.alpha, p.y, p.drawn)
	})
}

// queries opens the trees at positions that the challenger picks.
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
		log := l.leaves(phase)
		shown := groupsOf(places, l.size, log)
		var leaves [][]E
		lower := make(tree.Lower)
		for from := 0; from < len(shown); {
			c, to := shown[from]>>log, from
			for to < len(shown) && shown[to]>>log == c {
				to++
			}
			if err := p.bring(p.extended[phase], c); err != nil {
				return err
			}
			rows, err := p.trees[phase].Again(p.ctx, p.ex, lower, shown[from:to], func(leaf int) []E { return p.leaf(phase, leaf) })
			if err != nil {
				return err
			}
			leaves, from = append(leaves, rows...), to
		}
		p.proof.leaves[phase] = leaves
		p.proof.paths[phase] = p.trees[phase].Path(shown, lower)
	}
	return nil
}

// leaf returns the elements of a leaf, the random ones included.
func (p *prover[E, X]) leaf(phase, number int) []E {
	l := p.layout
	elements := make([]E, 0, l.shown(phase))
	log := l.leaves(phase)
	for _, place := range placesOf(number, l.sizes[phase], log) {
		for _, x := range p.extended[phase] {
			if x != nil {
				elements = p.points.opened(elements, x, place)
			}
		}
	}
	for _, column := range p.salts[phase][number>>log] {
		elements = append(elements, column[number&(1<<log-1)])
	}
	return elements
}
