package service_test

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/audit"
	"github.com/zkbench/zkbench/token/identity"
	ledgers "github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/service"
	"github.com/zkbench/zkbench/token/validator"
)

const usd = "USD"

// smallTables are built fast: a world proves little.
var smallTables = token.Tuning{Table: group.TableOptions{Window: 4, Spacing: 8}}

var blockTime = time.Unix(1_800_000_000, 0)

// fataler is a *testing.T, *testing.B, or *rapid.T.
type fataler interface {
	Helper()
	Fatal(args ...any)
}

func must(t fataler, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func key(t fataler, name string) identity.Signer {
	t.Helper()
	seed := sha256.Sum256([]byte(name))
	signer, err := identity.NewEd25519Signer(ed25519.NewKeyFromSeed(seed[:]))
	must(t, err)
	return signer
}

// memory is a ledger in maps.
type memory struct {
	mu      sync.Mutex
	tokens  map[string][]byte
	spent   map[string]bool
	anchors map[string][32]byte
	asked   int // questions
}

func newMemory() *memory {
	return &memory{tokens: make(map[string][]byte), spent: make(map[string]bool), anchors: make(map[string][32]byte)}
}

func (m *memory) Token(_ context.Context, id token.ID) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked++
	if t, ok := m.tokens[string(id)]; ok {
		return t, nil
	}
	if m.spent[string(id)] {
		return nil, zkbench.ErrSpent
	}
	return nil, ledgers.ErrNotFound
}

func (m *memory) Digest(_ context.Context, anchor []byte) ([32]byte, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked++
	digest, ok := m.anchors[string(anchor)]
	return digest, ok, nil
}

// apply applies a request once.
func (m *memory) apply(valid *validator.Valid) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if digest, ok := m.anchors[string(valid.Request.Anchor)]; ok && digest == valid.Digest {
		return
	}
	for _, id := range valid.Spends {
		delete(m.tokens, string(id))
		m.spent[string(id)] = true
	}
	for _, c := range valid.Creates {
		m.tokens[string(c.ID)] = c.Token
	}
	m.anchors[string(valid.Request.Anchor)] = valid.Digest
}

// world is a token system with its issuer, auditor, validator and ledger.
type world struct {
	params    *token.PublicParams
	issuer    *service.IssueService
	issued    *service.Vault
	auditor   *service.AuditorService
	audited   *service.Vault
	authority identity.Signer
	validator *validator.Validator
	ledger    *memory
	wallet    *service.Wallet          // of which others are made; it owns nothing
	transfer  *service.TransferService // likewise
	dir       string
	vaults    int
}

func newWorld(t testing.TB, edit func(*token.PublicParams)) *world {
	t.Helper()
	w := &world{dir: t.TempDir(), ledger: newMemory(), authority: key(t, "authority")}
	var err error
	w.params, err = token.NewPublicParams("BN254", 16, token.CSP)
	must(t, err)
	w.params.Issuers, w.params.Auditors = [][]byte{key(t, "issuer").Identity()}, [][]byte{key(t, "auditor").Identity()}
	w.params.Limits = token.Limits{Inputs: 4, Outputs: 4, Metadata: 10}
	if edit != nil {
		edit(w.params)
	}
	ex := executor.Serial()
	w.issued, w.audited = w.vault(t), w.vault(t)
	w.issuer, err = service.NewIssueService(w.params, "", smallTables, ex, w.issued, key(t, "issuer"))
	must(t, err)
	w.auditor, err = service.NewAuditorService(w.params, smallTables, ex, w.audited, key(t, "auditor"), w.authority.Identity())
	must(t, err)
	w.validator, err = validator.New(w.params, ex, smallTables, 100)
	must(t, err)
	w.wallet, err = service.NewWallet(w.params, w.vault(t), service.NewKey(key(t, "nobody")))
	must(t, err)
	w.transfer, err = service.NewTransferService(w.params, "", smallTables, ex, w.wallet)
	must(t, err)
	t.Cleanup(func() {
		for _, v := range []*service.Vault{w.issued, w.audited, w.wallet.Vault} {
			must(t, v.Close())
		}
	})
	return w
}

