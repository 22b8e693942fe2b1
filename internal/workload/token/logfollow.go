package token

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"sync/atomic"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/workload"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/action"
	"github.com/zkbench/zkbench/token/client"
	"github.com/zkbench/zkbench/token/identity"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/head"
	"github.com/zkbench/zkbench/token/note"
	"github.com/zkbench/zkbench/token/request"
	"github.com/zkbench/zkbench/token/server"
	"github.com/zkbench/zkbench/token/service"
)

// The maximum memory in bytes, as measured.
const (
	loggedBytes = 160      // per record: its hashes
	followBytes = 64 << 20 // per vault that follows the log: mainly the records that it writes together
)

// The values of the axis proofs.
const (
	proofsOn  = "on"
	proofsOff = "off"
)

// RecordsAxis returns the axis for the number of records that a log has.
func RecordsAxis() workload.Axis {
	return workload.IntAxis(workload.Axis{Name: "records", Usage: "numbers of records in the log", Smoke: "1000"}, 1, 10_000_000, 10_000)
}

// ProofsAxis returns the axis that says whether the policy has validators, whose heads prove the records.
func ProofsAxis() workload.Axis {
	return workload.NameAxis(workload.Axis{Name: "proofs", Usage: "whether validators sign heads, under which records are proved"}, []string{proofsOn, proofsOff}, []string{proofsOn, proofsOff})
}

// The values of the axis over.
const (
	overMemory = "memory"
	overTLS    = "tls"
)

// OverAxis returns the axis that says how a wallet reads the log.
func OverAxis() workload.Axis {
	return workload.NameAxis(workload.Axis{Name: "over", Usage: "how the wallet reads the log: from memory, or over TLS from a server in a process of its own"}, []string{overMemory, overTLS}, []string{overMemory})
}

// logFollowing is the name of the workload LogFollow, by which its server's process knows what to serve.
const logFollowing = "LogFollow"

// LogFollow returns the workload in which a wallet follows a ledger's log from the first record.
func LogFollow() workload.Def {
	return workload.Def{
		Name: logFollowing, Noun: "following a ledger's log with a wallet",
		Doc: "create a vault (wallet database) and follow a log of transfers from two tokens to two, all of others: reading requests, looking for own tokens, computing the log's tree and state; " +
			"with proofs=on all of it is proved under a signed head; with over=tls a server sends the log, which is in its memory, on a loopback address, and its processor time is not counted; the time is for the whole log",
		Axes: []workload.Axis{RecordsAxis(), ProofsAxis(), OverAxis()},
		Memory: func(c workload.Case) (workload.Memory, error) {
			records, err := RecordsAxis().Int(c)
			base := systemBytes + uint64(records)*loggedBytes
			if OverAxis().ValueOf(c) == overTLS { // the server has it once more
				base *= 2
			}
			return workload.Memory{Base: base, Operation: followBytes}, err
		},
		New: newLogFollow,
	}
}

// logFollow is a log that wallets follow.
type logFollow struct {
	seed   uint64
	dir    string
	params *token.PublicParams
	log    *transfers
	source service.Ledger // what wallets follow: log, or server
	server *serverProcess // nil: none
	client *client.Client // of the server
	vaults atomic.Uint64
}

func newLogFollow(ctx context.Context, c workload.Case, seed uint64) (_ workload.Instance, err error) {
	l := &logFollow{seed: seed}
	records, err := RecordsAxis().Int(c)
	if err != nil {
		return nil, err
	}
	if l.params, err = token.NewPublicParams("BN254", 32, token.Bulletproof); err != nil {
		return nil, err
	}
	s := &setup{seed: seed}
	validator, err := signer(s.corpus("validator", 0))
	if err != nil {
		return nil, err
	}
	proved := ProofsAxis().ValueOf(c) == proofsOn
	if proved {
		l.params.Policy.HeadThreshold, l.params.Policy.Validators = 1, []token.Validator{{HeadKey: headKey(validator)}}
	}
	genesis, err := genesisOf(l.params, s.corpus("ledger", 0))
	if err != nil {
		return nil, err
	}
	if l.log, err = newTransfers(ctx, genesis, s.corpus("template", 0), records); err != nil {
		return nil, err
	}
	if l.dir, err = os.MkdirTemp("", "zkbench-follow-"); err != nil {
		return nil, err
	}
	l.source = l.log
	if proved {
		if err := l.log.sign(ctx, filepath.Join(l.dir, "signer"), validator); err != nil {
			return nil, errors.Join(err, l.Close())
		}
	}
	if OverAxis().ValueOf(c) == overTLS {
		if err := l.serve(ctx, c); err != nil {
			return nil, errors.Join(err, l.Close())
		}
	}
	return l, nil
}

// serve starts a server of the log.
func (l *logFollow) serve(ctx context.Context, c workload.Case) (err error) {
	if l.server, err = startServer(ctx, logFollowing, c.With("over", overMemory), l.seed); err != nil {
		return err
	}
	if err := l.server.show(ctx, ""); err != nil {
		return err
	}
	l.client, err = l.server.dial(ctx)
	l.source = l.client
	return err
}

