package policy_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"io"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"filippo.io/edwards25519"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/identity"
	"github.com/zkbench/zkbench/token/ledger/ledgertest"
	"github.com/zkbench/zkbench/token/policy"
	"github.com/zkbench/zkbench/token/request"
)

// TestUpdate: k of n make the next policy, whoever they are; the new set counts too.
func TestUpdate(t *testing.T) {
	p := first(t)
	newSet := func(p *token.Policy) { p.Administrators = administrators(t, 2, "carl", "dora", "emil") }
	for name, u := range map[string]*policy.Update{
		"two":                 updated(t, p, narrower, "anna", "carl"),
		"other two":           updated(t, p, narrower, "carl", "ben"),
		"all":                 updated(t, p, narrower, "anna", "ben", "carl"),
		"a new set":           updated(t, p, newSet, "anna", "carl", "dora"),
		"a new set, by all":   updated(t, p, newSet, "anna", "ben", "carl", "dora", "emil"),
		"a set of one":        updated(t, p, func(p *token.Policy) { p.Administrators = administrators(t, 1, "dora") }, "anna", "ben", "dora"),
		"a raised threshold":  updated(t, p, func(p *token.Policy) { p.Administrators.Threshold = 3 }, "anna", "ben", "carl"),
		"signed twice by one": updated(t, p, narrower, "anna", "ben", "ben"),
	} {
		must.Do(t, u.Verify(home, p), name)
		decoded := must.Get(policy.Decode(must.Get(u.Encode())(t)))(t)
		golden.Equal(t, name, u, decoded)
		must.Do(t, decoded.Verify(home, p), name)
		golden.Equal(t, name+": version", 1, decoded.Policy.Version)
	}
}

// TestUpdateRefused: what an attacker may try.
func TestUpdateRefused(t *testing.T) {
	p := first(t)
	newSet := func(p *token.Policy) { p.Administrators = administrators(t, 2, "carl", "dora", "emil") }
	edited := func(edit func(u *policy.Update), names ...string) *policy.Update {
		u := updated(t, p, narrower, names...)
		edit(u)
		return u
	}
	// A request's role is none of an administrator, even over the same message.
	inRole := func(role request.Role) *policy.Update {
		return edited(func(u *policy.Update) {
			message := request.ToSign(must.Get(u.Message())(t), role, 0, u.Signatures[0].Administrator)
			u.Signatures[0].Signature = must.Get(signerOf(t, u.Signatures[0].Administrator).Sign(message[:], nil))(t)
		}, "anna", "ben")
	}
	for name, test := range map[string]struct {
		u     *policy.Update
		check string
		index int
		cause error
	}{
		"another ledger":      {edited(func(u *policy.Update) { u.Ledger[0]++ }, "anna", "ben"), policy.Ledger, -1, zkbench.ErrPolicy},
		"a version ahead":     {edited(func(u *policy.Update) { u.Policy.Version++ }, "anna", "ben"), policy.Versions, -1, zkbench.ErrPolicy},
		"the same version":    {edited(func(u *policy.Update) { u.Policy.Version-- }, "anna", "ben"), policy.Versions, -1, zkbench.ErrPolicy},
		"another predecessor": {edited(func(u *policy.Update) { u.Previous[0]++ }, "anna", "ben"), policy.Previous, -1, zkbench.ErrPolicy},
		"by one":              {updated(t, p, narrower, "anna"), policy.Threshold, -1, zkbench.ErrPolicy},
		"by nobody":           {updated(t, p, narrower), policy.Threshold, -1, zkbench.ErrPolicy},
		"one signature twice": {edited(func(u *policy.Update) { u.Signatures = slices.Repeat(u.Signatures, 2) }, "anna"), policy.Signatures, 1, zkbench.ErrPolicy},
		"the old set alone":   {updated(t, p, newSet, "anna", "ben", "carl"), policy.Threshold, -1, zkbench.ErrPolicy},
		"the new set alone":   {updated(t, p, newSet, "carl", "dora", "emil"), policy.Threshold, -1, zkbench.ErrPolicy},
		"a signature flipped": {edited(func(u *policy.Update) { u.Signatures[1].Signature[3] ^= 1 }, "anna", "ben"), policy.Signatures, 1, zkbench.ErrSignature},
		"a superfluous one that is none": {
			edited(func(u *policy.Update) { u.Signatures[2].Signature = nil }, "anna", "ben", "carl"), policy.Signatures, 2, zkbench.ErrSignature,
		},
		"a stranger's beside": {edited(func(u *policy.Update) {
			u.Signatures = append(u.Signatures, policy.Signature{Administrator: append(bytes.Repeat([]byte{255}, 32), 1)})
		}, "anna", "ben"), policy.Signatures, 2, zkbench.ErrPolicy},
		"changed after signing": {edited(func(u *policy.Update) { u.Policy.Limits.Outputs-- }, "anna", "ben"), policy.Signatures, 0, zkbench.ErrSignature},
		"signed as owner":       {inRole(request.Owner), policy.Signatures, 0, zkbench.ErrSignature},
		"signed as auditor":     {inRole(request.Auditor), policy.Signatures, 0, zkbench.ErrSignature},
	} {
		refused(t, name, test.u.Verify(home, p), test.check, test.index, test.cause)
	}
	nobody := token.DefaultPolicy()
	next := nobody.Clone()
	next.Administrators = administrators(t, 1, "anna")
	must.FailGet(policy.New(home, &nobody, next))(t, zkbench.ErrParams, "an update of a policy without administrators")
	u := updated(t, p, narrower)
	u.Previous, u.Policy.Administrators = must.Get(nobody.Digest())(t), next.Administrators
	u.Signatures = nil
	must.Do(t, u.Sign(&nobody, key(t, "anna")))
	refused(t, "no administrators", u.Verify(home, &nobody), policy.Threshold, -1, zkbench.ErrPolicy)
}

