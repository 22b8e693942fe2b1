package service_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/pgtest"
	"github.com/zkbench/zkbench/internal/testing/testsize"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/ledger/replay"
	"github.com/zkbench/zkbench/token/request"
	"github.com/zkbench/zkbench/token/service"
	"github.com/zkbench/zkbench/token/validator"
)

const (
	spendURL  = "ZKBENCH_SPENDERS_URL"  // the ledger of a child of TestSpenders
	spendDir  = "ZKBENCH_SPENDERS_DIR"  // its vaults
	spendWho  = "ZKBENCH_SPENDERS_WHO"  // its number
	spendMany = "ZKBENCH_SPENDERS_MANY" // how many spenders it has
	spendSeed = "ZKBENCH_SPENDERS_SEED" // repeats the draws
	spendTime = "ZKBENCH_SPENDERS_TIME" // how long the long form spends
)

// process is a process of spenders: a validator, a ledger and an auditor's vault of its own.
type process struct {
	*world
	store   replay.Store
	land    *validator.Submitter
	auditor *service.AuditorService
	keys    *service.Keys // all spenders' alike
	shop    *party
	stop    atomic.Bool
	say     func(line string)
}

// newProcess opens a ledger for the process of a number.
func newProcess(t testing.TB, url, dir string, who uint64) *process {
	t.Helper()
	p := &process{world: newWorld(t, nil), say: func(line string) { fmt.Println(line) }}
	p.store = must.Get(replay.Open(t.Context(), url))(t)
	p.land = must.Get(validator.NewSubmitter(p.validator, p.store, nil))(t)
	audited := p.openVault(t, filepath.Join(dir, fmt.Sprint("auditor ", who)))
	p.auditor = must.Get(service.NewAuditorService(p.params, smallTables, serial, audited, p.audits(t, service.SignAll{})))(t)
	p.keys = p.key(t, "spenders")
	p.shop = &party{keys: p.key(t, "shop")}
	p.shop.use(t, p.world, p.vault(t))
	return p
}

// openVault opens the vault of a path, or makes it.
func (w *world) openVault(t testing.TB, path string) *service.Vault {
	t.Helper()
	v, err := service.OpenVault(path, w.genesis)
	if errors.Is(err, os.ErrNotExist) {
		v, err = service.CreateVault(path, w.genesis)
	}
	must.Do(t, err)
	return v
}

// spender opens the wallet of a spender.
func (p *process) spender(t testing.TB, dir string, who, n uint64) *party {
	t.Helper()
	s := &party{path: filepath.Join(dir, fmt.Sprintf("spender %d of %d", n, who)), keys: p.keys}
	s.use(t, p.world, p.openVault(t, s.path))
	return s
}

// persist calls f until it is answered: until then the server is starting, or has not said what came of it.
func persist(f func() error) error {
	for {
		err := f()
		if !errors.Is(err, zkbench.ErrEnv) && !errors.Is(err, zkbench.ErrOutcomeUnknown) && !errors.Is(err, context.DeadlineExceeded) {
			return err
		}
		<-time.After(5 * time.Millisecond)
	}
}

// deliver has the auditor sign a submission, submits it until it is known what came of it, and says so. One caller of four has little patience, and
// one of four loses the answer: they submit again. landed is false if another request has spent a token of the submission.
func (p *process) deliver(ctx context.Context, rng *rand.Rand, kind string, sub *service.Submission) (landed bool, err error) {
	raw, info, err := sub.ForAuditors()
	if err != nil {
		return false, err
	}
	signature, _, err := p.auditor.Sign(ctx, raw, info)
	if err != nil {
		return false, err
	}
	r, err := request.Decode(raw)
	if err != nil {
		return false, err
	}
	r.Auditors[0] = signature
	if raw, err = r.Encode(); err != nil {
		return false, err
	}
	lost := rng.IntN(4) == 0
	err = persist(func() error {
		patience := time.Hour
		if rng.IntN(4) == 0 {
			patience = time.Duration(rng.IntN(20)) * time.Millisecond
		}
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		verdicts, err := p.land.Submit(ctx, [][]byte{raw})
		if ctx.Err() != nil {
			p.say("hurried")
		} else if err != nil {
			p.say("silent")
		}
		if err != nil {
			return err
		}
		v := verdicts[0]
		switch {
		case v.Err == nil && lost:
			lost = false
			return zkbench.ErrOutcomeUnknown
		case v.Err == nil:
			landed = true
			p.say(fmt.Sprintf("landed %s %x %d.", kind, v.Anchor, v.Record.Seq))
		case errors.Is(v.Err, zkbench.ErrOutcomeUnknown):
			p.say("unknown")
		case errors.Is(v.Err, zkbench.ErrSpent):
			p.say(fmt.Sprintf("refused %x.", v.Anchor))
			return nil
		}
		return v.Err
	})
	return landed, err
}

