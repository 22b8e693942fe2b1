package policy

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/identity"
	"github.com/zkbench/zkbench/token/request"
)

// Names of the checks of an update, as in a *zkbench.CheckError, in the order in which they run.
const (
	Ledger     = "update's ledger"
	Versions   = "update's version"
	Previous   = "update's previous policy"
	Threshold  = "update's administrators" // enough administrators of both policies have signed
	Signatures = "update's signatures"     // Index is the signature's
	Rules      = "update's policy"         // the next policy is accepted, and can be changed again
)

// Check checks a policy beyond what package token can check. Identities must be X.509 certificates or Ed25519
// keys. Validators' keys must be Ed25519 keys. Keys must be in canonical form, and must not be points of small
// order, for which anybody can sign. No list may have the same key twice, for example under two identities, or
// as head key and as consensus key. It must be possible to encrypt to the auditors' keys with HPKE. If the
// policy fails a check, Check returns an ErrParams that names the field.
func Check(p *token.Policy) error {
	if _, err := p.Encode(); err != nil {
		return err
	}
	if err := p.CheckKeys(); err != nil {
		return err
	}
	set, err := identity.NewSet(1, nil)
	if err != nil {
		return err
	}
	for _, list := range [][]member{
		members("issuers", p.IssuerIdentities()),
		members("auditors", p.AuditorIdentities()),
		validatorKeys(p.Validators),
		members("administrators", p.Administrators.Identities),
	} {
		keys := make([]identity.Verifier, len(list))
		for i, m := range list {
			v, err := set.Verifier(m.id)
			if err != nil {
				return fmt.Errorf("%w: %s: %w", zkbench.ErrParams, m.field, err)
			}
			if identity.AnybodySigns(v) {
				return fmt.Errorf("%w: %s is a key of small order, for which anybody can sign", zkbench.ErrParams, m.field)
			}
			if !identity.Canonical(v) {
				return fmt.Errorf("%w: %s is not in the canonical encoding of its key", zkbench.ErrParams, m.field)
			}
			if other := slices.IndexFunc(keys[:i], func(k identity.Verifier) bool { return identity.SameKey(k, v) }); other >= 0 {
				return fmt.Errorf("%w: %s has the key of %s, accepted: each key once", zkbench.ErrParams, m.field, list[other].field)
			}
			keys[i] = v
		}
	}
	return nil
}

// member is an identity in a list whose keys must differ, with the name of the field that contains it.
type member struct {
	field string
	id    identity.Identity
}

func members(list string, ids [][]byte) []member {
	all := make([]member, len(ids))
	for i, id := range ids {
		all[i] = member{fmt.Sprintf("%s[%d]", list, i), id}
	}
	return all
}

// validatorKeys returns the head keys and consensus keys of validators as identities, which are not checked
// yet.
func validatorKeys(validators []token.Validator) (all []member) {
	add := func(i int, name string, key []byte) {
		all = append(all, member{fmt.Sprintf("validators[%d].%s", i, name), append(identity.Identity{byte(identity.TypeEd25519)}, key...)})
	}
	for i, v := range validators {
		add(i, "head key", v.HeadKey[:])
		if len(v.ConsensusKey) > 0 {
			add(i, "consensus key", v.ConsensusKey)
		}
	}
	return all
}

// Follows checks that the update is for the given ledger and follows the given current policy. It does not
// check the signatures. The error is of type *zkbench.CheckError.
func (u *Update) Follows(ledger token.LedgerID, current *token.Policy) error {
	if u.Ledger != ledger {
		return failed(Ledger, -1, fmt.Errorf("%w: an update of ledger %x, this ledger is %x", zkbench.ErrPolicy, u.Ledger, ledger))
	}
	if u.Policy.Version != current.Version+1 {
		return failed(Versions, -1, fmt.Errorf("%w: an update to policy %d, the current one is %d", zkbench.ErrPolicy, u.Policy.Version, current.Version))
	}
	digest, err := current.Digest()
	if err != nil {
		return failed(Previous, -1, err)
	}
	if u.Previous != digest {
		return failed(Previous, -1, fmt.Errorf("%w: an update of policy %x, the current one is %x", zkbench.ErrPolicy, u.Previous[:8], digest[:8]))
	}
	return nil
}

