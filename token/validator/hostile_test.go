package validator_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"math/bits"
	"testing"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/action"
	"github.com/zkbench/zkbench/token/identity"
	"github.com/zkbench/zkbench/token/ledger/ledgertest"
	"github.com/zkbench/zkbench/token/request"
	"github.com/zkbench/zkbench/token/validator"
)

// hostile is an attacker who can sign for nobody. He names tokens on the ledger, whose owners he reads
// there, and copies signatures of another message. He makes up as many outputs and identities as he likes.
// His proofs are random bytes.
type hostile struct {
	testing.TB
	v      *validator.Validator
	pp     token.CryptoParams
	ledger ledger
	owners []identity.Signer
	wrong  [][]byte // signatures of the owners, of another message
}

const hostileSigners = 8

func newHostile(t testing.TB, curve string, cache int, signer func(scheme identity.Scheme, i int) (identity.Signer, error)) *hostile {
	t.Helper()
	h := &hostile{TB: t, ledger: make(ledger)}
	params := must.Get(token.NewPublicParams(curve, 8, token.CSP))(h)
	h.pp = must.Get(params.Crypto(token.CSP, smallTables))(h)
	h.v = must.Get(validator.New(params, ledgertest.Genesis(h, params), executor.Serial(), smallTables, cache))(h)
	scheme := must.Get(identity.NewScheme(curve))(h)
	for i := range hostileSigners {
		s := must.Get(signer(scheme, i))(h)
		wrong := must.Get(s.Sign([]byte("another message"), nil))(h)
		h.owners, h.wrong = append(h.owners, s), append(h.wrong, wrong)
	}
	return h
}

// request returns a request with the given number of actions, each with inputs of other owners' tokens and
// with outputs to the identity to.
func (h *hostile) request(actions, inputs, outputs int, to identity.Identity) []byte {
	h.Helper()
	r := &request.Request{Anchor: []byte("hostile")}
	for i := range actions {
		a := &action.Action{Notes: make([][]byte, outputs)}
		var spends []request.Spend
		for j := range inputs {
			k := (i*inputs + j) % len(h.owners)
			in := action.Input{ID: fmt.Appendf(nil, "%d %d", i, j), Token: token.Token{Owner: h.owners[k].Identity(), Commitment: make([]byte, h.pp.PointLen())}}
			stored := must.Get(in.Token.Encode())(h)
			h.ledger[string(in.ID)] = stored
			a.Inputs, spends = append(a.Inputs, in), append(spends, request.Spend{Signatures: h.wrong[k : k+1]})
		}
		for range outputs {
			a.Outputs = append(a.Outputs, token.Token{Owner: to, Commitment: make([]byte, h.pp.PointLen())})
		}
		proof := make([]byte, h.pp.ProofLen(inputs, outputs))
		must.Get(rand.Read(proof))(h)
		raw := must.Get(a.Encode(proof))(h)
		r.Actions = append(r.Actions, request.Action{Kind: token.Transfer, ProofType: token.CSP, Raw: raw, Spends: spends})
	}
	return must.Get(r.Encode())(h)
}

func keySigner(_ identity.Scheme, i int) (identity.Signer, error) {
	seed := sha256.Sum256([]byte{byte(i)})
	return identity.NewEd25519Signer(ed25519.NewKeyFromSeed(seed[:]))
}

func pseudonymSigner(scheme identity.Scheme, _ int) (identity.Signer, error) {
	holder, err := scheme.NewHolder(nil)
	if err != nil {
		return nil, err
	}
	return holder.Pseudonym(nil)
}

