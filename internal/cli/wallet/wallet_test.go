package wallet_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/cli/demo"
	"github.com/zkbench/zkbench/internal/cli/keyfile"
	"github.com/zkbench/zkbench/internal/cli/wallet"
	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/entry"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/bolt"
	"github.com/zkbench/zkbench/token/ledger/replay"
	"github.com/zkbench/zkbench/token/service"
)

// town is the token system that a demo leaves, with its ledger open.
type town struct {
	t      *testing.T
	dir    string
	params *token.PublicParams
	ledger *bolt.Ledger
}

func newTown(t *testing.T) *town {
	t.Helper()
	w := &town{t: t, dir: t.TempDir()}
	must.Do(t, demo.Run(t.Context(), io.Discard, demo.Options{Dir: w.dir, Curve: "BN254", Bits: 8, ProofType: token.Bulletproof}))
	w.params = must.Get(token.DecodePublicParams(must.Get(os.ReadFile(w.path(demo.ParamsFile)))(t)))(t)
	w.ledger = must.Get(bolt.Open(w.path(replay.FileName)))(t)
	t.Cleanup(func() { must.Do(t, w.ledger.Close()) })
	return w
}

func (w *town) path(names ...string) string {
	return filepath.Join(append([]string{w.dir}, names...)...)
}

func (w *town) auditor() string { return w.path("keys", "auditor.pem") }

// kept makes a purse follow the ledger and closes it when the test ends.
func (w *town) kept(p *wallet.Purse, err error) *wallet.Purse {
	w.t.Helper()
	must.Do(w.t, err)
	w.t.Cleanup(func() {
		if err := p.Close(); !errors.Is(err, fs.ErrClosed) {
			must.Do(w.t, err)
		}
	})
	w.follows(p)
	return p
}

func (w *town) follows(p *wallet.Purse) { must.Get(p.Refresh(w.t.Context(), w.ledger))(w.t) }

// bank opens the wallet of a bank.
func (w *town) bank(name string) *wallet.Purse {
	w.t.Helper()
	return w.kept(wallet.Open(w.path(name), w.ledger.Genesis()))
}

// person makes a wallet with one key.
func (w *town) person() *wallet.Purse {
	w.t.Helper()
	return w.kept(wallet.Create(filepath.Join(w.t.TempDir(), "wallet"), w.params, w.ledger.Genesis(), must.Get(wallet.NewKey())(w.t)))
}

func (w *town) payer(p *wallet.Purse) *wallet.Payer {
	w.t.Helper()
	r := must.Get(wallet.NewPayer(w.t.Context(), p, must.Get(wallet.Validated(w.t.Context(), w.ledger, w.params))(w.t), wallet.Auditors{Keys: []string{w.auditor()}}))(w.t)
	w.t.Cleanup(func() {
		if err := r.Close(); !errors.Is(err, fs.ErrClosed) {
			must.Do(w.t, err)
		}
	})
	return r
}

// order returns an order that pays a value to a wallet, whose address is sent as text.
func (w *town) order(to *wallet.Purse, value uint64) service.Order {
	w.t.Helper()
	_, a, err := service.ParseAddress(must.Get(to.NewAddress(nil))(w.t))
	must.Do(w.t, err)
	return service.Order{Type: "USD", Payments: []service.Payment{{To: a, Value: value}}}
}

// holds fails the test unless a wallet has these sums of free and held dollars.
func (w *town) holds(p *wallet.Purse, free, held string) {
	w.t.Helper()
	w.follows(p)
	b := must.Get(p.Balance())(w.t)
	sum := func(all []service.Total) string {
		for _, a := range all {
			if a.Type == "USD" {
				return a.Sum.String()
			}
		}
		return "0"
	}
	golden.Equal(w.t, "free", free, sum(b.Free))
	golden.Equal(w.t, "held", held, sum(b.Held))
}

func (w *town) requests() uint64 { return must.Get(w.ledger.State(w.t.Context()))(w.t).Last }

