package zkbench

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/cli"
	"github.com/zkbench/zkbench/internal/cli/serving"
	"github.com/zkbench/zkbench/internal/cli/wallet"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
	"github.com/zkbench/zkbench/token/client"
	"github.com/zkbench/zkbench/token/ledger/head"
	"github.com/zkbench/zkbench/token/ledger/replay"
	"github.com/zkbench/zkbench/token/peer"
	"github.com/zkbench/zkbench/token/service"
)

// market is a token system of processes, each of which has an address of its own. The wallets of payers are served; dora, who only
// redeems, is in the test's process.
type market struct {
	*served
	parties []*member // in the order of starting
	dora    *wallet.Purse

	ledger   *program // the calls of the validator for programs
	programs map[string]*program

	mu       sync.Mutex
	worth    map[string]int    // what each wallet must have
	paid     map[string]paid   // answers, by the keys of payments
	payers   map[string]string // by the keys of payments
	keys     []string          // of payments, in the order of their answers
	landed   map[string]uint64 // numbers of records, by anchor
	issued   int
	redeemed int
	did      map[string]int // how often, by kind
}

// member is a party that is a process.
type member struct {
	name  string
	flags []string
	*process
}

const redeemer = "dora"

var (
	payers = []string{"alice", "bob", "carol"}
	owners = append([]string{redeemer}, payers...)
)

// newMarket starts all parties.
func newMarket(t *testing.T) *market {
	roles := map[string]peer.Role{"north": peer.Validator, "audra": peer.Auditor, "ivy": peer.Issuer, "program": peer.Issuer, "dora": peer.Wallet, "shop": peer.Program}
	for _, name := range payers {
		roles[name] = peer.Wallet
	}
	w := &market{
		served: newAudited(t, roles, "--redeem", "issuer"), programs: make(map[string]*program),
		worth: make(map[string]int), paid: make(map[string]paid), payers: make(map[string]string), landed: make(map[string]uint64), did: make(map[string]int),
	}
	north := w.joins("north", append([]string{"--ledger", w.place, "--params", w.path("params")}, w.signFlags("vera")[2:]...)...)
	audra := w.joins("audra", "--role", "auditor", "--ledger", north.url, "--key", w.path("audra.key"))
	w.joins("ivy", "--role", "issuer", "--ledger", north.url, "--key", w.path("ivy.key"), "--auditor", audra.url)
	for _, name := range payers {
		w.does("wallet", "new", "--dir", w.path(name), "--ledger", north.url, "--tls", w.path(name+".tls"))
		p := w.joins(name, "--role", "wallet", "--dir", w.path(name), "--ledger", north.url, "--auditor", audra.url)
		w.programs[name] = w.program(p.url, "shop", peer.Wallet)
	}
	w.ledger = w.program(north.url, "dora", peer.Validator)
	c := w.client()
	defer c.Close()
	w.dora = must.Get(wallet.Create(w.path("dora"), c.Params(), c.Genesis(), must.Get(wallet.NewKey())(t)))(t)
	t.Cleanup(func() { must.Do(t, w.dora.Close()) })
	return w
}

// joins starts a party at an address that it keeps.
func (w *market) joins(name string, flags ...string) *member {
	w.t.Helper()
	m := &member{name: name, flags: append(flags, "--listen", freeAddress(w.t), "--tls", w.path(name+".tls"))}
	w.parties = append(w.parties, m)
	m.process = w.run(m.flags...)
	w.t.Cleanup(func() { _ = m.Process.Kill() }) // if the test fails
	return m
}

// kills kills parties, and then starts them again.
func (w *market) kills(some []*member) {
	for _, m := range some {
		must.Do(w.t, m.Process.Kill())
	}
	for _, m := range some {
		_ = m.Wait()
		if status := m.ProcessState.Sys().(syscall.WaitStatus); !status.Signaled() {
			w.t.Fatalf("%s had ended: exit code %d\n%s", m.name, status.ExitStatus(), m.log)
		}
		w.reads(m)
		m.process = w.run(m.flags...)
	}
}

// reads looks for faults in the log of a process that has ended.
func (w *market) reads(m *member) {
	for line := range strings.Lines(m.log.String()) {
		var entry struct{ Level, Msg string }
		if err := json.Unmarshal([]byte(line), &entry); err != nil && m.ProcessState.Exited() || entry.Level == "ERROR" {
			w.t.Errorf("%s: %s", m.name, line)
		}
	}
}

func (w *market) certificates(name string) serving.Certificates {
	return must.Get(serving.LoadCertificates("tls", w.path(name+".tls")))(w.t)
}

