// Package challenger derives each challenge of a proof from all messages that were absorbed before it. There
// are two challengers: NewBytes uses the module's transcript of bytes, and NewDuplex uses a sponge over field
// elements, which can also be computed in a circuit.
package challenger

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"sync"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/hash/keccak"
	"github.com/zkbench/zkbench/stark/internal/field"
	"github.com/zkbench/zkbench/stark/internal/tree"
	"github.com/zkbench/zkbench/transcript"
)

// Challenger absorbs messages under labels and returns challenges.
type Challenger[E, X any] interface {
	Bytes(label string, data []byte)
	Digests(label string, digests []tree.Digest)
	Elements(label string, elements []E)
	// Challenge draws an element of the extension. If outside is set, the element is not in the field itself.
	Challenge(label string, outside bool) X
	// Index draws a number below 2^log.
	Index(label string, log int) int
	// Grind finds and absorbs a nonce with the given bits of proof of work. CheckGrind absorbs a given nonce
	// and returns zkbench.ErrProof if its work does not suffice.
	Grind(ctx context.Context, ex executor.Executor, label string, work int) (nonce uint64, err error)
	CheckGrind(label string, work int, nonce uint64) error
}

type bytes[E field.Element[E], X field.Extension[E, X]] struct {
	field field.Field[E, X]
	t     transcript.Transcript
}

// NewBytes returns a challenger that uses a transcript of package transcript. The transcript gets the name
// of the protocol.
func NewBytes[E field.Element[E], X field.Extension[E, X]](f field.Field[E, X], protocol string) Challenger[E, X] {
	return &bytes[E, X]{f, transcript.New(protocol)}
}

func (b *bytes[E, X]) Bytes(label string, data []byte) { b.t.Append(label, data) }

func (b *bytes[E, X]) Digests(label string, digests []tree.Digest) {
	data := make([]byte, 0, len(digests)*tree.DigestBytes)
	for _, d := range digests {
		data = d.Append(data)
	}
	b.t.Append(label, data)
}

func (b *bytes[E, X]) Elements(label string, elements []E) {
	data := make([]byte, 0, len(elements)*b.field.Bytes())
	for _, e := range elements {
		data = field.Append(data, b.field.Word(e), b.field.Bytes())
	}
	b.t.Append(label, data)
}

// Challenge takes coordinate after coordinate from the bytes of the transcript's challenge. Each takes as
// many bits as the field's order has, and values that are not below the order are skipped.
func (b *bytes[E, X]) Challenge(label string, outside bool) (x X) {
	order := b.field.Order()
	mask := uint64(1)<<bits.Len64(order) - 1 // all ones if the order has 64 bits
	size := b.field.Bytes()
	var zero E
	for {
		drawn := 0
		raw := b.t.Challenge(label)
		for data := raw[:]; len(data) >= size && drawn < len(x); data = data[size:] {
			if v := field.Read(data[:size]) & mask; v < order {
				x[drawn] = b.field.New(v)
				drawn++
			}
		}
		if drawn < len(x) {
			continue // with probability below 2^-40: draw again
		}
		inside := true
		for i := 1; i < len(x); i++ {
			inside = inside && x[i] == zero
		}
		if !outside || !inside {
			return x
		}
	}
}

func (b *bytes[E, X]) Index(label string, log int) int {
	raw := b.t.Challenge(label)
	return int(binary.LittleEndian.Uint64(raw[:]) & (1<<log - 1))
}

// mostWork is the maximum number of bits of grinding.
const mostWork = 40

// grinds is the number of nonces in one task, and searches the number of tasks that are started at once.
// Starting tasks costs time, so each has many nonces.
const (
	grinds   = 1 << 9
	searches = 1 << 6
)

// search returns the least nonce that try finds. Each call of try covers grinds nonces, beginning with from.
func search(ctx context.Context, ex executor.Executor, try func(from uint64) (uint64, bool)) (uint64, error) {
	for from := uint64(0); ; from += searches * grinds {
		var mu sync.Mutex
		least := uint64(math.MaxUint64)
		err := ex.Do(ctx, searches, func(_ context.Context, i int) error {
			first := from + uint64(i)*grinds
			mu.Lock()
			past := least < first
			mu.Unlock()
			if past {
				return nil
			}
			nonce, is := try(first)
			mu.Lock()
			defer mu.Unlock()
			if is {
				least = min(least, nonce)
			}
			return nil
		})
		if err != nil || least < math.MaxUint64 {
			return least, err
		}
	}
}

// worked returns zkbench.ErrProof if a nonce led to fewer zero bits than work. If work is 0, the only
// accepted nonce is 0.
func worked(zeros, work int, nonce uint64) error {
	if zeros < work || work == 0 && nonce != 0 {
		return fmt.Errorf("%w: the nonce has fewer than %d bits of work, or is not 0 without work", zkbench.ErrProof, work)
	}
	return nil
}

// zeros counts the trailing zero bits in the first word of the Keccak-256 digest of a seed and a nonce.
func zeros(seed [8 * seedWords]byte, nonce uint64) int {
	digest := keccak.Sum256(binary.LittleEndian.AppendUint64(seed[:], nonce))
	return bits.TrailingZeros64(binary.LittleEndian.Uint64(digest[:]))
}

// seedWords is the length of a seed in words.
const seedWords = 4

func (b *bytes[E, X]) Grind(ctx context.Context, ex executor.Executor, label string, work int) (uint64, error) {
	if work < 0 || work > mostWork {
		return 0, fmt.Errorf("%w: %d bits of grinding, accepted are 0 to %d", zkbench.ErrParams, work, mostWork)
	}
	seed := b.seed(label)
	// There is a column for each word of the seed, which all nonces share, and one for the nonces.
	words := make([][]uint64, seedWords)
	for i := range words {
		words[i] = make([]uint64, grinds)
		for j := range words[i] {
			words[i][j] = binary.LittleEndian.Uint64(seed[8*i:])
		}
	}
	type attempt struct {
		columns [][]uint64
		digests []tree.Digest
	}
	attempts := sync.Pool{New: func() any {
		return &attempt{append(slices.Clone(words), make([]uint64, grinds)), make([]tree.Digest, grinds)}
	}}
	nonce, err := search(ctx, ex, func(from uint64) (uint64, bool) {
		a := attempts.Get().(*attempt)
		defer attempts.Put(a)
		for j := range grinds {
			a.columns[seedWords][j] = from + uint64(j)
		}
		keccak.SumColumns(a.digests, a.columns)
		for i, d := range a.digests {
			if bits.TrailingZeros64(d[0]) >= work {
				return from + uint64(i), true
			}
		}
		return 0, false
	})
	b.t.AppendUint64(label, nonce)
	return nonce, err
}

func (b *bytes[E, X]) CheckGrind(label string, work int, nonce uint64) error {
	seed := b.seed(label)
	b.t.AppendUint64(label, nonce)
	return worked(zeros(seed, nonce), work, nonce)
}

// seed draws the seed of a proof of work.
func (b *bytes[E, X]) seed(label string) [8 * seedWords]byte {
	raw := b.t.Challenge(label + " seed")
	return [8 * seedWords]byte(raw[:])
}