// TestPay: a bank pays to a person, who pays back, and the books say so.
func TestPay(t *testing.T) {
	w := newTown(t)
	south, me := w.bank("south"), w.person()
	r := w.payer(south)
	m := must.Get(r.Pay(t.Context(), w.order(me, 35)))(t)
	if m.Status != service.Landed || m.Number != 8 || len(m.Paid) != 2 {
		t.Errorf("movement %+v", m)
	}
	must.Do(t, r.Close())
	w.holds(south, "55", "0")
	w.holds(me, "35", "0")
	must.Get(w.payer(me).Pay(t.Context(), w.order(south, 5)))(t)
	w.holds(me, "30", "0")
	var changes []string
	for m, err := range me.History() {
		must.Do(t, err)
		for _, c := range wallet.Changes(&m) {
			changes = append(changes, c.Type+" -"+c.Spent.String()+" +"+c.Received.String())
		}
	}
	golden.Equal(t, "changes", []string{"USD -0 +35", "USD -35 +30"}, changes)
	for _, p := range []*wallet.Purse{south, me} {
		golden.Equal(t, "findings", 0, len(must.Get(p.Check(t.Context(), w.ledger, true))(t)))
	}
}

// answers is a submitter that loses answers, before or after the request was submitted.
type answers struct {
	ledger.Submitter
	through bool
}

func (s answers) Submit(ctx context.Context, requests [][]byte) ([]ledger.Verdict, error) {
	if s.through {
		if _, err := s.Submitter.Submit(ctx, requests); err != nil {
			return nil, err
		}
	}
	return nil, errors.New("the line is dead")
}

// TestLostAnswer: a payment whose answer is lost is paid once, or taken back.
func TestLostAnswer(t *testing.T) {
	for _, through := range []bool{false, true} {
		for _, then := range []string{"again", "cancel"} {
			name := then + ", before"
			if through {
				name = then + ", after"
			}
			t.Run(name, func(t *testing.T) {
				w := newTown(t)
				south, me := w.bank("south"), w.person()
				lossy := w.payer(south)
				lossy.Through(func(s ledger.Submitter) ledger.Submitter { return answers{s, through} })
				_, err := lossy.Pay(t.Context(), w.order(me, 35))
				unknown, ok := errors.AsType[*wallet.UnknownError](err)
				if !ok {
					t.Fatal(err)
				}
				must.Do(t, lossy.Close())
				if !through {
					w.holds(south, "40", "50")
					golden.Equal(t, "waiting", [][]byte{unknown.Anchor}, must.Get(south.Balance())(t).Waiting)
				}
				r := w.payer(south)
				if then == "cancel" && !through {
					must.Get(r.Cancel(t.Context(), unknown.Anchor))(t)
					w.holds(south, "90", "0")
					must.FailGet(r.Again(t.Context(), unknown.Anchor))(t, zkbench.ErrParams, "a payment that was taken back")
					w.holds(me, "0", "0")
					return
				}
				if then == "cancel" {
					w.follows(south)
					must.FailGet(r.Cancel(t.Context(), unknown.Anchor))(t, zkbench.ErrParams, "taking back what has landed")
				}
				for range 2 {
					m := must.Get(r.Again(t.Context(), unknown.Anchor))(t)
					if m.Status != service.Landed || m.Number != 8 {
						t.Errorf("movement %+v", m)
					}
				}
				golden.Equal(t, "requests", uint64(8), w.requests())
				w.holds(south, "55", "0")
				w.holds(me, "35", "0")
			})
		}
	}
}

// verdict answers every request with an error.
type verdict struct{ err error }

func (v verdict) Submit(context.Context, [][]byte) ([]ledger.Verdict, error) {
	return []ledger.Verdict{{Err: v.err}}, nil
}

