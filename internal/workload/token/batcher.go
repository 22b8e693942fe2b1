package token

import (
	"context"
	"strconv"
	"sync"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/workload"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/validator"
)

// batching returns the limits of the case's queue. Max is 0 if the case has no queue. It
// returns an *argument.ValueError for a wait without a queue.
func batching(c workload.Case) (validator.Batching, error) {
	most, wait := workload.BatchMaxAxis(validator.MaxBatch), workload.BatchWaitAxis()
	n, err := strconv.Atoi(most.ValueOf(c))
	if err != nil {
		return validator.Batching{}, &argument.ValueError{Field: most.Long(), Value: most.ValueOf(c), Accepted: most.Accepted}
	}
	d, err := time.ParseDuration(wait.ValueOf(c))
	if err != nil {
		return validator.Batching{}, &argument.ValueError{Field: wait.Long(), Value: wait.ValueOf(c), Accepted: wait.Accepted}
	}
	if n == 0 && d > 0 {
		return validator.Batching{}, &argument.ValueError{Field: wait.Long(), Value: d.String(), Accepted: "0s, or other times together with --" + most.Long()}
	}
	return validator.Batching{Max: n, Wait: d}, nil
}

// queued validates requests that arrive one by one and go through a queue. All inputs
// share one ledger.
type queued struct {
	*validation
	queue  *validator.Queue
	ledger *shared
}

func newQueued(v *validation, limits validator.Batching) (workload.Instance, error) {
	q := &queued{validation: v, ledger: new(shared)}
	var err error
	q.queue, err = validator.NewQueue(v.validator, q.ledger, func() time.Time { return blockTime }, limits)
	return q, err
}

func (q *queued) Input(ctx context.Context, seq uint64) (any, error) {
	s, err := q.submit(ctx, seq, "")
	if err != nil {
		return nil, err
	}
	for id, t := range s.ledger {
		q.ledger.Store(id, t)
	}
	return s, nil
}

func (q *queued) Run(ctx context.Context, input any) ([]byte, error) {
	_, err := q.queue.Validate(ctx, input.(*submitted).raw)
	return nil, err
}

// Collective implements workload.Collective, because a single request would be a batch of one.
func (q *queued) Collective() {}

func (q *queued) Close() error { return q.queue.Close() }

// shared holds the unspent tokens of a ledger by id. Inputs add their tokens to it.
type shared struct{ sync.Map }

func (s *shared) Token(_ context.Context, id token.ID) ([]byte, error) {
	if t, ok := s.Load(string(id)); ok {
		return t.([]byte), nil
	}
	return nil, zkbench.ErrSpent
}

// Tokens implements validator.Tokens.
func (s *shared) Tokens(ctx context.Context, ids []token.ID) ([]ledger.Found, error) {
	return validator.TokenFunc(s.Token).Tokens(ctx, ids)
}
