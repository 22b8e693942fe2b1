package service

import (
	"bytes"
	"iter"
	"slices"

	"github.com/zkbench/zkbench/token/identity"
	"github.com/zkbench/zkbench/token/script"
)

// Shared returns an address whose tokens any k of the owners of the given addresses can spend together
// (script.Threshold). The wallets of all members find each token that is paid to this address, and
// Vault.Shared yields it. Shared returns ErrParams if a member's address does not have exactly one identity.
// Other errors are as for script.NewThreshold.
func Shared(k int, members ...Address) (Address, error) {
	ids := make([]identity.Identity, len(members))
	for i := range members {
		if len(members[i].Members) != 1 {
			return Address{}, refuse("member %d: the address of %d identities, accepted is 1", i, len(members[i].Members))
		}
		ids[i] = members[i].Owner
	}
	t, err := script.NewThreshold(k, ids...)
	if err != nil {
		return Address{}, err
	}
	shared := Address{Owner: t.Owner()}
	for _, id := range t.Identities() {
		i := slices.IndexFunc(members, func(a Address) bool { return bytes.Equal(a.Owner, id) })
		shared.Members = append(shared.Members, members[i].Members[0])
	}
	return shared, nil
}

// SharedToken is a token that the wallet owns together with others.
type SharedToken struct {
	UnspentToken
	Owner *script.Threshold
}

// Shared yields the tokens on the ledger that the wallet owns together with others and that no pending
// submission reserves, in the order of their ids. They are not part of Holdings. After an error it stops.
func (v *Vault) Shared() iter.Seq2[SharedToken, error] {
	return func(yield func(SharedToken, error) bool) {
		for h, err := range v.scriptTokens(script.TypeThreshold) {
			var out SharedToken
			if err == nil {
				out.UnspentToken = h.unspentToken()
				out.Owner, err = script.ParseThreshold(h.Token.Owner)
			}
			if !yield(out, err) || err != nil {
				return
			}
		}
	}
}
