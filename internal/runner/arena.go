package runner

import (
	"encoding/binary"
	"math"
	"math/rand/v2"

	"github.com/zkbench/zkbench"
)

// Results wait for their check in an arena outside the Go heap: on the heap
// hundreds of megabytes of them would make collections rarer, and so the figures
// of the collector those of another program.
//
// The arena is cut into equal parts, one a shard, and these into equal slots,
// each with room for one result: 8 bytes of sequence number, 4 of length, the
// result.
const slotHeader = 12

// keeper is a shard's part of the arena. It keeps all results up to its room,
// beyond that a uniform sample of them, seeded.
type keeper struct {
	slot  int    // bytes a slot
	room  int    // slots
	mem   []byte // of all of them
	n     int    // slots in use
	seen  uint64 // results offered
	large map[int][]byte
	heap  int // bytes of the large ones that there is room for
	rng   *rand.PCG
}

// keep copies the result into a slot, or not. A result that outgrows its slot,
// which was made for the greatest seen before with a quarter to spare, goes to the
// heap, as far as it may; beyond that its place stays empty.
func (k *keeper) keep(seq uint64, result []byte) {
	if k.room == 0 {
		return
	}
	k.seen++
	i := k.n
	if i < k.room {
		k.n++
	} else if j := k.rng.Uint64() % k.seen; j < uint64(k.room) {
		i = int(j) // the n-th result takes a place with probability room/n
	} else {
		return
	}
	at := k.mem[i*k.slot : (i+1)*k.slot]
	binary.LittleEndian.PutUint64(at, seq)
	binary.LittleEndian.PutUint32(at[8:], uint32(len(result)))
	if before, ok := k.large[i]; ok {
		k.heap += len(before)
		delete(k.large, i)
	}
	if copy(at[slotHeader:], result) < len(result) && len(result) <= k.heap {
		if k.large == nil {
			k.large = make(map[int][]byte)
		}
		k.large[i] = append([]byte(nil), result...)
		k.heap -= len(result)
	}
}

// result returns the result in slot i; ok is false where the place is empty.
func (k *keeper) result(i int) (seq uint64, result []byte, ok bool) {
	at := k.mem[i*k.slot : (i+1)*k.slot]
	n := int(binary.LittleEndian.Uint32(at[8:]))
	if n > k.slot-slotHeader {
		result, ok = k.large[i]
		return binary.LittleEndian.Uint64(at), result, ok
	}
	return binary.LittleEndian.Uint64(at), at[slotHeader:][:n:n], true
}

// reserve plans the arena: expected results of up to size bytes each. It returns
// the bytes of a slot and the number of slots. A check of all whose results
// cannot fit is a *zkbench.LimitError.
func (c *Config) reserve(expected float64, size int) (slot, n int, err error) {
	slot = (slotHeader + size + size/4 + 7) &^ 7
	fits := int(c.Arena / int64(slot))
	switch c.Check.Policy {
	case CheckNone:
		return slot, 0, nil
	case CheckSample:
		return slot, min(c.Check.N, fits), nil
	case CheckAll:
		if expected > float64(fits) {
			return 0, 0, &zkbench.LimitError{
				What:     "check all: bytes of the results that wait for their check; a sample of them is accepted, a shorter run, or a larger arena",
				Estimate: int64(min(expected, 1e15) * float64(slot)), Max: c.Arena,
			}
		}
		return slot, fits, nil
	default:
		return slot, min(fits, keepByDefault), nil
	}
}

// keepByDefault bounds the results that are checked where the user did not say:
// the check of so many takes about as long as a minute of load.
const keepByDefault = 1 << 16

// arena is the memory of all keepers. Each has slots in proportion to its
// workers.
type arena struct {
	mem      []byte
	slot     int
	heap     int   // bytes of results that outgrow their slots, a keeper
	first    []int // slot of each keeper, and the end of the last one
	resident int   // slots
}

// newArena reserves n slots for keepers with so many workers each. Those for the
// expected results, and a quarter more, are made resident, so that the window is
// free of page faults.
func newArena(slot, n int, workers []int, expected float64) (*arena, error) {
	a := &arena{slot: slot, heap: math.MaxInt}
	all, before := 0, 0
	for _, w := range workers {
		all += w
	}
	for _, w := range workers {
		a.first = append(a.first, n*before/all)
		before += w
	}
	a.first = append(a.first, n)
	var err error
	if a.mem, err = mapMemory(n * slot); err != nil {
		return nil, err
	}
	for i, w := range workers {
		part := a.part(i)
		touched := min(len(part)/slot, int(expected*1.25)*w/all+1)
		for at := 0; at < touched*slot; at += pageSize {
			part[at] = 0
		}
		a.resident += touched
	}
	return a, nil
}

const pageSize = 4096 // or a multiple of it

func (a *arena) part(i int) []byte {
	from, to := a.first[i]*a.slot, a.first[i+1]*a.slot
	return a.mem[from:to:to]
}

// keeper returns keeper i.
func (a *arena) keeper(i int, seed uint64) keeper {
	part := a.part(i)
	return keeper{slot: a.slot, room: len(part) / a.slot, mem: part, heap: a.heap, rng: rand.NewPCG(seed, reservoirStream<<32|uint64(i))}
}

// reserved returns the bytes that were made resident.
func (a *arena) reserved() uint64 {
	if a == nil {
		return 0
	}
	return uint64(a.resident * a.slot)
}

func (a *arena) free() error {
	if a == nil {
		return nil
	}
	return unmapMemory(a.mem)
}
