package planttest

import (
	"container/heap"
	"slices"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench/plonkish/internal/inside"
)

// forward changes an unknown, and recomputes what it decides, each unknown once.
func (s *solver) forward(u int, value fr.Element) bool {
	s.undo = append(s.undo, change{u, s.values[u]})
	s.values[u] = value
	due := make(map[int]bool) // unknowns whose constraint reads what has changed
	var order unknownsInOrder
	order.at = s.order
	read := func(u int) {
		for _, i := range s.readers[u] {
			for _, v := range s.decides[i] {
				if i != s.leftOut && v != u && !due[v] {
					due[v] = true
					heap.Push(&order, v)
				}
			}
		}
	}
	for read(u); order.Len() > 0; {
		v := heap.Pop(&order).(int)
		delete(due, v)
		if v == u {
			continue
		}
		p, target, ok := s.decision(v)
		if !ok {
			return false
		}
		now, ok := s.affine(p, v, target)
		if !ok {
			return false
		}
		if now != s.values[v] {
			s.undo = append(s.undo, change{v, s.values[v]})
			s.values[v] = now
			read(v)
		}
	}
	return true
}

// decision returns the polynomial that decides an unknown, and the value that it must have.
func (s *solver) decision(u int) (p inside.Poly, target fr.Element, ok bool) {
	k := &s.Constraints[s.by[u]]
	if k.Zero != nil {
		return k.Zero, target, true
	}
	open, at := make([]int, len(k.Tuple)), -1
	for i, p := range k.Tuple {
		open[i] = -1
		for _, v := range s.decides[s.by[u]] {
			if slices.Contains(s.unknownsIn(p), v) {
				open[i] = v
			}
		}
		if open[i] == u {
			at = i
		}
	}
	row := s.rowOf(k, open)
	if row < 0 || at < 0 {
		return nil, target, false
	}
	return k.Tuple[at], tableRow(k.Table, row)[at], true
}

// unknownsInOrder is a heap of unknowns, ordered by when they were decided.
type unknownsInOrder struct {
	all []int
	at  []int // by unknown
}

func (h *unknownsInOrder) Len() int           { return len(h.all) }
func (h *unknownsInOrder) Less(i, j int) bool { return h.at[h.all[i]] < h.at[h.all[j]] }
func (h *unknownsInOrder) Swap(i, j int)      { h.all[i], h.all[j] = h.all[j], h.all[i] }
func (h *unknownsInOrder) Push(u any)         { h.all = append(h.all, u.(int)) }
func (h *unknownsInOrder) Pop() any {
	u := h.all[len(h.all)-1]
	h.all = h.all[:len(h.all)-1]
	return u
}
