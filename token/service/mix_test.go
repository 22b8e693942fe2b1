package service_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/audit"
	"github.com/zkbench/zkbench/token/entry"
	"github.com/zkbench/zkbench/token/identity"
	ledgers "github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/ledgertest"
	"github.com/zkbench/zkbench/token/ledger/replay"
	"github.com/zkbench/zkbench/token/request"
	"github.com/zkbench/zkbench/token/service"
	"github.com/zkbench/zkbench/token/validator"
)

const (
	mixDir  = "ZKBENCH_MIX_DIR"  // the files of the child of TestMix
	mixLife = "ZKBENCH_MIX_LIFE" // how many there were before
)

const eur = "EUR"

var mixTypes = []string{usd, eur}

// mixed is a system in one process: everybody with a vault in a directory, and one ledger.
type mixed struct {
	*world
	dir      string
	store    replay.Store
	land     *validator.Submitter
	issued   *service.Vault
	issuer   *service.IssueService
	auditor  *service.AuditorService
	rules    *tally
	wallets  []*party // Ann and Ben and Cid, who own tokens together, and Dora
	images   map[[sha256.Size]byte][]byte
	preimage [][]byte
	admins   []identity.Signer
}

var mixNames = []string{"ann", "ben", "cid", "dora"}

// newMixed opens the system of a directory, or makes it.
func newMixed(t testing.TB, dir, life string) *mixed {
	t.Helper()
	m := &mixed{dir: dir, images: map[[sha256.Size]byte][]byte{}}
	m.world = newWorld(t, func(p *token.PublicParams) {
		var admins [][]byte
		m.admins = mixAdministrators(t)
		for _, a := range m.admins {
			admins = append(admins, a.Identity())
		}
		p.Policy.Administrators = token.Administrators{Identities: admins, Threshold: 2}
		p.Policy.Redeem = token.RedeemIssuer
		p.Policy.Limits.Metadata = 16
	})
	var err error
	path := filepath.Join(dir, replay.FileName)
	if m.store, err = replay.Open(t.Context(), path); errors.Is(err, os.ErrNotExist) {
		m.store, err = replay.Create(t.Context(), path, m.genesis)
	}
	must.Do(t, err)
	must.Do(t, m.validator.Follow(t.Context(), m.store))
	m.land = must.Get(validator.NewSubmitter(m.validator, m.store, nil))(t)
	m.issued = m.open(t, "issuer")
	m.issuer = must.Get(service.NewIssueService(m.params, "", smallTables, serial, m.issued, key(t, "issuer")))(t)
	m.rules = &tally{file: must.Get(os.OpenFile(filepath.Join(dir, "counted"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600))(t), life: life}
	m.auditor = must.Get(service.NewAuditorService(m.params, smallTables, serial, m.open(t, "auditor"), m.audits(t, m.rules)))(t)
	for i, name := range mixNames {
		p := &party{path: m.file(name), keys: m.mixKeys(t, i)}
		p.Wallet = must.Get(service.NewWallet(m.params, m.open(t, name), p.keys))(t)
		p.pay = m.transfer.With(p.Wallet)
		m.wallets = append(m.wallets, p)
	}
	for i := range 16 {
		sum := sha256.Sum256(fmt.Append(nil, "preimage ", i))
		m.preimage = append(m.preimage, sum[:])
		m.images[sha256.Sum256(sum[:])] = sum[:]
	}
	return m
}

// mixKeys returns the keys of a wallet: an Ed25519 key, a P-256 key under another certificate each time, and pseudonyms.
func (m *mixed) mixKeys(t testing.TB, i int) *service.Keys {
	t.Helper()
	name := mixNames[i]
	seed := sha256.Sum256([]byte("secret of " + name))
	switch i {
	case 0:
		return m.key(t, name)
	case 1:
		keys, _ := m.certified(t, must.Get(ecdsa.ParseRawPrivateKey(elliptic.P256(), seed[:]))(t), name)
		return keys
	}
	scheme := must.Get(identity.NewScheme(m.params.Curve))(t)
	holder := must.Get(scheme.NewHolder(bytes.NewReader(seed[:])))(t)
	certificate := must.Get(scheme.Enrol(name, must.Get(holder.Request(name, nil))(t), m.authority))(t)
	return must.Get(service.NewPseudonyms(m.params, m.genesis, holder, certificate, m.authority.Identity()))(t)
}

func mixAdministrators(t testing.TB) (all []identity.Signer) {
	for i := range 3 {
		all = append(all, key(t, fmt.Sprint("administrator ", i)))
	}
	slices.SortFunc(all, func(a, b identity.Signer) int { return bytes.Compare(a.Identity(), b.Identity()) })
	return all
}

func (m *mixed) file(name string) string { return filepath.Join(m.dir, name) }

// open opens the vault of a name, or makes it.
func (m *mixed) open(t testing.TB, name string) *service.Vault {
	t.Helper()
	return m.openVault(t, m.file(name))
}

// close closes all that newMixed opens and the world does not.
func (m *mixed) close(t testing.TB) {
	t.Helper()
	for _, p := range m.wallets {
		must.Do(t, p.Close())
	}
	must.Do(t, errors.Join(m.issued.Close(), m.auditor.Vault().Close(), m.store.Close(), m.rules.file.Close()))
}

// tally is the auditor's policy: it allows all, and writes down what it is asked and what it hears, each in one line.
type tally struct {
	mu   sync.Mutex
	file *os.File
	life string
}

func (c *tally) say(format string, args ...any) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err := c.file.WriteString(fmt.Sprintf(format, args...))
	return err
}

