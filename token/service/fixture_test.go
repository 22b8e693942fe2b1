package service_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/audit"
	"github.com/zkbench/zkbench/token/entry"
	"github.com/zkbench/zkbench/token/identity"
	ledgers "github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/head"
	"github.com/zkbench/zkbench/token/ledger/ledgertest"
	"github.com/zkbench/zkbench/token/policy"
	"github.com/zkbench/zkbench/token/service"
	"github.com/zkbench/zkbench/token/validator"
)

const usd = "USD"

// smallTables are built fast: a world proves little.
var smallTables = token.Tuning{Table: group.TableOptions{Window: 4, Spacing: 8}}

var serial = executor.Serial()

var blockTime = time.Unix(1_800_000_000, 0)

func key(t must.TB, name string) identity.Signer {
	t.Helper()
	seed := sha256.Sum256([]byte(name))
	return must.Get(identity.NewEd25519Signer(ed25519.NewKeyFromSeed(seed[:])))(t)
}

// memory is a ledger in maps.
type memory struct {
	genesis ledgers.Genesis
	mu      sync.Mutex
	tokens  map[string][]byte
	spent   map[string]bool
	anchors map[string]ledgers.Record
	log     []ledgers.Record
	asked   int // questions for anchors

	signers []string         // of each head
	signed  func() time.Time // when they sign; nil: blockTime
	liesOf  *memory          // the ledger whose tree, head and answers about anchors it shows; nil: its own
}

func newMemory(genesis ledgers.Genesis) *memory {
	return &memory{genesis: genesis, tokens: make(map[string][]byte), spent: make(map[string]bool), anchors: make(map[string]ledgers.Record)}
}

func (m *memory) Token(_ context.Context, id token.ID) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if t, ok := m.tokens[string(id)]; ok {
		return t, nil
	}
	if m.spent[string(id)] {
		return nil, zkbench.ErrSpent
	}
	return nil, ledgers.ErrNotFound
}

func (m *memory) Tokens(ctx context.Context, ids []token.ID) ([]ledgers.Found, error) {
	return validator.TokenFunc(m.Token).Tokens(ctx, ids)
}

func (m *memory) Genesis() ledgers.Genesis { return m.genesis }

func (m *memory) Record(_ context.Context, anchor []byte) (ledgers.Record, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !policy.Reserved(anchor) {
		m.asked++
	}
	r, ok := m.anchors[string(anchor)]
	if log := m.truth().sealed(); ok && r.Seq-1 < uint64(len(log)) && bytes.Equal(log[r.Seq-1].Anchor, anchor) {
		r.PolicyDigest, r.Commitment = log[r.Seq-1].PolicyDigest, log[r.Seq-1].Commitment
	}
	return r, ok, nil
}

// truth returns the ledger whose tree this one shows.
func (m *memory) truth() *memory {
	if m.liesOf != nil {
		return m.liesOf
	}
	return m
}

// apply applies a request once.
func (m *memory) apply(valid *validator.Valid) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := valid.Entry()
	if r, ok := m.anchors[string(e.Anchor)]; ok && r.Digest == valid.Digest {
		return
	}
	for _, id := range valid.Spends {
		delete(m.tokens, string(id))
		m.spent[string(id)] = true
	}
	for _, c := range valid.Creates {
		m.tokens[string(c.ID)] = c.Token
	}
	r := ledgers.Record{Seq: uint64(len(m.log) + 1), Entry: e}
	m.anchors[string(e.Anchor)] = r
	m.log = append(m.log, r)
}

// append appends the record of a request that no validator has seen.
func (m *memory) append(t must.TB, raw []byte) {
	t.Helper()
	e := must.Get(entry.Parse(m.genesis.ID(), 32, raw))(t).Entry
	e.Time = blockTime
	m.log = append(m.log, ledgers.Record{Seq: uint64(len(m.log) + 1), Entry: e})
}

