// Package stark proves that the rows of tables satisfy constraints. Its proofs are transparent and use FRI
// (Ben-Sasson, Bentov, Horesh, Riabzev 2018; DEEP: Ben-Sasson, Goldberg, Kopparty, Saraf 2019), over
// Goldilocks or KoalaBear, with Merkle trees of Keccak or Poseidon. A table states its constraints once,
// with package air. Tables are linked by buses: a row can send a tuple of numbers on a bus, to ask for
// this tuple or to answer with it. Each tuple must be answered as often as it is asked for. Columns are
// stacked: many of them are committed to as one polynomial, so that a query opens few elements.
//
// Proofs are zero-knowledge if Params.ZeroKnowledge is set. Otherwise the values that they open reveal
// something about the traces. Package security computes how much of the soundness is proved. Nothing in this
// package is constant-time.
package stark

import (
	"context"
	"crypto/sha512"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/goldilocks/ext"
	"github.com/zkbench/zkbench/stark/air"
	"github.com/zkbench/zkbench/stark/internal/challenger"
	"github.com/zkbench/zkbench/stark/internal/circuit"
	"github.com/zkbench/zkbench/stark/internal/field"
	"github.com/zkbench/zkbench/stark/internal/koalabear"
	"github.com/zkbench/zkbench/stark/internal/tree"
	"github.com/zkbench/zkbench/stark/security"
)

// Field names the field of the tables' cells.
type Field string

// The supported fields.
const (
	Goldilocks Field = "goldilocks"
	KoalaBear  Field = "koalabear"
)

// Hash names the hash function of the Merkle trees.
type Hash string

// The supported hashes. Poseidon works over Goldilocks only.
const (
	Keccak   Hash = "keccak"
	Poseidon Hash = "poseidon"
)

// Config says which field, hash and parameters a System uses.
type Config struct {
	Field  Field
	Hash   Hash
	Params Params
}

// Message is a tuple that a statement, and not a table, sends on a bus. If Times is a positive number n, the
// statement answers with the tuple n times. If Times is -n, the statement asks for the tuple n times.
type Message struct {
	Bus   string
	Times int64
	Tuple []uint64
}

// Statement is what a proof proves about the tables. Prove and Verify return zkbench.ErrParams if Forms is
// empty or has more than MaxForms forms.
type Statement struct {
	Forms    []Form    // accepted heights of the tables; a proof of any other form is refused
	Publics  []uint64  // public values that tables read
	Messages []Message // what the statement itself sends on buses, in addition to the tables
	Context  []byte    // further data that the proof is bound to
	// Image is for tables that have an image (air.Table), and else nil. Prove and Check need one that System.Image
	// returned. Verify also accepts one that System.DecodeImage returned.
	Image *Image
}

// Trace says how to fill one table.
type Trace struct {
	// Rows is the table's height in a form of the statement: a power of two, at least 2. A table with fixed
	// columns or an image has their height. Params.Height returns the height that a number of rows needs. The verifier
	// knows Rows from the statement: constraints on the last row apply to row Rows - 1 or, in zero knowledge,
	// to row Rows - 1 - Params.Random().
	Rows int
	// Fill sets the cells, which are 0 before the call. It must not retain them, because later proofs reuse
	// their memory. In zero knowledge there are Params.Random() fewer rows to fill than Rows, and the last of
	// the filled rows counts as the table's last row.
	Fill func(ctx context.Context, ex executor.Executor, cells *Cells) error
}

// Options are settings of one proof. The zero value is valid.
type Options struct {
	// Span, if not nil, is called when each phase begins. The function that it returns is called when the
	// phase ends without an error.
	Span func(name string) (end func())
	// Rand is the source of randomness for proofs in zero knowledge. If it is nil, crypto/rand is used.
	Rand io.Reader
	// Lean makes the same proof in less memory and more time. Each column of the trace is in memory on one coset
	// at a time, and the next coset is computed in its place. System.LeanMemory estimates what that takes; docs/stark.md has
	// the memory and the time with Lean and without.
	Lean bool
}

// System proves and verifies statements about its tables.
type System struct {
	*statement
	circuitVerify
	engine engine
}

