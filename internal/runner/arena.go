package runner

import (
	"encoding/binary"
	"math"
	"math/rand/v2"

	"github.com/zkbench/zkbench"
)

// slotHeader is the size of what precedes a result in its slot: 8 bytes of sequence number
// and 4 bytes of length.
//
// Results are kept until they are checked in an arena outside the Go heap. Hundreds of
// megabytes of results on the heap would make collections rarer, and so change what is
// measured. The arena is divided among the shards in proportion to their workers, and
// each part into slots of equal size.
const slotHeader = 12

// keeper is a shard's part of the arena. It keeps all results while it has free slots,
// and then a uniform, seeded sample of them.
type keeper struct {
	slot  int            // bytes per slot
	room  int            // number of slots
	mem   []byte         // of all slots
	n     int            // slots in use
	seen  uint64         // results offered
	large map[int][]byte // results that did not fit, by slot
	heap  int            // bytes that large may still grow by
	rng   *rand.PCG
}

// keep copies the result into a slot if it is in the sample. Slots hold the largest result
// seen before and a quarter more. A result that does not fit goes to the heap, or is
// dropped if the heap's share is used up; its slot is then empty.
func (k *keeper) keep(seq uint64, result []byte) {
	if k.room == 0 {
		return
	}
	k.seen++
	i := k.n
	if i < k.room {
		k.n++
	} else if j := k.rng.Uint64() % k.seen; j < uint64(k.room) {
		i = int(j) // the n-th result takes a slot with probability room/n
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

// result returns the result in slot i; ok is false if the slot is empty.
func (k *keeper) result(i int) (seq uint64, result []byte, ok bool) {
	at := k.mem[i*k.slot : (i+1)*k.slot]
	n := int(binary.LittleEndian.Uint32(at[8:]))
	if n > k.slot-slotHeader {
		result, ok = k.large[i]
		return binary.LittleEndian.Uint64(at), result, ok
	}
	return binary.LittleEndian.Uint64(at), at[slotHeader:][:n:n], true
}

// reserve plans the arena for the expected number of results of up to size bytes each. It
// returns the bytes of a slot and the number of slots. It returns a *zkbench.LimitError
// if all results must be checked and cannot fit.
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
				What:     "check all: bytes of results that are kept until they are checked (use a sample, a shorter run or a larger arena)",
				Estimate: int64(min(expected, 1e15) * float64(slot)), Max: c.Arena,
			}
		}
		return slot, fits, nil
	default:
		return slot, min(fits, keepByDefault), nil
	}
}

// keepByDefault is the maximum number of results that CheckFit keeps. Checking them
// takes about as long as a minute of load.
const keepByDefault = 1 << 16

// arena is the memory of all keepers. Each keeper has slots in proportion to its
// workers.
type arena struct {
	mem      []byte
	slot     int   // bytes per slot
	heap     int   // bytes of results per keeper that may outgrow their slots
	first    []int // first slot of each keeper, and the end of the last one
	resident int   // slots
}

// newArena reserves n slots for keepers, which have the given numbers of workers. It makes
// the slots for the expected results, and a quarter more, resident, so that the window
// has no page faults.
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