// sealed returns the log with the commitments and policy digests that follow from it, whatever it says: a liar makes
// them too.
func (m *memory) sealed() []ledgers.Record {
	edge, log := ledgers.NewEdge(m.genesis), slices.Clone(m.log)
	for i := range log {
		r := &log[i]
		if !r.Update {
			_, r.PolicyDigest = edge.Policy()
		}
		r.Commitment, _ = edge.Append(&r.Entry, r.Entry.Append(nil))
	}
	return log
}

func (m *memory) Log(ctx context.Context, from uint64) iter.Seq2[ledgers.Record, error] {
	return func(yield func(ledgers.Record, error) bool) {
		m.mu.Lock()
		records := m.sealed()[min(from-1, uint64(len(m.log))):]
		m.mu.Unlock()
		for _, r := range records {
			if ctx.Err() != nil {
				yield(ledgers.Record{}, context.Cause(ctx))
				return
			}
			if !yield(r, nil) {
				return
			}
		}
	}
}

// edge returns the edge after the first n records, and all hashes of the tree up to there.
func (m *memory) edge(n int) (ledgers.Edge, []tlog.Hash) {
	edge, hashes := ledgers.NewEdge(m.genesis), []tlog.Hash{m.genesis.Leaf()}
	for _, r := range m.sealed()[:n] {
		_, nodes := edge.Append(&r.Entry, r.Entry.Append(nil))
		hashes = append(hashes, nodes...)
	}
	return edge, hashes
}

func (m *memory) Hashes(_ context.Context, indexes []int64) (hashes []tlog.Hash, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, all := m.truth().edge(len(m.truth().log))
	for _, i := range indexes {
		if i >= int64(len(all)) {
			return nil, ledgers.ErrNoLeaf
		}
		hashes = append(hashes, all[i])
	}
	return hashes, nil
}

func (m *memory) Head(context.Context) ([]byte, error) {
	return m.truth().head(len(m.truth().log)), nil
}

