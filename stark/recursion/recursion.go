// Package recursion proves that proofs of package stark verify. It turns many proofs into one proof, which
// states everything that they state. The verifier is written down as a program. This program is straight-line
// code that depends on the form of the proofs, but not on the proofs themselves. The form of a proof means
// its system, the heights of the system's tables, and the buses, times and lengths in its statement. Tables
// of package stark prove that the program accepts; their fixed columns contain the program. So the proof that
// this package makes is an ordinary proof of package stark, and another program can verify it in turn.
//
// All proofs are over Goldilocks, with its extension of degree 2 or 3. The proofs that a program verifies
// use trees of Poseidon. No proof has zero knowledge: anyone who reads a proof can learn what the proofs
// below it reveal.
package recursion

import (
	"cmp"
	"context"
	"crypto/sha512"
	"fmt"
	"slices"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/goldilocks"
	hash "github.com/zkbench/zkbench/goldilocks/poseidon"
	"github.com/zkbench/zkbench/stark"
	"github.com/zkbench/zkbench/stark/internal/circuit"
	"github.com/zkbench/zkbench/stark/poseidon"
)

// Child describes proofs of one form before any of them exists. It decides which program verifies them. A
// Child is immutable, because no digest in a proof covers the buses and times of the messages in the proof's
// statement.
type Child struct {
	system *stark.System
	like   stark.Statement // a statement with its form, buses, times and lengths
	of     *System         // the system, if it is one of this package
}

// NewChild returns the Child for a system's proofs of similar statements. The second argument is an example
// of these statements. All of them must have the form, buses, times and lengths of the example, but may have
// other numbers. The function New refuses a statement of more than one form. For proofs of this package's
// System, use System.Child.
func NewChild(system *stark.System, like stark.Statement) Child {
	like.Messages = slices.Clone(like.Messages)
	like.Forms = slices.Clone(like.Forms)
	for i, f := range like.Forms {
		like.Forms[i] = slices.Clone(f)
	}
	return Child{system: system, like: like}
}

// bits returns how many bits are proved for the child and for everything that it proves.
func (c *Child) bits() (int, error) {
	p, err := c.system.Security(c.like.Forms[0], len(c.like.Messages))
	if err != nil {
		return 0, err
	}
	best, err := p.Best()
	if err != nil {
		return 0, err
	}
	least := best.Bits()
	if c.of != nil {
		for _, child := range c.of.children {
			bits, err := child.bits()
			if err != nil {
				return 0, err
			}
			least = min(least, bits)
		}
	}
	return least, nil
}

// likes returns an error if a statement does not have the form of the child's, with the same buses and times,
// which are part of the program.
func (c *Child) likes(s stark.Statement) error {
	same := slices.EqualFunc(s.Forms, c.like.Forms, slices.Equal[stark.Form]) && len(s.Publics) == len(c.like.Publics) && len(s.Context) == len(c.like.Context) && len(s.Messages) == len(c.like.Messages)
	for i := 0; same && i < len(s.Messages); i++ {
		a, b := s.Messages[i], c.like.Messages[i]
		same = a.Bus == b.Bus && a.Times == b.Times && len(a.Tuple) == len(b.Tuple)
	}
	if !same {
		return fmt.Errorf("%w: a statement of another form", zkbench.ErrParams)
	}
	return nil
}

// Proof is a proof with its statement.
type Proof struct {
	Bytes     []byte
	Statement stark.Statement
}

// System proves that several proofs verify: one proof for each Child that New was given.
type System struct {
	system   *stark.System
	children []Child
	program  *program
}

// Tables returns the system of the tables with which s proves. System.Traces returns the traces that fill them.
func (s *System) Tables() *stark.System { return s.system }

// Digest returns a digest of everything that decides the system's proofs: the forms of the proofs that it
// verifies, its own tables and its parameters.
func (s *System) Digest() [sha512.Size]byte { return s.system.Digest() }

// Memory estimates the largest amount of memory, in bytes, that making a proof takes at any time: as much for the programs of
// the children and for their run as for the proof.
func (s *System) Memory() (uint64, error) {
	proof, err := s.system.Memory(s.program.form())
	return 2 * proof, err
}

