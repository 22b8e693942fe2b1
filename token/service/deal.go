package service

import (
	"bytes"
	"fmt"
	"maps"
	"math/big"
	"slices"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/identity"
	"github.com/zkbench/zkbench/token/note"
	"github.com/zkbench/zkbench/token/script"
)

// Amounts are values by type. A type that is not named has the value 0.
type Amounts map[string]uint64

// Deal is what the owner of a wallet agrees to. Sign signs a request only if it changes what the wallet
// owns by exactly that, in every type: the zero Deal agrees to no change at all.
type Deal struct {
	Gives, Gets Amounts    // of what the wallet owns alone
	Shared      SharedDeal // of what it owns together with others
}

// SharedDeal is what a member of thresholds agrees to. The zero SharedDeal agrees to no change.
type SharedDeal struct {
	// Spends are the tokens that the request may spend. Sign signs for no other one.
	Spends []token.ID
	// Change are the addresses where value stays owned together, for example of Shared, on which the
	// members have agreed. An output to any other address is given away: also one to another script of
	// the same members, or of fewer.
	Change []Address
	// Pays is what leaves the tokens in Spends for elsewhere than Change, by type: to whom, and how much. Each
	// payment is an output of an action that spends some of these tokens, and none of strangers. A payment to the zero
	// Address is redeemed.
	Pays map[string][]Payment
	// Issuer is the issuer that approves what is redeemed, if the policy asks for one; nil: none does.
	Issuer identity.Identity
	// Gets is what comes to Change from elsewhere.
	Gets Amounts
}

// gives is the sum of the payments, by type.
func (d *SharedDeal) gives() map[string]*big.Int {
	sums := make(map[string]*big.Int)
	for typ, payments := range d.Pays {
		for i := range payments {
			count(sums, typ, payments[i].Value, 1)
		}
	}
	return sums
}

// Stake is a token of which a wallet's identity is the owner, or one of those that its script names.
type Stake struct {
	Held
	Owner  []byte            // an identity of the wallet, or a script
	Shared *script.Threshold // the script of a token that is owned together with others: k and the members
	Lock   *script.HashLock  // the terms of a token in a hash time lock
	Issuer identity.Identity // of an output that is redeemed: the issuer that approves it

	tags []note.Share // of an output, one for each identity of its owner
}

// alone reports whether the wallet owns the token alone.
func (s *Stake) alone() bool { return s.Shared == nil && s.Lock == nil }

// Effect is what a request does to a wallet once it is on the ledger. Outputs are counted if their notes
// are the wallet's and open their tokens, so that the wallet finds them.
type Effect struct {
	Spends   []Stake
	Receives []Stake
	// Outputs are the outputs, to anybody, of each action that spends a token owned together with others, if the wallet
	// knows all that the action spends. The information on the action opens them; what it does not open is left out.
	Outputs []Stake
}

// Net returns by how much the request changes what the wallet owns alone: what it receives alone, less
// what it spends alone, for every type of such a token. What is owned together with others, or locked, is
// no part of it.
func (e *Effect) Net() map[string]*big.Int {
	net := make(map[string]*big.Int)
	for i := range e.Receives {
		if s := &e.Receives[i]; s.alone() {
			count(net, s.Type, s.Value, 1)
		}
	}
	for i := range e.Spends {
		if s := &e.Spends[i]; s.alone() {
			count(net, s.Type, s.Value, -1)
		}
	}
	return net
}

// SharedNet returns by how much the request changes what is owned together with others, if what goes to the
// addresses stays owned together: their outputs, less all that is spent of such tokens.
func (e *Effect) SharedNet(change ...Address) map[string]*big.Int {
	net := make(map[string]*big.Int)
	for i := range e.Receives {
		if s := &e.Receives[i]; !s.alone() && slices.ContainsFunc(change, s.goesTo) {
			count(net, s.Type, s.Value, 1)
		}
	}
	for i := range e.Spends {
		if s := &e.Spends[i]; !s.alone() {
			count(net, s.Type, s.Value, -1)
		}
	}
	return net
}

