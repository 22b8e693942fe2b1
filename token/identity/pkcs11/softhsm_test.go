//go:build pkcs11 && cgo

package pkcs11

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	p11 "github.com/miekg/pkcs11"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/softhsmtest"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/identity"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/bolt"
	"github.com/zkbench/zkbench/token/ledger/head"
	"github.com/zkbench/zkbench/token/service"
	"github.com/zkbench/zkbench/token/validator"
)

// newToken returns a token with a key of each type: "ed" and "ec".
func newToken(t *testing.T) *softhsmtest.Token {
	t.Helper()
	s := softhsmtest.New(t).Make(t, "bank")
	s.Import(t, "ed", 1, edKey(t))
	s.Import(t, "ec", 2, ecKey(t, elliptic.P256()))
	return s
}

func edKey(t *testing.T) ed25519.PrivateKey {
	t.Helper()
	_, key, err := ed25519.GenerateKey(nil)
	must.Do(t, err)
	return key
}

func ecKey(t *testing.T, curve elliptic.Curve) *ecdsa.PrivateKey {
	t.Helper()
	return must.Get(ecdsa.GenerateKey(curve, rand.Reader))(t)
}

// opened opens a key, and closes it when the test ends.
func opened(t *testing.T, uri string) *key {
	t.Helper()
	k := must.Get(Open(uri))(t).(*key)
	t.Cleanup(func() {
		if err := k.Close(); err != nil && !errors.Is(err, fs.ErrClosed) {
			t.Error(err)
		}
	})
	return k
}

// signer returns the signer of a key: of a key on P-256, by a certificate that the key itself signs.
func signer(t *testing.T, k Key) identity.Signer {
	t.Helper()
	if _, ok := k.Public().(ed25519.PublicKey); ok {
		return must.Get(identity.NewEd25519Signer(k))(t)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "issuer"}, NotBefore: time.Unix(1e9, 0), NotAfter: time.Unix(2e9, 0)}
	return must.Get(identity.NewX509Signer(must.Get(x509.CreateCertificate(nil, template, template, k.Public(), k))(t), k))(t)
}

// signs fails the test unless the signer's signature of a message verifies.
func signs(t *testing.T, s identity.Signer, message string) {
	t.Helper()
	set := must.Get(identity.NewSet(1, nil))(t)
	signature := must.Get(s.Sign([]byte(message), nil))(t)
	must.Do(t, must.Get(set.Verifier(s.Identity()))(t).Verify([]byte(message), signature))
}

// TestSign: the keys of a token are those that were stored in it, and sign for their identities: of P-256, 100 times with
// what package identity accepts, though the token returns a high s about half of the time.
func TestSign(t *testing.T) {
	s := newToken(t)
	stored := edKey(t)
	s.Import(t, "third", 3, stored)
	if public := opened(t, s.URI("third")).Public().(ed25519.PublicKey); !public.Equal(stored.Public()) {
		t.Error("another public key")
	}
	byID := strings.Replace(s.URI("third"), "object=third", "id=%03;type=private", 1)
	if public := opened(t, byID).Public().(ed25519.PublicKey); !public.Equal(stored.Public()) {
		t.Error("another public key by its id")
	}
	for name, n := range map[string]int{"ed": 3, "ec": 100} {
		who := signer(t, opened(t, s.URI(name)))
		for i := range n {
			signs(t, who, fmt.Sprintf("request %d", i))
		}
	}
}