// Allow implements service.Policy.
func (c *tally) Allow(_ context.Context, r *audit.Report) error {
	sums := issued(r)
	return c.say("allow %x %x %d %d %s\n", r.Anchor, r.Digest, sums[usd], sums[eur], c.life)
}

// Settled implements service.Policy.
func (c *tally) Settled(_ context.Context, anchor []byte, digest [32]byte, landed bool) error {
	return c.say("settled %x %x %v\n", anchor, digest, landed)
}

// say tells the parent of a child.
func say(words ...any) {
	if os.Getenv(mixDir) != "" {
		fmt.Println(words...)
	}
}

// refused tells whether an error is a refusal that the others explain: money, tokens and anchors that they have taken meanwhile, a time that has
// come. A deal that is another one than was agreed, a signature or a proof that does not hold is none.
func refused(err error) bool {
	if _, another := errors.AsType[*service.DealError](err); another || errors.Is(err, zkbench.ErrOutcomeUnknown) || errors.Is(err, zkbench.ErrEnv) {
		return false
	}
	if c, ok := errors.AsType[*zkbench.CheckError](err); ok && slices.Contains([]string{validator.Issuers, validator.Owners, validator.Proofs, validator.OutputOwners}, c.Check) {
		return false
	}
	return errors.Is(err, zkbench.ErrPolicy) || errors.Is(err, zkbench.ErrSpent) || errors.Is(err, zkbench.ErrAnchorConflict) || errors.Is(err, zkbench.ErrLimit)
}

// done says of a call of Release, Discard or Cancel that there was something to do.
func done(kind string, err error) error {
	switch {
	case errors.Is(err, zkbench.ErrParams): // Sync has settled it meanwhile
		return nil
	case err == nil:
		say("did", kind)
	}
	return err
}

// errIncomplete says that a signature is missing: of the other party of a deal, or of an owner of a shared token.
var errIncomplete = errors.New("not signed by all")

