package plonkish

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/internal/arith/poly"
	"github.com/zkbench/zkbench/internal/sys/mapped"
	"github.com/zkbench/zkbench/internal/sys/memory"
	"github.com/zkbench/zkbench/transcript"
)

// Options configures a proof. The zero value is valid.
type Options struct {
	Context []byte    // further bytes that the proof is bound to; the verifier needs the same bytes
	Rand    io.Reader // source of the 32 bytes of the proof's seed; if nil, crypto/rand

	// Span, if set, is called when a phase begins, and within a phase when a sum or a transform begins. Sums
	// and transforms run one after the other. The function that Span returns is called at the end of the
	// phase, sum or transform.
	Span func(name string) (end func())

	// If FullLength is set, Prove commits to columns by their coefficients, which all have full length. Then
	// the time does not show how many cells are 0 or short. The proof is the same.
	FullLength bool
}

// The phases of Prove, in order, as Options.Span receives them.
const (
	PhaseCommit      = "commit"      // commits to the witness
	PhasePermutation = "permutation" // commits to the running product
	PhaseLookup      = "lookup"      // commits to the running sum
	PhaseQuotient    = "quotient"
	PhaseOpen        = "open"
)

// The steps within phases, as Options.Span receives them.
const (
	SpanSum       = "sum"       // weighted sum of points
	SpanTransform = "transform" // transform between coefficients and values
)

// prover is the state of one proof.
type prover struct {
	*ProvingKey
	ctx     context.Context
	ex      executor.Executor
	circuit *Circuit
	public  []fr.Element
	labels  *labels
	rounds  *rounds
	nonces  transcript.Nonces
	blinds  io.Reader
	scalars [challenges]fr.Element
	zeta    fr.Element
	columns map[variable][]fr.Element // coefficients of the committed columns that the circuit does not decide
	pieces  []piece                   // of the quotient
	proof   *proof

	leadingFixed map[variable]fr.Element // of the circuit's columns, the coefficient of X^(n-1)
	turner       *turner
	on           map[variable]int // the coset that a column is on; none: coefficients

	multiplicities []fr.Element // of the tables' rows

	// Memory is reused: a proof takes as much as it needs at one time. It is not on the heap, whose
	// garbage would be as much again.
	free     []poly.Vector  // of n elements
	lists    [][]fr.Element // of n, and room for another
	elements []fr.Element   // one of them
	unmap    map[*byte]func()
	group    group.Group[fr.Element, bn254.G1Affine] // whose sums leave their scratch to the next
	freeSums func()

	fullLength bool
	span       func(name string) (end func())
}

// Prove proves that the witness in c satisfies the circuit. It returns an *UnsatisfiedError if the witness
// does not, and zkbench.ErrParams if c is not the key's circuit. It returns a *zkbench.LimitError if there
// is too little memory. It also returns errors of o.Rand, and the context's cause if ctx ends.
func (k *ProvingKey) Prove(ctx context.Context, ex executor.Executor, c *Circuit, o Options) ([]byte, error) {
	p, err := k.newProver(ctx, ex, c, o)
	if err != nil {
		return nil, err
	}
	defer p.close()
	if err := p.begin(); err != nil {
		return nil, err
	}
	for _, phase := range []struct {
		name string
		run  func() error
	}{{PhaseCommit, p.commit}, {PhasePermutation, p.permutation}, {PhaseLookup, p.lookup}, {PhaseQuotient, p.quotient}, {PhaseOpen, p.open}} {
		end := p.span(phase.name)
		if err := phase.run(); err != nil {
			return nil, err
		}
		end()
	}
	return p.proof.encode(), nil
}

func (k *ProvingKey) newProver(ctx context.Context, ex executor.Executor, c *Circuit, o Options) (*prover, error) {
	if c == nil || c.arith == nil || k.structure == nil || c.digest != k.structure.digest {
		return nil, fmt.Errorf("%w: a circuit that is not the key's", zkbench.ErrParams)
	}
	if err := c.checkMemory(k.proofBytes, memory.Available()); err != nil {
		return nil, err
	}
	if o.Rand == nil {
		o.Rand = rand.Reader
	}
	if o.Span == nil {
		o.Span = func(string) func() { return func() {} }
	}
	nonces := transcript.Nonces{Protocol: protocol, Label: "blinding"}
	if _, err := io.ReadFull(o.Rand, nonces.Seed[:]); err != nil {
		return nil, err
	}
	public := c.Public()
	r := k.newRounds(public, o.Context)
	p := &prover{
		ProvingKey: k, ctx: ctx, ex: ex, circuit: c, public: public, labels: c.labels(), rounds: r,
		nonces: nonces, columns: make(map[variable][]fr.Element), leadingFixed: make(map[variable]fr.Element), proof: k.newProof(),
		unmap: make(map[*byte]func()), turner: k.newTurner(), on: make(map[variable]int), fullLength: o.FullLength, span: o.Span,
	}
	maps.Copy(p.leadingFixed, k.leadingFixed)
	p.group, p.freeSums = group.WithScratch(group.BN254())
	p.elements = p.takeList()
	return p, nil
}