// TestRefused: what is refused leaves the tokens free; what may have landed holds them.
func TestRefused(t *testing.T) {
	w := newTown(t)
	south, me := w.bank("south"), w.person()
	check := &zkbench.CheckError{Check: "spend", Err: zkbench.ErrSpent}
	r := w.payer(south)
	answer := func(err error) { r.Through(func(ledger.Submitter) ledger.Submitter { return verdict{err} }) }
	answer(check)
	_, err := r.Pay(t.Context(), w.order(me, 35))
	if refused, ok := errors.AsType[*wallet.RefusedError](err); !ok || refused.By != "validator" || refused.Kept || !errors.Is(err, zkbench.ErrSpent) {
		t.Errorf("%v", err)
	}
	w.holds(south, "90", "0")

	stranger := must.Get(wallet.NewKey())(t)
	other := w.kept(wallet.Create(filepath.Join(t.TempDir(), "wallet"), w.params, w.ledger.Genesis(), must.Get(wallet.Enrol(w.params.Curve, "me", stranger.Self()))(t)))
	_, err = r.Pay(t.Context(), w.order(other, 35))
	if refused, ok := errors.AsType[*wallet.RefusedError](err); !ok || refused.By != "auditor" || refused.Kept {
		t.Errorf("%v", err)
	}
	w.holds(south, "90", "0")
	golden.Equal(t, "requests", uint64(7), w.requests())

	for _, unknown := range []error{errors.New("the line is dead"), errors.Join(zkbench.ErrOutcomeUnknown, check)} {
		answer(unknown)
		_, err = r.Pay(t.Context(), w.order(me, 1))
		u, ok := errors.AsType[*wallet.UnknownError](err)
		if !ok {
			t.Fatal(err)
		}
		answer(check)
		_, err = r.Again(t.Context(), u.Anchor)
		if refused, ok := errors.AsType[*wallet.RefusedError](err); !ok || !refused.Kept {
			t.Errorf("%v", err)
		}
		golden.Equal(t, "waiting", 1, len(must.Get(south.Balance())(t).Waiting))
		must.Do(t, south.Discard(t.Context(), u.Anchor))
	}
}

// TestConsolidate: the smallest tokens become one.
func TestConsolidate(t *testing.T) {
	w := newTown(t)
	south := w.bank("south")
	golden.Equal(t, "tokens", 3, must.Get(south.Holdings("USD"))(t).Tokens)
	must.Get(w.payer(south).Consolidate(t.Context(), "USD"))(t)
	w.holds(south, "90", "0")
	golden.Equal(t, "tokens", 1, must.Get(south.Holdings("USD"))(t).Tokens)
}

// TestPayerRefuses: without the keys of the auditors nothing is made.
func TestPayerRefuses(t *testing.T) {
	w := newTown(t)
	south := w.bank("south")
	dir := t.TempDir()
	write := func(name string, k *keyfile.Keys) string {
		path := filepath.Join(dir, name)
		must.Do(t, keyfile.Write(path, k))
		return path
	}
	good := must.Get(keyfile.Read("key", w.auditor(), "a key"))(t)
	unopened, another, readable := *good, *good, *good
	unopened.Opening = nil
	another.Opening = must.Get(must.Get(token.X25519.HPKE())(t).GenerateKey())(t)
	own := must.Get(wallet.Validated(t.Context(), w.ledger, w.params))(t)
	open := write("readable.pem", &readable)
	must.Do(t, os.Chmod(open, 0o644))
	for name, test := range map[string]struct {
		keys []string
		says string
	}{
		"none":              {nil, "missing: Ed25519 "},
		"not an auditor's":  {[]string{w.path("keys", "issuer.pem")}, "one of the 1 of policy 1"},
		"one to sign":       {[]string{write("unopened.pem", &unopened)}, "one of the 1 of policy 1"},
		"another to open":   {[]string{write("another.pem", &another)}, "the key that policy 1 names"},
		"twice":             {[]string{w.auditor(), w.auditor()}, "each auditor once"},
		"others can read":   {[]string{open}, "chmod 600"},
		"one more, a bad 1": {[]string{w.auditor(), w.path("keys", "issuer.pem")}, "one of the 1 of policy 1"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := wallet.NewPayer(t.Context(), south, own, wallet.Auditors{Keys: test.keys})
			if refused, ok := errors.AsType[*argument.ValueError](err); !ok || refused.Field != "auditor-key" || !strings.Contains(err.Error(), test.says) {
				t.Errorf("%v; want ...%s", err, test.says)
			}
		})
	}
	w.holds(south, "90", "0")
	golden.Equal(t, "waiting", 0, len(must.Get(south.Balance())(t).Waiting))
}

// TestHiddenUpdate: a ledger that hides an update of the policy which the wallet has seen is refused, by a new payer and by one
// that would pay: information must not go to an auditor that was replaced.
func TestHiddenUpdate(t *testing.T) {
	w := newTown(t)
	south, me := w.bank("south"), w.person()
	l := &hiding{Ledger: must.Get(wallet.Validated(t.Context(), w.ledger, w.params))(t), hides: true}
	auditors := wallet.Auditors{Keys: []string{w.auditor()}}
	_, err := wallet.NewPayer(t.Context(), south, l, auditors)
	must.Fail(t, err, ledger.ErrRolledBack, "a payer")
	golden.Contains(t, err.Error(), "had policy 1", "policy 0")

	fresh := must.Get(wallet.Create(filepath.Join(t.TempDir(), "wallet"), w.params, w.ledger.Genesis(), must.Get(wallet.NewKey())(t)))(t)
	defer fresh.Close()
	pays := w.payer(south)
	must.Get(pays.Pay(t.Context(), w.order(fresh, 10)))(t)
	must.Do(t, pays.Close())
	r := must.Get(wallet.NewPayer(t.Context(), fresh, l, auditors))(t)
	defer r.Close()
	w.follows(fresh)
	_, err = r.Pay(t.Context(), w.order(me, 5))
	must.Fail(t, err, ledger.ErrRolledBack, "a payment")
}