// TestRequest: keys in a token sign a request as its issuer and as its auditor, and own the wallet that it pays. The
// validator accepts the request. A key on P-256 cannot own a wallet, whose secrets come from signatures.
func TestRequest(t *testing.T) {
	s := newToken(t)
	ed, ec := signer(t, opened(t, s.URI("ed"))), signer(t, opened(t, s.URI("ec")))
	for name, c := range map[string]struct{ issuer, auditor identity.Signer }{"issuer=Ed25519": {ed, ec}, "issuer=P-256": {ec, ed}} {
		t.Run(name, func(t *testing.T) {
			params := must.Get(token.NewPublicParams("BN254", 8, token.Bulletproof))(t)
			opening := must.Get(must.Get(token.X25519.HPKE())(t).GenerateKey())(t)
			params.Policy.Issuers = []token.Issuer{{Identity: c.issuer.Identity()}}
			params.Policy.Auditors = []token.Auditor{{Identity: c.auditor.Identity(), KEM: token.X25519, Key: opening.PublicKey().Bytes()}}
			genesis := must.Get(ledger.NewGenesis(params))(t)
			vault := func(name string) *service.Vault {
				v := must.Get(service.CreateVault(filepath.Join(t.TempDir(), name), genesis))(t)
				t.Cleanup(func() { must.Do(t, v.Close()) })
				return v
			}
			ex, local := executor.Serial(), token.Tuning{}
			issues := must.Get(service.NewIssueService(params, token.Bulletproof, local, ex, vault("issuer"), c.issuer))(t)
			audits := must.Get(service.NewAuditorService(params, local, ex, vault("auditor"), service.Auditor{Signer: c.auditor, Key: opening, Policy: service.SignAll{}}))(t)
			must.FailGet(service.NewKey(genesis, ec))(t, zkbench.ErrParams, "a wallet of a key on P-256")
			wallet := must.Get(service.NewWallet(params, vault("wallet"), must.Get(service.NewKey(genesis, ed))(t)))(t)
			order := service.Order{Type: "USD", Payments: []service.Payment{{To: must.Get(wallet.Address(nil))(t), Value: 100}}}
			sub := must.Get(issues.Issue(t.Context(), order))(t)
			signature, _, err := audits.Sign(t.Context(), must.Get(sub.Request.Encode())(t), must.Get(sub.Information.Encode())(t))
			must.Do(t, err)
			sub.Request.Auditors[0] = signature
			book := must.Get(bolt.Create(filepath.Join(t.TempDir(), "ledger"), genesis))(t)
			t.Cleanup(func() { must.Do(t, book.Close()) })
			validates := must.Get(validator.New(params, genesis, ex, local, 10))(t)
			valid := must.Get(validates.Validate(t.Context(), book, must.Get(sub.Request.Encode())(t), time.Unix(1.8e9, 0)))(t)
			must.Do(t, book.Apply(t.Context(), []ledger.Entry{valid.Entry()}))
			must.Do(t, wallet.Sync(t.Context(), book))
			golden.Equal(t, "holdings", "100", must.Get(wallet.Holdings("USD"))(t).Sum.String())
		})
	}
}

// TestHeads: a validator's key in a token signs heads, and opens the state file again.
func TestHeads(t *testing.T) {
	s := newToken(t)
	who := signer(t, opened(t, s.URI("ed")))
	path, ledger, at := filepath.Join(t.TempDir(), "v.head"), token.LedgerID{1}, time.Unix(1.8e9, 0)
	first := head.Head{Ledger: ledger, Size: 1}
	must.Do(t, head.CreateSigner(path, who, first, at))
	heads := must.Get(head.OpenSigner(path, who, ledger))(t)
	signed := must.Get(heads.Sign(t.Context(), first, at.Add(time.Minute), nil))(t)
	golden.Equal(t, "head", first.Checkpoint(), must.Get(head.ParseSigned(signed))(t).Checkpoint())
	must.Do(t, heads.Close())
	must.Do(t, must.Get(head.OpenSigner(path, who, ledger))(t).Close()) // which verifies the signature
	must.Fail(t, head.CreateSigner(path+"2", signer(t, opened(t, s.URI("ec"))), first, at), zkbench.ErrParams, "a key on P-256")
}

// TestOptions: what no signature of the key's type can be is refused.
func TestOptions(t *testing.T) {
	s := newToken(t)
	digest := sha256.Sum256(nil)
	for _, c := range []struct {
		key    string
		digest []byte
		opts   crypto.SignerOpts
	}{
		{"ed", digest[:], crypto.SHA256},
		{"ed", digest[:], &ed25519.Options{Context: "other"}},
		{"ed", digest[:], nil},
		{"ec", digest[:], crypto.Hash(0)},
		{"ec", digest[1:], crypto.SHA256},
	} {
		must.FailGet(opened(t, s.URI(c.key)).Sign(nil, c.digest, c.opts))(t, zkbench.ErrParams, "%s, %v", c.key, c.opts)
	}
	k := opened(t, s.URI("ed"))
	must.Do(t, k.Close())
	must.Fail(t, k.Close(), fs.ErrClosed, "closed twice")
	must.FailGet(k.Sign(nil, nil, crypto.Hash(0)))(t, fs.ErrClosed, "closed")
}