// head returns the head after n records, signed by the signers, or nil if there are none.
func (m *memory) head(n int) []byte {
	if len(m.signers) == 0 {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	at := blockTime
	if m.signed != nil {
		at = m.signed()
	}
	edge, _ := m.edge(n)
	return signedHead(head.Head{Ledger: m.genesis.ID(), Size: edge.Last() + 1, Root: edge.Root()}, at, m.signers...)
}

// headKey returns the key of a validator for heads.
func headKey(name string) ed25519.PrivateKey {
	seed := sha256.Sum256([]byte(name))
	return ed25519.NewKeyFromSeed(seed[:])
}

// cosigner implements note.Signer: a validator who signs whatever it is shown, as C2SP tlog-cosignature says.
type cosigner struct {
	note.Verifier
	key ed25519.PrivateKey
	at  time.Time
}

func (c cosigner) Sign(checkpoint []byte) ([]byte, error) {
	seconds := uint64(c.at.Unix())
	message := fmt.Appendf(nil, "cosignature/v1\ntime %d\n%s", seconds, checkpoint)
	return append(binary.BigEndian.AppendUint64(nil, seconds), ed25519.Sign(c.key, message)...), nil
}

// signedHead returns a head with the signatures of validators.
func signedHead(h head.Head, at time.Time, names ...string) []byte {
	var signers []note.Signer
	for _, name := range names {
		key := headKey(name)
		public := [ed25519.PublicKeySize]byte(key.Public().(ed25519.PublicKey))
		signers = append(signers, cosigner{head.NewVerifier(head.KeyName(public), public), key, at})
	}
	signed, err := note.Sign(&note.Note{Text: h.Checkpoint()}, signers...)
	if err != nil {
		panic(err) // a checkpoint is a note
	}
	return signed
}

// validators names the validators of a policy, of whom threshold sign a head.
func validators(threshold int, names ...string) func(p *token.Policy) {
	return func(p *token.Policy) {
		p.Validators, p.HeadThreshold = nil, threshold
		for _, name := range names {
			p.Validators = append(p.Validators, token.Validator{HeadKey: [ed25519.PublicKeySize]byte(headKey(name).Public().(ed25519.PublicKey))})
		}
		slices.SortFunc(p.Validators, func(a, b token.Validator) int { return bytes.Compare(a.HeadKey[:], b.HeadKey[:]) })
	}
}

// world is a token system with its issuer, auditor, validator and ledger.
type world struct {
	params    *token.PublicParams
	issuer    *service.IssueService
	issued    *service.Vault
	auditor   *service.AuditorService
	audited   *service.Vault
	authority identity.Signer
	genesis   ledgers.Genesis
	validator *validator.Validator
	ledger    *memory
	wallet    *service.Wallet          // of which others are made; it owns nothing
	transfer  *service.TransferService // likewise
	dir       string
	vaults    int
}

func newWorld(t testing.TB, edit func(*token.PublicParams)) *world {
	t.Helper()
	w := &world{dir: t.TempDir(), authority: key(t, "authority")}
	w.params = must.Get(token.NewPublicParams("BN254", 16, token.CSP))(t)
	w.params.Policy.Issuers = ledgertest.Issuers(key(t, "issuer").Identity())
	w.params.Policy.Auditors = ledgertest.Auditors(t, key(t, "auditor").Identity())
	w.params.Policy.Limits = token.Limits{Inputs: 4, Outputs: 4, Metadata: 10, Ahead: time.Minute}
	if edit != nil {
		edit(w.params)
	}
	w.genesis = ledgertest.Genesis(t, w.params)
	w.ledger = newMemory(w.genesis)
	ex := executor.Serial()
	w.issued, w.audited = w.vault(t), w.vault(t)
	w.issuer = must.Get(service.NewIssueService(w.params, "", smallTables, ex, w.issued, key(t, "issuer")))(t)
	w.auditor = must.Get(service.NewAuditorService(w.params, smallTables, ex, w.audited, w.audits(t, service.SignAll{})))(t)
	w.validator = must.Get(validator.New(w.params, w.genesis, ex, smallTables, 100))(t)
	w.wallet = must.Get(service.NewWallet(w.params, w.vault(t), w.key(t, "nobody")))(t)
	w.transfer = must.Get(service.NewTransferService(w.params, "", smallTables, ex, w.wallet))(t)
	t.Cleanup(func() {
		for _, v := range []*service.Vault{w.issued, w.audited, w.wallet.Vault} {
			must.Do(t, v.Close())
		}
	})
	return w
}

// audits returns the world's auditor with another policy.
func (w *world) audits(t must.TB, rules service.Policy) service.Auditor {
	return service.Auditor{Signer: key(t, "auditor"), Key: ledgertest.AuditorKey(t, key(t, "auditor").Identity()), Policy: rules, Authorities: []identity.Identity{w.authority.Identity()}}
}

func (w *world) path() string {
	w.vaults++
	return filepath.Join(w.dir, fmt.Sprintf("vault %d", w.vaults))
}

func (w *world) vault(t must.TB) *service.Vault {
	t.Helper()
	return must.Get(service.CreateVault(w.path(), w.genesis))(t)
}

// party is somebody with a wallet.
type party struct {
	*service.Wallet
	path string
	keys *service.Keys
	pay  *service.TransferService
}

func (w *world) party(t must.TB, keys *service.Keys) *party {
	t.Helper()
	p := &party{path: w.path(), keys: keys}
	v := must.Get(service.CreateVault(p.path, w.genesis))(t)
	p.use(t, w, v)
	return p
}

func (p *party) use(t must.TB, w *world, v *service.Vault) {
	t.Helper()
	p.Wallet = must.Get(w.wallet.With(v, p.keys))(t)
	p.pay = w.transfer.With(p.Wallet)
}

// lose returns the party with an empty vault, which is rebuilt from keys and log at the next Sync.
func (p *party) lose(t must.TB, w *world) {
	t.Helper()
	must.Do(t, p.Close())
	p.path = w.path()
	p.use(t, w, must.Get(service.CreateVault(p.path, w.genesis))(t))
}

// crash closes the vault without settling anything, and opens it again.
func (p *party) crash(t must.TB, w *world) {
	t.Helper()
	must.Do(t, p.Close())
	p.open(t, w)
}

func (p *party) address(t must.TB) service.Address {
	t.Helper()
	return must.Get(p.Address(nil))(t)
}

func (p *party) balance(t must.TB) uint64 {
	t.Helper()
	return must.Get(p.Holdings(usd))(t).Sum.Uint64()
}

// key returns the keys of an Ed25519 signer.
func (w *world) key(t must.TB, name string) *service.Keys {
	t.Helper()
	return must.Get(service.NewKey(w.genesis, key(t, name)))(t)
}

// pseudonyms returns the keys of a holder who is enrolled under a name.
func (w *world) pseudonyms(t must.TB, name string) *service.Keys {
	t.Helper()
	scheme := must.Get(identity.NewScheme(w.params.Curve))(t)
	holder := must.Get(scheme.NewHolder(nil))(t)
	r := must.Get(holder.Request(name, nil))(t)
	certificate := must.Get(scheme.Enrol(name, r, w.authority))(t)
	return must.Get(service.NewPseudonyms(w.params, w.genesis, holder, certificate, w.authority.Identity()))(t)
}

// land has the auditor sign a submission, and the ledger apply it.
func (w *world) land(t must.TB, sub *service.Submission) *audit.Report {
	t.Helper()
	return must.Get(w.submit(t, sub))(t)
}

func (w *world) submit(t must.TB, sub *service.Submission) (*audit.Report, error) {
	t.Helper()
	return w.submitAt(t, sub, blockTime)
}

func (w *world) submitAt(t must.TB, sub *service.Submission, at time.Time) (*audit.Report, error) {
	t.Helper()
	ctx := context.Background()
	raw := must.Get(sub.Request.Encode())(t)
	info := must.Get(sub.Information.Encode())(t)
	signature, report, err := w.auditor.Sign(ctx, raw, info)
	if err != nil {
		return nil, err
	}
	sub.Request.Auditors[0] = signature
	raw = must.Get(sub.Request.Encode())(t)
	valid, err := w.validator.Validate(ctx, validator.TokenFunc(w.ledger.Token), raw, at)
	if err != nil {
		return nil, err
	}
	w.ledger.apply(valid)
	return report, nil
}

// has fails the test unless the party can spend that much.
func (p *party) has(t must.TB, want uint64, why string) {
	t.Helper()
	golden.Equal(t, "to be spent: "+why, want, p.balance(t))
}

// funded returns a party of one key, with tokens on the ledger.
func (w *world) funded(t must.TB, name string, values ...uint64) *party {
	t.Helper()
	p := w.party(t, w.key(t, name))
	w.fund(t, p, values...)
	return p
}

// fund gives a party tokens, which it finds on the ledger.
func (w *world) fund(t must.TB, p *party, values ...uint64) {
	t.Helper()
	ctx := context.Background()
	for some := range slices.Chunk(values, w.params.Policy.Limits.Outputs) {
		o := service.Order{Type: usd}
		for _, v := range some {
			o.Payments = append(o.Payments, service.Payment{To: p.address(t), Value: v})
		}
		sub := must.Get(w.issuer.Issue(ctx, o))(t)
		w.land(t, sub)
	}
	must.Do(t, p.Sync(ctx, w.ledger))
}

// paying returns an order of payments of values to an address.
func paying(to service.Address, values ...uint64) service.Order {
	o := service.Order{Type: usd}
	for _, v := range values {
		o.Payments = append(o.Payments, service.Payment{To: to, Value: v})
	}
	return o
}

// open opens the vault at the party's path.
func (p *party) open(t must.TB, w *world) {
	t.Helper()
	v := must.Get(service.OpenVault(p.path, w.genesis))(t)
	p.use(t, w, v)
}

// copied returns the party with a copy of its vault, which is not opened yet.
func (p *party) copied(t must.TB, w *world) *party {
	t.Helper()
	must.Do(t, p.Close())
	again := &party{path: w.path(), keys: p.keys}
	must.Do(t, os.WriteFile(again.path, must.Get(os.ReadFile(p.path))(t), 0o600))
	p.open(t, w)
	return again
}