func (w *world) path() string {
	w.vaults++
	return filepath.Join(w.dir, fmt.Sprintf("vault %d", w.vaults))
}

func (w *world) vault(t fataler) *service.Vault {
	t.Helper()
	v, err := service.CreateVault(w.path(), w.params)
	must(t, err)
	return v
}

// party is somebody with a wallet.
type party struct {
	*service.Wallet
	path string
	keys service.Keys
	pay  *service.TransferService
}

func (w *world) party(t fataler, keys service.Keys) *party {
	t.Helper()
	p := &party{path: w.path(), keys: keys}
	v, err := service.CreateVault(p.path, w.params)
	must(t, err)
	p.use(w, v)
	return p
}

func (p *party) use(w *world, v *service.Vault) {
	p.Wallet = w.wallet.With(v, p.keys)
	p.pay = w.transfer.With(p.Wallet)
}

// crash closes the vault without settling anything, and opens it again.
func (p *party) crash(t fataler, w *world) {
	t.Helper()
	must(t, p.Close())
	p.open(t, w)
}

func (p *party) address(t fataler) service.Address {
	t.Helper()
	to, err := p.Address(context.Background(), nil)
	must(t, err)
	return to
}

func (p *party) balance(t fataler) uint64 {
	t.Helper()
	b, err := p.Balance(usd)
	must(t, err)
	return b.Uint64()
}

// key returns the keys of an Ed25519 signer.
func (w *world) key(t fataler, name string) service.Keys { return service.NewKey(key(t, name)) }

// pseudonyms returns the keys of a holder who is enrolled under a name.
func (w *world) pseudonyms(t fataler, name string) service.Keys {
	t.Helper()
	scheme, err := identity.NewScheme(w.params.Curve)
	must(t, err)
	holder, err := scheme.NewHolder(nil)
	must(t, err)
	r, err := holder.Request(name, nil)
	must(t, err)
	certificate, err := scheme.Enrol(name, r, w.authority)
	must(t, err)
	keys, err := service.NewPseudonyms(w.params, holder, certificate, w.authority.Identity())
	must(t, err)
	return keys
}

// land has the auditor sign a submission, and the ledger apply it.
func (w *world) land(t fataler, sub *service.Submission) *audit.Report {
	t.Helper()
	report, err := w.submit(t, sub)
	must(t, err)
	return report
}

func (w *world) submit(t fataler, sub *service.Submission) (*audit.Report, error) {
	t.Helper()
	ctx := context.Background()
	raw, err := sub.Request.Encode()
	must(t, err)
	info, err := sub.Information.Encode()
	must(t, err)
	signature, report, err := w.auditor.Sign(ctx, raw, info)
	if err != nil {
		return nil, err
	}
	sub.Request.Auditors[0] = signature
	raw, err = sub.Request.Encode()
	must(t, err)
	valid, err := w.validator.Validate(ctx, w.ledger, raw, blockTime)
	if err != nil {
		return nil, err
	}
	w.ledger.apply(valid)
	return report, nil
}

// fund gives a party tokens, which it finds on the ledger.
func (w *world) fund(t fataler, p *party, values ...uint64) {
	t.Helper()
	ctx := context.Background()
	for len(values) > 0 {
		o := service.Order{Type: usd}
		n := min(len(values), w.params.Limits.Outputs)
		for _, v := range values[:n] {
			o.Payments = append(o.Payments, service.Payment{To: p.address(t), Value: v})
		}
		sub, err := w.issuer.Issue(ctx, o)
		must(t, err)
		w.land(t, sub)
		must(t, p.Receive(ctx, sub.Deliveries...))
		values = values[n:]
	}
	must(t, p.Sync(ctx, w.ledger))
}

// paying is an order of payments of values to an address.
func paying(to service.Address, values ...uint64) service.Order {
	o := service.Order{Type: usd}
	for _, v := range values {
		o.Payments = append(o.Payments, service.Payment{To: to, Value: v})
	}
	return o
}

// open opens the vault at the party's path.
func (p *party) open(t fataler, w *world) {
	t.Helper()
	v, err := service.OpenVault(p.path, w.params)
	must(t, err)
	p.use(w, v)
}

func copyFile(t fataler, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	must(t, err)
	must(t, os.WriteFile(to, data, 0o600))
}