// engine is a system over one field and extension.
type engine interface {
	lower(ctx context.Context, ex executor.Executor, s *statement) error                // compiles the programs, before the first proof
	fix(ctx context.Context, ex executor.Executor, s *statement) ([]tree.Digest, error) // commits to fixed columns and returns the cap
	image(ctx context.Context, ex executor.Executor, s *statement, contents [][][]uint64) (*Image, error)
	decodeImage(s *statement, encoded []byte) (*Image, error)
	prove(ctx context.Context, ex executor.Executor, s *statement, traces []Trace, about Statement, options Options) ([]byte, error)
	bytes() uint64 // length of an element
	order() uint64
	layout(s *statement, rows []int) (*layout, error)
	security(l *layout, messages int) security.Protocol
	check(ctx context.Context, ex executor.Executor, s *statement, traces []Trace, about Statement) error
	verify(s *statement, proof []byte, about Statement) error
}

// New returns a system for the given tables and commits to their fixed columns. New returns
// zkbench.ErrParams if a table is invalid, if a table's degree is too high for the rate, if a table has fixed
// columns or an image although Params.ZeroKnowledge is set, or if the configuration is not supported.
func New(c Config, tables ...*air.Table) (*System, error) {
	return NewOn(context.Background(), executor.Serial(), c, tables...)
}

// NewOn returns what New returns. The executor splits the work among processors. Most of it is for fixed columns. The functions
// State of several tables may run at the same time.
func NewOn(ctx context.Context, ex executor.Executor, c Config, tables ...*air.Table) (*System, error) {
	e, err := c.engine()
	if err != nil {
		return nil, err
	}
	about := fmt.Sprintf("%s/%d/%s", c.Field, c.Params.Degree, c.Hash)
	if c.Params.ZeroKnowledge {
		about += "/zero-knowledge"
	}
	s, err := newStatement(ctx, ex, c.Params, tables)
	if err != nil {
		return nil, err
	}
	if err := e.lower(ctx, ex, s); err != nil {
		return nil, err
	}
	if err := s.link(ctx, ex, e.order()); err != nil {
		return nil, err
	}
	fixed, err := e.fix(ctx, ex, s)
	if err != nil {
		return nil, err
	}
	s.digest = s.hash(about, fixed)
	system := &System{statement: s, engine: e}
	system.circuitVerify = circuit.NewVerifier(system.verifyInCircuit)
	return system, nil
}

// maxQueries bounds the length of a path. In a tree of depth 32, a path for that many leaves, however far
// apart, has fewer than 2^16 digests: on 11 of the 32 levels all nodes are known.
const maxQueries = 1 << 11

func (c Config) engine() (engine, error) {
	bad := func(format string, a ...any) error {
		return fmt.Errorf("%w: "+format, append([]any{zkbench.ErrParams}, a...)...)
	}
	s := c.Params
	if s.Bits < 1 && s.Bits != Unproven {
		return nil, bad("parameters %q promise %d bits, accepted are 1 and more, and Unproven", s.Name, s.Bits)
	}
	if s.LogBlowup < 1 || s.LogBlowup > 8 || s.Queries < 1 || s.Queries > maxQueries || s.Grinding < 0 || s.Grinding > 40 ||
		s.Stack < 0 || s.Stack > 12 || s.LogFold < 1 || s.LogFold > 6 || s.LogFinal < 0 || s.LogFinal > 12 || s.LogCap < 0 || s.LogCap > 12 {
		return nil, bad("%+v", s)
	}
	switch {
	case c.Field == Goldilocks && (c.Hash == Keccak || c.Hash == Poseidon):
		if c.Hash == Poseidon {
			return overPoseidon(s.Degree)
		}
		hash := tree.Keccak[goldilocks.Element]()
		switch s.Degree {
		case 2:
			return over[goldilocks.Element, ext.Quadratic](field.Goldilocks2, hash), nil
		case 3:
			return over[goldilocks.Element, ext.Cubic](field.Goldilocks3, hash), nil
		}
		return nil, bad("extension of Goldilocks of degree %d, accepted are 2 and 3", s.Degree)
	case c.Field == KoalaBear && c.Hash == Keccak:
		hash := tree.Keccak[koalabear.Element]()
		switch s.Degree {
		case 4:
			return over[koalabear.Element, koalabear.Quartic](field.KoalaBear4, hash), nil
		case 6:
			return over[koalabear.Element, koalabear.Sextic](field.KoalaBear6, hash), nil
		}
		return nil, bad("extension of KoalaBear of degree %d, accepted are 4 and 6", s.Degree)
	}
	return nil, bad("field %q with hash %q, accepted are %s with %s or %s, %s with %s", c.Field, c.Hash, Goldilocks, Keccak, Poseidon, KoalaBear, Keccak)
}