func (w *market) program(url, name string, of peer.Role) *program {
	c := w.certificates(name)
	return &program{http: &http.Client{Transport: &http.Transport{TLSClientConfig: c.Client(of)}}, url: url}
}

// options are those of a party's client that outlasts kills.
func (w *market) options(name string, of peer.Role) client.Options {
	c := w.certificates(name)
	return client.Options{TLS: c.Client(of), Patience: 2 * time.Minute}
}

func (w *market) client() *client.Client {
	return must.Get(client.Dial(w.t.Context(), w.parties[0].url, w.options(redeemer, peer.Validator)))(w.t)
}

// count counts something that was done, and calls change with the books locked.
func (w *market) count(kind string, change func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.did[kind]++
	if change != nil {
		change()
	}
}

// lands counts a request under its answer: it is in one record.
func (w *market) lands(kind, anchor string, number uint64, change func()) (err error) {
	w.count(kind, func() {
		if before, again := w.landed[anchor]; again {
			err = fmt.Errorf("the %s %x landed in record %d, and in %d before", kind, anchor, number, before)
		}
		w.landed[anchor] = number
		change()
	})
	return err
}

// address returns a new address of a wallet.
func (w *market) address(ctx context.Context, name string) (string, error) {
	if name == redeemer {
		return w.dora.NewAddress(nil)
	}
	var answer struct{ Address string }
	err := w.programs[name].ask(ctx, "WalletService/NewAddress", `{}`, &answer)
	return answer.Address, err
}

// ask makes a call again until there is an answer.
func (p *program) ask(ctx context.Context, procedure, body string, answer any) error {
	return p.repeat(ctx, func(ctx context.Context) (bool, error) { return true, p.call(ctx, procedure, body, answer) })
}

// pays makes a payment between wallets, and now and then asks for it again.
func (w *market) pays(ctx context.Context, rng *rand.Rand, from, key string) error {
	to := owners[rng.IntN(len(owners))]
	if to == from {
		to = redeemer
	}
	address, err := w.address(ctx, to)
	if err != nil {
		return err
	}
	value := 1 + rng.IntN(20)
	order := fmt.Sprintf(`{"key": %q, "to": %q, "value": %d, "type": "USD"}`, key, address, value)
	answer, err := w.programs[from].pay(ctx, order)
	if refused, ok := errors.AsType[*refusal](err); ok && strings.Contains(refused.text, "insufficient funds") {
		w.count("payment without funds", nil)
		return w.programs[from].ask(ctx, "WalletService/Sync", `{}`, &struct{}{}) // somebody may have paid it
	}
	if err != nil {
		return err
	}
	anchor, err := base64.StdEncoding.DecodeString(answer.Payment.Anchor)
	if err != nil {
		return err
	}
	err = w.lands("payment", string(anchor), answer.Payment.Number, func() {
		w.worth[from] -= value
		w.worth[to] += value
		w.paid[key], w.payers[key], w.keys = answer, from, append(w.keys, key)
	})
	if err != nil || rng.IntN(4) > 0 {
		return err
	}
	again, err := w.programs[from].pay(ctx, order)
	if err == nil && again != answer {
		err = fmt.Errorf("asked again for %s: %v; before: %v", key, again, answer)
	}
	w.count("payment asked for again", nil)
	return err
}

// issues issues tokens to a wallet.
func (w *market) issues(ctx context.Context, rng *rand.Rand, issuer *client.Issuer, key, to string) error {
	text, err := w.address(ctx, to)
	if err != nil {
		return err
	}
	_, address, err := service.ParseAddress(text)
	if err != nil {
		return err
	}
	value := 100 + rng.IntN(200)
	for {
		anchor, number, err := issuer.Issue(ctx, key, "USD", service.Payment{To: address, Value: uint64(value)})
		if errors.Is(err, zkbench.ErrOutcomeUnknown) && ctx.Err() == nil {
			continue
		}
		if err != nil {
			return err
		}
		return w.lands("issue", string(anchor), number, func() {
			w.issued += value
			w.worth[to] += value
		})
	}
}

