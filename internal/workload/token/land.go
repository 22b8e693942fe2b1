package token

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/workload"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/client"
	"github.com/zkbench/zkbench/token/entry"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/bolt"
	"github.com/zkbench/zkbench/token/validator"
)

// landedBytes is the maximum memory of a request that is submitted, as measured: the answer, and pages of the ledger's
// file.
const landedBytes = 32 << 10

// Land returns the workload that validates the requests of a batch together and writes them to a ledger, in one process.
// The server of ServeTransfer does the same, with the network.
func Land() workload.Def {
	return defineLanding("Land", "landing a batch of transfers", "validate a batch of one-transfer requests and write them durably to a bbolt ledger in the directory for temporary files, in one process; the time is for the whole batch; "+
		freshRequests,
		func(_ context.Context, v *validation, _ workload.Case) (*landing, workload.Instance, error) {
			l := newLanding(v, &embedded{validator: v.validator})
			return l, l, nil
		})
}

// freshRequests says how many inputs a run needs.
const freshRequests = "a ledger takes a request once, so a new ledger takes the place of the old one when all inputs have been used: --samples of at least the number of operations, with those of the warm-up, avoids that"

// defineLanding returns a workload. instance makes the Instance of a case, with the landing in it, which it may extend.
func defineLanding(name, noun, doc string, instance func(context.Context, *validation, workload.Case) (*landing, workload.Instance, error)) workload.Def {
	batch := workload.IntAxis(workload.Axis{Name: "batch", Usage: "numbers of requests in one call", Smoke: "8"}, 1, client.MaxRequests, 1, 64)
	def := define(name, noun, doc, token.Transfer, nil, OwnerAxis(), batch)
	def.Memory = func(c workload.Case) (workload.Memory, error) {
		m, err := estimate(c)
		if err != nil {
			return m, err
		}
		requests, err := c.Int("batch")
		m.Base += systemBytes
		m.Operation += uint64(requests) * landedBytes
		return m, err
	}
	def.New = func(ctx context.Context, c workload.Case, seed uint64) (_ workload.Instance, err error) {
		v, err := newValidation(ctx, c, seed)
		if err != nil {
			return nil, err
		}
		l, made, err := instance(ctx, v, c)
		if err != nil {
			return nil, err
		}
		if l.dir, err = os.MkdirTemp("", "zkbench-land-"); err != nil {
			return nil, errors.Join(err, l.host.Close())
		}
		return made, nil
	}
	return def
}

func newLanding(v *validation, h host) *landing {
	return &landing{batchValidation: batchValidation{v}, host: h, usable: make(map[*submittedBatch]int), tokens: make(view), before: make(map[int]*bolt.Ledger)}
}

// A host decides on requests for a ledger.
type host interface {
	ledger.Submitter
	Record(ctx context.Context, anchor []byte) (ledger.Record, bool, error)
	// open closes the ledger before, if any, and opens the one in a file.
	open(ctx context.Context, path string) error
	Close() error
}

// landing submits requests to a host. A ledger takes each request once. When an input comes up again, the host gets a
// new ledger, on which the tokens of all inputs are unspent: the next round begins. No operation runs then.
type landing struct {
	batchValidation
	host host
	dir  string

	turn  sync.RWMutex // operations hold it for reading, the change to a new round for writing
	round int          // the ledger's number, from 1; 0: there is none yet

	mu     sync.Mutex
	usable map[*submittedBatch]int // the first round in which an input is new
	tokens view                    // that the inputs spend
	before map[int]*bolt.Ledger    // the ledgers of past rounds that checks have opened

	once  sync.Once // for what Check does once
	wrong error     // its result
}

// Collective implements workload.Collective: concurrent operations are written together.
func (l *landing) Collective() {}

