package bench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/workload"
)

// Instance is one case, set up: an Operation.
type Instance interface {
	instance(seed uint64) (workload.Instance, error)
}

// Operation is one case, set up, whose operations take an In. Its functions but Close are called
// from many goroutines at once. Input, Run and Check are required.
type Operation[In any] struct {
	// Input builds one input from a stream of random bytes that belongs to its number, untimed. It
	// draws from nothing else, so that a run can be repeated. The stream is for measuring only:
	// whoever knows the seed knows all of it.
	Input func(ctx context.Context, random *rand.ChaCha8) (In, error)
	// Run is the timed operation. It leaves its input unchanged: inputs are used again. Its output
	// is what is checked later, and may be empty. Where ctx ends before it does, its error wraps
	// that of ctx; any other error is a failure.
	Run func(ctx context.Context, in In) (output []byte, err error)
	// Check tells whether output is a right result of Run for the input, untimed. It keeps neither.
	Check func(ctx context.Context, in In, output []byte) error

	// Metrics are figures of the case that are the same each time, sizes above all, each of a
	// name of its own.
	Metrics []Metric
	// Secret, where set, builds an input of which a witness is drawn from the first stream and all
	// else from the second, for the command leak: its witness is now always the same, now another
	// each time.
	Secret func(ctx context.Context, witness, random *rand.ChaCha8) (In, error)
	// Close, where set, frees what New took. It is called once, after all else.
	Close func() error
}

// Metric is a figure that repeats exactly, for example {"proof", "B/proof", 1416}. Of rates, units
// that end in /s, more is better, of all else less.
type Metric struct {
	Name, Unit string
	Value      float64
}

// reported are the figures beside those that others have given. One that a record cannot take, or
// whose name is taken, is a zkbench.ErrParams that names it.
func reported(others []record.Metric, metrics []Metric) (all []record.Metric, err error) {
	for _, m := range metrics {
		if err := record.CheckReported(m.Name, m.Unit, m.Value); err != nil {
			return nil, err
		}
		figure := record.Reported(m.Name, m.Unit, m.Value, record.Exact)
		if err := errors.Join(record.CheckOnce(others, figure), record.CheckOnce(all, figure)); err != nil {
			return nil, err
		}
		all = append(all, figure)
	}
	return all, nil
}

func (o Operation[In]) instance(seed uint64) (workload.Instance, error) {
	for _, f := range []struct {
		name string
		set  bool
	}{{"Input", o.Input != nil}, {"Run", o.Run != nil}, {"Check", o.Check != nil}} {
		if !f.set {
			return nil, fmt.Errorf("%w: Operation.%s is nil; accepted: a function", zkbench.ErrParams, f.name)
		}
	}
	metrics, err := reported(nil, o.Metrics)
	if err != nil {
		return nil, fmt.Errorf("Operation.Metrics: %w", err)
	}
	i := &instance[In]{o, seed, metrics}
	if o.Secret != nil {
		return secret[In]{i}, nil
	}
	return i, nil
}

// instance is an Operation as the instruments take it.
type instance[In any] struct {
	o       Operation[In]
	seed    uint64
	metrics []record.Metric
}

func (i *instance[In]) Input(ctx context.Context, seq uint64) (any, error) {
	return i.o.Input(ctx, workload.Random(i.seed, seq))
}

func (i *instance[In]) Run(ctx context.Context, in any) ([]byte, error) {
	return i.o.Run(ctx, as[In](in))
}

func (i *instance[In]) Check(ctx context.Context, in any, output []byte) error {
	return i.o.Check(ctx, as[In](in), output)
}

// as is what Input returned; of an interface type that may have been nil.
func as[In any](in any) In {
	v, _ := in.(In)
	return v
}

func (i *instance[In]) Metrics(context.Context) ([]record.Metric, error) {
	return i.metrics, nil
}

func (i *instance[In]) Close() error {
	if i.o.Close == nil {
		return nil
	}
	return i.o.Close()
}

// secret is one whose operation has a witness.
type secret[In any] struct{ *instance[In] }

// fixedWitness is the number of the stream of the one witness. No input has it.
const fixedWitness = 1<<64 - 1

func (s secret[In]) SecretInput(ctx context.Context, seq uint64, fixed bool) (any, error) {
	witness := seq ^ 1<<63 // another stream than that of all else
	if fixed {
		witness = fixedWitness
	}
	return s.o.Secret(ctx, workload.Random(s.seed, witness), workload.Random(s.seed, seq))
}
