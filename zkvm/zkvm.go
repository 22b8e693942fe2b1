// Package zkvm proves executions of programs for RV64IM: that a program, run on some input, halts with an exit code and an
// output. Load reads a program, Program.Prove runs it and proves the run, and Verify checks the proof with the program's key.
//
// Proofs have 100 proved bits of soundness. They are transparent, and they do not hide the input: a proof reveals something
// about all that the program did. docs/zkvm.md says how the tables are made. Nothing in this package is constant-time.
package zkvm

import (
	"context"
	"crypto/sha512"
	"errors"
	"fmt"
	"sync"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/stark"
)

// About is what a proof is about, in addition to a program. The zero value is a run that ends with exit code 0.
type About struct {
	Exit    uint64 // the exit code with which the program ends: register a0
	Context []byte // further data that the proof is bound to
}

// Options are settings of a proof. The zero value is valid.
type Options struct {
	Hash stark.Hash // of the Merkle trees; empty: stark.Keccak
	// Span, if not nil, is called when each phase begins: PhaseExecute, and those of stark.Options. The function that it
	// returns is called when the phase ends without an error.
	Span func(name string) (end func())
	// Plan, if not nil, is called after the program has run, before memory for the tables is taken. If it returns an error,
	// Prove makes no proof and returns that error.
	Plan func(Plan) error
}

// PhaseExecute is the phase of Prove in which the program runs.
const PhaseExecute = "execute"

// Key is the digest of a program: of its instructions, its constants and data, and its entry. Programs with the same key
// do the same.
type Key [32]byte

// Digest is the digest of an input: its length in bytes, and poseidon.Hash of its elements. The first element is the length,
// and each of the others has seven bytes, as a little-endian number.
type Digest struct {
	Length uint64
	Hash   [4]uint64
}

// DigestOf returns the digest of an input.
func DigestOf(input []byte) Digest { return digestOf(input).exported() }

func (d digest) exported() Digest {
	e := Digest{Length: d.length}
	for i, v := range d.hash {
		e.Hash[i] = uint64(v)
	}
	return e
}

// Run is what a proof says about the run of a program.
type Run struct {
	Output []byte // all that the program committed to
	Input  Digest
	Exit   uint64
	Cycles uint64 // instructions that the program retired
}

// system is the tables over one hash.
type system struct {
	*machine
	*stark.System
	hash stark.Hash
}

// systems has the systems by their hashes. Each is made when it is first used.
var systems = map[stark.Hash]func() (*system, error){
	stark.Keccak:   systemOver(stark.Keccak),
	stark.Poseidon: systemOver(stark.Poseidon),
}

func systemOver(hash stark.Hash) func() (*system, error) {
	return sync.OnceValues(func() (*system, error) {
		m := newMachine(rv64)
		s, err := stark.New(stark.Config{Field: stark.Goldilocks, Hash: hash, Params: stark.Machine100()}, m.tables()...)
		return &system{m, s, hash}, err
	})
}

// systemOf returns the system of a hash.
func systemOf(hash stark.Hash) (*system, error) {
	if hash == "" {
		hash = stark.Keccak
	}
	of, ok := systems[hash]
	if !ok {
		return nil, fmt.Errorf("%w: hash %q, accepted are %s and %s", zkbench.ErrParams, hash, stark.Keccak, stark.Poseidon)
	}
	return of()
}

// key returns the key of an image's commitment.
func (s *system) key(image *stark.Image) (k Key) {
	digest := s.Digest()
	h := sha512.New512_256()
	h.Write([]byte("zkbench/v1/zkvm"))
	h.Write(digest[:])
	h.Write(image.Bytes())
	h.Sum(k[:0])
	return k
}

// image commits to a program.
func (p *Program) image(ctx context.Context, ex executor.Executor, s *system) (*stark.Image, error) {
	heights := p.heights()
	return s.Image(ctx, ex,
		image(rv64, p.instructions, heights[0]), wordImage(rv64, p.constants, heights[1]),
		wordImage(rv64, p.data, heights[2]), regionImage(p.regions, heights[3]))
}