// New returns a system that proves that several proofs verify, one proof for each of the given children. If c
// is over Goldilocks with Poseidon, the proofs of this system can be children of other systems. New returns
// zkbench.ErrParams if there are no children, if a child was not made by NewChild or System.Child, if the
// verifier of a child's proof cannot be written down as a program, if the children have different extensions,
// or if the parameters of a child promise fewer bits than the parameters in c.
func New(c stark.Config, children ...Child) (*System, error) {
	return NewOn(context.Background(), executor.Serial(), c, children...)
}

// NewOn returns what New returns. The executor splits the work among processors. This takes about as long as making a proof.
func NewOn(ctx context.Context, ex executor.Executor, c stark.Config, children ...Child) (*System, error) {
	params := c.Params
	if len(children) == 0 {
		return nil, fmt.Errorf("%w: no child", zkbench.ErrParams)
	}
	for i, c := range children {
		if c.system == nil {
			return nil, fmt.Errorf("%w: child %d is empty, use NewChild or System.Child", zkbench.ErrParams, i)
		}
		if bits := c.system.Params().Bits; bits < params.Bits {
			return nil, fmt.Errorf("%w: child %d promises %d bits, accepted are %d", zkbench.ErrParams, i, max(0, bits), params.Bits)
		}
		if degree, accepted := c.system.Params().Degree, children[0].system.Params().Degree; degree != accepted {
			return nil, fmt.Errorf("%w: child %d is over an extension of degree %d, accepted is that of child 0, %d", zkbench.ErrParams, i, degree, accepted)
		}
	}
	s := &System{children: slices.Clone(children)}
	b, statement, err := s.run(ctx, ex, false, func(i int) Proof { return Proof{Statement: s.children[i].like} })
	if err != nil {
		return nil, err
	}
	boxes := poseidon.Cubed
	if 1<<params.LogBlowup >= boxDegree-1 {
		boxes = poseidon.Plain // the rate has room for the degree, and a proof's time grows with the columns
	}
	s.program = newProgram(b, statement, params.Height(max(64, lanes(len(b.Permutations), together(c)))), boxes)
	tables, err := s.program.tables(ctx, ex)
	if err != nil {
		return nil, err
	}
	s.system, err = stark.NewOn(ctx, ex, c, tables...)
	return s, err
}

// boxDegree is the degree of x⁷.
const boxDegree = 7

// together returns the maximum number of permutations in a row. Wider and lower tables are committed to in
// less time, but their proofs are longer. Length matters for the last proof, which cannot be a child.
func together(c stark.Config) int {
	if c.Hash == stark.Poseidon {
		return 12
	}
	return 3
}

// run runs the program on proofs, or writes it down if values is not set. It returns the cells of the statement,
// even with the error of a proof that does not verify, but not with that of a proof that does not decode.
func (s *System) run(ctx context.Context, ex executor.Executor, values bool, proof func(i int) Proof) (b *circuit.Builder, statement []circuit.Cell, wrong error) {
	b = circuit.NewOn(ctx, ex, circuit.Degree(s.children[0].system.Params().Degree))
	if values {
		b.OnlyValues()
	}
	errs, complete := make([]error, len(s.children)), make([]bool, len(s.children))
	cells, err := b.Fork(len(s.children), func(b *circuit.Builder, i int) []circuit.Cell {
		p := proof(i)
		cells, err := circuit.Verify(s.children[i].system, b, p.Bytes, p.Statement)
		errs[i], complete[i] = cmp.Or(err, b.Err()), cells != nil
		return cells
	})
	if err != nil {
		return nil, nil, err
	}
	var told []circuit.Value
	for i, err := range errs {
		if err != nil && proof(i).Bytes != nil && wrong == nil {
			wrong = fmt.Errorf("proof %d: %w", i, err)
		}
		if err != nil && !complete[i] {
			return nil, nil, cmp.Or(wrong, fmt.Errorf("child %d: %w", i, err))
		}
		for _, cell := range cells[i] {
			told = append(told, b.FromCell(cell))
		}
	}
	for _, v := range circuit.Hash(b, 2*len(told), told) {
		statement = append(statement, b.Cell(v))
	}
	return b, statement, wrong
}

