// Package recursion proves that proofs of package stark verify: of many proofs it makes one, which says what
// they say. A verifier is written down as a program, straight-line code that depends on the form of the proofs
// and not on them, and the program is tables of package stark, whose fixed columns it is. So a proof of it is
// a proof like others, and can be verified by a program again.
//
// Proofs are over Goldilocks, its extension of degree 2 or 3, with trees of Poseidon. None has zero knowledge:
// who reads a proof can learn what the proofs below it show.
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

// Child is what is known of a proof before it is there, and decides what verifies it. Nobody
// changes it: buses and times of its statement are in no digest of what a proof says.
type Child struct {
	system *stark.System
	like   stark.Statement // of one form, with buses, times and lengths of its own statement
	of     *System         // whose child, if it is one of this package
}

// NewChild returns the child that a system's proofs are, of statements like one: of its form, buses, times
// and lengths; no number of it counts. A statement of more than one form is refused by New. Of a System of this package it is Child.
func NewChild(system *stark.System, like stark.Statement) Child {
	like.Messages = slices.Clone(like.Messages)
	like.Forms = slices.Clone(like.Forms)
	for i, f := range like.Forms {
		like.Forms[i] = slices.Clone(f)
	}
	return Child{system: system, like: like}
}

// bits are those that are proved of it and of what it proves.
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

// likes returns nil if a statement has the form of the child's: the program has bus and times of messages.
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

// Proof is a proof and its statement.
type Proof struct {
	Bytes     []byte
	Statement stark.Statement
}

// System proves that proofs of some forms verify, one of each.
type System struct {
	system   *stark.System
	children []Child
	program  *program
}

// Tables are what a system proves: its program's, filled by Traces.
type Tables interface {
	Check(ctx context.Context, ex executor.Executor, traces []stark.Trace, about stark.Statement) error
	Prove(ctx context.Context, ex executor.Executor, traces []stark.Trace, about stark.Statement, options stark.Options) ([]byte, error)
	Verify(proof []byte, about stark.Statement) error
}

// Tables are the system's.
func (s *System) Tables() Tables { return s.system }

// Digest is what decides a system's proofs: the forms of those that it proves, and its own tables and parameters.
func (s *System) Digest() [sha512.Size]byte { return s.system.Digest() }

// Memory is what a proof takes at most, about, in bytes.
func (s *System) Memory() (uint64, error) { return s.system.Memory(s.program.form()) }

// New returns a system for proofs of these forms. Its own proofs can be children if it is over Goldilocks and
// Poseidon. Children whose verifiers have no program, or that are not all over one extension, or whose
// parameters promise fewer bits than this one, are a zkbench.ErrParams.
func New(c stark.Config, children ...Child) (*System, error) {
	params := c.Params
	if len(children) == 0 {
		return nil, fmt.Errorf("%w: no child", zkbench.ErrParams)
	}
	for i, c := range children {
		if c.system == nil {
			return nil, fmt.Errorf("%w: child %d is none, accepted are those of NewChild and System.Child", zkbench.ErrParams, i)
		}
		if bits := c.system.Params().Bits; bits < params.Bits {
			return nil, fmt.Errorf("%w: child %d promises %d bits, accepted are %d", zkbench.ErrParams, i, max(0, bits), params.Bits)
		}
		if degree, accepted := c.system.Params().Degree, children[0].system.Params().Degree; degree != accepted {
			return nil, fmt.Errorf("%w: child %d is over an extension of degree %d, accepted is that of child 0, %d", zkbench.ErrParams, i, degree, accepted)
		}
	}
	s := &System{children: slices.Clone(children)}
	b, statement, err := s.run(func(i int) Proof { return Proof{Statement: s.children[i].like} })
	if err != nil {
		return nil, err
	}
	boxes := poseidon.Cubed
	if 1<<params.LogBlowup >= boxDegree-1 {
		boxes = poseidon.Plain // there is room, and columns are what a proof takes time for
	}
	s.program = newProgram(b, statement, params.Height(max(64, lanes(len(b.Permutations), together(c)))), boxes)
	s.system, err = stark.New(c, s.program.operationsTable(), s.program.permutationsTable())
	return s, err
}

// boxDegree is that of x⁷.
const boxDegree = 7