// begin checks the witness, and makes its digest. Hashing takes one processor a few milliseconds, so the check runs
// beside it, unless the check needs the digest too.
func (p *prover) begin() error {
	if p.arith.Late > 0 {
		return p.circuit.guessFrom(p.draw()).check(p.ctx, p.ex)
	}
	return p.ex.Do(p.ctx, 2, func(ctx context.Context, i int) error {
		if i == 0 {
			p.draw()
			return nil
		}
		return p.circuit.check(ctx, p.ex)
	})
}

// draw makes the stream of the proof's random numbers from the witness's digest, which it returns.
func (p *prover) draw() []byte {
	witness := p.circuit.witness()
	p.blinds = p.nonces.Stream(witness, &p.rounds.Transcript)
	return witness
}

// close frees all memory of the proof.
func (p *prover) close() {
	p.freeSums()
	for _, unmap := range p.unmap {
		unmap()
	}
}

// memory returns n bytes that are valid until release or close.
func (p *prover) memory(n int) []byte {
	data, unmap := mapped.Memory(n)
	p.unmap[&data[0]] = unmap
	return data
}

// release frees memory, by its first byte.
func (p *prover) release(first *byte) {
	p.unmap[first]()
	delete(p.unmap, first)
}

// trim frees the memory of vectors and lists that are not in use, in tasks: the system takes some time for each page.
func (p *prover) trim() error {
	var unused []*byte
	for _, v := range p.free {
		unused = append(unused, &v.Memory()[0])
	}
	for _, l := range p.lists {
		unused = append(unused, &mapped.Bytes(l)[0])
	}
	p.free, p.lists = nil, nil
	freed := make([]bool, len(unused))
	err := p.ex.Do(p.ctx, len(unused), func(_ context.Context, i int) error {
		p.unmap[unused[i]]()
		freed[i] = true
		return nil
	})
	for i, first := range unused {
		if freed[i] { // close frees the others
			delete(p.unmap, first)
		}
	}
	return err
}

// takeList returns a list of n elements, with room for another, for the caller alone. Its contents are undefined.
func (p *prover) takeList() []fr.Element {
	if len(p.lists) == 0 {
		return mapped.Values[fr.Element](p.memory((p.n + 1) * fr.Bytes))[:p.n]
	}
	l := p.lists[len(p.lists)-1]
	p.lists = p.lists[:len(p.lists)-1]
	return l
}

// giveList returns lists for later use by takeList.
func (p *prover) giveList(lists ...[]fr.Element) {
	for _, l := range lists {
		p.lists = append(p.lists, l[:p.n])
	}
}

// take returns a vector of n elements for the caller alone. Its contents are undefined.
func (p *prover) take() poly.Vector {
	if len(p.free) == 0 {
		return p.form.FromMemory(p.memory(p.form.Bytes(p.n)), p.n)
	}
	v := p.free[len(p.free)-1]
	p.free = p.free[:len(p.free)-1]
	return v
}

// give returns vectors for later use by take.
func (p *prover) give(vectors ...poly.Vector) { p.free = append(p.free, vectors...) }

// witness returns the digest of what all cells hold.
func (c *Circuit) witness() []byte {
	h := sha256.New()
	var buffer []byte
	for _, cells := range c.cells {
		for some := range slices.Chunk(cells, 1<<10) {
			buffer = buffer[:0]
			for _, v := range some {
				buffer = binary.LittleEndian.AppendUint32(buffer, uint32(v))
			}
			h.Write(buffer)
		}
	}
	for _, values := range append([][]fr.Element{c.values}, c.free...) {
		for some := range slices.Chunk(values, 1<<8) {
			buffer = buffer[:0]
			for _, v := range some {
				for _, limb := range v {
					buffer = binary.LittleEndian.AppendUint64(buffer, limb)
				}
			}
			h.Write(buffer)
		}
	}
	return h.Sum(nil)
}

// random returns the next blinding element.
func (p *prover) random() (e fr.Element, err error) {
	if p.blinds == nil { // begin draws them beside its check
		p.draw()
	}
	var b [64]byte
	_, err = io.ReadFull(p.blinds, b[:])
	return *e.SetBytes(b[:]), err
}

// blind sets all of values to random elements.
func (p *prover) blind(values []fr.Element) (err error) {
	for i := range values {
		if values[i], err = p.random(); err != nil {
			return err
		}
	}
	return nil
}

// commitment commits to values in rows or to coefficients, with the points for either.
func (p *prover) commitment(points []bn254.G1Affine, scalars []fr.Element) (bn254.G1Affine, error) {
	defer p.span(SpanSum)()
	return p.group.MSM(p.ctx, p.ex, points[:len(scalars)], scalars)
}