// Verify checks that the update is a valid update of the ledger's current policy. It checks everything that
// Follows checks. It also checks the signatures and thresholds, and that the function Check accepts the next
// policy. The error is of type *zkbench.CheckError.
func (u *Update) Verify(ledger token.LedgerID, current *token.Policy) error {
	if err := cmp.Or(u.Follows(ledger, current), u.thresholds(current)); err != nil {
		return err
	}
	if err := u.signatures(current); err != nil {
		return err
	}
	if err := cmp.Or(Check(&u.Policy), u.locksOut()); err != nil {
		return failed(Rules, -1, err)
	}
	return nil
}

// thresholds checks that enough administrators have signed. The signatures themselves, and that each is by a
// different key, are checked later.
func (u *Update) thresholds(current *token.Policy) error {
	if len(current.Administrators.Identities) == 0 {
		return failed(Threshold, -1, fmt.Errorf("%w: policy %d has no administrators, it never changes", zkbench.ErrPolicy, current.Version))
	}
	for _, p := range []*token.Policy{current, &u.Policy} {
		if n, least := u.signed(&p.Administrators), p.Administrators.Threshold; n < least {
			return failed(Threshold, -1, fmt.Errorf("%w: %d administrators of policy %d have signed, it needs %d", zkbench.ErrPolicy, n, p.Version, least))
		}
	}
	return nil
}

// signatures verifies every signature, also superfluous ones, so that nobody can add invalid ones.
func (u *Update) signatures(current *token.Policy) error {
	message, err := u.Message()
	if err != nil {
		return failed(Rules, -1, err)
	}
	set, err := identity.NewSet(1, nil)
	if err != nil {
		return err
	}
	if i := u.outOfOrder(); i > 0 {
		return failed(Signatures, i, fmt.Errorf("%w: out of order, accepted: %s", zkbench.ErrPolicy, inOrder))
	}
	for i, s := range u.Signatures {
		if !among(s.Administrator, current.Administrators.Identities) && !among(s.Administrator, u.Policy.Administrators.Identities) {
			return failed(Signatures, i, fmt.Errorf("%w: the signer is not an administrator of policy %d or %d", zkbench.ErrPolicy, current.Version, u.Policy.Version))
		}
		v, err := set.Verifier(s.Administrator)
		if err == nil {
			signed := request.ToSign(message, request.Administrator, 0, s.Administrator)
			err = v.Verify(signed[:], s.Signature)
		}
		if err != nil {
			return failed(Signatures, i, err)
		}
	}
	return nil
}

// signed returns how many administrators of a set have signed. Both lists have each identity once, and Check
// has checked that the identities of a set have different keys.
func (u *Update) signed(set *token.Administrators) (n int) {
	for _, s := range u.Signatures {
		if among(s.Administrator, set.Identities) {
			n++
		}
	}
	return n
}

// Missing returns the administrators of a set that have not signed the update (who). It also returns the
// number of signatures that are still needed to reach the set's threshold (more).
func (u *Update) Missing(set *token.Administrators) (who [][]byte, more int) {
	for _, id := range set.Identities {
		if !slices.ContainsFunc(u.Signatures, func(s Signature) bool { return bytes.Equal(s.Administrator, id) }) {
			who = append(who, id)
		}
	}
	return who, max(0, set.Threshold-u.signed(set))
}

// among reports whether a list has an identity.
func among(id []byte, list [][]byte) bool {
	return slices.ContainsFunc(list, func(other []byte) bool { return bytes.Equal(other, id) })
}

func failed(check string, index int, err error) error {
	return &zkbench.CheckError{Check: check, Action: -1, Index: index, Err: err}
}