// signerOf returns the signer for an administrator of first.
func signerOf(t must.TB, id []byte) identity.Signer {
	t.Helper()
	for _, name := range []string{"anna", "ben", "carl"} {
		if s := key(t, name); bytes.Equal(s.Identity(), id) {
			return s
		}
	}
	t.Fatal("no such administrator")
	return nil
}

// TestReplays: an update that was withheld does not land later, one of another ledger not here, and of two that compete one.
func TestReplays(t *testing.T) {
	p := first(t)
	withheld := updated(t, p, func(p *token.Policy) { p.Limits.Outputs-- }, "anna", "ben")
	landed := updated(t, p, narrower, "anna", "ben")
	must.Do(t, landed.Verify(home, p))
	second := &landed.Policy
	refused(t, "withheld", withheld.Verify(home, second), policy.Versions, -1, zkbench.ErrPolicy)
	refused(t, "landed again", landed.Verify(home, second), policy.Versions, -1, zkbench.ErrPolicy)
	// Both made version 1; what follows the one does not follow the other.
	third := updated(t, second, narrower, "anna", "ben")
	must.Do(t, third.Verify(home, second))
	refused(t, "after its competitor", third.Verify(home, &withheld.Policy), policy.Previous, -1, zkbench.ErrPolicy)
	// Back to a policy that was there: another version, so another update.
	back := updated(t, second, func(p *token.Policy) { p.Limits.Inputs++ }, "anna", "ben")
	must.Do(t, back.Verify(home, second))
	refused(t, "the first update, on the old policy back again", landed.Verify(home, &back.Policy), policy.Versions, -1, zkbench.ErrPolicy)
	refused(t, "on another ledger", landed.Verify(token.LedgerID{2}, p), policy.Ledger, -1, zkbench.ErrPolicy)
}

// certificate returns a new certificate of a P-256 key; each call returns another one.
func certificate(t testing.TB, key *ecdsa.PrivateKey, serial int64) identity.Identity {
	t.Helper()
	template := &x509.Certificate{SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: "administrator"}, NotBefore: time.Unix(1_800_000_000, 0), NotAfter: time.Unix(1_900_000_000, 0)}
	der := must.Get(x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key))(t)
	return must.Get(identity.X509(der))(t)
}