// spends has a spender spend tokens of the pool, which all spenders have, until it is told to stop.
func (p *process) spends(ctx context.Context, s *party, rng *rand.Rand) error {
	for !p.stop.Load() {
		if err := persist(func() error { return s.Sync(ctx, p.store) }); err != nil {
			return err
		}
		for k, err := range s.Submissions() {
			if err != nil {
				return err
			}
			return fmt.Errorf("submission %x waits, of which all is known", k.Request.Anchor)
		}
		var pool []service.UnspentToken
		for h, err := range s.Unspent() {
			if err != nil {
				return err
			}
			pool = append(pool, h)
		}
		if len(pool) < 3 {
			return errors.New("the pool is empty")
		}
		kind, sub, err := p.spend(ctx, s, rng, pool)
		if err != nil {
			return fmt.Errorf("%s: %w", kind, err)
		}
		if _, err := p.deliver(ctx, rng, kind, sub); err != nil {
			return fmt.Errorf("%s: %w", kind, err)
		}
	}
	return nil
}

// spend splits, merges, pays to the shop or redeems: as many tokens stay in the pool as there were, more or less.
func (p *process) spend(ctx context.Context, s *party, rng *rand.Rand, pool []service.UnspentToken) (kind string, sub *service.Submission, err error) {
	to, err := s.Address(nil)
	if err != nil {
		return "", nil, err
	}
	h := pool[rng.IntN(len(pool))]
	o := service.Order{Type: h.Type, From: []token.ID{h.ID}, Payments: []service.Payment{{To: to, Value: h.Value}}}
	kind = "move"
	switch what := rng.IntN(20); {
	case what == 0 && h.Value > 1:
		kind, o.Payments[0] = "redeem", service.Payment{Value: 1}
	case what < 3 && h.Value > 1:
		if o.Payments[0].To, err = p.shop.Address(nil); err != nil {
			return "", nil, err
		}
		kind, o.Payments[0].Value = "pay", 1
	case len(pool) < 24 && h.Value > 1:
		kind, o.Payments[0].Value = "split", h.Value/2
	case len(pool) > 32:
		other := pool[rng.IntN(len(pool))]
		if bytes.Equal(other.ID, h.ID) || other.Value+h.Value >= 1<<16 {
			break
		}
		kind, o.From, o.Payments[0].Value = "merge", append(o.From, other.ID), h.Value+other.Value
	}
	sub, err = s.pay.Transfer(ctx, o)
	return kind, sub, err
}

// TestSpendersChild is a child of TestSpenders.
func TestSpendersChild(t *testing.T) {
	url, dir := os.Getenv(spendURL), os.Getenv(spendDir)
	if url == "" {
		t.Skip("runs as a child of TestSpenders")
	}
	who, many, seed := testsize.Number(t, spendWho), testsize.Number(t, spendMany), testsize.Number(t, spendSeed)
	p := newProcess(t, url, dir, who)
	var spenders []*party
	for n := range many {
		spenders = append(spenders, p.spender(t, dir, who, n))
	}
	fmt.Println("ready")
	go func() {
		_, _ = io.ReadAll(os.Stdin) // until the parent ends it
		p.stop.Store(true)
	}()
	var wg sync.WaitGroup
	for n, s := range spenders {
		wg.Go(func() {
			if err := p.spends(context.Background(), s, rand.New(rand.NewPCG(seed, who<<8+uint64(n)))); err != nil {
				fmt.Printf("fail %v\n", strings.ReplaceAll(err.Error(), "\n", "; "))
				os.Exit(1)
			}
		})
	}
	wg.Wait()
	for _, s := range spenders {
		must.Do(t, s.Close())
	}
	must.Do(t, errors.Join(p.shop.Close(), p.auditor.Vault().Close(), p.store.Close()))
}