// Input draws the key of a wallet that owns nothing on the ledger.
func (l *logFollow) Input(_ context.Context, seq uint64) (any, error) {
	return signer((&setup{seed: l.seed}).corpus("wallet", seq))
}

// Run follows the log with a new vault, and returns the number of the last record that the vault has seen.
func (l *logFollow) Run(ctx context.Context, input any) ([]byte, error) {
	return l.follow(ctx, input.(identity.Signer), l.source)
}

func (l *logFollow) follow(ctx context.Context, key identity.Signer, log service.Ledger) (_ []byte, err error) {
	keys, err := service.NewKey(log.Genesis(), key)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(l.dir, fmt.Sprintf("vault %d", l.vaults.Add(1)))
	v, err := service.CreateVault(path, log.Genesis())
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, v.Close(), os.Remove(path)) }()
	w, err := service.NewWallet(l.params, v, keys)
	if err != nil {
		return nil, err
	}
	if err := w.Sync(ctx, log); err != nil {
		return nil, err
	}
	last, err := w.Followed()
	return binary.BigEndian.AppendUint64(nil, last), err
}

// Check makes sure that the wallet has followed the log to its end. It also makes sure that a log with another first
// record is refused if records are proved. A wallet cannot notice it otherwise.
func (l *logFollow) Check(ctx context.Context, input any, output []byte) error {
	if last := binary.BigEndian.Uint64(output); last != l.log.edge.Last() {
		return fmt.Errorf("the wallet has followed %d records of %d", last, l.log.edge.Last())
	}
	other, err := newTransfers(ctx, l.log.genesis, (&setup{seed: l.seed}).corpus("another template", 0), 1)
	if err != nil {
		return err
	}
	other.nodes, other.head = l.log.nodes, l.log.head
	_, err = l.follow(ctx, input.(identity.Signer), other)
	var corrupt *ledger.CorruptError
	if refused := errors.As(err, &corrupt); refused != (l.log.head != nil) || !refused && err != nil {
		return fmt.Errorf("a log with another first record: %v", err)
	}
	return nil
}

// Metrics returns the number of records, and the length of their requests.
func (l *logFollow) Metrics(context.Context) ([]record.Metric, error) {
	return []record.Metric{record.Requests.Metric(float64(l.log.edge.Last())), record.RequestSize.Metric(requestLen)}, nil
}

// Close ends the server and removes the folder.
func (l *logFollow) Close() error {
	var errs []error
	if l.client != nil {
		errs = append(errs, l.client.Close())
	}
	if l.server != nil {
		errs = append(errs, l.server.Close())
	}
	return errors.Join(append(errs, os.RemoveAll(l.dir))...)
}

// servedLog makes the log that the server of LogFollow serves.
func servedLog(ctx context.Context, c workload.Case, seed uint64) (opener, error) {
	made, err := newLogFollow(ctx, c, seed)
	if err != nil {
		return nil, err
	}
	l := made.(*logFollow)
	s := logStore{log: l.log}
	return func(context.Context, string) (server.Ledger, error) {
		return server.Ledger{Store: s, Submitter: s, Params: l.params, Policy: l.params.Policy.Clone}, nil
	}, l.Close() // which the log does not need
}

// logStore is a log as the store of a server that only sends it.
type logStore struct {
	ledger.Store // nil: wallets that follow the log ask for nothing else
	log          *transfers
}

func (s logStore) Genesis() ledger.Genesis { return s.log.genesis }

func (s logStore) Log(ctx context.Context, from uint64) iter.Seq2[ledger.Record, error] {
	return s.log.Log(ctx, from)
}

func (s logStore) Head(ctx context.Context) ([]byte, error) { return s.log.Head(ctx) }

func (s logStore) Record(ctx context.Context, anchor []byte) (ledger.Record, bool, error) {
	return s.log.Record(ctx, anchor)
}

func (s logStore) Hashes(ctx context.Context, indexes []int64) ([]tlog.Hash, error) {
	return s.log.Hashes(ctx, indexes)
}

func (s logStore) State(context.Context) (ledger.State, error) {
	return ledger.State{Last: s.log.edge.Last()}, nil
}

// Submit implements ledger.Submitter.
func (s logStore) Submit(context.Context, [][]byte) ([]ledger.Verdict, error) {
	return nil, fmt.Errorf("%w: the log does not grow", zkbench.ErrPolicy)
}

// transfers is a log of requests that are as long as real ones, each a transfer from two tokens to two. No validator
// would accept them: proofs and signatures are random bytes, and the first request spends tokens that never were. The
// log keeps the hashes of each record. It makes the record itself from a template when it is read, which takes no longer
// than to read it from a file. It implements service.Ledger.
type transfers struct {
	issues
	template    []byte // a request with the anchor own, which spends the tokens of the one with the anchor before
	own, before []byte
	tokens      [perRequest][]byte // that each request creates
	hashes      []recordHashes     // of all records
	nodes       []tlog.Hash        // of the log's tree, in the order of tlog.StoredHashIndex
	head        []byte             // signed; nil if there is none
}