// TestOpenRefuses: each refusal has its kind, names the field, and does not print the PIN.
func TestOpenRefuses(t *testing.T) {
	s := newToken(t)
	s.Make(t, "twin")
	s.Make(t, "twin")
	s.Import(t, "two", 4, edKey(t))
	s.Import(t, "two", 5, ecKey(t, elliptic.P256()))
	s.Import(t, "rsa", 6, must.Get(rsa.GenerateKey(rand.Reader, 2048))(t))
	s.Import(t, "p384", 7, ecKey(t, elliptic.P384()))
	s.Import(t, "lonely", 8, edKey(t))
	remove(t, s, "lonely")
	file := func(text string, mode os.FileMode) string {
		path := filepath.Join(t.TempDir(), "pin")
		must.Do(t, os.WriteFile(path, []byte(text), mode))
		must.Do(t, os.Chmod(path, mode))
		return path
	}
	const wrong = "98765432"
	for _, c := range []struct {
		what, was, is string
		kind          error
		says          string
	}{
		{"no object", "object=ed", "object=none", zkbench.ErrParams, "object: the token has no such private key"},
		{"two objects", "object=ed", "object=two", zkbench.ErrParams, "several such private keys"},
		{"RSA", "object=ed", "object=rsa", zkbench.ErrParams, "object: not a key of an elliptic curve; accepted: a key of Ed25519 or P-256"},
		{"P-384", "object=ed", "object=p384", zkbench.ErrParams, "object: a key of another curve"},
		{"no public key", "object=ed", "object=lonely", zkbench.ErrParams, "no such public key"},
		{"no token", "token=bank", "token=branch", zkbench.ErrEnv, "no token matches the URI"},
		{"another serial", "token=bank", "token=bank;serial=1", zkbench.ErrEnv, "no token matches the URI"},
		{"two tokens", "token=bank", "token=twin", zkbench.ErrParams, "token: several match"},
		{"no library", s.Module, filepath.Join(t.TempDir(), "none.so"), zkbench.ErrEnv, "module-path"},
		{"another file than a library", s.Module, s.PINFile, zkbench.ErrEnv, "module-path"},
		{"wrong PIN", s.PINFile, file(wrong, 0o600), zkbench.ErrParams, "pin-source: the token refuses the PIN"},
		{"no PIN", s.PINFile, file("\n", 0o600), zkbench.ErrParams, "pin-source: a file of 1 bytes"},
		{"file of others", s.PINFile, file(wrong, 0o644), zkbench.ErrParams, "pin-source: "},
		{"no file", s.PINFile, s.PINFile + "2", zkbench.ErrParams, "pin-source: "},
	} {
		_, err := Open(strings.Replace(s.URI("ed"), c.was, c.is, 1))
		if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), wrong) {
			t.Errorf("%s: %v; want %v, ...%s", c.what, err, c.kind, c.says)
		}
	}
	golden.Equal(t, "open libraries", 0, len(libraries.open))
}

// remove removes the public key of a label.
func remove(t *testing.T, s *softhsmtest.Token, label string) {
	t.Helper()
	k := opened(t, s.URI(label))
	defer k.Close()
	ctx := k.lib.ctx
	session := must.Get(ctx.OpenSession(must.Get(k.lib.slot(k.uri))(t), p11.CKF_SERIAL_SESSION|p11.CKF_RW_SESSION))(t)
	must.Do(t, ctx.FindObjectsInit(session, []*p11.Attribute{p11.NewAttribute(p11.CKA_CLASS, p11.CKO_PUBLIC_KEY), p11.NewAttribute(p11.CKA_LABEL, label)}))
	found, _, err := ctx.FindObjects(session, 2)
	must.Do(t, errors.Join(err, ctx.FindObjectsFinal(session)))
	must.Do(t, ctx.DestroyObject(session, found[0]))
}

// TestLostSession: a key signs again after its sessions were closed, after the library was started anew for another key,
// and after the token was removed and came back. While the token is away, Sign says so.
func TestLostSession(t *testing.T) {
	s := newToken(t)
	k, other := opened(t, s.URI("ed")), opened(t, s.URI("ec"))
	who, otherWho := signer(t, k), signer(t, other)

	must.Do(t, k.lib.ctx.CloseAllSessions(must.Get(k.lib.slot(k.uri))(t)))
	signs(t, who, "all sessions closed")
	signs(t, otherWho, "all sessions closed")

	k.lib.mu.Lock()
	must.Do(t, k.lib.restart())
	k.lib.mu.Unlock()
	signs(t, otherWho, "started anew")
	signs(t, who, "started anew")

	must.Do(t, os.Rename(s.Dir, s.Dir+".away"))
	for range 2 {
		_, err := who.Sign([]byte("token removed"), nil)
		must.Fail(t, err, zkbench.ErrEnv, "token removed")
	}
	must.FailGet(Open(s.URI("ed")))(t, zkbench.ErrEnv, "open a token that was removed")
	must.Do(t, os.Rename(s.Dir+".away", s.Dir))
	signs(t, who, "token back")
	signs(t, otherWho, "token back")
}