// TestSpenders has spenders in four processes, each with a vault of the same keys, spend the same tokens on one PostgreSQL ledger, so that many
// requests spend one token, while the server crashes and is restarted. Each outcome that is not known is found by submitting the same request
// again. In the end the log has what the spenders were told, and the books balance.
func TestSpenders(t *testing.T) {
	var server pgtest.Server
	defer server.Stop()
	url := server.URL(t)
	const processes = 4
	seed, dir := testsize.Seed(t, spendSeed), t.TempDir()
	many, restarts := testsize.Pick(2, 2, 8), testsize.Pick(2, 2, 20)
	duration := testsize.Pick(0, 5*time.Second, 4*time.Minute)
	if text := os.Getenv(spendTime); text != "" {
		duration = must.Get(time.ParseDuration(text))(t)
	}
	first := newWorld(t, nil)
	must.Do(t, must.Get(replay.Create(t.Context(), url, first.genesis))(t).Close())
	said, refused, did := map[string]landedAt{}, map[string]bool{}, map[string]int{}
	p := newProcess(t, url, dir, processes)
	p.say = func(line string) { readLanded(t, line, said) }
	rng := rand.New(rand.NewPCG(seed, processes<<8))
	to := must.Get(p.keys.Address(&p.params.Policy, nil))(t)
	for range 8 {
		sub := must.Get(p.issuer.Issue(t.Context(), paying(to, 2000, 2000, 2000, 2000)))(t)
		if landed, err := p.deliver(t.Context(), rng, "issue", sub); !landed {
			t.Fatal(err)
		}
	}

	var mu sync.Mutex
	var ready, ended sync.WaitGroup
	var inputs []io.Closer
	for who := range processes {
		cmd := exec.Command(must.Get(os.Executable())(t), "-test.run=^TestSpendersChild$", "-test.timeout=30m")
		cmd.Env = append(os.Environ(), spendURL+"="+url, spendDir+"="+dir, fmt.Sprintf("%s=%d", spendWho, who),
			fmt.Sprintf("%s=%d", spendMany, many), fmt.Sprintf("%s=%d", spendSeed, seed))
		inputs = append(inputs, must.Get(cmd.StdinPipe())(t))
		out := must.Get(cmd.StdoutPipe())(t)
		must.Do(t, cmd.Start())
		ready.Add(1)
		ended.Go(func() {
			isReady := sync.OnceFunc(ready.Done)
			defer isReady()
			for lines := bufio.NewScanner(out); lines.Scan(); {
				line := lines.Text()
				what, rest, _ := strings.Cut(line, " ")
				mu.Lock()
				switch what {
				case "ready":
					isReady()
				case "landed":
					readLanded(t, line, said)
				case "refused":
					var anchor []byte
					_, _ = fmt.Sscanf(rest, "%x.", &anchor)
					refused[string(anchor)] = true
				case "silent", "unknown", "hurried":
					did[what]++
				case "fail", "---", "panic:":
					t.Errorf("process %d: %s", who, line)
				}
				mu.Unlock()
			}
			if err := cmd.Wait(); err != nil {
				t.Errorf("process %d: %v", who, err)
			}
		})
	}
	ready.Wait()
	for range restarts {
		<-time.After(duration / time.Duration(restarts+1))
		server.Restart(t)
	}
	<-time.After(duration / time.Duration(restarts+1))
	for _, in := range inputs {
		must.Do(t, in.Close())
	}
	ended.Wait()

	for _, l := range said {
		did[l.kind]++
	}
	t.Logf("%d spenders, %d restarts; landed %v, refused %d", processes*many, restarts, did, len(refused))
	for _, kind := range []string{"move", "pay", "redeem"} {
		if did[kind] == 0 {
			t.Errorf("no %s", kind)
		}
	}
	if len(refused) == 0 {
		t.Error("no token was spent twice")
	}
	if did["silent"] == 0 || did["unknown"] == 0 {
		t.Error("no spender noticed a restart, or lost an answer")
	}
	must.Do(t, errors.Join(p.store.Close(), p.auditor.Vault().Close(), p.shop.Close()))
	p = newProcess(t, url, dir, processes)
	defer p.store.Close()
	auditors := []*service.AuditorService{p.auditor}
	defer p.auditor.Vault().Close()
	for who := range uint64(processes) {
		v := p.openVault(t, filepath.Join(dir, fmt.Sprint("auditor ", who)))
		defer v.Close()
		auditors = append(auditors, must.Get(service.NewAuditorService(p.params, smallTables, serial, v, p.audits(t, service.SignAll{})))(t))
	}
	b := p.balance(t, p.store, auditors...)
	var all []*party
	for who := range uint64(processes) {
		for n := range uint64(many) {
			s := p.spender(t, dir, who, n)
			defer s.Close()
			all = append(all, s)
		}
	}
	for _, s := range all {
		must.Do(t, s.Sync(t.Context(), p.store))
		wantKept(t, s.Vault, 0, "of which all is known")
	}
	defer p.shop.Close()
	b.parties(t, append(all, p.shop)...)
	b.hasAll(t, said)
	for _, r := range b.log {
		if said[string(r.Anchor)].seq == 0 {
			t.Errorf("request %d, %x: landed, and nobody was told", r.Seq, r.Anchor)
		}
		if refused[string(r.Anchor)] {
			t.Errorf("request %d, %x: landed, and its sender was told that it cannot", r.Seq, r.Anchor)
		}
	}
}
