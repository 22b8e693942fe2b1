package group

import (
	"crypto/rand"
	"io"
	"sync"

	"golang.org/x/crypto/chacha20"
)

const (
	drbgBuffer = 1024    // bytes of one ChaCha20 expansion, the next key included
	drbgReseed = 1 << 20 // bytes of output between reseedings
)

// DRBG is a deterministic random bit generator seeded from the system: fast-key-erasure ChaCha20
// (D. J. Bernstein, Fast-key-erasure random-number generators, 2017). It is the random source if
// the curve BLS12_381_BBS_GURVY_FAST_RNG is chosen. It is safe for concurrent use.
//
// The output cannot be distinguished from random bytes by anyone who does not know the state. A
// stolen state does not reveal earlier output: every expansion of the key into output also makes
// a new key, and bytes are erased when they are returned. A stolen state stops predicting output
// after at most 1 MiB, when fresh system bytes are mixed into the key.
//
// Unlike crypto/rand it keeps its state in the process. So a copy of the process's memory, for
// example a snapshot that is resumed twice, repeats its output until the next reseeding. The
// provers of this module tolerate that, because their nonces also depend on the witness and the
// transcript. DRBG follows no standard of NIST.
type DRBG struct {
	mu     sync.Mutex
	system io.Reader // crypto/rand, except in tests
	key    [chacha20.KeySize]byte
	buf    [drbgBuffer]byte
	unread int // bytes at the end of buf that were not returned yet
	budget int // bytes until the next reseeding
}

// NewDRBG returns a generator seeded from crypto/rand.
func NewDRBG() *DRBG { return &DRBG{system: rand.Reader} }

// Read fills p and never fails. It reseeds from crypto/rand, which ends the process instead of
// returning an error.
func (d *DRBG) Read(p []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := len(p)
	for len(p) > 0 {
		if d.unread == 0 {
			if err := d.refill(); err != nil {
				return n - len(p), err
			}
		}
		fresh := d.buf[drbgBuffer-d.unread:]
		k := copy(p, fresh)
		clear(fresh[:k])
		d.unread -= k
		p = p[k:]
	}
	return n, nil
}

// refill expands the key into a new key and output, and mixes in system bytes when they are due. On
// an error the old key stays and nothing is returned.
func (d *DRBG) refill() error {
	if d.budget <= 0 {
		var fresh [chacha20.KeySize]byte
		if _, err := io.ReadFull(d.system, fresh[:]); err != nil {
			return err
		}
		for i, b := range fresh {
			d.key[i] ^= b
		}
		d.budget = drbgReseed
	}
	// Every key is used for one expansion, so the nonce may be constant.
	c, err := chacha20.NewUnauthenticatedCipher(d.key[:], make([]byte, chacha20.NonceSize))
	if err != nil {
		return err
	}
	clear(d.buf[:])
	c.XORKeyStream(d.buf[:], d.buf[:])
	copy(d.key[:], d.buf[:])
	clear(d.buf[:chacha20.KeySize])
	d.unread = drbgBuffer - chacha20.KeySize
	d.budget -= d.unread
	return nil
}