// Input makes the requests of a batch. The ledgers of later rounds have the tokens that they spend.
func (l *landing) Input(ctx context.Context, seq uint64) (any, error) {
	made, err := l.batchValidation.Input(ctx, seq)
	if err != nil {
		return nil, err
	}
	in := made.(*submittedBatch)
	l.turn.RLock()
	defer l.turn.RUnlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	maps.Copy(l.tokens, in.ledger)
	l.usable[in] = l.round + 1
	return in, nil
}

// begin takes part in a round in which the input is new. done must be called after the operation.
func (l *landing) begin(ctx context.Context, in *submittedBatch) (round int, done func(), err error) {
	for {
		l.turn.RLock()
		l.mu.Lock()
		isNew := l.usable[in] <= l.round
		if isNew {
			l.usable[in] = l.round + 1
		}
		l.mu.Unlock()
		if isNew {
			return l.round, l.turn.RUnlock, nil
		}
		l.turn.RUnlock()
		if err := l.next(ctx, in); err != nil {
			return 0, nil, err
		}
	}
}

// next begins a new round, unless another operation has done so already.
func (l *landing) next(ctx context.Context, in *submittedBatch) error {
	l.turn.Lock()
	defer l.turn.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.usable[in] <= l.round {
		return nil
	}
	path := l.path(l.round + 1)
	if err := l.issue(ctx, path); err != nil {
		return err
	}
	if err := l.host.open(ctx, path); err != nil {
		return err
	}
	l.round++
	return nil
}

func (l *landing) path(round int) string {
	return filepath.Join(l.dir, fmt.Sprintf("ledger %d.db", round))
}

// issue makes a ledger with the tokens of all inputs.
func (l *landing) issue(ctx context.Context, path string) (err error) {
	made, err := bolt.Create(path, l.genesis)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, made.Close()) }()
	ids := slices.Sorted(maps.Keys(l.tokens))
	for some := range slices.Chunk(ids, issued*issuedTogether) {
		var batch []ledger.Entry
		for few := range slices.Chunk(some, issued) {
			e := ledger.Entry{Anchor: []byte("issue of " + few[0]), Time: blockTime, PolicyDigest: l.genesis.Policy}
			for _, id := range few {
				e.Creates = append(e.Creates, ledger.Created{ID: token.ID(id), Token: l.tokens[id]})
			}
			batch = append(batch, e)
		}
		if err := made.Apply(ctx, batch); err != nil {
			return err
		}
	}
	return nil
}

// Run submits the batch, and returns the round and the numbers of the records, 8 bytes each.
func (l *landing) Run(ctx context.Context, input any) ([]byte, error) {
	in := input.(*submittedBatch)
	round, done, err := l.begin(ctx, in)
	if err != nil {
		return nil, err
	}
	defer done()
	verdicts, err := l.host.Submit(ctx, in.raws)
	if err != nil {
		return nil, err
	}
	output := binary.BigEndian.AppendUint64(make([]byte, 0, 8+8*len(verdicts)), uint64(round))
	for i, v := range verdicts {
		if v.Record == nil {
			return nil, fmt.Errorf("request %d: %w", i, v.Err)
		}
		output = binary.BigEndian.AppendUint64(output, v.Record.Seq)
	}
	return output, nil
}

// Check makes sure that the records of all requests are on the ledger. Once, it also makes sure that a request that is
// submitted again gets the same record, and that a request is refused if a bit of it is changed.
func (l *landing) Check(ctx context.Context, input any, output []byte) error {
	in := input.(*submittedBatch)
	if want := 8 + 8*len(in.raws); len(output) != want {
		return fmt.Errorf("a result of %d bytes, want %d", len(output), want)
	}
	l.turn.RLock()
	defer l.turn.RUnlock()
	round := binary.BigEndian.Uint64(output)
	if round == 0 || round > uint64(l.round) {
		return fmt.Errorf("round %d, there are %d", round, l.round)
	}
	for i, raw := range in.raws {
		r, err := l.recorded(ctx, int(round), raw)
		if err != nil {
			return fmt.Errorf("request %d: %w", i, err)
		}
		if want := binary.BigEndian.Uint64(output[8+8*i:]); r.Seq != want {
			return fmt.Errorf("request %d is record %d, the answer was %d", i, r.Seq, want)
		}
	}
	l.once.Do(func() { l.wrong = l.doubt(ctx, in) })
	return l.wrong
}

