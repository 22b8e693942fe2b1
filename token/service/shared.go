package service

import (
	"bytes"
	"iter"
	"slices"

	"github.com/zkbench/zkbench/token/identity"
	"github.com/zkbench/zkbench/token/script"
)

// Shared is the address of a token that k of the owners of addresses spend together (script.Threshold). All of their wallets find the
// token, and have it among Vault.Shared. The error is that of script.NewThreshold.
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

// HeldShared is a token that the wallet owns together with others.
type HeldShared struct {
	Held
	Owner *script.Threshold
}

// Shared yields the tokens that the wallet owns together with others, that are on the ledger and that no submission holds, by id. They are
// no part of a balance. After an error it stops.
func (v *Vault) Shared() iter.Seq2[HeldShared, error] {
	return func(yield func(HeldShared, error) bool) {
		for h, err := range v.ofScripts(script.TypeThreshold) {
			var out HeldShared
			if err == nil {
				out.Held = h.held()
				out.Owner, err = script.ParseThreshold(h.Token.Owner)
			}
			if !yield(out, err) || err != nil {
				return
			}
		}
	}
}
