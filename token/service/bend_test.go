package service_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"runtime/debug"
	"slices"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/action"
	"github.com/zkbench/zkbench/token/audit"
	"github.com/zkbench/zkbench/token/identity"
	"github.com/zkbench/zkbench/token/ledger/ledgertest"
	"github.com/zkbench/zkbench/token/policy"
	"github.com/zkbench/zkbench/token/service"
	"github.com/zkbench/zkbench/token/validator"
)

// A bend changes one field of a structure.
type bend struct {
	field string
	do    func()
}

// bendsOf returns the bends of what v points to, field by field: nil, missing, doubled, more, fewer, exchanged, another value.
func bendsOf(v any) (all []bend) {
	walk(reflect.ValueOf(v).Elem(), "", func(field string, do func()) { all = append(all, bend{field, do}) })
	return all
}

func walk(v reflect.Value, path string, add func(string, func())) {
	if !v.CanSet() {
		return // not exported: no other party sends it
	}
	set := func(how string, to func() reflect.Value) {
		add(path+" "+how, func() { v.Set(to().Convert(v.Type())) })
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			walk(v.Field(i), path+"."+v.Type().Field(i).Name, add)
		}
	case reflect.Pointer:
		if v.IsNil() {
			set("new", func() reflect.Value { return reflect.New(v.Type().Elem()) })
			return
		}
		set("nil", func() reflect.Value { return reflect.Zero(v.Type()) })
		set("zero", func() reflect.Value { return reflect.New(v.Type().Elem()) })
		walk(v.Elem(), path, add)
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			for _, b := range ofBytes {
				set(b.how, func() reflect.Value { return reflect.ValueOf(b.do(slices.Clone(v.Bytes()))) })
			}
			return
		}
		n := v.Len()
		set("nil", func() reflect.Value { return reflect.Zero(v.Type()) })
		set("and an empty one", func() reflect.Value {
			return reflect.Append(v.Slice3(0, n, n), reflect.Zero(v.Type().Elem()))
		})
		if n > 0 {
			set("without the last", func() reflect.Value { return v.Slice(0, n-1) })
			set("without the first", func() reflect.Value { return v.Slice(1, n) })
			set("the last doubled", func() reflect.Value { return reflect.Append(v.Slice3(0, n, n), v.Index(n-1)) })
			set("300 times", func() reflect.Value {
				long := v.Slice3(0, n, n)
				for range 300 {
					long = reflect.Append(long, v.Index(0))
				}
				return long
			})
		}
		if n > 1 {
			add(path+" exchanged", func() { reflect.Swapper(v.Interface())(0, n-1) })
		}
		for i := range min(n, 3) {
			walk(v.Index(i), fmt.Sprintf("%s[%d]", path, i), add)
		}
	case reflect.Array:
		add(path+" zero", func() { v.SetZero() })
		add(path+" flipped", func() { v.Index(0).SetUint(v.Index(0).Uint() ^ 1) })
	case reflect.String:
		for _, b := range ofBytes {
			set(b.how, func() reflect.Value { return reflect.ValueOf(string(b.do([]byte(v.String())))) })
		}
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		most := uint64(math.MaxUint64) >> (64 - v.Type().Bits())
		for _, n := range []uint64{0, v.Uint() + 1, most} {
			add(fmt.Sprint(path, " ", n), func() { v.SetUint(n) })
		}
	case reflect.Int, reflect.Int64:
		for _, n := range []int64{0, v.Int() + 1, -1, math.MaxInt64} {
			add(fmt.Sprint(path, " ", n), func() { v.SetInt(n) })
		}
	case reflect.Bool:
		add(path+" not", func() { v.SetBool(!v.Bool()) })
	default:
		panic("no bends of a " + v.Kind().String() + " at " + path)
	}
}

// ofBytes are the bends of a string of bytes.
var ofBytes = []struct {
	how string
	do  func([]byte) []byte
}{
	{"nil", func([]byte) []byte { return nil }},
	{"empty", func([]byte) []byte { return []byte{} }},
	{"a byte", func([]byte) []byte { return []byte{0x81} }},
	{"a byte less", func(b []byte) []byte { return b[:max(len(b)-1, 0)] }},
	{"a byte more", func(b []byte) []byte { return append(b, 0) }},
	{"doubled", func(b []byte) []byte { return append(b, b...) }},
	{"long", func(b []byte) []byte { return append(b, make([]byte, 1<<17)...) }},
	{"first byte flipped", func(b []byte) []byte { return flipped(b, 0) }},
	{"2nd byte flipped", func(b []byte) []byte { return flipped(b, 1) }},
	{"middle flipped", func(b []byte) []byte { return flipped(b, len(b)/2) }},
	{"last byte flipped", func(b []byte) []byte { return flipped(b, len(b)-1) }},
}