// overPoseidon returns an engine that uses Poseidon for all hashes, so that its verifier does only
// arithmetic.
func overPoseidon(degree int) (engine, error) {
	// A digest is four elements.
	canonical := func(d tree.Digest) bool {
		return !slices.ContainsFunc(d[:], func(w uint64) bool { return w >= goldilocks.Modulus })
	}
	switch degree {
	case 2:
		return &system[goldilocks.Element, ext.Quadratic]{field: field.Goldilocks2, hash: tree.Poseidon(), many: manyCosetsPoseidon, canonical: canonical, challenge: challenger.NewDuplex[ext.Quadratic]}, nil
	case 3:
		return &system[goldilocks.Element, ext.Cubic]{field: field.Goldilocks3, hash: tree.Poseidon(), many: manyCosetsPoseidon, canonical: canonical, challenge: challenger.NewDuplex[ext.Cubic]}, nil
	}
	return nil, fmt.Errorf("%w: an extension of Goldilocks of degree %d, accepted are 2 and 3", zkbench.ErrParams, degree)
}

// over returns an engine over a field, with a hash of bytes.
func over[E field.Element[E], X field.Extension[E, X]](f field.Field[E, X], hash tree.Hash[E]) engine {
	return &system[E, X]{field: f, hash: hash, many: manyCosets, canonical: func(tree.Digest) bool { return true }, challenge: func(protocol string) challenger.Challenger[E, X] {
		return challenger.NewBytes[E, X](f, protocol)
	}}
}

type system[E field.Element[E], X field.Extension[E, X]] struct {
	field      field.Field[E, X]
	hash       tree.Hash[E]
	many       int                    // number of cosets at and above which proofs are lean
	canonical  func(tree.Digest) bool // reports whether the hash can give this digest
	challenge  func(protocol string) challenger.Challenger[E, X]
	vectors    *field.Vectors[E, X]
	codes      []codes[E] // of each table
	fixed      fixed[E]
	kept       kept[E]
	digests    kept[tree.Digest]
	transforms transforms[E]
}

// Digest returns a digest of everything that decides the system's proofs: field, hash, parameters, what the
// tables state, and their fixed columns. Images are in statements, and so not in the digest.
func (s *System) Digest() [sha512.Size]byte { return s.digest }

// Prove proves the given statement. It takes one trace for each table, in the order of the tables. If the
// traces do not satisfy the tables, or if their tuples on buses do not match those of the statement, Prove
// returns the zkbench.ErrWitness that Check returns.
func (s *System) Prove(ctx context.Context, ex executor.Executor, traces []Trace, about Statement, options Options) ([]byte, error) {
	return s.engine.prove(ctx, ex, s.statement, traces, about, options)
}

// Verify checks a proof of a statement. It returns zkbench.ErrProof if the proof does not hold,
// zkbench.ErrMalformed if it cannot be decoded, and zkbench.ErrParams if the statement does not fit the
// system or if fewer bits of soundness than Params.Bits are proved for tables of the proof's heights.
func (s *System) Verify(proof []byte, about Statement) error {
	return s.engine.verify(s.statement, proof, about)
}

// protocol is the name of the transcript from which challenges are drawn.
const protocol = "stark"

// heightBytes encodes logarithms of heights, one byte each.
func heightBytes(rows []int) (b []byte) {
	for _, r := range rows {
		b = append(b, byte(r))
	}
	return b
}