// together is how many permutations are in a row, at most. Tables that are wider, and lower, are committed to in
// less time, and have longer proofs: these count where a proof is the last one, since it cannot be a child.
func together(c stark.Config) int {
	if c.Hash == stark.Poseidon {
		return 12
	}
	return 3
}

// run runs the program on proofs, or writes it down where there are none. It returns the cells of the statement; beside
// the error of a proof that does not verify too, but of one that does not decode.
func (s *System) run(proof func(i int) Proof) (b *circuit.Builder, statement []circuit.Cell, wrong error) {
	b = circuit.New(circuit.Degree(s.children[0].system.Params().Degree))
	var told []circuit.Value
	for i, c := range s.children {
		p := proof(i)
		cells, err := c.system.Circuit(b, p.Bytes, p.Statement)
		if err == nil {
			err = b.Err()
		}
		if err != nil && p.Bytes != nil && wrong == nil {
			wrong = fmt.Errorf("proof %d: %w", i, err)
		}
		if err != nil && cells == nil {
			return nil, nil, cmp.Or(wrong, fmt.Errorf("child %d: %w", i, err))
		}
		for _, cell := range cells {
			told = append(told, b.At(cell))
		}
	}
	for _, v := range circuit.Hash(b, 2*len(told), told) {
		statement = append(statement, b.Cell(v))
	}
	return b, statement, wrong
}

// Prove proves that proofs, one of each child's form, verify; about is what else the proof is bound to, such as
// the transaction that it is for. A proof that does not verify is refused, and named.
func (s *System) Prove(ctx context.Context, ex executor.Executor, proofs []Proof, about []byte, options stark.Options) ([]byte, error) {
	traces, statement, err := s.Traces(proofs, about)
	if err != nil {
		return nil, err
	}
	return s.system.Prove(ctx, ex, traces, statement, options)
}

// Traces are those of proofs, and the statement of which they are: what Tables proves. Beside the error of
// a proof that does not verify they are there too, unless it does not decode.
func (s *System) Traces(proofs []Proof, about []byte) (traces []stark.Trace, statement stark.Statement, err error) {
	if len(proofs) != len(s.children) {
		return nil, statement, fmt.Errorf("%w: %d proofs, accepted are %d", zkbench.ErrParams, len(proofs), len(s.children))
	}
	for i, p := range proofs {
		if p.Bytes == nil {
			return nil, statement, fmt.Errorf("%w: proof %d: there is none", zkbench.ErrMalformed, i)
		}
	}
	if statement, err = s.Statement(statementsOf(proofs), about); err != nil {
		return nil, statement, err
	}
	b, _, err := s.run(func(i int) Proof { return proofs[i] })
	if b == nil {
		return nil, statement, err
	}
	return s.program.traces(b.Values), statement, err
}

// Statement is what a proof says, of the statements of its children: a digest of their numbers, and the context.
func (s *System) Statement(statements []stark.Statement, about []byte) (statement stark.Statement, err error) {
	if len(statements) != len(s.children) {
		return statement, fmt.Errorf("%w: %d statements, accepted are %d", zkbench.ErrParams, len(statements), len(s.children))
	}
	var all []goldilocks.Element
	for i, c := range s.children {
		told, err := c.system.Told(statements[i])
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
	statement = s.program.said(digest)
	statement.Context = about
	return statement, nil
}

// said is the statement that a digest is in the cells, two elements in each.
func (p *program) said(digest hash.Digest) (about stark.Statement) {
	about.Forms = []stark.Form{p.form()}
	for i, cell := range p.statement {
		tuple := make([]uint64, 1+p.degree)
		tuple[0], tuple[1], tuple[2] = uint64(cell), uint64(digest[2*i]), uint64(digest[2*i+1])
		about.Messages = append(about.Messages, stark.Message{Bus: busMemory, Times: -1, Tuple: tuple})
	}
	return about
}

// Verify checks a proof, bound to about, that proofs of these statements verify.
func (s *System) Verify(proof []byte, statements []stark.Statement, about []byte) error {
	statement, err := s.Statement(statements, about)
	if err != nil {
		return err
	}
	return s.system.Verify(proof, statement)
}

// Child is what this system's proofs are to a system above it: proofs that are bound to nothing else.
func (s *System) Child() Child {
	return Child{s.system, s.program.said(hash.Digest{}), s}
}

// Bits are those that are proved of this system's proofs and of all that they prove: the least of all layers.
func (s *System) Bits() (int, error) {
	c := s.Child()
	return c.bits()
}
