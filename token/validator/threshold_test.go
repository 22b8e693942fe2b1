package validator_test

import (
	"bytes"
	"crypto/ed25519"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"filippo.io/edwards25519"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/action"
	"github.com/zkbench/zkbench/token/identity"
	"github.com/zkbench/zkbench/token/request"
	"github.com/zkbench/zkbench/token/script"
	"github.com/zkbench/zkbench/token/validator"
)

// shared is a system in which two of three owners own a token of 100 together.
type shared struct {
	*system
	script  *script.Threshold
	members []identity.Signer // in the script's order
	id      token.ID
	plain   []token.ID // of bob and the pseudonym
}

func newShared(t testing.TB) *shared {
	t.Helper()
	s, ids := funded(t, token.RedeemOwner)
	sh := &shared{system: s, plain: ids[1:]}
	var members []identity.Identity
	for _, o := range s.owners {
		members = append(members, o.Identity())
	}
	sh.script = must.Get(script.NewThreshold(2, members...))(s)
	sh.members = slices.SortedFunc(slices.Values(s.owners), func(a, b identity.Signer) int { return bytes.Compare(a.Identity(), b.Identity()) })
	a, opened := s.moved("share", 0, "", ids[:1], output(sh.script.Owner(), 100))
	valid := s.apply(s.sign(&request.Request{Anchor: []byte("share"), Actions: []request.Action{a}}, s.owners[:1]), opened...)
	sh.id = valid.Creates[0].ID
	return sh
}

// spend returns a request that spends the shared token alone, signed by these members.
func (s *shared) spend(anchor string, to []byte, members ...int) *request.Request {
	s.Helper()
	a, _ := s.moved(anchor, 0, "", []token.ID{s.id}, output(to, 100))
	r := &request.Request{Anchor: []byte(anchor), Actions: []request.Action{a}}
	s.sign(r, s.owners[:1])
	s.authorize(r, 0, members...)
	return r
}

// authorize adds the members' witness and signatures to an input, and the auditor's signature.
func (s *shared) authorize(r *request.Request, input int, members ...int) {
	s.Helper()
	var ids []identity.Identity
	spend := &r.Actions[0].Spends[input]
	spend.Signatures = nil
	for _, m := range members {
		ids = append(ids, s.members[m].Identity())
		spend.Signatures = append(spend.Signatures, s.signature(r, s.members[m], request.Owner))
	}
	spend.Unlock = must.Get(s.script.Unlock(ids...))(s)
	r.Auditors = [][]byte{s.audited(r)}
}

func (s *shared) signature(r *request.Request, signer identity.Signer, role request.Role) []byte {
	s.Helper()
	message := request.ToSign(r.Message(s.system.id), role, 0, signer.Identity())
	return must.Get(signer.Sign(message[:], nil))(s)
}

// judged checks that all ways to validate a request give the same verdict. An empty check means that it is
// accepted.
func (s *shared) judged(t *testing.T, name string, raw []byte, check string, index int, cause error) {
	t.Helper()
	_, err := s.v.Validate(t.Context(), s.ledger, raw, s.at)
	want(t, name, err, check, 0, index, cause)
	want(t, name+", authorized", s.v.Authorized(t.Context(), raw), check, 0, index, cause)
	good := s.encode(s.spend("good", s.owners[0].Identity(), 0, 1))
	results := s.v.ValidateBatch(t.Context(), s.ledger, [][]byte{good, raw, good}, s.at)
	want(t, name+", in a batch", results[1].Err, check, 0, index, cause)
	for _, i := range []int{0, 2} {
		must.Do(t, results[i].Err, name, "beside", i)
	}
}