// recorded returns the record of a request on the ledger of a round.
func (l *landing) recorded(ctx context.Context, round int, raw []byte) (r ledger.Record, err error) {
	key, err := entry.KeyOf(raw)
	if err != nil {
		return r, err
	}
	digest, err := key.Digest(l.ledger)
	if err != nil {
		return r, err
	}
	var reader interface {
		Record(ctx context.Context, anchor []byte) (ledger.Record, bool, error)
	} = l.host
	if round < l.round {
		if reader, err = l.past(round); err != nil {
			return r, err
		}
	}
	r, found, err := reader.Record(ctx, key.Anchor)
	if err == nil && (!found || r.Digest != digest) {
		err = errors.New("the ledger does not have it")
	}
	return r, err
}

// past opens the ledger of a past round.
func (l *landing) past(round int) (*bolt.Ledger, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if known := l.before[round]; known != nil {
		return known, nil
	}
	opened, err := bolt.Open(l.path(round))
	if err == nil {
		l.before[round] = opened
	}
	return opened, err
}

func (l *landing) doubt(ctx context.Context, in *submittedBatch) error {
	submit := func(raw []byte) (ledger.Verdict, error) {
		verdicts, err := l.host.Submit(ctx, [][]byte{raw})
		if err != nil {
			return ledger.Verdict{}, err
		}
		return verdicts[0], nil
	}
	l.mu.Lock()
	l.usable[in] = l.round + 1 // the submissions below use it
	l.mu.Unlock()
	raw := in.raws[0]
	first, err := submit(raw)
	if err != nil || first.Record == nil {
		return fmt.Errorf("submitted again: %w", errors.Join(err, first.Err))
	}
	again, err := submit(raw)
	if err != nil || again.Record == nil || again.Record.Seq != first.Record.Seq {
		return fmt.Errorf("submitted again, a request did not get its record %d: %w", first.Record.Seq, errors.Join(err, again.Err))
	}
	changed := slices.Clone(raw)
	changed[len(changed)/2] ^= 1
	refused, err := submit(changed)
	if _, ok := errors.AsType[*zkbench.CheckError](refused.Err); err != nil || !ok {
		return fmt.Errorf("a request with a changed bit was not refused: %w", errors.Join(err, refused.Err))
	}
	return nil
}

// Metrics returns the sizes of the case, the number of requests per operation, and the length of a request.
func (l *landing) Metrics(ctx context.Context) ([]record.Metric, error) {
	sizes, err := l.validation.Metrics(ctx)
	return append(sizes, record.Requests.Metric(float64(l.batch))), err
}

// Close removes the ledgers.
func (l *landing) Close() error {
	errs := []error{l.host.Close()}
	for _, b := range l.before {
		errs = append(errs, b.Close())
	}
	return errors.Join(append(errs, os.RemoveAll(l.dir))...)
}

// embedded is a host in this process.
type embedded struct {
	validator *validator.Validator
	store     *bolt.Ledger // nil: none is open
	*validator.Submitter
}

func (e *embedded) open(_ context.Context, path string) (err error) {
	if err := e.Close(); err != nil {
		return err
	}
	if e.store, err = bolt.Open(path); err != nil {
		e.store = nil
		return err
	}
	e.Submitter, err = validator.NewSubmitter(e.validator, e.store, func() time.Time { return blockTime })
	return err
}

func (e *embedded) Record(ctx context.Context, anchor []byte) (ledger.Record, bool, error) {
	return e.store.Record(ctx, anchor)
}

func (e *embedded) Close() error {
	if e.store == nil {
		return nil
	}
	err := e.store.Close()
	e.store = nil
	return err
}
