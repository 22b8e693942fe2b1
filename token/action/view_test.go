package action_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/action"
)

// book is a ledger.
type book map[string]token.Token

func (b book) view() action.View {
	return action.LookUp(func(_ context.Context, id token.ID) (token.Token, error) {
		t, ok := b[string(id)]
		if !ok {
			return token.Token{}, fmt.Errorf("%w: no such token", zkbench.ErrPolicy)
		}
		return t, nil
	})
}

// spend transfers tokens to one output of a value.
func spend(t *testing.T, pp token.CryptoParams, value uint64, owned ...action.Owned) *action.Received {
	t.Helper()
	s := must.Get(action.NewSender(ctx, serial, pp, owned))(t)
	d := must.Get(s.Transfer(ctx, action.Spec{Outputs: []action.Output{{Owner: []byte("thief"), Value: value}, {Owner: []byte("thief")}}, Anchor: "anchor"}))(t)
	return must.Get(action.Decode(pp, token.Transfer, proven(t, d)))(t)
}

// TestView plants transfers whose proofs hold and whose inputs are none of the ledger's, or not as they say.
func TestView(t *testing.T) {
	t.Parallel()
	pp := newParams(t, token.Bulletproof)
	mine := owned(t, pp, "issued", 100, 50)
	ledger := book{string(mine[0].ID): mine[0].Token, string(mine[1].ID): mine[1].Token}
	madeUp := owned(t, pp, "made up", 200)
	twice := mine[0]
	twice.ID = token.ID("another id")
	stolen := mine[0]
	stolen.Token.Owner = []byte("thief")
	exchanged := mine[0]
	exchanged.ID = mine[1].ID

	must.Do(t, spend(t, pp, 150, mine...).Verify(ctx, serial, ledger.view(), "anchor"))
	for name, c := range map[string]struct {
		value  uint64
		inputs []action.Owned
		index  int
	}{
		"a token that nobody issued":  {200, madeUp, 0},
		"one token under two ids":     {200, []action.Owned{mine[0], twice}, 1},
		"another owner":               {100, []action.Owned{stolen}, 0},
		"the id of another token":     {200, []action.Owned{mine[0], exchanged}, 1},
		"two good inputs, one not":    {255, []action.Owned{mine[0], mine[1], owned(t, pp, "made up too", 105)[0]}, 2},
		"an id that the ledger lacks": {100, []action.Owned{{Input: action.Input{ID: token.ID("spent"), Token: mine[0].Token}, Opening: mine[0].Opening}}, 0},
	} {
		r := spend(t, pp, c.value, c.inputs...)
		must.Do(t, r.Verify(ctx, serial, action.NothingLookedUp(), "anchor"), name+": the proof holds by itself")
		err := r.Verify(ctx, serial, ledger.view(), "anchor")
		if at, ok := errors.AsType[*zkbench.CheckError](err); !ok || at.Check != "inputs" || at.Index != c.index || !errors.Is(err, zkbench.ErrPolicy) {
			t.Errorf("%s: %v, want input %d refused", name, err, c.index)
		}
		// Fields that are written over change nothing.
		for _, other := range []action.Action{{}, {Inputs: r.Inputs, Outputs: r.Outputs}, spend(t, pp, 150, mine...).Action} {
			r.Action = other
			must.Fail(t, r.Verify(ctx, serial, ledger.view(), "anchor"), zkbench.ErrPolicy, "%s, another action in its place", name)
		}
	}
}

// TestViewSeesWhatWasParsed gives a parsed action the ledger's token in place of one that was made up: the proof is about
// the one that was parsed, and so is the look-up.
func TestViewSeesWhatWasParsed(t *testing.T) {
	t.Parallel()
	pp := newParams(t, token.CSP)
	mine, madeUp := owned(t, pp, "issued", 100), owned(t, pp, "made up", 100)
	ledger := book{string(mine[0].ID): mine[0].Token}
	s := must.Get(action.NewSender(ctx, serial, pp, madeUp))(t)
	d := must.Get(s.Transfer(ctx, action.Spec{Outputs: []action.Output{{Owner: []byte("thief"), Value: 100}}, Anchor: "anchor"}))(t)
	a := must.Get(action.Parse(pp.PointLen(), token.Transfer, proven(t, d)))(t)
	a.Inputs[0] = mine[0].Input
	must.Fail(t, must.Get(action.Receive(pp, a))(t).Verify(ctx, serial, ledger.view(), "anchor"), zkbench.ErrPolicy, "an input that was written over")
}