// TestFirstBadSignature: of a request with any of its signatures bad, alone or beside
// others, the first in the order of the checks is named, whatever its kind.
func TestFirstBadSignature(t *testing.T) {
	t.Parallel()
	s, ids := funded(t, token.RedeemIssuer)
	a, _ := s.moved("pay", 0, "", ids, output(nil, 150), output(nil, 150))
	r := &request.Request{Anchor: []byte("pay"), Actions: []request.Action{a}}
	r.Actions[0].Issuer = s.issues()
	s.sign(r, s.owners)
	owner := func(j int) []byte { return r.Actions[0].Spends[j].Signatures[0] }
	signatures := []struct {
		signature     []byte
		check         string
		action, index int
	}{
		{r.Actions[0].Issuer.Signature, validator.Issuers, 0, -1},
		{owner(0), validator.Owners, 0, 0},
		{owner(1), validator.Owners, 0, 1},
		{owner(2), validator.Owners, 0, 2}, // a pseudonym's
		{r.Auditors[0], validator.Auditors, -1, 0},
	}
	var raws [][]byte
	for mask := range 1 << len(signatures) {
		flip := func() {
			for k := range signatures {
				b := signatures[k].signature
				b[len(b)-33] ^= byte(mask >> k & 1)
			}
		}
		flip()
		raws = append(raws, s.encode(r))
		flip()
	}
	for mask, result := range s.v.ValidateBatch(t.Context(), s.ledger, raws, s.at) {
		_, alone := s.v.Validate(t.Context(), s.ledger, raws[mask], s.at)
		if mask == 0 {
			if result.Err != nil || alone != nil {
				t.Errorf("all good: %v in the batch, %v alone", result.Err, alone)
			}
			continue
		}
		first := signatures[bits.TrailingZeros(uint(mask))]
		for how, err := range map[string]error{"alone": alone, "in the batch": result.Err} {
			want(t, fmt.Sprintf("bad=%05b %s", mask, how), err, first.check, first.action, first.index, zkbench.ErrSignature)
		}
	}
}

// TestOutputsAreParsedLast: what somebody who cannot sign writes into outputs is not
// looked at, so it is the signature that is named; an owner whose script does not
// decode costs no curve, and is named before.
func TestOutputsAreParsedLast(t *testing.T) {
	t.Parallel()
	h := newHostile(t, "BN254", 1, keySigner)
	at := time.Unix(1_800_000_000, 0)
	_, err := h.v.Validate(t.Context(), h.ledger, h.request(1, 1, 2, identity.Identity("nobody")), at)
	want(t, "outputs to nobody", err, validator.Owners, 0, 0, zkbench.ErrSignature)
	_, err = h.v.Validate(t.Context(), h.ledger, h.request(1, 1, 2, identity.Identity{0x80}), at)
	want(t, "outputs to a script", err, validator.Scripts, 0, 0, zkbench.ErrMalformed)
}

// BenchmarkHostile is what the largest requests of somebody who can sign for nobody
// cost: 1024 signatures that do not hold, 1024 outputs to fresh pseudonyms.
func BenchmarkHostile(b *testing.B) {
	for _, curve := range []string{"BN254", "BLS12_381_BBS_GURVY"} {
		for _, c := range []struct {
			owners          string
			signer          func(identity.Scheme, int) (identity.Signer, error)
			inputs, outputs int
		}{
			{"ed25519", keySigner, 64, 1},
			{"pseudonym", pseudonymSigner, 64, 1},
			{"ed25519", keySigner, 1, 64},
		} {
			b.Run(fmt.Sprintf("curve=%s/owners=%s/inputs=%d/outputs=%d", curve, c.owners, 16*c.inputs, 16*c.outputs), func(b *testing.B) {
				h := newHostile(b, curve, 4096, c.signer)
				fresh := must.Get(pseudonymSigner(must.Get(identity.NewScheme(curve))(b), 0))(h)
				raw := h.request(16, c.inputs, c.outputs, fresh.Identity())
				at := time.Unix(1_800_000_000, 0)
				for b.Loop() {
					if _, err := h.v.Validate(b.Context(), h.ledger, raw, at); err == nil {
						b.Fatal("accepted")
					}
				}
				b.ReportMetric(float64(len(raw)), "B/request")
			})
		}
	}
}