// redeems has dora redeem tokens: the issuer approves, and the auditor signs.
func (w *market) redeems(ctx context.Context, rng *rand.Rand, c *client.Client, issuer *client.Issuer, auditor *client.Auditor) error {
	if err := w.dora.Sync(ctx, c); err != nil {
		return err
	}
	transfers, err := w.dora.Transfers()
	if err != nil {
		return err
	}
	value := 1 + rng.IntN(30)
	sub, err := transfers.Transfer(ctx, service.Order{Type: "USD", Payments: []service.Payment{{Value: uint64(value)}}})
	if _, short := errors.AsType[*service.FundsError](err); short {
		time.Sleep(50 * time.Millisecond)
		return nil
	}
	if err != nil {
		return err
	}
	openings, err := sub.Redeemed(0)
	if err == nil {
		err = issuer.Approve(ctx, sub.Request, 0, openings...)
	}
	if err != nil {
		return fmt.Errorf("approving: %w", err)
	}
	rules, err := c.Policy(ctx)
	if err == nil {
		err = sub.Audit(ctx, rules, auditor)
	}
	if err != nil {
		return fmt.Errorf("auditing: %w", err)
	}
	raw, err := sub.Request.Encode()
	if err != nil {
		return err
	}
	verdicts, err := c.Submit(ctx, [][]byte{raw})
	if err == nil {
		err = verdicts[0].Err
	}
	if err != nil {
		return err
	}
	number := verdicts[0].Record.Seq
	err = w.lands("redemption", string(sub.Request.Anchor), number, func() {
		w.redeemed += value
		w.worth[redeemer] -= value
	})
	if err == nil {
		_, err = c.WaitHead(ctx, number+1, time.Minute)
	}
	return err
}

// asks asks a wallet what it has, and verifies a receipt and what the newest head says of the log.
func (w *market) asks(ctx context.Context, rng *rand.Rand, c *client.Client, last *head.Head) error {
	p := w.programs[payers[rng.IntN(len(payers))]]
	var balance, page map[string]any
	if err := p.ask(ctx, "WalletService/GetBalance", `{}`, &balance); err != nil {
		return err
	}
	if err := p.ask(ctx, "WalletService/ListHistory", fmt.Sprintf(`{"after": %d, "most": 10}`, rng.IntN(100)), &page); err != nil {
		return err
	}
	w.count("balance and history", nil)
	signed, err := c.Head(ctx)
	if err != nil {
		return err
	}
	h, err := head.ParseSigned(signed)
	if err != nil {
		return err
	}
	if last.Size > 0 {
		var proof struct{ Hashes [][]byte }
		if err := w.ledger.ask(ctx, "LedgerService/GetConsistency", fmt.Sprintf(`{"before": %d, "after": %d}`, last.Size, h.Size), &proof); err != nil {
			return err
		}
		if err := tlog.CheckTree(hashes(proof.Hashes), int64(h.Size), tlog.Hash(h.Root), int64(last.Size), tlog.Hash(last.Root)); err != nil {
			return err
		}
		w.count("proof of consistency", nil)
	}
	*last = h
	leaf := rng.Uint64N(h.Size)
	var proof struct{ Hashes [][]byte }
	if err := w.ledger.ask(ctx, "LedgerService/GetInclusion", fmt.Sprintf(`{"leaves": %d, "leaf": %d}`, h.Size, leaf), &proof); err != nil {
		return err
	}
	of, err := c.Hashes(ctx, []int64{tlog.StoredHashIndex(0, int64(leaf))})
	if err == nil {
		err = tlog.CheckRecord(hashes(proof.Hashes), int64(h.Size), tlog.Hash(h.Root), int64(leaf), of[0])
	}
	if err != nil {
		return err
	}
	w.count("proof of inclusion", nil)
	return w.receives(ctx, rng)
}

// hashes returns the hashes of a proof.
func hashes(data [][]byte) (all []tlog.Hash) {
	for _, h := range data {
		all = append(all, tlog.Hash(h))
	}
	return all
}

// receives asks for a payment again by its key, and for its receipt, which it verifies.
func (w *market) receives(ctx context.Context, rng *rand.Rand) error {
	w.mu.Lock()
	if len(w.keys) == 0 {
		w.mu.Unlock()
		return nil
	}
	key := w.keys[rng.IntN(len(w.keys))]
	answer, p := w.paid[key], w.programs[w.payers[key]]
	w.mu.Unlock()
	var again paid
	if err := p.ask(ctx, "WalletService/GetPayment", fmt.Sprintf(`{"key": %q}`, key), &again); err != nil {
		return err
	}
	if again != answer {
		return fmt.Errorf("the payment %s: %v; before: %v", key, again, answer)
	}
	var made struct{ Receipt []byte }
	if err := p.ask(ctx, "WalletService/MakeReceipt", fmt.Sprintf(`{"anchor": %q, "output": 1}`, answer.Payment.Anchor), &made); err != nil {
		return err
	}
	path := w.path("receipt")
	if err := os.WriteFile(path, made.Receipt, 0o600); err != nil {
		return err
	}
	if code, out, says := call("ledger", "verify-receipt", path, "--params", w.path("params")); code != cli.ExitOK {
		return fmt.Errorf("the receipt of %s: exit code %d, %s%s", key, code, out, says)
	}
	w.count("receipt", nil)
	return nil
}

