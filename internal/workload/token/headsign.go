package token

import (
	"context"
	"crypto/ed25519"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/workload"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/identity"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/bolt"
	"github.com/zkbench/zkbench/token/ledger/head"
)

// headRecords is the number of records of the log whose heads HeadSign signs, one after the other.
const headRecords = ledger.MaxBatch

// HeadSign returns the workload that signs heads of a ledger's log and stores them on the ledger.
func HeadSign() workload.Def {
	return workload.Def{
		Name: "HeadSign", Noun: "signing a head of a ledger's log",
		Doc: "sign the head of a log that has grown by one record, with its consistency proof, and store it: the signer's file and the bbolt ledger are flushed " +
			"in the directory for temporary files; one validator signs, so workers wait for each other; after " + fmt.Sprint(headRecords) + " heads the last one is signed again",
		Memory: func(workload.Case) (workload.Memory, error) {
			return workload.Memory{Base: systemBytes + headRecords*fileBytes, Operation: applyBytes}, nil
		},
		New: newHeadSign,
	}
}

// headSign is a ledger that shows its log record by record to a keeper of heads.
type headSign struct {
	*bolt.Ledger
	dir    string
	policy *token.Policy
	roots  []tlog.Hash // by number of leaves, less 1

	seed uint64

	mu     sync.Mutex // held while an operation runs
	keeper *head.Keeper
	shown  uint64 // leaves
	now    time.Time
}

func newHeadSign(ctx context.Context, _ workload.Case, seed uint64) (_ workload.Instance, err error) {
	h := &headSign{seed: seed, now: blockTime}
	if h.dir, err = os.MkdirTemp("", "zkbench-heads-"); err != nil {
		return nil, err
	}
	if err = h.fill(ctx); err == nil {
		err = h.open((&setup{seed: seed}).corpus("validator", 0))
	}
	if err != nil {
		return nil, errors.Join(err, h.Close())
	}
	return h, nil
}

// fill makes the ledger.
func (h *headSign) fill(ctx context.Context) (err error) {
	if h.Ledger, err = bolt.Create(filepath.Join(h.dir, "ledger.db"), ledger.Genesis{}); err != nil {
		return err
	}
	edge := ledger.NewEdge(h.Genesis())
	h.roots = append(h.roots, edge.Root())
	batch := make([]ledger.Entry, ledger.MaxBatch)
	for edge.Last() < headRecords {
		for i := range batch {
			e := ledger.Entry{Anchor: binary.BigEndian.AppendUint64(nil, edge.Last()), Time: blockTime}
			edge.Append(&e, e.Append(nil))
			batch[i], h.roots = e, append(h.roots, edge.Root())
		}
		if err := h.Apply(ctx, batch); err != nil {
			return err
		}
	}
	return nil
}

// open makes the validator's key and its signer.
func (h *headSign) open(r stream) error {
	key, err := signer(r)
	if err != nil {
		return err
	}
	s, err := newHeadSigner(filepath.Join(h.dir, "signer"), key, head.Head{Ledger: h.Genesis().ID(), Size: 1, Root: h.roots[0]})
	if err != nil {
		return err
	}
	h.shown = 1
	h.policy = &token.Policy{HeadThreshold: 1, Validators: []token.Validator{{HeadKey: headKey(key)}}}
	h.keeper = &head.Keeper{Store: h, Signer: s, Again: 1, Policy: h.policy, Clock: func() time.Time { return h.now }}
	return nil
}

// newHeadSigner creates the file of a signer whose first head is given, and opens it.
func newHeadSigner(path string, key identity.Signer, first head.Head) (*head.Signer, error) {
	if err := head.CreateSigner(path, key, first, blockTime); err != nil {
		return nil, err
	}
	return head.OpenSigner(path, key, first.Ledger)
}

func headKey(key identity.Signer) [ed25519.PublicKeySize]byte {
	return [ed25519.PublicKeySize]byte(key.Identity()[1:])
}

// State implements ledger.Store for the keeper: the state when the log had as many leaves as are shown.
func (h *headSign) State(context.Context) (ledger.State, error) {
	return ledger.State{Last: h.shown - 1, Root: h.roots[h.shown-1]}, nil
}

// Input draws how long after the one before it a head is signed, by the validator's clock.
func (h *headSign) Input(_ context.Context, seq uint64) (any, error) {
	return 1 + time.Duration(binary.BigEndian.Uint16((&setup{seed: h.seed}).corpus("time", seq).bytes(2))), nil
}

// Run signs and stores a head of one record more, and returns its number of leaves.
func (h *headSign) Run(ctx context.Context, input any) ([]byte, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.now = h.now.Add(input.(time.Duration))
	h.shown = min(h.shown+1, headRecords+1)
	due, err := h.keeper.Sign(ctx)
	if err == nil && !due {
		err = errors.New("no head was signed")
	}
	return binary.BigEndian.AppendUint64(nil, h.shown), err
}

// Check makes sure that the ledger's head is the operation's or a later one, as the policy asks for it, and that no
// other root is signed.
func (h *headSign) Check(ctx context.Context, _ any, output []byte) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	// An operation that the end of the window interrupted may have signed a head and not stored it.
	if _, err := h.keeper.Sign(ctx); err != nil {
		return err
	}
	signed, err := h.Head(ctx)
	if err != nil {
		return err
	}
	o, err := head.Open(signed, h.Genesis().ID(), h.policy)
	if err != nil {
		return err
	}
	if least := binary.BigEndian.Uint64(output); o.Size < least || o.Size > h.shown || o.Root != h.roots[o.Size-1] {
		return fmt.Errorf("a head of %d leaves and root %v after one of %d leaves was signed", o.Size, o.Root, least)
	}
	o.Root[0] ^= 1
	if _, err := h.keeper.Signer.Sign(ctx, o.Head, blockTime, nil); !errors.Is(err, head.ErrForked) {
		return fmt.Errorf("another root was not refused for that: %v", err)
	}
	return nil
}

// Metrics returns nothing.
func (h *headSign) Metrics(context.Context) ([]record.Metric, error) { return nil, nil }

// Close removes the ledger.
func (h *headSign) Close() (err error) {
	if h.keeper != nil {
		err = h.keeper.Signer.Close()
	}
	if h.Ledger != nil {
		err = errors.Join(err, h.Ledger.Close())
	}
	return errors.Join(err, os.RemoveAll(h.dir))
}