// hiding is a ledger that hides updates of the policy.
type hiding struct {
	wallet.Ledger
	hides bool
}

// Record implements ledger.Reader.
func (h *hiding) Record(ctx context.Context, anchor []byte) (ledger.Record, bool, error) {
	if h.hides && bytes.HasPrefix(anchor, []byte("zkbench/policy/")) {
		return ledger.Record{}, false, nil
	}
	return h.Ledger.Record(ctx, anchor)
}

// TestAuditorsVaultLost: a vault is made beside an auditor's keys, and what it has not signed is counted once.
func TestAuditorsVaultLost(t *testing.T) {
	w := newTown(t)
	south := w.bank("south")
	golden.Equal(t, "unsigned", uint64(0), w.payer(w.bank("north")).Unsigned)
	path := filepath.Join(t.TempDir(), "auditor.pem")
	must.Do(t, keyfile.Write(path, must.Get(keyfile.Read("key", w.auditor(), "a key"))(t)))
	for _, want := range []uint64{6, 0} { // all but the update of the policy, which administrators sign
		r := must.Get(wallet.NewPayer(t.Context(), south, must.Get(wallet.Validated(t.Context(), w.ledger, w.params))(t), wallet.Auditors{Keys: []string{path}}))(t)
		golden.Equal(t, "unsigned", want, r.Unsigned)
		must.Do(t, r.Close())
	}
	must.Get(os.Stat(wallet.VaultBeside(path)))(t)
}

// TestCreate: a wallet is a directory of its owner's alone, is made once, and comes back from its keys.
func TestCreate(t *testing.T) {
	w := newTown(t)
	me := w.person()
	must.Get(w.payer(w.bank("south")).Pay(t.Context(), w.order(me, 35)))(t)
	dir := me.Dir()
	golden.Equal(t, "mode", os.ModeDir|0o700, must.Get(os.Stat(dir))(t).Mode())
	must.Do(t, me.Close())
	must.FailGet(wallet.Create(dir, w.params, w.ledger.Genesis(), must.Get(wallet.NewKey())(t)))(t, fs.ErrExist, "a second wallet")
	must.FailGet(wallet.Restore(dir, nil, w.ledger.Genesis()))(t, fs.ErrExist, "a second vault")
	must.Do(t, os.Remove(filepath.Join(dir, wallet.VaultFile)))
	must.FailGet(wallet.Open(dir, w.ledger.Genesis()))(t, fs.ErrNotExist, "a wallet without a vault")
	must.Do(t, os.Remove(filepath.Join(dir, wallet.ParamsFile)))
	must.FailGet(wallet.Restore(dir, nil, w.ledger.Genesis()))(t, fs.ErrNotExist, "keys alone, without parameters")
	foreign := must.Get(ledger.NewGenesis(w.params))(t)
	foreign.Params[0] ^= 1
	must.FailGet(wallet.Restore(dir, w.params, foreign))(t, zkbench.ErrParams, "another ledger's parameters")
	must.Do(t, os.WriteFile(filepath.Join(dir, wallet.ParamsFile), must.Get(w.params.Encode())(t), 0o600))
	must.FailGet(wallet.Restore(dir, nil, foreign))(t, zkbench.ErrParams, "another ledger")
	must.Do(t, os.Remove(filepath.Join(dir, wallet.ParamsFile)))
	golden.Equal(t, "files", 1, len(must.Get(os.ReadDir(dir))(t)))
	w.holds(w.kept(wallet.Restore(dir, w.params, w.ledger.Genesis())), "35", "0")

	other := must.Get(ledger.NewGenesis(w.params))(t)
	must.FailGet(wallet.Open(w.path("north"), other))(t, zkbench.ErrParams, "another ledger")
	empty := t.TempDir()
	other.Params[0] ^= 1
	must.FailGet(wallet.Create(empty, w.params, other, must.Get(wallet.NewKey())(t)))(t, zkbench.ErrParams, "parameters of another ledger")
	must.FailGet(wallet.Create(empty, w.params, w.ledger.Genesis(), new(keyfile.Keys)))(t, must.ErrAny, "no keys")
	golden.Equal(t, "files", 0, len(must.Get(os.ReadDir(empty))(t)))
	must.FailGet(wallet.Open(empty, w.ledger.Genesis()))(t, fs.ErrNotExist, "an empty directory")
}

