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

// Amounts maps types to values. A type that is not in the map has the value 0.
type Amounts map[string]uint64

// Deal is what the owner of a wallet agrees to. Sign signs a request only if the effect of the request on
// the wallet's tokens is, in every token type, exactly the effect that the deal states. The zero Deal
// agrees to no change.
type Deal struct {
	Gives, Gets Amounts    // of tokens that the wallet owns alone
	Shared      SharedDeal // of tokens that it owns together with others
}

// SharedDeal is what a wallet's owner agrees to about tokens that are owned together with others
// (script.Threshold). The zero SharedDeal agrees to no change.
type SharedDeal struct {
	// Spends names the tokens that the request may spend. Sign signs for no other tokens that are owned
	// together with others.
	Spends []token.ID
	// Change lists the addresses whose tokens the wallet still owns together with others, for example an
	// address that the function Shared returned. The members of these addresses must have agreed on them. An
	// output to any other address counts as given away, even to another script of the same members or of fewer.
	Change []Address
	// Pays lists, by type, the payments that leave the tokens in Spends for addresses that are not in Change.
	// Each payment must be an output of an action that spends some of these tokens, and no tokens that the
	// wallet does not know. A payment to the zero Address is redeemed.
	Pays map[string][]Payment
	// Issuer is the issuer that approves what is redeemed, if the policy requires approval, else nil.
	Issuer identity.Identity
	// Gets is the value that the addresses in Change receive from other tokens than those in Spends.
	Gets Amounts
}

// gives returns the sum of the payments, by type.
func (d *SharedDeal) gives() map[string]*big.Int {
	sums := make(map[string]*big.Int)
	for typ, payments := range d.Pays {
		for i := range payments {
			count(sums, typ, payments[i].Value, 1)
		}
	}
	return sums
}

// Stake is a token in which a wallet has a part: the owner is one of the wallet's identities, or a script that
// names one of them. The Stakes in Effect.Outputs may also be tokens of others.
type Stake struct {
	UnspentToken
	Owner  []byte            // an identity of the wallet, or a script
	Shared *script.Threshold // the script, if the token is owned together with others: k and the members
	Lock   *script.HashLock  // the terms, if the token is in a hash time lock
	Issuer identity.Identity // the issuer that approves an output which is redeemed

	tags []note.Share // set for outputs, one for each identity of the owner
}

// ownedAlone reports whether the wallet owns the token alone.
func (s *Stake) ownedAlone() bool { return s.Shared == nil && s.Lock == nil }

// Effect is what a request does to a wallet once it is on the ledger. An output counts only if the wallet can
// find it: its encrypted opening is for the wallet and opens the token.
type Effect struct {
	Spends   []Stake
	Receives []Stake
	// Outputs lists the outputs of each action that spends a token owned together with others, if the wallet
	// knows all tokens that the action spends. It includes outputs to others. It leaves out outputs that the
	// information on the action does not open.
	Outputs []Stake
}

// Net returns by how much the request changes what the wallet owns alone. For each token type, that is the
// value that the wallet receives less the value that it spends. Tokens that are owned together with others, or
// locked, do not count.
func (e *Effect) Net() map[string]*big.Int {
	net := make(map[string]*big.Int)
	for i := range e.Receives {
		if s := &e.Receives[i]; s.ownedAlone() {
			count(net, s.Type, s.Value, 1)
		}
	}
	for i := range e.Spends {
		if s := &e.Spends[i]; s.ownedAlone() {
			count(net, s.Type, s.Value, -1)
		}
	}
	return net
}

// SharedNet returns by how much the request changes what the wallet owns together with others or has in hash
// time locks. For each token type, that is the value of the outputs to the given change addresses, less the
// value of all the wallet's shared and locked tokens that the request spends.
func (e *Effect) SharedNet(change ...Address) map[string]*big.Int {
	net := make(map[string]*big.Int)
	for i := range e.Receives {
		if s := &e.Receives[i]; !s.ownedAlone() && slices.ContainsFunc(change, s.goesTo) {
			count(net, s.Type, s.Value, 1)
		}
	}
	for i := range e.Spends {
		if s := &e.Spends[i]; !s.ownedAlone() {
			count(net, s.Type, s.Value, -1)
		}
	}
	return net
}

// goesTo reports whether the output goes to an address: to its owner, with the encrypted opening for each of
// its members.
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

// sums returns the amounts as numbers without a bound.
func (a Amounts) sums() map[string]*big.Int {
	sums := make(map[string]*big.Int)
	for typ, value := range a {
		count(sums, typ, value, 1)
	}
	return sums
}

// DealError says that the effect of a request on a wallet is not the one that the wallet's owner has agreed
// to. It wraps zkbench.ErrPolicy.
type DealError struct {
	Shared bool     // whether the change is to tokens that are owned together with others
	Type   string   // the type whose change differs
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
		if s := &e.Spends[i]; !s.ownedAlone() && !slices.ContainsFunc(d.Shared.Spends, func(id token.ID) bool { return bytes.Equal(id, s.ID) }) {
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

// paid refuses outputs that lack a payment.
func (d *SharedDeal) paid(outputs []Stake) error {
	rest := slices.DeleteFunc(slices.Clone(outputs), func(s Stake) bool { return slices.ContainsFunc(d.Change, s.goesTo) }) // without what stays owned together
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

// agreed compares changes with what is given and received, in the order of types.
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