func flipped(b []byte, at int) []byte {
	if at >= 0 && at < len(b) {
		b[at] ^= 1
	}
	return b
}

// causes are the errors that a call may end with.
var causes = []error{
	zkbench.ErrMalformed, zkbench.ErrParams, zkbench.ErrProof, zkbench.ErrSignature, zkbench.ErrPolicy, zkbench.ErrSpent, zkbench.ErrAnchorConflict,
	zkbench.ErrLimit,
}

// try calls what another party's structure was given to. It fails the test if that panics, or ends with an error of no known cause.
func try(t must.TB, call, field string, f func() error) (ok bool) {
	t.Helper()
	defer func() {
		if r := recover(); r != nil {
			t.Errorf("%s, %s: panics: %v\n%s", call, field, r, debug.Stack())
		}
	}()
	err := f()
	if _, panicked := errors.AsType[*executor.PanicError](err); panicked {
		t.Errorf("%s, %s: panics: %v", call, field, err)
	}
	if err != nil && !slices.ContainsFunc(causes, func(cause error) bool { return errors.Is(err, cause) }) {
		t.Errorf("%s, %s: an error of no known cause: %v", call, field, err)
	}
	return err == nil
}

// everyNth returns the step by which tests go through the bends of one structure; short tests take larger steps.
func everyNth() int { return testsize.Pick(23, 3, 1) }

// each calls f with the bends of structures that fresh makes: with a new one for each bend.
func each[T any](fresh func() *T, f func(field string, bent *T)) (n int) {
	f("as it is", fresh())
	all := len(bendsOf(fresh()))
	for i := 0; i < all; i += everyNth() {
		one := fresh()
		b := bendsOf(one)[i]
		b.do()
		f(b.field, one)
		n++
	}
	return n
}

// bench is a system with parties that get what another one has bent.
type bench struct {
	*world
	auditing   *audit.Auditor
	alice, bob *party
	treasury   *party
	deal       service.Deal
}

func newBench(t testing.TB) *bench {
	b := &bench{world: newWorld(t, func(p *token.PublicParams) { p.Policy.Redeem = token.RedeemIssuer })}
	b.auditing = must.Get(audit.New(b.params, b.genesis, serial, smallTables, ledgertest.AuditorKey(t, key(t, "auditor").Identity()), b.authority.Identity()))(t)
	b.alice, b.bob, b.treasury = b.party(t, b.pseudonyms(t, "Alice")), b.party(t, b.key(t, "bob")), b.party(t, b.key(t, "treasury"))
	return b
}

// take has every call of the services take a submission of another party.
func (b *bench) take(t must.TB, field string, fresh func() *service.Submission, signs bool) {
	t.Helper()
	ctx := context.Background()
	try(t, "Join", field, func() error { return second(service.Join(fresh(), fresh())) })
	try(t, "ForAuditors", field, func() error {
		raw, info, err := fresh().ForAuditors()
		if err == nil {
			try(t, "AuditorService.Check", field, func() error { return second(b.auditor.Check(ctx, raw, info)) })
			try(t, "AuditorService.Sign", field, func() error { _, _, err := b.auditor.Sign(ctx, raw, info); return err })
		}
		return err
	})
	for i := -1; i < 4; i++ {
		try(t, "Redeemed", field, func() error {
			sub := fresh()
			openings, err := sub.Redeemed(i)
			if err == nil {
				try(t, "Approve", field, func() error { return b.issuer.Approve(ctx, sub.Request, i, openings...) })
			}
			return err
		})
	}
	try(t, "Effect", field, func() error { return second(b.alice.Effect(ctx, fresh())) })
	if sub := fresh(); sub != nil && sub.Request != nil {
		for _, call := range []struct {
			name string
			do   func(anchor []byte) error
		}{
			{"Release", func(anchor []byte) error { return b.treasury.Release(ctx, anchor) }},
			{"Discard", func(anchor []byte) error { return b.treasury.Discard(ctx, anchor) }},
			{"Signed", func(anchor []byte) error { _, _, err := b.auditor.Signed(anchor); return err }},
		} {
			try(t, call.name, field, func() error { return call.do(sub.Request.Anchor) })
		}
		try(t, "request", field, func() error {
			message := sub.Request.Message(b.genesis.ID())
			sub.Request.AuditMessage(message)
			sub.Request.Digest(b.genesis.ID())
			raw, err := sub.Request.WithoutPreimages().Encode()
			if err == nil {
				try(t, "Authorized", field, func() error { return b.validator.Authorized(ctx, raw) })
				try(t, "Validate", field, func() error {
					return second(b.validator.Validate(ctx, validator.TokenFunc(b.token), raw, blockTime))
				})
			}
			return err
		})
		try(t, "audit.Check", field, func() error { return second(b.auditing.Check(ctx, sub.Request, sub.Information)) })
	}
	if !signs {
		return
	}
	sub := fresh()
	if try(t, "TransferService.Sign", field, func() error { return b.alice.pay.Sign(ctx, sub, b.deal) }) {
		e := must.Get(b.alice.Effect(ctx, sub))(t)
		if net := e.Net(); net[usd].Int64() != -30 || net[bond] == nil || net[bond].Int64() != 5 || len(net) != 2 {
			t.Errorf("%s: signed, and changes by %v", field, net)
		}
	}
	try(t, "IssueService.Sign", field, func() error { return b.issuer.Sign(ctx, fresh(), b.treasury.Wallet, deal(30, -5)) })
}

