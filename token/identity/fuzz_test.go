package identity

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/must"
)

// FuzzIdentity: any bytes are refused with a typed error, or are the one
// encoding of what they decode to; single and batch agree.
func FuzzIdentity(f *testing.F) {
	set := must.Get(NewSet(8, testBN()))(f)
	for _, s := range signers(f) {
		f.Add([]byte(s.Identity()))
	}
	for _, key := range smallOrder(f) {
		f.Add(append([]byte{byte(TypeEd25519)}, key...))
	}
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, id []byte) {
		v, err := set.Verifier(id)
		if err != nil {
			if !errors.Is(err, zkbench.ErrMalformed) && !errors.Is(err, zkbench.ErrLimit) {
				t.Fatalf("untyped error: %v", err)
			}
			return
		}
		again := must.Get(parse(id, testBN()))(t)
		switch v := v.(type) {
		case *ecdsaVerifier:
			if !v.key.Equal(again.(*ecdsaVerifier).key) {
				t.Fatal("parsed twice, differently")
			}
		case *ed25519Verifier:
			if !bytes.Equal(v.key[:], id[1:]) {
				t.Fatal("the key is not the payload")
			}
		default:
			s := testBN()
			p := again.(*pseudonymVerifier[bnScalar, bnPoint])
			if !bytes.Equal(s.g.AppendPoints(nil, p.p), id[1:]) {
				t.Fatal("a second encoding of one point")
			}
		}
		if err := agree(t, set, id, []byte("m"), make([]byte, 64)); err != nil && !errors.Is(err, zkbench.ErrSignature) {
			t.Fatalf("untyped error: %v", err)
		}
	})
}

// FuzzX509: a certificate is refused at a field with a place, or is the one encoding of what
// it says.
func FuzzX509(f *testing.F) {
	certs, _ := madeCertificates(f)
	for _, cert := range certs {
		f.Add(cert)
	}
	for _, c := range formCases(f) {
		f.Add([]byte(c.der))
	}
	f.Fuzz(func(t *testing.T, cert []byte) {
		if len(cert) >= MaxLen {
			return
		}
		_, err := parseX509(cert)
		if err == nil {
			canonical(t, cert)
			must.FailGet(parseX509(cert[:len(cert)-1]))(t, zkbench.ErrMalformed, "one byte less")
			must.FailGet(parseX509(append(slices.Clone(cert), 0)))(t, zkbench.ErrMalformed, "one byte more")
			return
		}
		d, ok := errors.AsType[*zkbench.DecodeError](err)
		if !ok || !strings.HasPrefix(d.Path, "identity.certificate") || d.Offset < 1 || d.Offset > 1+len(cert) {
			t.Fatalf("no place: %v", err)
		}
	})
}

// FuzzSignature: of all bytes only the signature made is accepted, and single
// and batch agree.
func FuzzSignature(f *testing.F) {
	set := must.Get(NewSet(8, testBN()))(f)
	message := []byte("fuzz")
	all := []Signer{x509Signer(f), ed25519TestSigner(f, "fuzz"), newPseudonym(f, testBN(), "fuzz")}
	made := make([][]byte, len(all))
	for i, s := range all {
		made[i] = must.Get(s.Sign(message, seeded("fuzz")))(f)
		f.Add(uint8(i), made[i])
		f.Add(uint8(i), make([]byte, len(made[i])))
	}
	f.Fuzz(func(t *testing.T, which uint8, signature []byte) {
		i := int(which) % len(all)
		err := agree(t, set, all[i].Identity(), message, signature)
		if same := bytes.Equal(signature, made[i]); same != (err == nil) {
			t.Fatalf("signature made: %t, error %v", same, err)
		}
		if err != nil && !errors.Is(err, zkbench.ErrSignature) {
			t.Fatalf("untyped error: %v", err)
		}
	})
}

// FuzzCertificate: of all bytes only the certificate made is accepted.
func FuzzCertificate(f *testing.F) {
	e := enrol(f, testBN(), "fuzz")
	f.Add(e.raw)
	f.Add(e.raw[:40])
	f.Fuzz(func(t *testing.T, raw []byte) {
		_, err := testBN().Certificate(raw, e.authority.Identity())
		if same := bytes.Equal(raw, e.raw); same != (err == nil) {
			t.Fatalf("certificate made: %t, error %v", same, err)
		}
		if err != nil && !errors.Is(err, zkbench.ErrSignature) && !errors.Is(err, zkbench.ErrMalformed) && !errors.Is(err, zkbench.ErrLimit) {
			t.Fatalf("untyped error: %v", err)
		}
	})
}
