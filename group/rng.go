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

// DRBG is a deterministic random bit generator seeded from the system, the
// random source of the curve name BLS12_381_BBS_GURVY_FAST_RNG: fast-key-erasure
// ChaCha20 (D. J. Bernstein, Fast-key-erasure random-number generators, 2017).
// It is safe for concurrent use.
//
// What it promises: output that cannot be told from random by anyone who does
// not know the state; a stolen state does not reveal earlier output, because
// the key is replaced at every expansion and bytes are erased as they are
// handed out; a stolen state stops predicting output after at most 1 MiB, when
// fresh bytes of the system are mixed into the key.
//
// What it does not promise: unlike crypto/rand it has its state in the process,
// so a memory image, for example a snapshot that is resumed twice, repeats its
// output until the next reseeding. The provers of this module tolerate that:
// their nonces also depend on witness and transcript. It follows no standard of
// NIST.
type DRBG struct {
	mu     sync.Mutex
	system io.Reader // crypto/rand, but in tests
	key    [chacha20.KeySize]byte
	buf    [drbgBuffer]byte
	unread int // bytes at the end of buf that are still to be handed out
	budget int // bytes until the next reseeding
}

// NewDRBG returns a generator seeded from crypto/rand.
func NewDRBG() *DRBG { return &DRBG{system: rand.Reader} }

// Read fills p and never fails: crypto/rand, which it reseeds from, ends the
// process rather than fail.
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

// refill expands the key into a new key and output, mixing in system bytes when
// they are due. On an error the old key stays and nothing is handed out.
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