// timesBytes encodes Times.
func (m Message) timesBytes() []byte { return binary.LittleEndian.AppendUint64(nil, uint64(m.Times)) }

// begin returns a challenger that has absorbed everything that is known before a proof.
func (y *system[E, X]) begin(s *statement, rows []int, about *claim[E]) challenger.Challenger[E, X] {
	c := y.challenge(protocol)
	c.Bytes("system", s.digest[:])
	c.Bytes("heights", heightBytes(rows))
	c.Elements("publics", about.publics)
	for i, m := range about.Messages {
		c.Bytes("bus", []byte(m.Bus))
		c.Bytes("times", m.timesBytes())
		c.Elements("message", about.tuples[i])
	}
	c.Bytes("context", about.Context)
	if about.Image != nil {
		c.Digests("image", about.Image.top)
	}
	return c
}

func (y *system[E, X]) degree() int {
	var x X
	return len(x)
}

func (y *system[E, X]) prove(ctx context.Context, ex executor.Executor, s *statement, traces []Trace, about Statement, options Options) ([]byte, error) {
	p, err := y.prover(ctx, ex, s, traces, about, options)
	if err != nil {
		return nil, err
	}
	defer p.release()
	if err := p.run(); err != nil {
		if errors.Is(err, zkbench.ErrProof) {
			if wrong := y.check(ctx, ex, s, traces, about); wrong != nil {
				return nil, wrong
			}
		}
		return nil, err
	}
	return p.encode(), nil
}

// release releases the memory of a proof.
func (p *prover[E, X]) release() {
	p.points.memory.release()
	p.sending.release()
	p.digests.release()
}

// prover returns a prover that has filled the tables.
func (y *system[E, X]) prover(ctx context.Context, ex executor.Executor, s *statement, traces []Trace, about Statement, options Options) (*prover[E, X], error) {
	claim, err := y.claim(s, about)
	if err != nil {
		return nil, err
	}
	rows, err := s.heights(traces)
	if err != nil {
		return nil, err
	}
	if err := claim.accepts(rows, zkbench.ErrParams); err != nil {
		return nil, err
	}
	image, err := y.imageOf(s, about.Image)
	if err != nil {
		return nil, err
	}
	l, err := y.secured(s, rows, len(about.Messages))
	if err != nil {
		return nil, err
	}
	if options.Lean {
		l.setLean()
	}
	m := newMemory(&y.kept, l)
	points, err := newPoints[E, X](ctx, ex, y.field, l, &y.transforms, m)
	if err != nil {
		return nil, err
	}
	p := &prover[E, X]{
		ctx: ctx, ex: ex, field: y.field, vectors: y.vectors, hash: y.hash,
		layout: l, points: points, digests: &memory[tree.Digest]{kept: &y.digests}, sending: m.part(), codes: y.codes, claim: claim,
		span: options.Span, proof: &proof[E, X]{rows: rows}, fixed: make([][][]E, len(rows)),
	}
	for i, of := range []*fixed[E]{&y.fixed, image} {
		phase := ofFixed + i
		p.trees[phase], p.salts[phase] = of.tree, of.salts
		for t, x := range of.extended {
			p.extended[phase] = append(p.extended[phase], x.shared())
			if phase == l.fixedPhase(t) {
				p.fixed[t] = of.values[t]
			}
		}
	}
	if p.span == nil {
		p.span = func(string) func() { return func() {} }
	}
	end := p.span(PhaseTrace)
	for i, t := range traces {
		columns, err := fill[E, X](ctx, ex, y.field, m, s.tables[i], t, l.phases[ofColumns][i].width, l.used(i))
		if err != nil {
			return nil, err
		}
		p.columns = append(p.columns, columns)
	}
	if s.params.ZeroKnowledge {
		if p.random, err = newRandom(p, y.begin(s, rows, claim), options.Rand); err != nil {
			return nil, err
		}
		if p.points.few, err = p.fewPoints(); err != nil {
			return nil, err
		}
		p.hideRows()
	}
	end()
	p.challenger = y.begin(s, rows, claim)
	p.proximity = &friProver[E, X]{
		ctx: ctx, ex: ex, field: p.field, vectors: p.vectors, hash: p.hash, challenger: p.challenger, layout: l, points: p.points, digests: p.digests, proof: &p.proof.fri,
		scratch: scratches[field.Vector[E]]{make: func() field.Vector[E] { return m.vector(l.degree+1, min(chunk, 1<<l.size)) }},
	}
	return p, nil
}