// TestOneKeyTwice: neither two certificates of one key, nor two points that one secret signs for, are two of a list; and
// each key is one that only its holder signs with, in one encoding.
func TestOneKeyTwice(t *testing.T) {
	secret := must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	order2 := must.Get(new(edwards25519.Point).SetBytes(append(append([]byte{0xec}, bytes.Repeat([]byte{0xff}, 30)...), 0x7f)))(t)
	anna := key(t, "anna").Identity()
	shifted := must.Get(new(edwards25519.Point).SetBytes(anna[1:]))(t)
	twin := append(identity.Identity{byte(identity.TypeEd25519)}, shifted.Add(shifted, order2).Bytes()...)
	identityPoint := append(append([]byte{byte(identity.TypeEd25519), 1}, make([]byte, 30)...), 0)
	// A y below 19 has a second encoding, y + p.
	var encodings [][]byte
	for y := byte(2); y < 19 && encodings == nil; y++ {
		plain := append([]byte{y}, make([]byte, 31)...)
		point, err := new(edwards25519.Point).SetBytes(plain)
		if err != nil || new(edwards25519.Point).MultByCofactor(point).Equal(edwards25519.NewIdentityPoint()) == 1 {
			continue
		}
		for _, e := range [][]byte{plain, append(append([]byte{0xed + y}, bytes.Repeat([]byte{0xff}, 30)...), 0x7f)} {
			encodings = append(encodings, append([]byte{byte(identity.TypeEd25519)}, e...))
		}
	}
	for name, test := range map[string]struct {
		ids  [][]byte
		want string
	}{
		"another encoding of a point": {encodings, "is not in the canonical encoding of its key"},
		"two certificates of one key": {[][]byte{certificate(t, secret, 1), certificate(t, secret, 2)}, "has the key of"},
		"a point of small order more": {[][]byte{anna, twin}, "has the key of"},
		"a key of small order":        {[][]byte{identityPoint, anna}, "small order"},
		"a pseudonym":                 {[][]byte{anna, append([]byte{byte(identity.TypePseudonym)}, make([]byte, 32)...)}, "pseudonyms are not accepted"},
		"no identity":                 {[][]byte{anna, {99}}, "type 99"},
	} {
		slices.SortFunc(test.ids, bytes.Compare)
		for list, edit := range map[string]func(p *token.Policy){
			"issuers":        func(p *token.Policy) { p.Issuers = ledgertest.Issuers(test.ids...) },
			"auditors":       func(p *token.Policy) { p.Auditors = ledgertest.Auditors(t, test.ids...) },
			"administrators": func(p *token.Policy) { p.Administrators = token.Administrators{Identities: test.ids, Threshold: 1} },
		} {
			p := first(t)
			edit(p)
			err := policy.Check(p)
			if !errors.Is(err, zkbench.ErrParams) || !strings.Contains(err.Error(), list+"[") || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s of %s: %v", name, list, err)
			}
		}
	}
	// Validators' keys, wherever two of them stand.
	point := func(id []byte) (key [32]byte) { copy(key[:], id[1:]); return key }
	ben := key(t, "ben").Identity()
	validators := func(list ...token.Validator) func(p *token.Policy) {
		slices.SortFunc(list, func(a, b token.Validator) int { return bytes.Compare(a.HeadKey[:], b.HeadKey[:]) })
		return func(p *token.Policy) { p.Validators, p.HeadThreshold = list, 1 }
	}
	for name, test := range map[string]struct {
		edit func(p *token.Policy)
		want string
	}{
		"no point":                      {validators(token.Validator{HeadKey: [32]byte{2}}), "validators[0].head key: "},
		"no point for consensus":        {validators(token.Validator{HeadKey: point(anna), ConsensusKey: append([]byte{2}, make([]byte, 31)...)}), "validators[0].consensus key: "},
		"small order":                   {validators(token.Validator{HeadKey: point(identityPoint)}), "validators[0].head key is a key of small order"},
		"small order for consensus":     {validators(token.Validator{HeadKey: point(anna), ConsensusKey: identityPoint[1:]}), "validators[0].consensus key is a key of small order"},
		"another encoding":              {validators(token.Validator{HeadKey: point(encodings[1])}), "validators[0].head key is not in the canonical encoding"},
		"another encoding in consensus": {validators(token.Validator{HeadKey: point(anna), ConsensusKey: encodings[1][1:]}), "validators[0].consensus key is not in the canonical encoding"},
		"two points of one secret":      {validators(token.Validator{HeadKey: point(anna)}, token.Validator{HeadKey: point(twin)}), "validators[1].head key has the key of validators[0].head key"},
		"one key in both columns":       {validators(token.Validator{HeadKey: point(anna), ConsensusKey: anna[1:]}), "validators[0].consensus key has the key of validators[0].head key"},
		"one secret in both columns":    {validators(token.Validator{HeadKey: point(anna), ConsensusKey: twin[1:]}), "validators[0].consensus key has the key of validators[0].head key"},
		"one consensus key of two": {
			validators(token.Validator{HeadKey: point(anna), ConsensusKey: key(t, "c").Identity()[1:]}, token.Validator{HeadKey: point(ben), ConsensusKey: key(t, "c").Identity()[1:]}),
			"validators[1].consensus key has the key of validators[0].consensus key",
		},
	} {
		p := first(t)
		validators(token.Validator{HeadKey: point(anna)}, token.Validator{HeadKey: point(ben), ConsensusKey: key(t, "c").Identity()[1:]})(p)
		must.Do(t, policy.Check(p), "keys that are accepted")
		test.edit(p)
		if err := policy.Check(p); !errors.Is(err, zkbench.ErrParams) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("validators, %s: %v", name, err)
		}
	}
	// Whoever has the secret signs for both points, and counts once: the set is refused, signatures or not.
	p := first(t)
	u := updated(t, p, narrower, "anna", "ben")
	u.Policy.Administrators = token.Administrators{Identities: [][]byte{anna, twin}, Threshold: 2}
	slices.SortFunc(u.Policy.Administrators.Identities, bytes.Compare)
	u.Signatures = nil
	must.Do(t, u.Sign(p, key(t, "anna")))
	must.Do(t, u.Sign(p, key(t, "ben")))
	must.Do(t, u.Sign(p, &twinSigner{t, sha256.Sum256([]byte("anna")), twin}))
	refused(t, "one secret as two administrators", u.Verify(home, p), policy.Rules, -1, zkbench.ErrParams)
}