// deliver has the issuer approve what is redeemed, the auditor sign, and the ledger take a submission; and says so.
func (m *mixed) deliver(ctx context.Context, kind string, sub *service.Submission) error {
	for {
		raw, err := sub.Request.Encode()
		if err != nil {
			return err
		}
		r, err := request.Decode(raw)
		if err != nil {
			return err
		}
		own := &service.Submission{Request: r, Information: sub.Information}
		for i := range r.Actions {
			if sub.Information.Actions[i].Sealed != nil || r.Actions[i].Kind != token.Transfer {
				continue
			}
			redeemed, err := own.Redeemed(i)
			if err == nil && len(redeemed) > 0 {
				err = m.issuer.Approve(ctx, r, i, redeemed...)
			}
			if err != nil {
				return fmt.Errorf("approving: %w", err)
			}
		}
		raw, info, err := own.ForAuditors()
		if err != nil {
			return err
		}
		signature, report, err := m.auditor.Sign(ctx, raw, info)
		if err != nil {
			if parsed, other := entry.Parse(m.genesis.ID(), 32, raw); other == nil && incomplete(parsed) {
				return errIncomplete
			}
			return fmt.Errorf("auditor: %w", err)
		}
		r.Auditors[0] = signature
		if raw, err = r.Encode(); err != nil {
			return err
		}
		verdicts, err := m.land.Submit(ctx, [][]byte{raw})
		if err != nil {
			return err
		}
		if v := verdicts[0]; v.Err == nil {
			say("landed", kind, fmt.Sprintf("%x", v.Anchor), fmt.Sprintf("%d.", v.Record.Seq))
			return nil
		} else if report.Policy == m.validator.Policy().Version {
			return v.Err
		}
		if err := m.reconcile(ctx); err != nil { // the auditor lags behind
			return err
		}
	}
}

// reconcile has the auditor follow the ledger, on which nothing is that it has not signed.
func (m *mixed) reconcile(ctx context.Context) error {
	_, err := m.auditor.Reconcile(ctx, m.store, func(r ledgers.Record) error {
		return fmt.Errorf("request %d, %x: not signed by the auditor", r.Seq, r.Anchor)
	})
	return err
}

// recover does what docs/wallets.md says after a crash: all that may have been sent is submitted again, and all vaults follow the ledger.
func (m *mixed) recover(ctx context.Context) error {
	if err := m.follow(ctx); err != nil { // the policy, under which all is submitted
		return err
	}
	for _, v := range m.vaults() {
		for k, err := range v.Submissions() {
			if err == nil {
				err = m.deliver(ctx, "resubmit", &k.Submission)
			}
			if err != nil && !errors.Is(err, errIncomplete) && !refused(err) {
				return fmt.Errorf("resubmitting: %w", err)
			}
		}
	}
	return m.follow(ctx)
}

// follow has all vaults follow the ledger.
func (m *mixed) follow(ctx context.Context) error {
	for i, p := range m.wallets {
		if err := p.Sync(ctx, m.store); err != nil {
			return fmt.Errorf("%s: %w", mixNames[i], err)
		}
	}
	if err := m.issuer.Sync(ctx, m.store); err != nil {
		return fmt.Errorf("issuer: %w", err)
	}
	return m.reconcile(ctx)
}

// vaults returns the vaults that have submissions.
func (m *mixed) vaults() []*service.Vault {
	all := []*service.Vault{m.issued}
	for _, p := range m.wallets {
		all = append(all, p.Vault)
	}
	return all
}