// TestRefusedPIN: after a token refused the PIN, a key tries no more: each try could lock the token.
func TestRefusedPIN(t *testing.T) {
	s := newToken(t)
	k := opened(t, s.URI("ed"))
	who := signer(t, k)
	must.Do(t, os.WriteFile(s.PINFile, []byte("98765432"), 0o600))
	signs(t, who, "the session is open")
	must.Do(t, k.lib.ctx.CloseAllSessions(must.Get(k.lib.slot(k.uri))(t)))
	for range 2 {
		_, err := who.Sign([]byte("a wrong PIN"), nil)
		must.Fail(t, err, zkbench.ErrEnv, "a wrong PIN")
		if err == nil || !strings.Contains(err.Error(), "refuses the PIN") || strings.Contains(err.Error(), "98765432") {
			t.Error(err)
		}
		must.Do(t, os.WriteFile(s.PINFile, []byte(softhsmtest.PIN), 0o600))
	}
	signs(t, signer(t, opened(t, s.URI("ed"))), "opened again")
}

// TestReplacedKey: after a lost session, another key with the same name does not sign for the first one.
func TestReplacedKey(t *testing.T) {
	s := newToken(t)
	who := signer(t, opened(t, s.URI("ed")))
	must.Do(t, os.RemoveAll(s.Dir))
	must.Do(t, os.Mkdir(s.Dir, 0o700))
	s.Make(t, "bank").Import(t, "ed", 1, edKey(t))
	_, err := who.Sign([]byte("message"), nil)
	must.Fail(t, err, zkbench.ErrEnv, "another key")
	if err == nil || !strings.Contains(err.Error(), "another key") {
		t.Error(err)
	}
}

// TestAlwaysAuthenticate: a key that wants the PIN for each signature gets it.
func TestAlwaysAuthenticate(t *testing.T) {
	s := newToken(t)
	k := opened(t, s.URI("ed"))
	ctx := k.lib.ctx
	session := must.Get(ctx.OpenSession(must.Get(k.lib.slot(k.uri))(t), p11.CKF_SERIAL_SESSION|p11.CKF_RW_SESSION))(t)
	common := func(class uint) []*p11.Attribute {
		return []*p11.Attribute{p11.NewAttribute(p11.CKA_CLASS, class), p11.NewAttribute(p11.CKA_TOKEN, true), p11.NewAttribute(p11.CKA_LABEL, "strict"), p11.NewAttribute(p11.CKA_ID, []byte{9})}
	}
	_, _, err := ctx.GenerateKeyPair(session, []*p11.Mechanism{p11.NewMechanism(p11.CKM_EC_KEY_PAIR_GEN, nil)},
		append(common(p11.CKO_PUBLIC_KEY), p11.NewAttribute(p11.CKA_EC_PARAMS, []byte(keyTypes[1].params[0])), p11.NewAttribute(p11.CKA_VERIFY, true)),
		append(common(p11.CKO_PRIVATE_KEY), p11.NewAttribute(p11.CKA_PRIVATE, true), p11.NewAttribute(p11.CKA_SIGN, true), p11.NewAttribute(p11.CKA_ALWAYS_AUTHENTICATE, true)))
	must.Do(t, err)
	strict := opened(t, s.URI("strict"))
	if !strict.alwaysLogsIn {
		t.Error("the token does not want the PIN")
	}
	for range 2 {
		signs(t, signer(t, strict), "message")
	}
}

// TestConcurrent: many goroutines sign with two keys of one library.
func TestConcurrent(t *testing.T) {
	s := newToken(t)
	var all sync.WaitGroup
	for i := range 8 {
		who := signer(t, opened(t, s.URI([]string{"ed", "ec"}[i%2])))
		all.Go(func() {
			set, err := identity.NewSet(1, nil)
			if err != nil {
				t.Error(err)
				return
			}
			v, err := set.Verifier(who.Identity())
			for j := 0; j < 10 && err == nil; j++ {
				message := fmt.Appendf(nil, "%d %d", i, j)
				var signature []byte
				if signature, err = who.Sign(message, nil); err == nil {
					err = v.Verify(message, signature)
				}
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}