// TestThreshold: any two members spend, at any time, to anybody, also to nobody and to scripts.
func TestThreshold(t *testing.T) {
	t.Parallel()
	s := newShared(t)
	lock := must.Get(script.NewHashLock([script.ImageLen]byte{1}, uint64(s.at.Unix())+1, s.owners[0].Identity(), s.owners[1].Identity()))(t)
	for _, members := range [][]int{{0, 1}, {0, 2}, {1, 2}} {
		for name, to := range map[string][]byte{"a member": s.members[0].Identity(), "nobody": nil, "itself": s.script.Owner(), "a lock": lock.Owner()} {
			s.judged(t, fmt.Sprintf("members %v to %s", members, name), s.encode(s.spend("pay", to, members...)), "", 0, nil)
		}
	}
	raw := s.encode(s.spend("pay", s.owners[0].Identity(), 0, 2))
	for _, at := range []time.Time{{}, time.Unix(1, 0), s.at.Add(1e6 * time.Hour)} {
		_, err := s.v.Validate(t.Context(), s.ledger, raw, at)
		must.Do(t, err, "at", at)
	}
	// An issuer gives to one, too.
	d := must.Get(action.NewIssue(t.Context(), executor.Serial(), s.pp, "USD", action.Spec{
		Outputs: []action.Output{output(s.script.Owner(), 1), output(s.script.Owner(), 2)}, Anchor: request.ActionAnchor(s.system.id, []byte("mint"), 0),
	}))(t)
	issue := request.Action{Kind: token.Issue, ProofType: token.CSP, Raw: must.Get(d.Prove(t.Context()))(t), Issuer: s.issues()}
	s.judged(t, "issued", s.sign(&request.Request{Anchor: []byte("mint"), Actions: []request.Action{issue}}), "", 0, nil)
}

// TestThresholdRefused: one thing wrong with what spends a threshold, and the input is named.
func TestThresholdRefused(t *testing.T) {
	t.Parallel()
	s := newShared(t)
	to := s.owners[0].Identity()
	first := func(r *request.Request) *request.Spend { return &r.Actions[0].Spends[0] }
	for _, test := range []struct {
		name  string
		edit  func(r *request.Request) // of one that members 0 and 2 have signed
		check string
		cause error
	}{
		{"as it is", func(*request.Request) {}, "", nil},
		{"no witness", func(r *request.Request) { first(r).Unlock = nil }, validator.Scripts, zkbench.ErrMalformed},
		{"a witness of 1 byte", func(r *request.Request) { first(r).Unlock = []byte{5} }, validator.Scripts, zkbench.ErrMalformed},
		{"a witness of 3 bytes", func(r *request.Request) { first(r).Unlock = []byte{0, 5, 0} }, validator.Scripts, zkbench.ErrMalformed},
		{"one member named", func(r *request.Request) { first(r).Unlock = []byte{0, 4} }, validator.Scripts, zkbench.ErrMalformed},
		{"one member named, and one signature", func(r *request.Request) {
			first(r).Unlock, first(r).Signatures = []byte{0, 1}, first(r).Signatures[:1]
		}, validator.Scripts, zkbench.ErrMalformed},
		{"nobody named, and no signature", func(r *request.Request) { first(r).Unlock, first(r).Signatures = []byte{0, 0}, nil }, validator.Scripts, zkbench.ErrMalformed},
		{"three members sign", func(r *request.Request) {
			first(r).Unlock = []byte{0, 7}
			first(r).Signatures = nil
			for _, m := range s.members {
				first(r).Signatures = append(first(r).Signatures, s.signature(r, m, request.Owner))
			}
		}, validator.Scripts, zkbench.ErrMalformed},
		{"a member that there is not", func(r *request.Request) { first(r).Unlock = []byte{0, 9} }, validator.Scripts, zkbench.ErrMalformed},
		{"bytes of the witness exchanged", func(r *request.Request) { first(r).Unlock = []byte{5, 0} }, validator.Scripts, zkbench.ErrMalformed},
		{"a lock's witness", func(r *request.Request) { first(r).Unlock = []byte{byte(script.Reclaim)} }, validator.Scripts, zkbench.ErrMalformed},
		{"other members named", func(r *request.Request) { first(r).Unlock = []byte{0, 3} }, validator.Owners, zkbench.ErrSignature},
		{"no signatures", func(r *request.Request) { first(r).Signatures = nil }, validator.Owners, zkbench.ErrPolicy},
		{"a signature missing", func(r *request.Request) { first(r).Signatures = first(r).Signatures[:1] }, validator.Owners, zkbench.ErrPolicy},
		{"a signature more", func(r *request.Request) {
			first(r).Signatures = append(first(r).Signatures, s.signature(r, s.members[1], request.Owner))
		}, validator.Owners, zkbench.ErrPolicy},
		{"signatures exchanged", func(r *request.Request) { slices.Reverse(first(r).Signatures) }, validator.Owners, zkbench.ErrSignature},
		{"the first empty", func(r *request.Request) { first(r).Signatures[0] = nil }, validator.Owners, zkbench.ErrSignature},
		{"the last empty", func(r *request.Request) { first(r).Signatures[1] = nil }, validator.Owners, zkbench.ErrSignature},
		{"one member twice", func(r *request.Request) { first(r).Signatures[1] = first(r).Signatures[0] }, validator.Owners, zkbench.ErrSignature},
		{"a member who is not named", func(r *request.Request) { first(r).Signatures[1] = s.signature(r, s.members[1], request.Owner) }, validator.Owners, zkbench.ErrSignature},
		{"a stranger", func(r *request.Request) { first(r).Signatures[0] = s.signature(r, s.issuer, request.Owner) }, validator.Owners, zkbench.ErrSignature},
		{"signed as an auditor", func(r *request.Request) { first(r).Signatures[0] = s.signature(r, s.members[0], request.Auditor) }, validator.Owners, zkbench.ErrSignature},
		{"signed for another request", func(r *request.Request) {
			first(r).Signatures[1] = first(s.spend("other", to, 0, 2)).Signatures[1]
		}, validator.Owners, zkbench.ErrSignature},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := s.spend("pay", to, 0, 2)
			test.edit(r)
			s.judged(t, test.name, s.encode(r), test.check, 0, test.cause)
		})
	}
	// Which of several signatures it is, is told.
	r := s.spend("pay", to, 0, 2)
	first(r).Signatures[1] = nil
	_, err := s.v.Validate(t.Context(), s.ledger, s.encode(r), s.at)
	if err == nil || !strings.Contains(err.Error(), "signature 2: ") {
		t.Errorf("%v, want the second signature named", err)
	}
}