// followed is what a follower of the log has seen: the anchors of the records from number 1 on.
type followed struct {
	mu      sync.Mutex
	anchors []string
	grown   chan struct{} // has a value if there are more
}

func (f *followed) follow(ctx context.Context, c *client.Client) error {
	for r, err := range c.Follow(ctx, 1) {
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		f.mu.Lock()
		f.anchors = append(f.anchors, string(r.Anchor))
		n := uint64(len(f.anchors))
		f.mu.Unlock()
		if r.Seq != n {
			return fmt.Errorf("record %d after %d", r.Seq, n-1)
		}
		select {
		case f.grown <- struct{}{}:
		default:
		}
	}
	return nil
}

// TestServeMix: wallets, an issuer, an auditor and a validator are processes that serve over TLS. Programs pay, issue, redeem, follow the
// log, and ask for balances, proofs and receipts, while the processes are killed at random moments and started again. In the end
// the books balance: each wallet has what the answers say, each answer is one record, and wallets, log and head agree. No
// process that was killed leaves a copy of the ledger behind.
func TestServeMix(t *testing.T) {
	testsize.Full(t)
	seed := testsize.Seed(t, testsize.MixSeed)
	duration := testsize.Duration(t, 0, 1500*time.Millisecond, 30*time.Minute)
	longest := testsize.Pick(0, 300*time.Millisecond, 5*time.Second) // between kills
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	w := newMarket(t)
	ctx, cancel := context.WithCancel(t.Context()) // of calls
	defer cancel()
	loaded := make(chan struct{}) // closed: begin nothing more
	actor := uint64(0)
	var actors sync.WaitGroup
	// acts calls act again and again, with a number.
	acts := func(name string, act func(rng *rand.Rand, n int) error) {
		actor++
		rng := rand.New(rand.NewPCG(seed, actor))
		actors.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-loaded:
					return
				case <-ctx.Done():
					return
				default:
				}
				if err := act(rng, n); err != nil && ctx.Err() == nil {
					t.Errorf("%s, action %d: %v", name, n, err)
					cancel()
				}
			}
		})
	}
	c, asking := w.client(), w.client()
	auditor := must.Get(client.DialAuditor(ctx, w.parties[1].url, w.options(redeemer, peer.Auditor)))(t)
	approver := must.Get(client.DialIssuer(ctx, w.parties[2].url, w.options(redeemer, peer.Issuer)))(t)
	o := w.options("program", peer.Issuer)
	o.Patience = 100 * time.Millisecond // so that some outcomes are unknown
	issuer := must.Get(client.DialIssuer(ctx, w.parties[2].url, o))(t)
	acts("ivy", func(rng *rand.Rand, n int) error {
		return w.issues(ctx, rng, issuer, fmt.Sprintf("issue %d", n), owners[n%len(owners)])
	})
	for _, name := range payers {
		for i := range 2 {
			acts(name, func(rng *rand.Rand, n int) error { return w.pays(ctx, rng, name, fmt.Sprintf("%s %d %d", name, i, n)) })
		}
	}
	acts("dora", func(rng *rand.Rand, _ int) error { return w.redeems(ctx, rng, c, approver, auditor) })
	var last head.Head
	acts("the asker", func(rng *rand.Rand, _ int) error { return w.asks(ctx, rng, asking, &last) })
	follower := &followed{grown: make(chan struct{}, 1)}
	following := make(chan error, 1)
	reading, unread := context.WithCancel(ctx)
	defer unread()
	go func() { following <- follower.follow(reading, asking) }()

	rng := rand.New(rand.NewPCG(seed, 0))
	killed := map[string]int{}
	for end := time.Now().Add(duration); (len(killed) == 0 || time.Now().Before(end)) && ctx.Err() == nil; {
		time.Sleep(time.Duration(rng.Int64N(int64(longest))))
		some := slices.DeleteFunc(slices.Clone(w.parties), func(*member) bool { return rng.IntN(4) > 0 })
		for _, m := range some {
			killed[m.name]++
		}
		w.kills(some)
	}
	close(loaded)
	stuck := time.AfterFunc(5*time.Minute, func() {
		t.Error("calls have not ended though all parties serve")
		cancel()
	})
	actors.Wait()
	stuck.Stop()
	if t.Failed() {
		t.FailNow()
	}
	t.Logf("kills: %v; done: %v; issued %d, redeemed %d", killed, w.did, w.issued, w.redeemed)
	newest := w.balances(c, follower, func() { // until the follower has seen all
		select {
		case <-follower.grown:
		case err := <-following:
			t.Fatalf("the follower: %v", err)
		}
	})
	unread()
	must.Do(t, <-following)
	for _, c := range []io.Closer{c, asking, auditor, approver, issuer} {
		must.Do(t, c.Close())
	}
	w.ends(newest)
	golden.Equal(t, "left behind", 0, len(append(must.Get(filepath.Glob(filepath.Join(temp, "*")))(t), must.Get(filepath.Glob(w.path("*"+copyOf)))(t)...)))
}

