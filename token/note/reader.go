package note

import (
	"crypto/hmac"
	"crypto/hpke"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"hash"
	"sync"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/transcript"
)

// Reader holds the keys that are derived from one secret seed for one ledger. It makes a Payee for each address,
// and finds and opens the notes that are encrypted to its Payees. It is immutable and safe for concurrent use.
type Reader struct {
	ledger token.LedgerID
	seed   [transcript.SeedLen]byte // of note keys
	macs   sync.Pool                // *macs
}

// Format prints a fixed text for every verb, so that the seed is never printed.
func (*Reader) Format(f fmt.State, _ rune) { fmt.Fprint(f, "note.Reader (secret)") }

// macs are the two keyed hashes of tags.
type macs struct{ iv, stream hash.Hash }

// NewReader returns a Reader whose keys are all derived from the secret seed and the ledger. So readers of one seed
// on two ledgers have no key in common.
func NewReader(seed []byte, ledger token.LedgerID) *Reader {
	r := &Reader{ledger: ledger}
	var keys [2][sha256.Size]byte
	xof := transcript.XOF("zkbench/v3/note/reader", seed, ledger[:])
	for _, part := range [][]byte{r.seed[:], keys[0][:], keys[1][:]} {
		_, _ = xof.Read(part) // never fails
	}
	r.macs.New = func() any { return &macs{hmac.New(sha256.New, keys[0][:]), hmac.New(sha256.New, keys[1][:])} }
	return r
}

// siv returns the synthetic initialization vector of a nonce.
func (m *macs) siv(nonce *Nonce) (iv [sivLen]byte) {
	var sum [sha256.Size]byte
	m.iv.Reset()
	m.iv.Write(nonce[:])
	m.iv.Sum(sum[:0])
	copy(iv[:], sum[:])
	return iv
}

// mask XORs the key stream of an initialization vector into nonce.
func (m *macs) mask(nonce *Nonce, iv []byte) {
	var sum [sha256.Size]byte
	m.stream.Reset()
	m.stream.Write(iv)
	m.stream.Sum(sum[:0])
	subtle.XORBytes(nonce[:], nonce[:], sum[:])
}

// Tag returns the deterministic authenticated encryption of a nonce. It is SIV (Rogaway and Shrimpton, "A
// Provable-Security Treatment of the Key-Wrap Problem", section 4). HMAC-SHA256 makes the IV and also masks the
// nonce:
//
//	iv  = the first 16 bytes of HMAC(k1, nonce)
//	tag = iv, nonce xor HMAC(k2, iv)
//
// The keys k1 and k2 are derived from the seed and the ledger.
func (r *Reader) Tag(nonce Nonce) (tag [TagLen]byte) {
	m := r.macs.Get().(*macs)
	defer r.macs.Put(m)
	iv := m.siv(&nonce)
	m.mask(&nonce, iv[:])
	copy(tag[copy(tag[:], iv[:]):], nonce[:])
	return tag
}

// Mine reports whether this reader made a tag, and returns the tag's nonce.
func (r *Reader) Mine(tag *[TagLen]byte) (nonce Nonce, mine bool) {
	m := r.macs.Get().(*macs)
	defer r.macs.Put(m)
	copy(nonce[:], tag[sivLen:])
	m.mask(&nonce, tag[:sivLen])
	iv := m.siv(&nonce)
	if subtle.ConstantTimeCompare(iv[:], tag[:sivLen]) != 1 {
		return Nonce{}, false
	}
	return nonce, true
}

// Payee returns the Payee for the address with the given nonce. Give it to payers. It returns ErrParams if kem is
// not accepted.
func (r *Reader) Payee(nonce Nonce, kem token.KEM) (Payee, error) {
	key, err := r.key(nonce, kem)
	if err != nil {
		return Payee{}, err
	}
	return Payee{Tag: r.Tag(nonce), KEM: kem, Key: key.PublicKey().Bytes()}, nil
}

// Own returns the Payee for an address to which only the owner of the seed pays, for example the address that gets
// the change of a payment. The Reader opens a note for this Payee without a key agreement. To everybody else the
// note looks like any other note. The Payee has an empty Key, so it must not be given to other payers. For a KEM
// other than X25519, Own returns what Payee returns.
func (r *Reader) Own(nonce Nonce, kem token.KEM) (Payee, error) {
	if kem != token.X25519 { // a random encapsulated key would not look like one of ML-KEM
		return r.Payee(nonce, kem)
	}
	return Payee{Tag: r.Tag(nonce), KEM: kem, own: r.ownSecret(nonce)}, nil
}

// ownSecret derives the secret with which a reader encrypts to itself, for one nonce.
func (r *Reader) ownSecret(nonce Nonce) []byte {
	secret := make([]byte, 32)
	_, _ = transcript.XOF("zkbench/v3/note/own", r.seed[:], nonce[:]).Read(secret) // never fails
	return secret
}

// key derives the note key of a nonce.
func (r *Reader) key(nonce Nonce, kem token.KEM) (hpke.PrivateKey, error) {
	k, err := kem.HPKE()
	if err != nil {
		return nil, err
	}
	var ikm [64]byte
	_, _ = transcript.XOF("zkbench/v3/note/key", r.seed[:], nonce[:]).Read(ikm[:]) // never fails
	return k.DeriveKeyPair(ikm[:])
}

// Open opens a share. The parameter nonce is what Mine returned for the share's tag. Open ignores place.Ledger and
// uses the reader's ledger. The opening is only what the note's author wrote: check it against the token with
// token.Opens. If the share does not open, Open returns a *zkbench.DecodeError, which does not contain any part of
// the share.
func (r *Reader) Open(place Place, share *Share, nonce Nonce) (token.Opening, error) {
	place.Ledger = r.ledger
	fail := func(reason string) (token.Opening, error) {
		return token.Opening{}, &zkbench.DecodeError{Path: "note.sealed", Reason: fmt.Sprintf("%d bytes that %s", len(share.Sealed), reason)}
	}
	if plain, ok := openOwn(r.ownSecret(nonce), place.info(), share); ok {
		o, err := decodeOpening(plain)
		if err != nil {
			return fail("are not an opening")
		}
		return o, nil
	}
	key, err := r.key(nonce, share.KEM)
	if err != nil {
		return token.Opening{}, &zkbench.DecodeError{Path: "note.KEM", Reason: fmt.Sprintf("%v, known are %v and %v", share.KEM, token.X25519, token.MLKEM768X25519)}
	}
	plain, err := hpke.Open(key, hpke.HKDFSHA256(), hpke.ChaCha20Poly1305(), place.info(), share.Sealed)
	if err != nil {
		return fail("cannot be opened with the key of the tag")
	}
	o, err := decodeOpening(plain)
	if err != nil {
		return fail("are not an opening")
	}
	return o, nil
}