// TestThresholdBesideOthers: it stands between other inputs and outputs, each signed for by its
// own, and beside no lock.
func TestThresholdBesideOthers(t *testing.T) {
	t.Parallel()
	s := newShared(t)
	inputs := []token.ID{s.plain[0], s.id, s.plain[1]}
	outputs := []action.Output{output(s.owners[0].Identity(), 120), output(s.script.Owner(), 100), output(nil, 80)}
	signed := func(outputs ...action.Output) *request.Request {
		a, _ := s.moved("pay", 0, "", inputs, outputs...)
		r := &request.Request{Anchor: []byte("pay"), Actions: []request.Action{a}}
		s.sign(r, []identity.Signer{s.owners[1], s.owners[0], s.owners[2]})
		s.authorize(r, 1, 0, 1)
		return r
	}
	s.judged(t, "all signed", s.encode(signed(outputs...)), "", 0, nil)
	r := signed(outputs...)
	r.Actions[0].Spends[1].Signatures[1] = r.Actions[0].Spends[1].Signatures[0]
	s.judged(t, "one member twice", s.encode(r), validator.Owners, 1, zkbench.ErrSignature)
	r = signed(outputs...)
	r.Actions[0].Spends[2].Signatures, r.Actions[0].Spends[1].Signatures = r.Actions[0].Spends[1].Signatures, r.Actions[0].Spends[2].Signatures
	s.judged(t, "signatures of two inputs exchanged", s.encode(r), validator.Owners, 1, zkbench.ErrPolicy)
	r = signed(outputs...)
	r.Actions[0].Spends[2].Signatures[0] = r.Actions[0].Spends[1].Signatures[0]
	r.Actions[0].Spends[0].Signatures[0] = nil
	s.judged(t, "the first of two bad ones", s.encode(r), validator.Owners, 0, zkbench.ErrSignature)
	r = signed(outputs...)
	r.Actions[0].Spends[0].Unlock = []byte{0, 3}
	s.judged(t, "a witness for a plain owner", s.encode(r), validator.Scripts, 0, zkbench.ErrPolicy)
	lock := must.Get(script.NewHashLock([script.ImageLen]byte{1}, uint64(s.at.Unix())+1, s.owners[0].Identity(), s.owners[1].Identity()))(t)
	s.judged(t, "beside a lock", s.encode(signed(output(s.script.Owner(), 100), output(lock.Owner(), 200))), validator.Scripts, 1, zkbench.ErrPolicy)
}