// balances balances the books with what the parties say, and returns the newest head.
func (w *market) balances(c *client.Client, follower *followed, more func()) head.Opened {
	t, ctx := w.t, w.t.Context()
	t.Helper()
	records := uint64(len(w.landed))
	signed := must.Get(c.WaitHead(ctx, records+1, time.Minute))(t)
	newest := must.Get(head.Open(signed, c.Genesis().ID(), must.Get(c.Policy(ctx))(t)))(t)
	golden.Equal(t, "leaves of the head", records+1, newest.Size)
	for seen := 0; uint64(seen) < records; {
		follower.mu.Lock()
		seen = len(follower.anchors)
		follower.mu.Unlock()
		if uint64(seen) < records {
			more()
		}
	}
	golden.Equal(t, "records that the follower has seen", records, uint64(len(follower.anchors)))
	for anchor, number := range w.landed {
		if follower.anchors[number-1] != anchor {
			t.Errorf("the answer on %x was record %d, which has the anchor %x", anchor, number, follower.anchors[number-1])
		}
	}
	sum := 0
	for _, name := range payers {
		p := w.programs[name]
		var balance struct {
			Free []struct {
				Sum int `json:",string"`
			}
			Pending, Held []any
		}
		must.Do(t, p.ask(ctx, "WalletService/Sync", `{}`, &struct{}{}))
		must.Do(t, p.ask(ctx, "WalletService/GetBalance", `{}`, &balance))
		has := 0
		for _, a := range balance.Free {
			has += a.Sum
		}
		golden.Equal(t, "balance of "+name, w.worth[name], has)
		golden.Equal(t, "what "+name+" has pending", 0, len(balance.Pending)+len(balance.Held))
		sum += has
	}
	must.Do(t, w.dora.Sync(ctx, c))
	rest := must.Get(w.dora.Holdings("USD"))(t).Sum
	golden.Equal(t, "balance of dora", fmt.Sprint(w.worth[redeemer]), rest.String())
	golden.Equal(t, "sum of balances", w.issued-w.redeemed, sum+int(rest.Int64()))
	golden.Equal(t, "findings of dora's vault", 0, len(must.Get(w.dora.Check(ctx, c, true))(t)))
	for key, answer := range w.paid {
		var again paid
		must.Do(t, w.programs[w.payers[key]].ask(ctx, "WalletService/GetPayment", fmt.Sprintf(`{"key": %q}`, key), &again))
		golden.Equal(t, "payment "+key, answer, again)
	}
	return newest
}

// ends stops the parties, and verifies what they leave.
func (w *market) ends(newest head.Opened) {
	t, ctx := w.t, w.t.Context()
	t.Helper()
	for _, p := range append(slices.Collect(maps.Values(w.programs)), w.ledger) {
		p.http.CloseIdleConnections()
	}
	for _, m := range slices.Backward(w.parties) {
		w.stop(m.process)
		w.reads(m)
	}
	for _, name := range payers {
		says := w.does("wallet", "check", "--dir", w.path(name), "--ledger", w.place)
		golden.Contains(t, says, fmt.Sprintf("ok: the wallet agrees with the ledger's %d requests", newest.Size-1))
	}
	l := must.Get(replay.Open(ctx, w.place))(t)
	defer l.Close()
	params := must.Get(loadParams(w.path("params")))(t)
	report := must.Get(replay.Verify(ctx, l, params, nil))(t)
	golden.Equal(t, "requests on the ledger", newest.Size-1, report.Edge.Last())
	golden.Equal(t, "root of the head", tlog.Hash(newest.Root), report.Edge.Root())
}