// heights returns the heights of the program's tables, in the order of its image.
func (p *Program) heights() []int {
	return []int{heightOf(len(p.instructions)), heightOf(len(p.constants)), heightOf(len(p.data)), mostRegions}
}

// Key returns the key of the program for proofs with the given hash; empty: stark.Keccak. The executor splits the work, which
// is a commitment to the program's instructions, constants and data.
func (p *Program) Key(ctx context.Context, ex executor.Executor, hash stark.Hash) (k Key, err error) {
	s, err := systemOf(hash)
	if err != nil {
		return k, err
	}
	image, err := p.image(ctx, ex, s)
	if err != nil {
		return k, err
	}
	return s.key(image), nil
}

// Prove runs the program on an input and proves the run. It returns the proof and what it says. Prove returns a
// *riscv.ExitError if the program ends with another exit code than about.Exit, and a *riscv.Fault, with the address, the
// function and the reason, if the machine ends it. Prove returns zkbench.ErrParams if the program executes an instruction or a
// call that has no proof, and a *zkbench.LimitError if the input is too large for a proof, or the run has too many
// instructions of a kind.
func (p *Program) Prove(ctx context.Context, ex executor.Executor, input []byte, about About, o Options) (encoded []byte, run *Run, err error) {
	s, err := systemOf(o.Hash)
	if err != nil {
		return nil, nil, err
	}
	if o.Span == nil {
		o.Span = func(string) func() { return func() {} }
	}
	image, err := p.image(ctx, ex, s)
	if err != nil {
		return nil, nil, err
	}
	forms := s.forms(image.Heights())
	before := newExecution(s.machine, p)
	before.options.Input = input
	if _, err := s.Fit(forms, before.least()); err != nil {
		return nil, nil, fmt.Errorf("input of %d bytes: %w", len(input), err)
	}
	end := o.Span(PhaseExecute)
	x, err := p.execute(ctx, s.machine, input, about.Exit)
	if err != nil {
		return nil, nil, err
	}
	end()
	form, err := s.Fit(forms, x.least())
	if err != nil {
		return nil, nil, err
	}
	of := &proof{hash: s.hash, image: image.Bytes(), input: digestOf(input), output: x.output, exit: about.Exit, halted: x.halted()}
	statement := s.statement(of, image, about.Context)
	if o.Plan != nil {
		plan, err := s.plan(form, statement, x, of.cycles())
		if err == nil {
			err = o.Plan(plan)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	if of.encoded, err = s.Prove(ctx, ex, x.traces(form), statement, stark.Options{Span: o.Span}); err != nil {
		return nil, nil, err
	}
	return of.encode(), of.run(), nil
}

// Verify checks a proof that the program with the given key has a run that ends as about says, and returns what the proof says
// about the run. The output is what the program committed to. A proof has only a digest of the input: if the input
// matters, compare that with DigestOf. Verify returns zkbench.ErrProof if the proof is about another program, exit code or
// context, or does not hold, and a *zkbench.DecodeError if it cannot be decoded.
func Verify(key Key, encoded []byte, about About) (*Run, error) {
	of, err := decodeProof(encoded)
	if err != nil {
		return nil, err
	}
	s, err := systemOf(of.hash)
	if err != nil {
		return nil, err
	}
	image, err := s.DecodeImage(of.image)
	if err != nil {
		return nil, within(err, "program", imageAt)
	}
	if s.key(image) != key {
		return nil, fmt.Errorf("%w: of another program", zkbench.ErrProof)
	}
	if of.exit != about.Exit {
		return nil, fmt.Errorf("%w: the program ended with code %d, accepted is %d", zkbench.ErrProof, of.exit, about.Exit)
	}
	if err := s.Verify(of.encoded, s.statement(of, image, about.Context)); err != nil {
		return nil, within(err, "proof", len(encoded)-len(of.encoded))
	}
	return of.run(), nil
}

// within says in which part of a proof, from an offset on, bytes are malformed.
func within(err error, part string, offset int) error {
	if e, ok := errors.AsType[*zkbench.DecodeError](err); ok {
		return e.Within(part, offset)
	}
	return err
}
