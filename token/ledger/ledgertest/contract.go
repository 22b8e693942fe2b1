package ledgertest

import (
	"bytes"
	"context"
	"crypto/hpke"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/store"
)

// Verifier is a ledger that can verify itself, as the ledgers in files and databases can.
type Verifier interface {
	ledger.Store
	Verify(ctx context.Context, progress func(done, total uint64)) (ledger.Edge, error)
	Close() error
}

// Stores creates and opens ledgers of one implementation. A place is where a ledger is stored: the
// path of a file, or the name of a schema.
type Stores struct {
	Place  func(t testing.TB) string // returns a new place
	Create func(t testing.TB, place string, genesis ledger.Genesis) (Verifier, error)
	Open   func(t testing.TB, place string) (Verifier, error)
}

// Genesis returns the genesis of a ledger with the given parameters. Its nonce is always the same.
func Genesis(t testing.TB, params *token.PublicParams) ledger.Genesis {
	t.Helper()
	g, err := ledger.NewGenesis(params)
	if err != nil {
		t.Fatal(err)
	}
	g.Nonce = [32]byte{1}
	return g
}

// TB is the part of testing.TB that is needed to create keys. *rapid.T implements TB, but not
// testing.TB.
type TB interface {
	Helper()
	Fatal(args ...any)
}