func (y *system[E, X]) verify(s *statement, encoded []byte, about Statement) error {
	claim, err := y.claim(s, about)
	if err != nil {
		return err
	}
	l, p, err := y.decode(s, encoded, claim)
	if err != nil {
		return err
	}
	challenger := y.begin(s, p.rows, claim)
	v := &verifier[E, X]{
		field: y.field, vectors: y.vectors, hash: y.hash, challenger: challenger, layout: l, claim: claim, proof: p,
		proximity: &friVerifier[E, X]{field: y.field, hash: y.hash, challenger: challenger, layout: l, proof: &p.fri},
	}
	return v.verify()
}

// decode decodes a proof of a statement and returns it with its layout.
func (y *system[E, X]) decode(s *statement, encoded []byte, about *claim[E]) (*layout, *proof[E, X], error) {
	p := &proof[E, X]{}
	c := &coder[E, X]{field: y.field, digest: y.canonical, in: encoded, read: true}
	c.heights(&p.rows, len(s.tables))
	if c.err != nil {
		return nil, nil, c.err
	}
	if err := about.accepts(p.rows, zkbench.ErrProof); err != nil {
		return nil, nil, err
	}
	l, err := y.secured(s, p.rows, len(about.Messages))
	if err != nil {
		return nil, nil, err
	}
	c.layout = l
	c.body(p)
	p.caps[ofFixed] = y.fixed.top
	if about.Image != nil {
		p.caps[ofImage] = about.Image.top
	}
	return l, p, c.err
}

// claim is a statement whose numbers are field elements.
type claim[E any] struct {
	Statement
	publics []E
	tuples  [][]E // of each message
}

// claim converts a statement. It returns zkbench.ErrParams if the statement does not fit the system.
func (y *system[E, X]) claim(s *statement, about Statement) (c *claim[E], err error) {
	c = &claim[E]{Statement: about}
	if err := s.checkForms(y.field.Order(), &about); err != nil {
		return nil, err
	}
	if err := s.checkImage(&about); err != nil {
		return nil, err
	}
	if len(about.Publics) != s.publics {
		return nil, fmt.Errorf("%w: %d public values, accepted are %d", zkbench.ErrParams, len(about.Publics), s.publics)
	}
	if c.publics, err = elementsOf[E, X](y.field, about.Publics, "public value"); err != nil {
		return nil, err
	}
	for i, m := range about.Messages {
		if b, ok := s.buses[m.Bus]; !ok || len(m.Tuple) != b.length {
			return nil, fmt.Errorf("%w: message %d has %d values for bus %q, accepted are %d", zkbench.ErrParams, i, len(m.Tuple), m.Bus, b.length)
		}
		if order := int64(min(y.field.Order(), math.MaxInt64)); m.Times <= -order || m.Times >= order {
			return nil, fmt.Errorf("%w: message %d sent %d times, accepted are fewer than the field's order", zkbench.ErrParams, i, m.Times)
		}
		tuple, err := elementsOf[E, X](y.field, m.Tuple, fmt.Sprintf("message %d, value", i))
		if err != nil {
			return nil, err
		}
		c.tuples = append(c.tuples, tuple)
	}
	return c, nil
}

// elementsOf converts numbers to elements. Errors call them by name.
func elementsOf[E field.Element[E], X field.Extension[E, X]](f field.Field[E, X], numbers []uint64, name string) ([]E, error) {
	var elements []E
	for i, v := range numbers {
		if v >= f.Order() {
			return nil, fmt.Errorf("%w: %s %d is not below the field's order", zkbench.ErrParams, name, i)
		}
		elements = append(elements, f.New(v))
	}
	return elements, nil
}