// twinSigner signs with an Ed25519 seed for a point that differs from its own by one of small order.
type twinSigner struct {
	t    testing.TB
	seed [32]byte
	id   identity.Identity
}

func (s *twinSigner) Identity() identity.Identity { return s.id }

func (s *twinSigner) Sign(message []byte, _ io.Reader) ([]byte, error) {
	expanded := sha512.Sum512(s.seed[:])
	a := must.Get(new(edwards25519.Scalar).SetBytesWithClamping(expanded[:32]))(s.t)
	nonce := sha512.Sum512(append(expanded[32:], message...))
	r := must.Get(new(edwards25519.Scalar).SetUniformBytes(nonce[:]))(s.t)
	R := new(edwards25519.Point).ScalarBaseMult(r).Bytes()
	hash := sha512.Sum512(slices.Concat(R, s.id[1:], message))
	k := must.Get(new(edwards25519.Scalar).SetUniformBytes(hash[:]))(s.t)
	return append(R, k.MultiplyAdd(k, a, r).Bytes()...), nil
}

// TestAuditorsKeys: an auditor's key with which everybody shares one secret is refused, and looked at when the signatures hold: it costs
// who is no administrator's validator nothing.
func TestAuditorsKeys(t *testing.T) {
	p := first(t)
	auditors := ledgertest.Auditors(t, key(t, "auditor").Identity())
	auditors[0].Key = make([]byte, 32)
	small := func(names ...string) *policy.Update {
		u := updated(t, p, narrower)
		u.Policy.Auditors = auditors
		for _, name := range names {
			must.Do(t, u.Sign(p, key(t, name)))
		}
		return must.Get(policy.Decode(must.Get(u.Encode())(t)))(t)
	}
	refused(t, "by one", small("anna").Verify(home, p), policy.Threshold, -1, zkbench.ErrPolicy)
	forged := small("anna", "ben")
	forged.Signatures[0].Signature[0] ^= 1
	refused(t, "forged", forged.Verify(home, p), policy.Signatures, 0, zkbench.ErrSignature)
	refused(t, "signed", small("anna", "ben").Verify(home, p), policy.Rules, -1, zkbench.ErrParams)
	next := p.Clone()
	next.Auditors = auditors
	must.FailGet(policy.New(home, p, next))(t, zkbench.ErrParams, "made")
	params := must.Get(token.NewPublicParams("BN254", 8, token.CSP))(t)
	params.Policy.Auditors = auditors
	must.FailGet(params.Validate(t.Context()))(t, zkbench.ErrParams, "in parameters")
}