// commit commits to the witness.
func (p *prover) commit() error {
	early, first := p.earlyColumns(), p.firstColumns()
	if err := p.commitWitness(0, early); err != nil {
		return err
	}
	p.rounds.early(p.proof, &p.scalars)
	if p.arith.Late > 0 {
		p.circuit = p.circuit.withChallenge(p.scalars[drawn])
		p.draw() // late cells are witness too
	}
	if err := p.commitWitness(early, first); err != nil {
		return err
	}
	p.rounds.columns(p.proof, &p.scalars)
	return nil
}

// commitWitness commits to the witness's columns from lo to hi.
func (p *prover) commitWitness(lo, hi int) error {
	for i, v := range p.witness()[lo:hi] {
		if v.kind == multiplicity {
			var err error
			if p.multiplicities, err = p.circuit.multiplicities(p.ctx, p.ex); err != nil {
				return err
			}
		}
		if err := p.columnOf(p.elements, v); err != nil {
			return err
		}
		if err := p.blind(p.elements[p.n-blinded:]); err != nil {
			return err
		}
		if err := p.commitRows(lo+i, v, p.elements); err != nil {
			return err
		}
	}
	return nil
}

// commitRows commits to a column's values, as commitment i of the proof, and keeps the column's coefficients.
// Values are mostly shorter than coefficients, so their sum is cheaper.
func (p *prover) commitRows(i int, v variable, values []fr.Element) (err error) {
	column := p.takeList()
	if err = p.inParts(p.n, func(lo, hi int) { p.setRows(column, values[lo:hi], lo) }); err != nil {
		return err
	}
	if err := p.fromRows(column); err != nil {
		return err
	}
	p.columns[v] = column
	points := p.srs.Lagrange.Pk.G1
	if p.fullLength {
		points, values = p.srs.Canonical.Pk.G1, column
	}
	p.proof.columns[i], err = p.commitment(points, values)
	return err
}

// fromRows replaces the values in the rows, as setRows sets them, by coefficients.
func (p *prover) fromRows(column []fr.Element) error {
	defer p.span(SpanTransform)()
	if err := p.turner.interpolate(p.ctx, p.ex, column, 0, fr.One()); err != nil {
		return err
	}
	return p.turner.turn(p.ctx, p.ex, column, 0, coefficients)
}

// permutation commits to z - 1, and to the running product between groups, less 1.
func (p *prover) permutation() (err error) {
	if p.scalars[delta], err = p.publicProduct(p.public, &p.scalars[beta], &p.scalars[gamma]); err != nil {
		return err
	}
	groups, den, scratch := p.groups(), p.take(), p.take()
	ratios := make([]poly.Vector, len(groups)) // of each group and those before it
	for i, g := range groups {
		ratios[i] = p.take()
		if err := p.overRows([]poly.Vector{ratios[i], den}, g.left, g.right); err != nil {
			return err
		}
		err := p.inParts(p.n, func(lo, hi int) {
			ratio, den := ratios[i].Slice(lo, hi), den.Slice(lo, hi)
			den.Invert(scratch.Slice(lo, hi))
			ratio.Mul(ratio, den)
			if i > 0 {
				ratio.Mul(ratio, ratios[i-1].Slice(lo, hi))
			}
		})
		if err != nil {
			return err
		}
	}
	p.give(den)
	products := ratios[len(groups)-1]
	if err := products.RunningProductsOn(p.ctx, p.ex, scratch); err != nil {
		return err
	}
	p.give(scratch)
	if err := products.ScaleOn(p.ctx, p.ex, &p.scalars[delta]); err != nil {
		return err
	}
	values, end := p.elements, p.n-blinded
	if err := products.GetOn(p.ctx, p.ex, values[1:p.n+1]); err != nil { // there is room for another
		return err
	}
	values[0] = p.scalars[delta]
	if len(groups) > 1 {
		if err := products.SetOn(p.ctx, p.ex, values); err != nil { // z
			return err
		}
	}
	for i := range groups {
		fixed := end + 1
		if i > 0 {
			fixed = end
		}
		one := fr.One()
		err := p.inParts(p.n, func(lo, hi int) {
			if i > 0 {
				ratio := ratios[i-1].Slice(lo, hi)
				ratio.Mul(ratio, products.Slice(lo, hi))
				ratio.Get(values[lo:hi])
			}
			for j := lo; j < min(hi, fixed); j++ {
				values[j].Sub(&values[j], &one)
			}
		})
		if err != nil {
			return err
		}
		if i > 0 {
			p.give(ratios[i-1])
		}
		if err := p.blind(values[fixed:]); err != nil {
			return err
		}
		if err := p.commitRows(p.firstColumns()+i, variable{product, i}, values); err != nil {
			return err
		}
	}
	p.give(products)
	return nil
}

// lookup commits to the sums of lookups and ends the round.
func (p *prover) lookup() error {
	if err := p.commitLookups(); err != nil {
		return err
	}
	p.rounds.running(p.proof, &p.scalars)
	return nil
}