type recordHashes struct{ digest, commitment [32]byte }

// newTransfers draws a log of so many records.
func newTransfers(ctx context.Context, genesis ledger.Genesis, r stream, records int) (t *transfers, err error) {
	t = &transfers{issues: newIssues(genesis), own: r.bytes(anchorLen), before: r.bytes(anchorLen)}
	if err := t.draw(r); err != nil {
		return nil, err
	}
	t.hashes = make([]recordHashes, records)
	t.nodes = append(make([]tlog.Hash, 0, tlog.StoredHashCount(int64(records)+1)), genesis.Leaf())
	for i := range t.hashes {
		e := t.entry(uint64(i) + 1)
		made, err := request.Decode(e.Request)
		if err != nil {
			return nil, err
		}
		e.Digest = made.Digest(genesis.ID())
		commitment, nodes := t.edge.Append(&e, e.Append(nil))
		t.hashes[i] = recordHashes{e.Digest, commitment}
		t.nodes = append(t.nodes, nodes...)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
	}
	return t, nil
}

// draw draws the template.
func (t *transfers) draw(r stream) error {
	payee, err := note.NewReader(r.bytes(32), t.genesis.ID()).Payee(note.Nonce{}, token.X25519)
	if err != nil {
		return err
	}
	var a action.Action
	spends := make([]request.Spend, perRequest)
	for i := range perRequest {
		owner, err := signer(r)
		if err != nil {
			return err
		}
		out := token.Token{Owner: owner.Identity()}
		out.Commitment = r.bytes(tokenLen - 2 - len(out.Owner))
		if t.tokens[i], err = out.Encode(); err != nil {
			return err
		}
		sealed, err := note.Seal(note.Place{}, []note.Payee{payee}, token.Opening{Type: tokenType, Blinding: r.bytes(32)})
		if err != nil {
			return err
		}
		a.Outputs, a.Notes = append(a.Outputs, out), append(a.Notes, sealed)
		a.Inputs = append(a.Inputs, action.Input{ID: request.OutputID(t.before, 0, i), Token: out})
		spends[i].Signatures = [][]byte{r.bytes(ed25519.SignatureSize)}
	}
	encode := func(proof []byte) (err error) {
		transfer := request.Action{Kind: token.Transfer, ProofType: token.Bulletproof, Spends: spends}
		if transfer.Raw, err = a.Encode(proof); err != nil {
			return err
		}
		made := request.Request{Anchor: t.own, Actions: []request.Action{transfer}, Auditors: [][]byte{r.bytes(ed25519.SignatureSize)}}
		t.template, err = made.Encode()
		return err
	}
	if err := encode(nil); err != nil {
		return err
	}
	return encode(r.bytes(requestLen - len(t.template)))
}

// entry returns the entry of a record, without its digest.
func (t *transfers) entry(seq uint64) ledger.Entry {
	anchor, before := numbered(t.own, seq), numbered(t.own, seq-1)
	e := ledger.Entry{
		Anchor: anchor, Time: blockTime, PolicyDigest: t.genesis.Policy,
		Request: bytes.ReplaceAll(bytes.ReplaceAll(t.template, t.own, anchor), t.before, before),
	}
	for i, encoded := range t.tokens {
		e.Spends = append(e.Spends, request.OutputID(before, 0, i))
		e.Creates = append(e.Creates, ledger.Created{ID: request.OutputID(anchor, 0, i), Token: encoded})
	}
	return e
}

// Log implements service.Ledger.
func (t *transfers) Log(_ context.Context, from uint64) iter.Seq2[ledger.Record, error] {
	return func(yield func(ledger.Record, error) bool) {
		for i, h := range t.hashes[from-1:] {
			r := ledger.Record{Seq: from + uint64(i), Commitment: h.commitment}
			r.Entry = t.entry(r.Seq)
			if r.Digest = h.digest; !yield(r, nil) {
				return
			}
		}
	}
}

// Head implements service.Ledger.
func (t *transfers) Head(context.Context) ([]byte, error) { return t.head, nil }

// Hashes implements service.Ledger.
func (t *transfers) Hashes(_ context.Context, indexes []int64) ([]tlog.Hash, error) {
	hashes := make([]tlog.Hash, len(indexes))
	for i, index := range indexes {
		if index >= int64(len(t.nodes)) {
			return nil, ledger.ErrNoLeaf
		}
		hashes[i] = t.nodes[index]
	}
	return hashes, nil
}

// sign has a validator sign the log's head. The signer's file is at path.
func (t *transfers) sign(ctx context.Context, path string, validator identity.Signer) error {
	h := head.Head{Ledger: t.genesis.ID(), Size: t.edge.Last() + 1, Root: t.edge.Root()}
	s, err := newHeadSigner(path, validator, h)
	if err != nil {
		return err
	}
	t.head, err = s.Sign(ctx, h, blockTime, nil)
	return errors.Join(err, s.Close())
}