// copied returns a ledger with the same genesis and edited records.
func (w *town) copied(edit func(all []ledger.Entry)) *bolt.Ledger {
	w.t.Helper()
	var all []ledger.Entry
	for r, err := range w.ledger.Log(w.t.Context(), 1) {
		must.Do(w.t, err)
		all = append(all, r.Entry)
	}
	edit(all)
	l := must.Get(bolt.Create(filepath.Join(w.t.TempDir(), replay.FileName), w.ledger.Genesis()))(w.t)
	w.t.Cleanup(func() { must.Do(w.t, l.Close()) })
	for i := range all {
		must.Do(w.t, l.Apply(w.t.Context(), all[i:i+1]))
	}
	return l
}

// forged returns an entry of an issue to a wallet that no auditor has signed.
func (w *town) forged(to *wallet.Purse, value uint64) ledger.Entry {
	w.t.Helper()
	vault := must.Get(service.CreateVault(filepath.Join(w.t.TempDir(), "vault"), w.ledger.Genesis()))(w.t)
	defer vault.Close()
	issuer := must.Get(keyfile.Read("key", w.path("keys", "issuer.pem"), "a key"))(w.t).Self()
	s := must.Get(service.NewIssueService(w.params, "", token.Tuning{}, executor.Serial(), vault, issuer))(w.t)
	sub := must.Get(s.Issue(w.t.Context(), w.order(to, value)))(w.t)
	sub.Request.Auditors[0] = make([]byte, 64)
	raw := must.Get(sub.Request.Encode())(w.t)
	pp := must.Get(w.params.Crypto(token.Bulletproof, token.Tuning{}))(w.t)
	parsed := must.Get(entry.Parse(w.ledger.Genesis().ID(), pp.PointLen(), raw))(w.t)
	return parsed.Entry
}

// TestCheck: a wallet that has followed a lying ledger differs from the honest one, and what is not valid is found.
func TestCheck(t *testing.T) {
	w := newTown(t)
	south, me := w.bank("south"), w.person()
	r := w.payer(south)
	must.Get(r.Pay(t.Context(), w.order(me, 35)))(t)
	must.Get(r.Pay(t.Context(), w.order(w.bank("north"), 1)))(t)
	lying := w.copied(func(all []ledger.Entry) {
		honest := all[7]
		all[7] = w.forged(me, 60)
		all[7].Time, all[7].Policy, all[7].PolicyDigest = honest.Time, honest.Policy, honest.PolicyDigest
	})
	fooled := must.Get(wallet.Create(filepath.Join(t.TempDir(), "wallet"), w.params, w.ledger.Genesis(), me.Keys()))(t)
	t.Cleanup(func() { must.Do(t, fooled.Close()) })
	must.Get(fooled.Refresh(t.Context(), lying))(t)
	must.Do(t, os.WriteFile(filepath.Join(fooled.Dir(), "check.vault"), []byte("of a check that was killed"), 0o600))
	_, err := fooled.Check(t.Context(), lying, true)
	if corrupt, ok := errors.AsType[*ledger.CorruptError](err); !ok || !strings.Contains(corrupt.Error(), "request 8") {
		t.Errorf("the lying ledger: %v", err)
	}
	kinds := make(map[service.Discrepancy]int)
	for _, f := range must.Get(fooled.Check(t.Context(), w.ledger, true))(t) {
		kinds[f.Kind]++
	}
	golden.Equal(t, "findings", map[service.Discrepancy]int{service.TokenMissing: 1, service.RequestMissing: 1, wallet.TokenNotValid: 1, wallet.TokenNotFound: 1}, kinds)
	golden.Equal(t, "files", 3, len(must.Get(os.ReadDir(fooled.Dir()))(t)))
}