// token returns a token of the ledger. If there is none, it returns the error that a validator returns.
func (b *bench) token(ctx context.Context, id token.ID) ([]byte, error) {
	found, err := b.ledger.Token(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", zkbench.ErrSpent, err)
	}
	return found, nil
}

// TestBentSubmissions: a request of several parties, its information, and the actions in it, bent field by field.
func TestBentSubmissions(t *testing.T) {
	b := newBench(t)
	ctx := t.Context()
	b.give(t, b.alice, usd, 100)
	b.give(t, b.alice, usd, 100)
	shared := must.Get(service.Shared(2, b.alice.address(t), b.bob.address(t)))(t)
	b.land(t, must.Get(b.issuer.Issue(ctx, paying(shared, 40)))(t))
	must.Do(t, errors.Join(b.alice.Sync(ctx, b.ledger), b.bob.Sync(ctx, b.ledger)))
	back := must.Get(service.Shared(2, b.alice.address(t), b.bob.address(t)))(t)
	together := anchored("deal", paying(b.bob.address(t), 10))
	together.From, together.Change = []token.ID{b.alice.shared(t)[0].ID}, &back
	first := must.Get(b.alice.pay.Propose(ctx, 0, anchored("deal", paying(b.treasury.address(t), 30))))(t)
	second := must.Get(b.issuer.Propose(ctx, 1, anchored("deal", withType(bond, paying(b.alice.address(t), 5)))))(t)
	third := must.Get(b.bob.pay.Propose(ctx, 2, together))(t)
	sub := must.Get(service.Join(first, second, third))(t)
	b.deal = deal(-30, 5)
	b.deal.Shared = service.SharedDeal{Spends: together.From, Change: []service.Address{back}, Pays: map[string][]service.Payment{usd: together.Payments}}
	fresh := func() *service.Submission { return sent(t, sub) }
	n := each(fresh, func(field string, bent *service.Submission) {
		b.take(t, field, func() *service.Submission { return bent }, true)
	})
	// The actions themselves.
	for i := range sub.Request.Actions {
		n += each(func() *action.Action {
			return must.Get(action.Parse(32, sub.Request.Actions[i].Kind, sub.Request.Actions[i].Raw))(t)
		}, func(field string, bent *action.Action) {
			var raw []byte
			if !try(t, "Action.Encode", field, func() (err error) { raw, err = bent.Encode(bent.Proof()); return err }) {
				return
			}
			one := fresh()
			one.Request.Actions[i].Raw = raw
			b.take(t, fmt.Sprintf("action %d%s", i, field), func() *service.Submission { return one }, true)
		})
	}
	b.take(t, "nil", func() *service.Submission { return nil }, true)
	t.Logf("%d bends", n)
}

// TestBentRedemption: a redemption for the issuer to approve, and a claim, bent field by field.
func TestBentRedemption(t *testing.T) {
	b := newBench(t)
	ctx := t.Context()
	b.give(t, b.alice, usd, 100)
	sub := must.Get(b.alice.pay.Transfer(ctx, paying(service.Address{}, 60)))(t)
	n := each(func() *service.Submission { return sent(t, sub) }, func(field string, bent *service.Submission) {
		b.take(t, field, func() *service.Submission { return bent }, false)
	})
	openings := must.Get(sub.Redeemed(0))(t)
	type redeemed struct{ Openings []token.Opening }
	n += each(func() *redeemed { return &redeemed{slices.Clone(openings)} }, func(field string, bent *redeemed) {
		try(t, "Approve", field, func() error { return b.issuer.Approve(ctx, sent(t, sub).Request, 0, bent.Openings...) })
	})
	must.Fail(t, b.issuer.Approve(ctx, nil, 0, openings...), zkbench.ErrParams, "no request")
	t.Logf("%d bends", n)
}