// goesTo reports whether the output is to an address: to its owner, with a note for each of its members.
func (s *Stake) goesTo(a Address) bool {
	return bytes.Equal(s.Owner, a.Owner) && slices.EqualFunc(s.tags, a.Members, func(share note.Share, m Member) bool {
		return share.Tag == m.Payee.Tag
	})
}

func count(net map[string]*big.Int, typ string, value uint64, sign int64) {
	if net[typ] == nil {
		net[typ] = new(big.Int)
	}
	v := new(big.Int).SetUint64(value)
	net[typ].Add(net[typ], v.Mul(v, big.NewInt(sign)))
}

// sums are amounts as numbers without a bound.
func (a Amounts) sums() map[string]*big.Int {
	sums := make(map[string]*big.Int)
	for typ, value := range a {
		count(sums, typ, value, 1)
	}
	return sums
}

// DealError says that a request does something else to a wallet than was agreed. It is a zkbench.ErrPolicy.
type DealError struct {
	Shared bool     // of what is owned together with others
	Type   string   // of which the change is another one
	Net    *big.Int // the change that the request makes
	Agreed *big.Int // the change that was agreed
}

func (e *DealError) Error() string {
	whose := "the wallet's"
	if e.Shared {
		whose = "the owners'"
	}
	return fmt.Sprintf("%v: not what was agreed: %s %q change by %v, agreed is %v", zkbench.ErrPolicy, whose, e.Type, e.Net, e.Agreed)
}

func (e *DealError) Unwrap() error { return zkbench.ErrPolicy }

// check refuses an effect that is not what was agreed.
func (d *Deal) check(e *Effect) error {
	for i := range e.Spends {
		if s := &e.Spends[i]; !s.alone() && !slices.ContainsFunc(d.Shared.Spends, func(id token.ID) bool { return bytes.Equal(id, s.ID) }) {
			return deny("token %x, which is owned together with others, is spent: Deal.Shared.Spends does not name it", []byte(s.ID))
		}
	}
	if err := agreed(false, e.Net(), d.Gives.sums(), d.Gets.sums()); err != nil {
		return err
	}
	if err := agreed(true, e.SharedNet(d.Shared.Change...), d.Shared.gives(), d.Shared.Gets.sums()); err != nil {
		return err
	}
	return d.Shared.paid(e.Outputs)
}

// paid refuses outputs without one for each payment.
func (d *SharedDeal) paid(outputs []Stake) error {
	rest := slices.DeleteFunc(slices.Clone(outputs), func(s Stake) bool { return slices.ContainsFunc(d.Change, s.goesTo) }) // which stays owned together
	for _, typ := range slices.Sorted(maps.Keys(d.Pays)) {
		for i, p := range d.Pays[typ] {
			at := slices.IndexFunc(rest, func(s Stake) bool {
				return s.Type == typ && s.Value == p.Value && s.goesTo(p.To) && (len(s.Owner) > 0 || bytes.Equal(s.Issuer, d.Issuer))
			})
			if at < 0 {
				return deny("not what was agreed: no output is payment %d of %q in Deal.Shared.Pays", i, typ)
			}
			rest = slices.Delete(rest, at, at+1)
		}
	}
	return nil
}

// agreed compares changes with what is given and got, type by type in their order.
func agreed(shared bool, net, gives, gets map[string]*big.Int) error {
	all := maps.Clone(net)
	maps.Copy(all, gives)
	maps.Copy(all, gets)
	for _, typ := range slices.Sorted(maps.Keys(all)) {
		is, should := new(big.Int), new(big.Int)
		if n := net[typ]; n != nil {
			is = n
		}
		if n := gets[typ]; n != nil {
			should.Add(should, n)
		}
		if n := gives[typ]; n != nil {
			should.Sub(should, n)
		}
		if is.Cmp(should) != 0 {
			return &DealError{Shared: shared, Type: typ, Net: is, Agreed: should}
		}
	}
	return nil
}