// TestLockedOut: a policy after which nothing could change, or nobody own a token, is refused when the update is made, and when
// it comes.
func TestLockedOut(t *testing.T) {
	p := first(t)
	for name, edit := range map[string]func(p *token.Policy){
		"administrators 0": func(p *token.Policy) { p.Administrators = token.Administrators{} },
		"threshold":        func(p *token.Policy) { p.Administrators.Threshold = 0 },
		"validators":       func(p *token.Policy) { p.HeadThreshold = 1 },
		"ahead":            func(p *token.Policy) { p.Limits.Ahead = 0 },
		"threshold ":       func(p *token.Policy) { p.Administrators.Threshold = 4 },
		"owner kinds":      func(p *token.Policy) { p.Owners = 0 },
		"limit of inputs":  func(p *token.Policy) { p.Limits.Inputs = 0 },
		"limit of outputs": func(p *token.Policy) { p.Limits.Outputs = 0 },
		"redeem policy":    func(p *token.Policy) { p.Redeem = token.RedeemIssuer },
		"without auditors": func(p *token.Policy) {
			p.Issuers = []token.Issuer{{Identity: key(t, "i").Identity(), Types: []string{"USD"}}}
		},
		"administrators[1]": func(p *token.Policy) {
			p.Administrators = token.Administrators{Identities: [][]byte{key(t, "anna").Identity(), {9}}, Threshold: 1}
		},
	} {
		next := p.Clone()
		edit(next)
		if _, err := policy.New(home, p, next); !errors.Is(err, zkbench.ErrParams) || !strings.Contains(err.Error(), strings.TrimSpace(name)) {
			t.Errorf("%s: made: %v", name, err)
		}
		u := updated(t, p, narrower)
		edit(&u.Policy)
		err := errors.Join(u.Sign(p, key(t, "anna")), u.Sign(p, key(t, "ben")))
		if err == nil { // whose policy has an encoding
			refused(t, name, u.Verify(home, p), policy.Rules, -1, zkbench.ErrParams)
		}
	}
}

// TestCurrent: every policy is shown to its holder before it is current, and is not if the holder cannot take it.
func TestCurrent(t *testing.T) {
	p := first(t)
	genesis := genesis
	genesis.Policy = must.Get(p.Digest())(t)
	s := make(source)
	one := updatedOn(t, genesis.ID(), p, narrower, "anna", "ben")
	two := updatedOn(t, genesis.ID(), &one.Policy, narrower, "anna", "ben")
	s.record(t, one)
	s.record(t, two)
	var adopted []uint64
	planted := errors.New("planted")
	c := must.Get(policy.NewCurrent(genesis, p, func(p *token.Policy) error {
		if p.Version == 2 && len(adopted) == 2 {
			adopted = append(adopted, 99)
			return planted
		}
		adopted = append(adopted, p.Version)
		return nil
	}))(t)
	p.Limits.Inputs = 1 // the caller's again
	must.FailGet(policy.NewCurrent(genesis, p, nil))(t, zkbench.ErrParams, "a policy that the ledger does not begin with")
	must.Fail(t, c.Follow(t.Context(), s), planted, "the second")
	golden.Equal(t, "current", &one.Policy, c.Load())
	must.Do(t, c.Follow(t.Context(), s))
	current, digest := c.LoadDigest()
	golden.Equal(t, "current", &two.Policy, current)
	golden.Equal(t, "digest", must.Get(two.Policy.Digest())(t), digest)
	golden.Equal(t, "adopted", []uint64{0, 1, 99, 2}, adopted)
	p.Administrators = token.Administrators{Identities: [][]byte{{9}}, Threshold: 1}
	must.FailGet(policy.NewCurrent(genesis, p, nil))(t, zkbench.ErrParams, "an administrator that is no identity")
}

// TestAbdication: administrators cannot leave the policy to nobody, however many sign.
func TestAbdication(t *testing.T) {
	p := first(t)
	u := updated(t, p, narrower)
	u.Policy.Administrators = token.Administrators{}
	for _, name := range []string{"anna", "ben", "carl"} {
		must.Do(t, u.Sign(p, key(t, name)))
	}
	refused(t, "nobody", u.Verify(home, p), policy.Rules, -1, zkbench.ErrParams)
}

// TestSign: who is no administrator signs nothing, and who signs anew has one signature.
func TestSign(t *testing.T) {
	p := first(t)
	u := updated(t, p, narrower, "carl", "anna", "carl")
	golden.Equal(t, "signatures", 2, len(u.Signatures))
	must.Fail(t, u.Sign(p, key(t, "dora")), zkbench.ErrParams, "a stranger")
	who, more := u.Missing(&p.Administrators)
	golden.Equal(t, "missing", [][]byte{key(t, "ben").Identity()}, who)
	golden.Equal(t, "more", 0, more)
}