// AuditorKey derives an auditor's HPKE key (X25519) from its identity.
func AuditorKey(t TB, id []byte) hpke.PrivateKey {
	t.Helper()
	kem, err := token.X25519.HPKE()
	if err != nil {
		t.Fatal(err)
	}
	seed := sha256.Sum256(id)
	key, err := kem.DeriveKeyPair(seed[:])
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// Auditors returns auditors with the given identities. The key of each auditor is what AuditorKey returns.
func Auditors(t TB, ids ...[]byte) []token.Auditor {
	t.Helper()
	auditors := make([]token.Auditor, len(ids))
	for i, id := range ids {
		auditors[i] = token.Auditor{Identity: id, KEM: token.X25519, Key: AuditorKey(t, id).PublicKey().Bytes()}
	}
	return auditors
}

// Issuers returns issuers with the given identities. Each may issue all types.
func Issuers(ids ...[]byte) []token.Issuer {
	issuers := make([]token.Issuer, len(ids))
	for i, id := range ids {
		issuers[i].Identity = id
	}
	return issuers
}

// New creates an empty ledger. It returns the ledger and the place where the ledger is stored. The ledger is
// closed when the test ends.
func (s Stores) New(t testing.TB) (l Verifier, place string) {
	t.Helper()
	place = s.Place(t)
	l, err := s.Create(t, place, ledger.Genesis{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l, place
}

// Apply applies a batch, and fails the test if it is not accepted.
func Apply(t testing.TB, l ledger.Store, batch ...ledger.Entry) {
	t.Helper()
	if err := l.Apply(context.Background(), batch); err != nil {
		t.Fatal(err)
	}
}

// Verify verifies a ledger, and fails the test if it finds an error.
func Verify(t testing.TB, l Verifier) {
	t.Helper()
	edge, err := l.Verify(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if s := State(t, l); s.Last == edge.Last() && s.Root != edge.Root() {
		t.Errorf("verified root %x, the state has %x", edge.Root(), s.Root)
	}
}

// Rejected returns the rejections that Decide says ApplyEach would return.
func Rejected(ctx context.Context, l ledger.Store, batch []ledger.Entry) ([]error, error) {
	d, err := l.Decide(ctx, batch)
	return d.Rejected, err
}

// Records returns the records of the log, starting with the given sequence number.
func Records(t testing.TB, l ledger.Reader, from uint64) (all []ledger.Record) {
	t.Helper()
	for r, err := range l.Log(context.Background(), from) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	return all
}

// Contract tests an implementation of ledger.Store against everything that package ledger
// documents.
func Contract(t *testing.T, s Stores) {
	t.Run("random batches", func(t *testing.T) { randomBatches(t, s) })
	t.Run("largest", func(t *testing.T) { largest(t, s) })
	t.Run("forks", func(t *testing.T) { forks(t, s) })
	t.Run("heads", func(t *testing.T) { heads(t, s) })
	for name, test := range map[string]func(t *testing.T, l Verifier){
		"concurrent":             func(t *testing.T, l Verifier) { Concurrent(t, l) },
		"same batch":             same,
		"verified while applied": verifyWhileApplying,
		"progress":               progress,
		"limits":                 limits,
		"policies":               policies,
		"race of an update":      raceOfUpdate,
		"times":                  times,
		"race of clocks":         func(t *testing.T, l Verifier) { RaceOfClocks(t, l, l) },
		"reader":                 func(t *testing.T, l Verifier) { Reader(t, l, Fill(t, l)) },
		"states":                 states,
		"race of states":         raceOfStates,
	} {
		t.Run(name, func(t *testing.T) {
			l, _ := s.New(t)
			test(t, l)
			Verify(t, l)
		})
	}
	t.Run("closed", func(t *testing.T) {
		l, _ := s.New(t)
		closed(t, l)
	})
}

// largest tests that entries at the limits, alone and two in one batch, are there after a ledger is
// reopened.
func largest(t *testing.T, s Stores) {
	l, place := s.New(t)
	a, b, c := Issue("a", ledger.MaxCreates), Spend("b", token.ID("a/0")), Issue("c", 1)
	a.Request = bytes.Repeat([]byte{7}, token.MaxRequest)
	c.Request = a.Request
	Apply(t, l, a)
	Apply(t, l, b, c)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	l, err := s.Open(t, place)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	Verify(t, l)
	var requests [][]byte
	for _, r := range Records(t, l, 1) {
		requests = append(requests, r.Request)
	}
	if want := [][]byte{a.Request, b.Request, c.Request}; !slices.EqualFunc(want, requests, bytes.Equal) {
		t.Errorf("%d requests, or others than were applied; want %d", len(requests), len(want))
	}
}

func limits(t *testing.T, l Verifier) {
	ctx := context.Background()
	var limit *zkbench.LimitError
	if err := l.Apply(ctx, make([]ledger.Entry, ledger.MaxBatch+1)); !errors.As(err, &limit) || limit.Max != ledger.MaxBatch {
		t.Errorf("%v", err)
	}
	large := make([]ledger.Entry, 5)
	for i := range large {
		large[i] = Issue(fmt.Sprint(i), 1)
		large[i].Request = make([]byte, token.MaxRequest)
	}
	if err := l.Apply(ctx, large); !errors.As(err, &limit) || limit.Max != ledger.MaxBatchBytes {
		t.Errorf("%v", err)
	}
	if err := l.ApplyState(ctx, []ledger.Entry{Issue("a", 1)}, make([]byte, ledger.MaxState+1)); !errors.As(err, &limit) || limit.Max != ledger.MaxState {
		t.Errorf("%v", err)
	}
	_, err := l.Decide(ctx, large)
	if !errors.As(err, &limit) || limit.Max != ledger.MaxBatchBytes {
		t.Errorf("%v", err)
	}
	for name, each := range map[string]func(context.Context, []ledger.Entry) ([]error, error){
		"decide": func(ctx context.Context, batch []ledger.Entry) ([]error, error) { return Rejected(ctx, l, batch) }, "apply each": l.ApplyEach,
	} {
		rejected, err := each(ctx, []ledger.Entry{{}, Issue("a", 1)})
		if err != nil || !errors.Is(rejected[0], zkbench.ErrLimit) || rejected[1] != nil {
			t.Errorf("%s: %v, %v", name, rejected, err)
		}
	}
}

// progress tests that Verify calls progress after some requests at a time and at the end, and that cancelling the
// context stops it.
func progress(t *testing.T, l Verifier) {
	const requests = 600
	var all []ledger.Entry
	for i := range requests {
		all = append(all, Issue(fmt.Sprint(i), 1))
	}
	Apply(t, l, all...)
	var got []uint64
	ctx, cancel := context.WithCancel(context.Background())
	if _, err := l.Verify(ctx, func(done, total uint64) { got = append(got, done, total) }); err != nil {
		t.Fatal(err)
	}
	if want := []uint64{256, requests, 512, requests, requests, requests}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if _, err := l.Verify(ctx, func(uint64, uint64) { cancel() }); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// closed tests that calls on a closed ledger return ledger.ErrClosed.
func closed(t *testing.T, l Verifier) {
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	for name, call := range map[string]func() error{
		"apply":  func() error { return l.Apply(ctx, []ledger.Entry{Issue("a", 1)}) },
		"token":  func() error { _, err := l.Token(ctx, token.ID("a/0")); return err },
		"tokens": func() error { _, err := l.Tokens(ctx, []token.ID{token.ID("a/0"), token.ID("b")}); return err },
		"state":  func() error { _, err := l.State(ctx); return err },
		"head":   func() error { _, err := l.Head(ctx); return err },
		"newest": func() error { _, err := l.Proposed(ctx); return err },
		"puts":   func() error { return l.PutHead(ctx, 1, []byte("head"), true) },
		"decide": func() error { _, err := l.Decide(ctx, []ledger.Entry{Issue("a", 1)}); return err },
		"record": func() error { _, _, err := l.Record(ctx, []byte("a")); return err },
		"hashes": func() error { _, err := l.Hashes(ctx, []int64{2}); return err },
		"verify": func() error { _, err := l.Verify(ctx, nil); return err },
		"close":  l.Close,
	} {
		if err := call(); !errors.Is(err, fs.ErrClosed) || !errors.Is(err, ledger.ErrClosed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Canceled tests calls whose contexts end. An Apply whose context ends before a commit has taken its batch
// must apply nothing, and every call with an ended context must return the context's error. The function
// exclusive must call work while no commit runs.
func Canceled(t *testing.T, l Verifier, exclusive func(work func())) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	exclusive(func() {
		result := make(chan error)
		go func() { result <- l.Apply(ctx, []ledger.Entry{Issue("a", 1)}) }()
		cancel()
		if err := <-result; !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	})
	if _, err := l.Token(context.Background(), token.ID("a/0")); !errors.Is(err, ledger.ErrNotFound) {
		t.Errorf("%v", err)
	}
	for name, call := range map[string]func() error{
		"apply":  func() error { return l.Apply(ctx, nil) },
		"token":  func() error { _, err := l.Token(ctx, token.ID("a/0")); return err },
		"tokens": func() error { _, err := l.Tokens(ctx, []token.ID{token.ID("a/0")}); return err },
		"state":  func() error { _, err := l.State(ctx); return err },
		"head":   func() error { _, err := l.Head(ctx); return err },
		"newest": func() error { _, err := l.Proposed(ctx); return err },
		"puts":   func() error { return l.PutHead(ctx, 1, []byte("head"), true) },
		"decide": func() error { _, err := l.Decide(ctx, nil); return err },
		"record": func() error { _, _, err := l.Record(ctx, []byte("a")); return err },
		"hashes": func() error { _, err := l.Hashes(ctx, []int64{2}); return err },
		"verify": func() error { _, err := l.Verify(ctx, nil); return err },
		"log": func() error {
			for _, err := range l.Log(ctx, 0) {
				return err
			}
			return nil
		},
	} {
		if err := call(); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Group tests that a store can commit calls together, in one transaction. A rejected call among them must not
// affect the others. The store must keep the state (ledger.State.Bytes) of the last accepted call, and not
// that of a rejected one.
func Group(t *testing.T, l Verifier, commit func(calls []*store.Call) error) {
	t.Helper()
	Apply(t, l, Issue("a", 2))
	var calls []*store.Call
	for _, b := range [][]ledger.Entry{
		{Spend("b", token.ID("a/0"))},
		{Spend("f", token.ID("a/1"), token.ID("b/0"))},
		{Issue("c", 1), Spend("d", token.ID("a/0"))}, // the second is a double spend
		{Spend("e", token.ID("c/0"))},                // of what was rejected with it
	} {
		c, err := store.NewStateCall(context.Background(), b, b[0].Anchor)
		if err != nil {
			t.Fatal(err)
		}
		calls = append(calls, c)
	}
	if err := commit(calls); err != nil {
		t.Fatal(err)
	}
	for i, want := range []error{nil, nil, zkbench.ErrSpent, ledger.ErrNotFound} {
		if err := calls[i].Err(); !errors.Is(err, want) {
			t.Errorf("batch %d: %v, want %v", i, err, want)
		}
	}
	if s := State(t, l); string(s.Bytes) != "f" {
		t.Errorf("bytes %q, want those of f", s.Bytes)
	}
	Verify(t, l)
}

// Corrupt fails the test unless err is of type *ledger.CorruptError and names the given place. If the given
// place is empty, the error may name any place. The parameter what is a description of the case for the
// failure message.
func Corrupt(t testing.TB, err error, place, what string) {
	t.Helper()
	corrupt, ok := errors.AsType[*ledger.CorruptError](err)
	if !ok || !errors.Is(err, zkbench.ErrMalformed) || place != "" && corrupt.Place != place {
		t.Errorf("%s: %v, want damage at the place %q", what, err, place)
	}
}