// Prove proves that the given proofs verify. There must be one proof for each Child that New was given, in
// the order in which New was given them. The proof is bound to the bytes in bindTo, which can be, for
// example, the transaction that the proof belongs to. If one of the given proofs does not verify, the error
// names that proof.
func (s *System) Prove(ctx context.Context, ex executor.Executor, proofs []Proof, bindTo []byte, options stark.Options) ([]byte, error) {
	traces, statement, err := s.traces(ctx, ex, proofs, bindTo)
	if err != nil {
		return nil, err
	}
	return s.system.Prove(ctx, ex, traces, statement, options)
}

// Traces returns the traces and the statement with which Tables proves that the given proofs verify. If one
// of the given proofs does not verify, Traces returns an error in addition to the traces and the statement.
// If one of them does not decode, Traces returns only an error.
func (s *System) Traces(proofs []Proof, bindTo []byte) (traces []stark.Trace, statement stark.Statement, err error) {
	return s.traces(context.Background(), executor.Serial(), proofs, bindTo)
}

// traces is Traces on an executor.
func (s *System) traces(ctx context.Context, ex executor.Executor, proofs []Proof, bindTo []byte) (traces []stark.Trace, statement stark.Statement, err error) {
	if len(proofs) != len(s.children) {
		return nil, statement, fmt.Errorf("%w: %d proofs, accepted are %d", zkbench.ErrParams, len(proofs), len(s.children))
	}
	for i, p := range proofs {
		if p.Bytes == nil {
			return nil, statement, fmt.Errorf("%w: proof %d: there is none", zkbench.ErrMalformed, i)
		}
	}
	if statement, err = s.Statement(statementsOf(proofs), bindTo); err != nil {
		return nil, statement, err
	}
	b, _, err := s.run(ctx, ex, true, func(i int) Proof { return proofs[i] })
	if b == nil {
		return nil, statement, err
	}
	return s.program.traces(b.Values), statement, err
}

// Statement returns the statement which says that proofs of the given statements verify. The returned
// statement holds a digest of the numbers in the given statements, and its context is the parameter bindTo.
func (s *System) Statement(statements []stark.Statement, bindTo []byte) (statement stark.Statement, err error) {
	if len(statements) != len(s.children) {
		return statement, fmt.Errorf("%w: %d statements, accepted are %d", zkbench.ErrParams, len(statements), len(s.children))
	}
	var all []goldilocks.Element
	for i, c := range s.children {
		told, err := c.system.StatementElements(statements[i])
		if err == nil {
			err = c.likes(statements[i])
		}
		if err != nil {
			return statement, fmt.Errorf("statement %d: %w", i, err)
		}
		for _, v := range told {
			all = append(all, goldilocks.Element(v))
		}
	}
	digest := hash.HashNoPad(all)
	statement = s.program.statementFor(digest)
	statement.Context = bindTo
	return statement, nil
}

// statementFor returns the statement that the program's statement cells hold a digest, two elements in each.
func (p *program) statementFor(digest hash.Digest) (about stark.Statement) {
	about.Forms = []stark.Form{p.form()}
	for i, cell := range p.statement {
		tuple := make([]uint64, 1+p.degree)
		tuple[0], tuple[1], tuple[2] = uint64(cell), uint64(digest[2*i]), uint64(digest[2*i+1])
		about.Messages = append(about.Messages, stark.Message{Bus: busMemory, Times: -1, Tuple: tuple})
	}
	return about
}

// Verify checks a proof that valid proofs of the given statements exist. The parameter bindTo is data of the
// caller's choice, to which the proof must be bound.
func (s *System) Verify(proof []byte, statements []stark.Statement, bindTo []byte) error {
	statement, err := s.Statement(statements, bindTo)
	if err != nil {
		return err
	}
	return s.system.Verify(proof, statement)
}

// Child returns the Child with which another system can prove that this system's proofs verify. These proofs
// must not be bound to any bytes: make them with the parameter bindTo empty.
func (s *System) Child() Child {
	return Child{s.system, s.program.statementFor(hash.Digest{}), s}
}

// Bits returns how many bits of soundness are proved for this system's proofs and for all proofs below them.
// This is the minimum over all layers.
func (s *System) Bits() (int, error) {
	c := s.Child()
	return c.bits()
}