// TestMixChild is the child of TestMix: it recovers, and does everything at once until it is killed.
func TestMixChild(t *testing.T) {
	dir := os.Getenv(mixDir)
	if dir == "" {
		t.Skip("runs as the child of TestMix")
	}
	life, seed := testsize.Number(t, mixLife), testsize.Number(t, testsize.MixSeed)
	rng := rand.New(rand.NewPCG(seed, life<<8))
	if life > 0 && rng.IntN(6) == 0 { // a vault is lost, and made again of keys and log; that of Dora is not, who validates all
		must.Do(t, os.Remove(filepath.Join(dir, mixNames[rng.IntN(3)])))
	}
	m := newMixed(t, dir, fmt.Sprint(life))
	m.check(t, m.wallets[3].Vault)
	say("alive")
	ctx := context.Background()
	fail := func(what string, err error) {
		fmt.Printf("fail %s: %v\n", what, strings.ReplaceAll(err.Error(), "\n", "; "))
		os.Exit(1)
	}
	if err := m.recover(ctx); err != nil {
		fail("recovering", err)
	}
	var each []int // operation, as often as its weight
	for i, o := range operations {
		each = append(each, slices.Repeat([]int{i}, o.weight)...)
	}
	var wg sync.WaitGroup
	for w := range uint64(6) {
		wg.Go(func() {
			m := &mixer{m, rand.New(rand.NewPCG(seed, life<<8+w+1))}
			for {
				o := operations[each[m.IntN(len(each))]]
				if err := m.do(o.do); err != nil && !refused(err) {
					fail(o.name, err)
				}
			}
		})
	}
	wg.Wait()
}

// TestMix has an issuer, an auditor, four wallets of all kinds of keys, three of which own tokens together, and administrators do everything at once on
// one ledger, in a process that is killed at random moments and started again on the same files. In the end the books balance. Beside the short
// form, something of every kind must have landed: a machine that is too busy for that gets more time.
func TestMix(t *testing.T) {
	seed, dir := testsize.Seed(t, testsize.MixSeed), t.TempDir()
	duration := testsize.Duration(t, 500*time.Millisecond, 6*time.Second, 10*time.Minute)
	longest := testsize.Pick(300*time.Millisecond, 2*time.Second, 10*time.Second) // of a life
	rng := rand.New(rand.NewPCG(seed, 0))
	h := &heard{said: map[string]landedAt{}, did: map[string]int{}}
	goesOn, atMost := within(duration), within(10*duration)
	life := 0
	for ; life < 2 || goesOn() || !testing.Short() && atMost() && len(h.missing()) > 0; life++ {
		cmd := exec.Command(must.Get(os.Executable())(t), "-test.run=^TestMixChild$", "-test.timeout=10m")
		cmd.Env = append(os.Environ(), mixDir+"="+dir, fmt.Sprintf("%s=%d", mixLife, life), fmt.Sprintf("%s=%d", testsize.MixSeed, seed))
		h.live(t, cmd, time.Duration(rng.Int64N(int64(longest))))
	}
	t.Logf("%d kills; landed, and done: %v", life, h.did)
	if missing := h.missing(); !testing.Short() && len(missing) > 0 {
		t.Errorf("none of %v", missing)
	}
	audited(t, dir, h.said)
}

// heard is what the children of a mix have said.
type heard struct {
	said map[string]landedAt // by anchor
	did  map[string]int      // how often, by kind
}

