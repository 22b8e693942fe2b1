package service_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/action"
	"github.com/zkbench/zkbench/token/audit"
	"github.com/zkbench/zkbench/token/request"
	"github.com/zkbench/zkbench/token/service"
)

// coin is a token that was ever made, as the model knows it.
type coin struct {
	owner  int // party; -1: nobody
	typ    string
	value  uint64
	landed bool
	spent  bool
}

// order is a submission that the model knows of.
type order struct {
	sub      *service.Submission
	payer    int // -1: the issuer
	inputs   []*coin
	outputs  []*coin
	released bool // or discarded, or forgotten with a vault
	landed   bool
}

// dead: one of its inputs is spent, and not by it.
func (o *order) dead() bool {
	return !o.landed && slices.ContainsFunc(o.inputs, func(c *coin) bool { return c.spent })
}

// model is two wallets and a ledger in the plainest form.
type model struct {
	w       *world
	parties []*party
	coins   map[string]*coin // by id
	orders  []*order
	supply  map[string]uint64 // by type, as the auditor's reports on what landed tell it
}

// types are the types of the model's tokens.
var types = [...]string{usd, "EUR"}

// free returns what a party can spend of a type after Sync: its coins on the ledger that no
// submission of its own holds.
func (m *model) free(p int, typ string) (sum uint64) {
	held := map[*coin]bool{}
	for _, o := range m.orders {
		if o.payer == p && !o.landed && !o.released && !o.dead() {
			for _, c := range o.inputs {
				held[c] = true
			}
		}
	}
	for _, c := range m.coins {
		if c.owner == p && c.typ == typ && c.landed && !c.spent && !held[c] {
			sum += c.value
		}
	}
	return sum
}

// note takes a submission down that pays payees, each of whom by one address.
func (m *model) note(t *rapid.T, sub *service.Submission, payer int, payees map[string]int) {
	o := &order{sub: sub, payer: payer}
	a := must.Get(action.Parse(32, sub.Request.Actions[0].Kind, sub.Request.Actions[0].Raw))(t)
	for j, item := range sub.Information.Actions[0].Outputs {
		owner, named := payees[string(a.Outputs[j].Owner)]
		if !named {
			owner = payer // the change
		}
		c := &coin{owner: owner, typ: item.Opening.Type, value: item.Opening.Value}
		m.coins[string(request.OutputID(sub.Request.Anchor, 0, j))] = c
		o.outputs = append(o.outputs, c)
	}
	if payer >= 0 {
		for i, in := range inputsOf(t, sub) {
			c := m.coins[string(in.ID)]
			if c == nil || c.owner != payer || c.spent || c.value != sub.Information.Actions[0].Inputs[i].Opening.Value {
				t.Fatal("a transfer spends what is not the payer's")
			}
			o.inputs = append(o.inputs, c)
		}
	}
	m.orders = append(m.orders, o)
}

func (m *model) issue(t *rapid.T) {
	p := rapid.IntRange(0, 1).Draw(t, "payee")
	values := rapid.SliceOfN(rapid.Uint64Range(0, 100), 1, 4).Draw(t, "values")
	o := service.Order{Type: rapid.SampledFrom(types[:]).Draw(t, "type")}
	payees := map[string]int{}
	for _, v := range values {
		to := m.parties[p].address(t)
		payees[string(to.Owner)] = p
		o.Payments = append(o.Payments, service.Payment{To: to, Value: v})
	}
	sub := must.Get(m.w.issuer.Issue(context.Background(), o))(t)
	m.note(t, sub, -1, payees)
}

func (m *model) transfer(t *rapid.T) {
	p := rapid.IntRange(0, 1).Draw(t, "payer")
	must.Do(t, m.parties[p].Sync(context.Background(), m.w.ledger))
	typ := rapid.SampledFrom(types[:]).Draw(t, "type")
	have := m.free(p, typ)
	want := rapid.Uint64Range(0, have+5).Draw(t, "value")
	payee := 1 - p
	to := service.Address{}
	if rapid.IntRange(0, 3).Draw(t, "redeem") == 0 {
		payee = -1
	} else {
		to = m.parties[payee].address(t)
	}
	o := paying(to, want)
	o.Type = typ
	sub, err := m.parties[p].pay.Transfer(context.Background(), o)
	switch {
	case err == nil && want > have:
		t.Fatalf("paid %d of %d", want, have)
	case err == nil:
		m.note(t, sub, p, map[string]int{string(to.Owner): payee})
	case errors.Is(err, zkbench.ErrLimit) && want <= have:
	case errors.Is(err, zkbench.ErrPolicy) && (want > have || want == 0):
	default:
		t.Fatalf("paying %d of %d: %v", want, have, err)
	}
}

// some draws an order that fits.
func (m *model) some(t *rapid.T, fits func(*order) bool) *order {
	var fitting []*order
	for _, o := range m.orders {
		if fits(o) {
			fitting = append(fitting, o)
		}
	}
	if len(fitting) == 0 {
		t.Skip("no such order")
	}
	return rapid.SampledFrom(fitting).Draw(t, "order")
}