// TestFollow: the newest policy is at the end of updates that hold; the one that does not is named, and those before it stand.
func TestFollow(t *testing.T) {
	p := first(t)
	s := make(source)
	follow := func() (*token.Policy, error) { return policy.Follow(t.Context(), s, genesis, p) }
	golden.Equal(t, "none", p, must.Get(follow())(t))
	one := updatedOn(t, genesis.ID(), p, func(p *token.Policy) { p.Administrators = administrators(t, 1, "dora") }, "anna", "ben", "dora")
	two := updatedOn(t, genesis.ID(), &one.Policy, narrower, "dora")
	s.record(t, two)
	golden.Equal(t, "a gap", p, must.Get(follow())(t))
	s.record(t, one)
	golden.Equal(t, "two", &two.Policy, must.Get(follow())(t))
	forged := updatedOn(t, genesis.ID(), &two.Policy, narrower, "dora")
	forged.Signatures[0].Signature[0] ^= 1
	s.record(t, forged)
	got, err := follow()
	refused(t, "a forged third", err, policy.Signatures, 0, zkbench.ErrSignature)
	golden.Equal(t, "up to it", &two.Policy, got)
	s.record(t, updatedOn(t, genesis.ID(), &two.Policy, narrower, "dora"))
	at := s[string(policy.Anchor(3))]
	at.Update = false
	s[string(policy.Anchor(3))] = at
	_, err = follow()
	refused(t, "recorded as no update", err, policy.Versions, -1, zkbench.ErrPolicy)
	at.Update, at.Policy = true, 1
	s[string(policy.Anchor(3))] = at
	_, err = follow()
	refused(t, "recorded under another policy", err, policy.Versions, -1, zkbench.ErrPolicy)
	at.Policy, at.Anchor = 2, policy.Anchor(4)
	s[string(policy.Anchor(3))] = at
	_, err = follow()
	refused(t, "the record of another anchor", err, policy.Versions, -1, zkbench.ErrPolicy)
	at.Anchor = policy.Anchor(3)
	s[string(policy.Anchor(3))] = at
	golden.Equal(t, "version, with all of it right", 3, must.Get(follow())(t).Version)
}

// TestFollowFork: on a fork, an update that it has of its parent holds as the parent's, and behind them only the fork's own does.
func TestFollowFork(t *testing.T) {
	p := first(t)
	fork := must.Get(genesis.Fork(5, 1, [32]byte{1}))(t)
	s := make(source)
	follow := func() (*token.Policy, error) { return policy.Follow(t.Context(), s, fork, p) }
	one := updatedOn(t, genesis.ID(), p, narrower, "anna", "ben")
	s.record(t, one)
	golden.Equal(t, "the parent's", &one.Policy, must.Get(follow())(t))
	s.record(t, updatedOn(t, fork.ID(), p, narrower, "anna", "ben"))
	_, err := follow()
	refused(t, "its own, among the parent's records", err, policy.Ledger, -1, zkbench.ErrPolicy)

	s.record(t, one)
	again := func(p *token.Policy) { p.Limits.Metadata-- }
	s.record(t, updatedOn(t, genesis.ID(), &one.Policy, again, "anna", "ben"))
	_, err = follow()
	refused(t, "the parent's, behind its records", err, policy.Ledger, -1, zkbench.ErrPolicy)
	own := updatedOn(t, fork.ID(), &one.Policy, again, "anna", "ben")
	s.record(t, own)
	golden.Equal(t, "its own", &own.Policy, must.Get(follow())(t))
}

// TestEncoding: an update is told from a request by its first byte, and one of a later version is refused by its number.
func TestEncoding(t *testing.T) {
	p := first(t)
	u := updated(t, p, narrower, "anna", "ben")
	data := must.Get(u.Encode())(t)
	if !policy.IsUpdate(data) || policy.IsUpdate([]byte{request.Version}) || policy.IsUpdate(nil) {
		t.Error("an update is not told from a request")
	}
	must.FailGet(request.Decode(data))(t, zkbench.ErrMalformed, "an update as a request")
	for n := range data {
		must.FailGet(policy.Decode(data[:n]))(t, zkbench.ErrMalformed, "%d of %d bytes", n, len(data))
	}
	must.FailGet(policy.Decode(append(bytes.Clone(data), 0)))(t, zkbench.ErrMalformed, "a byte too many")
	for first, want := range map[byte]string{0x82: "version 2, only 1 is known", request.Version: "not a policy update"} {
		_, err := policy.Decode(append([]byte{first}, data[1:]...))
		if d, ok := errors.AsType[*zkbench.DecodeError](err); !ok || d.Path != "update.version" || !strings.Contains(d.Reason, want) {
			t.Errorf("first byte %#x: %v", first, err)
		}
	}
	swapped := bytes.Clone(data)
	n := len(swapped) - 2*(2+33+2+64)
	copy(swapped[n:], data[n+101:])
	copy(swapped[n+101:], data[n:n+101])
	_, err := policy.Decode(swapped)
	if d, ok := errors.AsType[*zkbench.DecodeError](err); !ok || d.Path != "update.signatures[1]" {
		t.Errorf("signatures out of order: %v", err)
	}
	u.Signatures[0], u.Signatures[1] = u.Signatures[1], u.Signatures[0]
	must.FailGet(u.Encode())(t, zkbench.ErrParams, "signatures out of order")
	u.Signatures = make([]policy.Signature, policy.MaxSignatures+1)
	must.FailGet(u.Encode())(t, zkbench.ErrParams, "too many signatures")
	golden.Equal(t, "anchor", fmt.Sprintf("%x", "zkbench/policy/")+"0000000000000102", fmt.Sprintf("%x", policy.Anchor(258)))
	if !policy.Reserved(policy.Anchor(1)) || !policy.Reserved([]byte("zkbench/policy/")) || policy.Reserved([]byte("zkbench/policy")) {
		t.Error("anchors that are kept for updates are others")
	}
}