// TestViewOfABatch holds a batch to the ledger: what is refused is named, and a token is spent once.
func TestViewOfABatch(t *testing.T) {
	t.Parallel()
	pp := newParams(t, token.CSP)
	mine := owned(t, pp, "issued", 100, 50)
	ledger := book{string(mine[0].ID): mine[0].Token, string(mine[1].ID): mine[1].Token}
	first, again, other := spend(t, pp, 100, mine[0]), spend(t, pp, 100, mine[0]), spend(t, pp, 50, mine[1])
	issue := must.Get(action.Decode(pp, token.Issue, sent(t, pp, token.Issue, "issue", "anchor")))(t)
	batch := func(view action.View, actions ...*action.Received) error {
		items := make([]action.Item, len(actions))
		for i, a := range actions {
			items[i] = action.Item{Action: a, Anchor: "anchor"}
		}
		return action.VerifyBatch(ctx, serial, pp, view, items)
	}
	must.Do(t, batch(ledger.view(), issue, first, other))
	err := batch(ledger.view(), first, other, again)
	must.Fail(t, err, zkbench.ErrSpent, "one token spent twice in a batch")
	err = action.VerifyBatch(ctx, serial, pp, ledger.view(), []action.Item{{Action: spend(t, pp, 7, owned(t, pp, "made up", 7)...), Anchor: "anchor"}, {Action: first, Anchor: "wrong"}, {Action: other, Anchor: "anchor"}})
	if !errors.Is(err, zkbench.ErrPolicy) || fmt.Sprint(failedActions(err)) != "[1]" {
		t.Errorf("an input that is made up, and a wrong anchor: %v", err)
	}

	must.Fail(t, batch(action.View{}, first), zkbench.ErrParams, "no view")
	must.Fail(t, (*action.Received)(nil).Verify(ctx, serial, ledger.view(), "anchor"), zkbench.ErrParams, "no action")
	must.FailGet(action.Receive(pp, nil))(t, zkbench.ErrParams, "no action")
	redeemed := owned(t, pp, "redeemed", 9)
	redeemed[0].Token.Owner = nil
	kept := book{string(redeemed[0].ID): redeemed[0].Token}
	must.Fail(t, spend(t, pp, 9, redeemed...).Verify(ctx, serial, kept.view(), "anchor"), zkbench.ErrSpent, "a token that is redeemed")
	for _, cause := range []error{causes{}, causes{nil}, causes{gone()}, causes{gone(), &zkbench.CheckError{Err: zkbench.ErrProof}}} { // of errors, and none of an action
		c, cancel := context.WithCancelCause(ctx)
		cancel(cause)
		must.Fail(t, first.Verify(c, serial, action.NothingLookedUp(), "another"), must.ErrAny, "cancelled with %v", cause)
	}
	must.Fail(t, batch(action.LookUp(nil), first), zkbench.ErrParams, "a view without a function")
	gone := errors.New("the disk is gone")
	err = batch(action.LookUp(func(context.Context, token.ID) (token.Token, error) { return mine[0].Token, gone }), first)
	if _, named := errors.AsType[*zkbench.CheckError](err); named || !errors.Is(err, gone) {
		t.Errorf("a ledger that fails: %v", err)
	}
}

// causes are errors that a caller gives for cancelling.
type causes []error

func (c causes) Error() string   { return fmt.Sprintf("%d errors", len(c)) }
func (c causes) Unwrap() []error { return c }

func gone() error { return errors.New("gone") }

// TestDecodeCopies writes other bytes into the buffer that an action was decoded from.
func TestDecodeCopies(t *testing.T) {
	t.Parallel()
	pp := newParams(t, token.CSP)
	raw := sent(t, pp, token.Transfer, "copies", "anchor")
	a := must.Get(action.Decode(pp, token.Transfer, raw))(t)
	clear(raw)
	must.Do(t, a.Verify(ctx, serial, action.NothingLookedUp(), "anchor"))
	if string(a.Metadata) != "metadata" {
		t.Errorf("metadata is %q", a.Metadata)
	}
}