// TestThresholdBatch: of many requests whose threshold was signed wrongly in one place each, every one
// is named alike in the batch and alone.
func TestThresholdBatch(t *testing.T) {
	t.Parallel()
	s := newShared(t)
	var raws [][]byte
	var bad []int
	for i := range 6 {
		r := s.spend(fmt.Sprint("pay ", i), s.owners[0].Identity(), i%2, 2)
		if i == 1 || i == 4 {
			spend := &r.Actions[0].Spends[0]
			spend.Signatures[i%2] = spend.Signatures[1-i%2]
		}
		raws = append(raws, s.encode(r))
	}
	for i, r := range s.v.ValidateBatch(t.Context(), s.ledger, raws, s.at) {
		_, alone := s.v.Validate(t.Context(), s.ledger, raws[i], s.at)
		golden.Equal(t, fmt.Sprintf("request %d in the batch, by its verdict alone", i), fmt.Sprint(alone), fmt.Sprint(r.Err))
		if r.Err != nil {
			bad = append(bad, i)
			want(t, fmt.Sprint("request ", i), r.Err, validator.Owners, 0, 0, zkbench.ErrSignature)
		}
	}
	golden.Equal(t, "bad requests", []int{1, 4}, bad)
}

// TestThresholdOutputs: a threshold that its members could not spend as it says is given to by
// nobody.
func TestThresholdOutputs(t *testing.T) {
	t.Parallel()
	s := newShared(t)
	alice, bob := s.owners[0].Identity(), s.owners[1].Identity()
	ed := func(point ...byte) identity.Identity {
		return append(append(identity.Identity{byte(identity.TypeEd25519)}, point...), make([]byte, ed25519.PublicKeySize-len(point))...)
	}
	of := func(k int, members ...identity.Identity) []byte {
		return must.Get(script.NewThreshold(k, members...))(t).Owner()
	}
	edited := func(at int, b byte) []byte {
		owner := slices.Clone(of(2, alice, bob))
		owner[at] = b
		return owner
	}
	// Alice's key with the point of order 2 added to it.
	p := must.Get(new(edwards25519.Point).SetBytes(alice[1:]))(t)
	p.Add(p, must.Get(new(edwards25519.Point).SetBytes(append(append([]byte{0xec}, bytes.Repeat([]byte{0xff}, 30)...), 0x7f)))(t))
	twin := append(identity.Identity{byte(identity.TypeEd25519)}, p.Bytes()...)
	between := alice // by its bytes: somebody else's key
	for i := 0; bytes.Compare(between, alice)*bytes.Compare(between, twin) >= 0; i++ {
		between = must.Get(keySigner(nil, i))(t).Identity()
	}
	for _, test := range []struct {
		name  string
		owner []byte
		check string
		cause error
	}{
		{"two keys", of(2, alice, bob), "", nil},
		{"a key of small order", of(1, alice, ed(1)), validator.OutputOwners, zkbench.ErrPolicy},
		{"no key", of(1, alice, ed(2)), validator.OutputOwners, zkbench.ErrMalformed},
		{"no type", of(1, alice, identity.Identity("nobody")), validator.OutputOwners, zkbench.ErrMalformed},
		{"one key twice", of(2, alice, twin), validator.OutputOwners, zkbench.ErrPolicy},
		{"one key twice, apart", of(2, alice, between, twin), validator.OutputOwners, zkbench.ErrPolicy},
		{"version 2", edited(1, 2), validator.Scripts, zkbench.ErrMalformed},
		{"k=0", edited(2, 0), validator.Scripts, zkbench.ErrMalformed},
		{"k=3", edited(2, 3), validator.Scripts, zkbench.ErrMalformed},
		{"n=3", edited(3, 3), validator.Scripts, zkbench.ErrMalformed},
	} {
		s.judged(t, test.name, s.encode(s.spend("pay", test.owner, 0, 1)), test.check, 0, test.cause)
	}
	lock := must.Get(script.NewHashLock([script.ImageLen]byte{1}, uint64(s.at.Unix())+1, alice, twin))(t)
	s.judged(t, "a lock of one key", s.encode(s.spend("pay", lock.Owner(), 0, 1)), validator.OutputOwners, 0, zkbench.ErrPolicy)
}