// TestDigest: all that an update says is in its message, and no signature is.
func TestDigest(t *testing.T) {
	p := first(t)
	digest := func(edit func(u *policy.Update)) [32]byte {
		u := updated(t, p, narrower, "anna")
		edit(u)
		return must.Get(u.Digest())(t)
	}
	seen := map[[32]byte]string{digest(func(*policy.Update) {}): "as it is"}
	for name, edit := range policyEdits(t) {
		if other, same := seen[digest(edit)]; same {
			t.Errorf("%s and %s have one digest", name, other)
		}
		seen[digest(edit)] = name
	}
	golden.Equal(t, "signed by more", digest(func(*policy.Update) {}), digest(func(u *policy.Update) { must.Do(t, u.Sign(p, key(t, "ben"))) }))
}

// TestShortDigest: it is the start of the update's digest, is found again however it was written down, and no other update has it.
func TestShortDigest(t *testing.T) {
	p := first(t)
	u := updated(t, p, narrower)
	short, digest := must.Get(u.ShortDigest())(t), must.Get(u.Digest())(t)
	golden.Equal(t, "groups of digits", 10, len(strings.Split(short, "-")))
	golden.Equal(t, "digits", fmt.Sprintf("%x", digest[:20]), strings.ReplaceAll(short, "-", ""))
	bare := strings.ReplaceAll(short, "-", "")
	for text, want := range map[string]bool{
		short: true, bare: true, strings.ToUpper(short): true, strings.ReplaceAll(short, "-", " "): true, " " + short + " ": true,
		"": false, "-": false, bare[:39]: false, bare + "0": false, fmt.Sprintf("%x", digest): false, short[:len(short)-1] + "g": false,
		strings.ReplaceAll(short, "-", ":"): false,
	} {
		golden.Equal(t, fmt.Sprintf("%q", text), want, must.Get(u.HasShortDigest(text))(t))
	}
	for i := range bare {
		other := []byte(bare)
		other[i] = "0123456789abcdef0"[1+strings.IndexByte("0123456789abcdef", other[i])]
		if must.Get(u.HasShortDigest(string(other)))(t) {
			t.Errorf("digit %d counts for nothing", i)
		}
	}
	must.Do(t, u.Sign(p, key(t, "anna")))
	golden.Equal(t, "signed", short, must.Get(u.ShortDigest())(t))
	for name, edit := range policyEdits(t) {
		other := updated(t, p, narrower)
		edit(other)
		if must.Get(other.HasShortDigest(short))(t) {
			t.Errorf("%s: another update with the digest", name)
		}
	}
	u.Policy.Owners = 0
	must.FailGet(u.ShortDigest())(t, zkbench.ErrParams, "an update that has no encoding")
	must.FailGet(u.HasShortDigest(short))(t, zkbench.ErrParams, "an update that has no encoding")
}