// missing returns the kinds of operations that were never done, or never recorded.
func (h *heard) missing() (kinds []string) {
	for _, kind := range mixKinds {
		if h.did[kind] == 0 {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// live starts a child, listens to it, and kills it some time after it has opened its files. If it fails, the test shows what else it said.
func (h *heard) live(t *testing.T, cmd *exec.Cmd, after time.Duration) {
	t.Helper()
	var other []string
	defer func() {
		if t.Failed() {
			t.Log(strings.Join(other, "\n"))
		}
	}()
	ledgertest.KillAfter(t, cmd, after, func(line string) bool {
		switch words := strings.Fields(line); {
		case line == "alive":
			return true
		case len(words) == 2 && words[0] == "did":
			h.did[words[1]]++
			return true
		case len(words) > 1 && words[0] == "landed":
			before := len(h.said)
			whole := readLanded(t, line, h.said)
			if len(h.said) > before {
				h.did[words[1]]++
			}
			return whole
		case len(words) > 0 && words[0] == "fail":
			t.Error(line)
		}
		other = append(other, line)
		return false
	})
}

// audited opens the files that a mix has left, recovers as after any crash, and balances the books.
func audited(t *testing.T, dir string, said map[string]landedAt) {
	t.Helper()
	m := newMixed(t, dir, "last")
	defer m.close(t)
	m.check(t, m.wallets[3].Vault)
	must.Do(t, m.recover(t.Context()))
	b := m.balance(t, m.store, m.auditor)
	b.settled(t, m.auditor)
	must.Do(t, m.issuer.Sync(t.Context(), m.store))
	b.waiting(t, m.issued, "issuer")
	golden.Equal(t, "findings of the issuer's vault", nil, must.Get(m.issued.Compare(t.Context(), m.store))(t))
	b.parties(t, m.wallets...)
	b.hasAll(t, said)
	m.once(t, b)
	m.counted(t, b)
}

// once fails the test if two actions have the same metadata: a payment that landed, and landed again.
func (m *mixed) once(t *testing.T, b *balanced) {
	t.Helper()
	paid := map[string]uint64{}
	for _, r := range b.log {
		if r.Update {
			continue
		}
		for i, a := range b.parse(t, r) {
			if len(a.Metadata) == 0 {
				continue
			}
			if before, twice := paid[string(a.Metadata)]; twice {
				t.Errorf("request %d, action %d: paid as request %d before", r.Seq, i, before)
			}
			paid[string(a.Metadata)] = r.Seq
		}
	}
}

// counted holds what the auditor's policy has been asked and has heard to the ledger.
func (m *mixed) counted(t *testing.T, b *balanced) {
	t.Helper()
	allowed, heard := map[string]map[string]int64{}, map[string]bool{} // what each request issues, and whether it landed
	asks := map[string]bool{}
	for i, line := range strings.Split(strings.TrimSpace(string(must.Get(os.ReadFile(m.file("counted")))(t))), "\n") {
		words := strings.Fields(line)
		name := ""
		if len(words) > 2 {
			name = words[1] + " " + words[2]
		}
		switch {
		case len(words) == 6 && words[0] == "allow":
			var u, e int64
			must.Get(fmt.Sscan(words[3]+" "+words[4], &u, &e))(t)
			ask := name + " " + words[5]
			if asks[ask] {
				t.Errorf("line %d: asked twice without a crash between: %s", i, line)
			}
			asks[ask] = true
			allowed[name] = map[string]int64{usd: u, eur: e}
		case len(words) == 4 && words[0] == "settled":
			landed := words[3] == "true"
			if before, again := heard[name]; again && before != landed {
				t.Errorf("line %d: heard both: %s", i, line)
			}
			heard[name] = landed
		default:
			t.Errorf("line %d: %q", i, line)
		}
	}
	sums := map[string]int64{}
	for _, r := range b.log {
		if r.Update {
			continue
		}
		name := fmt.Sprintf("%x %x", r.Anchor, r.Digest)
		a, ok := allowed[name]
		if landed := heard[name]; !ok || !landed {
			t.Errorf("request %d landed: the policy was asked %v, has heard of it %v", r.Seq, ok, landed)
		}
		for typ, n := range a {
			sums[typ] += n
		}
		delete(heard, name)
	}
	spent := map[string]bool{}
	for _, r := range b.log {
		for _, id := range r.Spends {
			spent[string(id)] = true
		}
	}
	for name, landed := range heard {
		var anchor, digest []byte
		must.Get(fmt.Sscanf(name, "%x %x", &anchor, &digest))(t)
		raw, _, err := m.auditor.Signed(anchor)
		must.Do(t, err)
		dead := slices.ContainsFunc(must.Get(entry.Parse(m.genesis.ID(), 32, raw))(t).Entry.Spends, func(id token.ID) bool { return spent[string(id)] })
		if landed || !dead {
			t.Errorf("the policy has heard that %x landed (%v), and it did not; it never can: %v", anchor, landed, dead)
		}
	}
	for typ, n := range b.supply {
		golden.Equal(t, typ+" by the policy's count", n, sums[typ])
	}
}
