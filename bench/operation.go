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

// Instance is one case that has been set up. Operation is the only implementation. Other packages
// cannot implement Instance.
type Instance interface {
	instance(seed uint64) (workload.Instance, error)
}

// Operation is one case that has been set up. Its inputs have type In. Input, Run and Check are
// required. All functions except Close are called from many goroutines at once.
type Operation[In any] struct {
	// Input builds one input. It is not timed. The stream of random bytes depends only on the seed
	// and on the input's number; Input must draw from nothing else, so that a run can be repeated.
	// Use the stream for measurement only: anybody who knows the seed knows all of it.
	Input func(ctx context.Context, random *rand.ChaCha8) (In, error)
	// Run is the timed operation. It must not change its input, because inputs are used again. Its
	// output, which may be empty, is checked later. If ctx ends before Run does, its error must
	// wrap that of ctx; any other error counts as a failure.
	Run func(ctx context.Context, in In) (output []byte, err error)
	// Check returns an error if output is not a correct result of Run for the input. It is not
	// timed, and must not keep the input or the output.
	Check func(ctx context.Context, in In, output []byte) error

	// Metrics are figures that are the same for every operation of the case, above all sizes. Their
	// names must differ.
	Metrics []Metric
	// Secret, if not nil, builds an input whose witness is drawn from the first stream and all else
	// from the second. The command leak uses it to compare operations that share one witness with
	// operations that each have their own.
	Secret func(ctx context.Context, witness, random *rand.ChaCha8) (In, error)
	// Close, if not nil, frees what New allocated. It is called once, after everything else.
	Close func() error
}

// Metric is a figure that is the same in every measurement of a case, for example {"proof",
// "B/proof", 1416}. If the unit ends in /s, the figure is a rate, and a higher value is better. For
// all other units, a lower value is better.
type Metric struct {
	Name, Unit string
	Value      float64
}

// reported converts metrics to those of a record. It returns zkbench.ErrParams, with the metric's
// name, if a record cannot hold a metric, or if its name occurs in others or twice in metrics.
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

// instance is an Operation as an instance of package workload.
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

// as returns what Input returned. If In is an interface type, that may be nil.
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

// secret is an instance whose operation has a witness.
type secret[In any] struct{ *instance[In] }

// fixedWitness is the number of the stream from which the fixed witness is drawn. No input has this
// number.
const fixedWitness = 1<<64 - 1

func (s secret[In]) SecretInput(ctx context.Context, seq uint64, fixed bool) (any, error) {
	witness := seq ^ 1<<63 // not the stream of all else
	if fixed {
		witness = fixedWitness
	}
	return s.o.Secret(ctx, workload.Random(s.seed, witness), workload.Random(s.seed, seq))
}