// land submits an order to the ledger, released and discarded ones too.
func (m *model) land(t *rapid.T) {
	o := m.some(t, func(o *order) bool { return !o.landed })
	dead := o.dead()
	report, err := m.w.submit(t, o.sub)
	if dead != (err != nil) {
		t.Fatalf("landing a submission that is dead (%v): %v", dead, err)
	}
	if dead {
		return
	}
	o.landed = true
	for _, c := range o.inputs {
		c.spent = true
	}
	for _, c := range o.outputs {
		c.landed = true
	}
	m.audited(t, report)
}

// audited counts what the auditor saw of a request that landed: an issue adds to the
// supply of its type, a transfer moves and takes nothing but what goes to nobody.
func (m *model) audited(t *rapid.T, report *audit.Report) {
	for _, a := range report.Actions {
		in, out := uint64(0), uint64(0)
		for _, h := range a.Inputs {
			in += h.Value
		}
		for _, h := range a.Outputs {
			out += h.Value
			if len(h.Owners) == 0 {
				m.supply[a.Type] -= h.Value
			}
		}
		if a.Kind == token.Issue {
			m.supply[a.Type] += out
		} else if in != out {
			t.Fatalf("the auditor saw %d go in and %d come out", in, out)
		}
	}
}

// replay submits an order that has landed once more: a transfer spends what is spent, and
// an issue is on the ledger already. Neither changes anything.
func (m *model) replay(t *rapid.T) {
	o := m.some(t, func(o *order) bool { return o.landed })
	_, err := m.w.submit(t, o.sub)
	if o.payer < 0 && err != nil || o.payer >= 0 && !errors.Is(err, zkbench.ErrSpent) {
		t.Fatalf("a request that is on the ledger (issue %v): %v", o.payer < 0, err)
	}
}

// lose loses a vault, and with it the submissions that have not landed: they may land all the same.
func (m *model) lose(t *rapid.T) {
	p := rapid.IntRange(0, 1).Draw(t, "party")
	m.parties[p].lose(t, m.w)
	for _, o := range m.orders {
		o.released = o.released || o.payer == p
	}
}

// give takes back an order: the payer knows nothing of what the ledger has, so it
// synchronizes first.
func (m *model) give(t *rapid.T, discard bool) {
	o := m.some(t, func(o *order) bool { return o.payer >= 0 && !o.landed && !o.released && !o.dead() })
	p := m.parties[o.payer]
	if discard {
		must.Do(t, p.Discard(context.Background(), o.sub.Request.Anchor))
	} else {
		must.Do(t, p.Release(context.Background(), o.sub.Request.Anchor))
	}
	o.released = true
}

// check compares balances with the model's, and the value that there is of each type with
// the supply that the auditor knows of.
func (m *model) check(t *rapid.T) {
	for p := range m.parties {
		must.Do(t, m.parties[p].Sync(context.Background(), m.w.ledger))
		unspent := map[string]uint64{}
		for h, err := range m.parties[p].Unspent() {
			must.Do(t, err)
			unspent[h.Type] += h.Value
		}
		for _, typ := range types {
			want := m.free(p, typ)
			if got, err := m.parties[p].Holdings(typ); err != nil || got.Sum.Uint64() != want || unspent[typ] != want {
				t.Fatalf("party %d has %v %s, unspent tokens of %d, want %d: %v", p, got, typ, unspent[typ], want, err)
			}
		}
		golden.Equal(t, fmt.Sprintf("party %d: tokens reserved in memory", p), 0, m.parties[p].Taken())
		golden.Equal(t, fmt.Sprintf("party %d: differences from the ledger", p), nil, must.Get(m.parties[p].Compare(context.Background(), m.w.ledger))(t))
	}
	there := map[string]uint64{}
	for _, c := range m.coins {
		if c.landed && !c.spent && c.owner >= 0 {
			there[c.typ] += c.value
		}
	}
	for _, typ := range types {
		golden.Equal(t, typ+" in hands, of those that the auditor knows of", m.supply[typ], there[typ])
	}
}

// TestModel holds two wallets to the model, through releases, late landings, crashes and lost vaults.
func TestModel(t *testing.T) {
	w := newWorld(t, nil)
	rapid.Check(t, func(t *rapid.T) {
		w.ledger = newMemory(w.genesis)
		m := &model{w: w, coins: map[string]*coin{}, supply: map[string]uint64{}}
		m.parties = []*party{w.party(t, w.pseudonyms(t, "Alice")), w.party(t, w.key(t, "bob"))}
		defer func() {
			for _, p := range m.parties {
				must.Do(t, p.Close())
			}
		}()
		t.Repeat(map[string]func(*rapid.T){
			"":         m.check,
			"issue":    m.issue,
			"transfer": m.transfer,
			"land":     m.land,
			"replay":   m.replay,
			"lose":     m.lose,
			"release":  func(t *rapid.T) { m.give(t, false) },
			"discard":  func(t *rapid.T) { m.give(t, true) },
			"crash":    func(t *rapid.T) { m.parties[rapid.IntRange(0, 1).Draw(t, "party")].crash(t, w) },
		})
	})
}
