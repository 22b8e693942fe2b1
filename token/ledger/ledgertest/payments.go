package ledgertest

import (
	"encoding/binary"
	"math/rand/v2"

	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/ledger"
)

// Payments makes requests of the sizes of real ones, for benchmarks: 32-byte
// ids, tokens of 100 bytes, requests of 2 KiB. Ids are as random as hashes.
type Payments struct {
	rng  *rand.ChaCha8
	left []token.ID // unspent
	next uint64
}

const requestBytes = 2 << 10

// NewPayments makes the payments of a seed; of 0, other ones every time.
func NewPayments(seed uint64) *Payments {
	if seed == 0 {
		seed = rand.Uint64()
	}
	var key [32]byte
	binary.BigEndian.PutUint64(key[:], seed)
	return &Payments{rng: rand.NewChaCha8(key)}
}

func (p *Payments) bytes(n int) []byte {
	b := make([]byte, n)
	_, _ = p.rng.Read(b) // never fails
	return b
}

// Entry makes a request that spends and creates so many tokens. What it spends,
// entries before have created.
func (p *Payments) Entry(spends, creates int) ledger.Entry {
	p.next++
	e := ledger.Entry{Anchor: p.bytes(32), Request: p.bytes(requestBytes)}
	binary.BigEndian.PutUint64(e.Digest[:], p.next)
	for range spends {
		i := int(p.rng.Uint64() % uint64(len(p.left)))
		last := len(p.left) - 1
		e.Spends = append(e.Spends, p.left[i])
		p.left[i], p.left = p.left[last], p.left[:last]
	}
	for range creates {
		c := ledger.Created{ID: p.bytes(32), Token: p.bytes(100)}
		e.Creates = append(e.Creates, c)
		p.left = append(p.left, c.ID)
	}
	return e
}

// Batch makes n entries.
func (p *Payments) Batch(n, spends, creates int) []ledger.Entry {
	batch := make([]ledger.Entry, n)
	for i := range batch {
		batch[i] = p.Entry(spends, creates)
	}
	return batch
}