// TestBentAddresses: the address of a payee, bent field by field, is paid or refused.
func TestBentAddresses(t *testing.T) {
	b := newBench(t)
	ctx := t.Context()
	b.give(t, b.bob, usd, 100)
	a, c := b.alice.address(t), b.treasury.address(t)
	n := 0
	for name, address := range map[string]service.Address{
		"key": c, "pseudonym": a, "shared": must.Get(service.Shared(1, a, c))(t),
		"lock": must.Get(service.Locked([32]byte{1}, uint64(blockTime.Unix())+100, a, c))(t),
	} {
		encoded := must.Get(address.Encode())(t)
		fresh := func() *service.Address {
			one := must.Get(service.DecodeAddress(slices.Clone(encoded)))(t)
			return &one
		}
		n += each(fresh, func(field string, bent *service.Address) {
			field = name + field
			anchors := [][]byte{}
			free := func(sub *service.Submission, err error) error {
				if err == nil {
					anchors = append(anchors, sub.Request.Anchor)
				}
				return err
			}
			o := paying(*bent, 100)
			back := paying(b.bob.address(t), 1)
			back.Change = bent
			for call, f := range map[string]func() error{
				"Transfer": func() error { return free(b.bob.pay.Transfer(ctx, o)) },
				"Propose":  func() error { return free(b.bob.pay.Propose(ctx, 0, o)) },
				"Change":   func() error { return free(b.bob.pay.Transfer(ctx, back)) },
			} {
				try(t, call, field, f)
				must.Do(t, b.bob.Discard(ctx, anchors...))
				anchors = nil
			}
			try(t, "Issue", field, func() error { return second(b.issuer.Issue(ctx, o)) })
			try(t, "IssueService.Propose", field, func() error { return second(b.issuer.Propose(ctx, 0, o)) })
			try(t, "Shared", field, func() error { return second(service.Shared(1, *bent, b.bob.address(t))) })
			try(t, "Locked", field, func() error { return second(service.Locked([32]byte{}, 1, *bent, b.bob.address(t))) })
			try(t, "Encode", field, func() error {
				encoded, err := bent.Encode()
				if err == nil {
					try(t, "DecodeAddress", field, func() error { return second(service.DecodeAddress(encoded)) })
				}
				return err
			})
			e := service.Effect{Receives: []service.Stake{{Owner: bent.Owner}}}
			try(t, "SharedNet", field, func() error { e.SharedNet(*bent); return nil })
		})
	}
	t.Logf("%d bends", n)
}

// TestBentUpdates: an update of the policy, bent field by field.
func TestBentUpdates(t *testing.T) {
	admins := []identity.Signer{key(t, "anna"), key(t, "ben")}
	current := token.DefaultPolicy()
	for _, a := range admins {
		current.Administrators.Identities = append(current.Administrators.Identities, a.Identity())
	}
	slices.SortFunc(current.Administrators.Identities, slices.Compare[[]byte])
	current.Administrators.Threshold = 2
	current.Issuers, current.Auditors = ledgertest.Issuers(key(t, "issuer").Identity()), ledgertest.Auditors(t, key(t, "auditor").Identity())
	w := newWorld(t, func(p *token.PublicParams) { p.Policy = current })
	home := w.genesis.ID()
	next := current.Clone()
	next.Limits.Inputs--
	next.Issuers[0].Types = []string{usd}
	whole := must.Get(policy.New(home, &current, next))(t)
	for _, a := range admins {
		must.Do(t, whole.Sign(&current, a))
	}
	encoded := must.Get(whole.Encode())(t)
	n := each(func() *policy.Update { return must.Get(policy.Decode(slices.Clone(encoded)))(t) }, func(field string, bent *policy.Update) {
		verified := try(t, "Verify", field, func() error { return bent.Verify(home, &current) })
		if verified && field != "as it is" && !slices.Equal(must.Get(bent.Encode())(t), encoded) {
			t.Errorf("%s: verified", field)
		}
		try(t, "Follows", field, func() error { return bent.Follows(home, &current) })
		try(t, "Missing", field, func() error { bent.Missing(&current.Administrators); return nil })
		try(t, "Missing of its own", field, func() error { bent.Missing(&bent.Policy.Administrators); return nil })
		try(t, "Digest", field, func() error { return second(bent.Digest()) })
		try(t, "ShortDigest", field, func() error { return second(bent.ShortDigest()) })
		try(t, "Encode", field, func() error {
			raw, err := bent.Encode()
			if err == nil {
				try(t, "Validate", field, func() error {
					return second(w.validator.Validate(t.Context(), validator.TokenFunc(w.ledger.Token), raw, blockTime))
				})
				try(t, "Authorized", field, func() error { return w.validator.Authorized(t.Context(), raw) })
			}
			return err
		})
		try(t, "New", field, func() error { return second(policy.New(home, &current, &bent.Policy)) })
		try(t, "Check", field, func() error { return policy.Check(&bent.Policy) })
		try(t, "Sign", field, func() error { return bent.Sign(&current, admins[0]) })
	})
	t.Logf("%d bends", n)
}