// policyEdits returns edits that each change one thing in an update.
func policyEdits(t must.TB) map[string]func(u *policy.Update) {
	t.Helper()
	edits := map[string]func(u *policy.Update){
		"ledger": func(u *policy.Update) { u.Ledger[31]++ }, "previous": func(u *policy.Update) { u.Previous[63]++ },
	}
	validator := token.Validator{HeadKey: [32]byte(key(t, "v").Identity()[1:])}
	consensus := validator
	consensus.ConsensusKey = key(t, "c").Identity()[1:]
	second := token.Validator{HeadKey: [32]byte(key(t, "w").Identity()[1:])}
	both := []token.Validator{validator, second}
	slices.SortFunc(both, func(a, b token.Validator) int { return bytes.Compare(a.HeadKey[:], b.HeadKey[:]) })
	for name, edit := range map[string]func(p *token.Policy){
		"version":         func(p *token.Policy) { p.Version++ },
		"issuers":         func(p *token.Policy) { p.Issuers = ledgertest.Issuers(key(t, "i").Identity()) },
		"auditors":        func(p *token.Policy) { p.Auditors = ledgertest.Auditors(t, key(t, "a").Identity()) },
		"owners":          func(p *token.Policy) { p.Owners = token.OwnerX509 },
		"inputs":          func(p *token.Policy) { p.Limits.Inputs = 7 },
		"outputs":         func(p *token.Policy) { p.Limits.Outputs-- },
		"metadata":        func(p *token.Policy) { p.Limits.Metadata-- },
		"ahead":           func(p *token.Policy) { p.Limits.Ahead += time.Second },
		"notes":           func(p *token.Policy) { p.Notes = token.MLKEM768X25519 },
		"a validator":     func(p *token.Policy) { p.Validators, p.HeadThreshold = []token.Validator{validator}, 1 },
		"a consensus key": func(p *token.Policy) { p.Validators, p.HeadThreshold = []token.Validator{consensus}, 1 },
		"one of two":      func(p *token.Policy) { p.Validators, p.HeadThreshold = both, 1 },
		"two of two":      func(p *token.Policy) { p.Validators, p.HeadThreshold = both, 2 },
		"administrators":  func(p *token.Policy) { p.Administrators = administrators(t, 2, "anna", "ben") },
		"threshold":       func(p *token.Policy) { p.Administrators.Threshold = 3 },
	} {
		edits[name] = func(u *policy.Update) { edit(&u.Policy) }
	}
	return edits
}

func FuzzDecode(f *testing.F) {
	p := first(f)
	f.Add(must.Get(updated(f, p, narrower, "anna", "ben").Encode())(f))
	f.Add([]byte{0x81})
	f.Fuzz(func(t *testing.T, data []byte) {
		u, err := policy.Decode(data)
		if err != nil {
			if !errors.Is(err, zkbench.ErrMalformed) && !errors.Is(err, zkbench.ErrParams) {
				t.Errorf("untyped error %v", err)
			}
			return
		}
		golden.Equal(t, "the same update, encoded again", data, must.Get(u.Encode())(t))
		if err := u.Verify(home, p); err == nil && (len(u.Signatures) < 2 || u.Policy.Version != 1) {
			t.Errorf("%+v verified", u)
		}
	})
}

// TestVectors: a policy and its update from fixed keys, byte by byte: what is signed, and what a ledger then holds.
func TestVectors(t *testing.T) {
	p := first(t)
	issuer, auditor := key(t, "issuer").Identity(), key(t, "auditor").Identity()
	u := updated(t, p, func(p *token.Policy) {
		p.Issuers, p.Auditors = ledgertest.Issuers(issuer), ledgertest.Auditors(t, auditor)
		p.Issuers[0].Types = []string{"EUR", "USD"}
		p.Validators, p.HeadThreshold = []token.Validator{{HeadKey: [32]byte(key(t, "validator").Identity()[1:]), ConsensusKey: key(t, "consensus").Identity()[1:]}}, 1
		p.Owners, p.Redeem, p.Limits.Ahead = token.OwnerEd25519|token.OwnerHashLock, token.RedeemIssuer, 2*time.Minute
		p.Administrators = administrators(t, 1, "dora")
	}, "anna", "ben", "dora")
	var out strings.Builder
	line := func(name string, value []byte) { fmt.Fprintf(&out, "%s %x\n", name, value) }
	before, message, digest := must.Get(p.Digest())(t), must.Get(u.Message())(t), must.Get(u.Digest())(t)
	line("policy 0", must.Get(p.Encode())(t))
	line("policy 0 digest", before[:])
	line("policy 1", must.Get(u.Policy.Encode())(t))
	line("update anchor", policy.Anchor(1))
	line("update message", message[:])
	line("update digest", digest[:])
	fmt.Fprintf(&out, "update short digest %s\n", must.Get(u.ShortDigest())(t))
	line("update", must.Get(u.Encode())(t))
	golden.Check(t, "token/policy.txt", out.String())
}