// TestBoundsOfThresholds: outputs name no more identities, and inputs have no more signatures, than the
// most tokens of plain owners do, however they are shared out over actions.
func TestBoundsOfThresholds(t *testing.T) {
	t.Parallel()
	h := newHostile(t, "BN254", 1, keySigner)
	at := time.Unix(1_800_000_000, 0)
	var members []identity.Identity
	for i := range token.MaxMembers {
		members = append(members, must.Get(keySigner(nil, i))(t).Identity())
	}
	of := func(n int) []byte { return must.Get(script.NewThreshold(1, members[:n]...))(t).Owner() }
	for _, test := range []struct {
		actions, outputs, members int
		action, index             int // of the output that is one too many; -1: none is
	}{
		{1, 64, 16, -1, -1},
		{16, 32, 2, -1, -1},
		{16, 4, 16, -1, -1},
		{2, 64, 16, 1, 0},
		{16, 33, 2, 15, 17},
		{16, 64, 2, 8, 0},
	} {
		name := fmt.Sprintf("actions=%d,outputs=%d,members=%d", test.actions, test.outputs, test.members)
		_, err := h.v.Validate(t.Context(), h.ledger, h.request(test.actions, 1, test.outputs, of(test.members)), at)
		if test.action < 0 {
			want(t, name, err, validator.Owners, 0, 0, zkbench.ErrSignature)
			continue
		}
		want(t, name, err, validator.Scripts, test.action, test.index, zkbench.ErrLimit)
	}
	// A threshold of so many members that all sign is accepted; TestDecodeRefuses has the bound on signatures.
	s, ids := funded(t, token.RedeemOwner)
	all := must.Get(script.NewThreshold(token.MaxMembers, members...))(t)
	a, opened := s.moved("share", 0, "", ids[:1], output(all.Owner(), 100))
	id := s.apply(s.sign(&request.Request{Anchor: []byte("share"), Actions: []request.Action{a}}, s.owners[:1]), opened...).Creates[0].ID
	a, _ = s.moved("pay", 0, "", []token.ID{id}, output(s.owners[0].Identity(), 100))
	r := &request.Request{Anchor: []byte("pay"), Actions: []request.Action{a}}
	s.sign(r, s.owners[:1])
	sh := &shared{system: s, script: all}
	signers := make(map[string]identity.Signer)
	for i := range members {
		signer := must.Get(keySigner(nil, i))(t)
		signers[string(signer.Identity())] = signer
	}
	order := make([]int, token.MaxMembers)
	for i, m := range all.Identities() {
		order[i], sh.members = i, append(sh.members, signers[string(m)])
	}
	sh.authorize(r, 0, order...)
	must.Get(s.v.Validate(t.Context(), s.ledger, s.encode(r), s.at))(t)
	r.Actions[0].Spends[0].Signatures[15] = r.Actions[0].Spends[0].Signatures[14]
	_, err := s.v.Validate(t.Context(), s.ledger, s.encode(r), s.at)
	want(t, "the sixteenth is the fifteenth's", err, validator.Owners, 0, 0, zkbench.ErrSignature)
}
