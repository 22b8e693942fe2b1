package main

import (
	"slices"
	"strings"
)

// schedule puts a block's steps into an order in which a processor that issues a few vector
// instructions each cycle finds one that can start: its own reordering looks ahead less
// far than one S-box is long. A step is taken from the first window of those that are
// left, so that few values wait; of those that can start, that with the longest way to the
// end. Loads are written where they are first needed.
func (b *block) schedule() {
	// The best of those from 10 to 600: fewer leave ports idle, more fill the stack.
	window := map[int]int{8: 80, 4: 40}[b.lanes]
	needs, wanted := b.dependencies()
	height := make([]int, len(b.code))
	for at := len(b.code) - 1; at >= 0; at-- {
		for _, user := range wanted[at] {
			height[at] = max(height[at], height[user])
		}
		height[at] += b.code[at].latency()
	}
	ready := make([]int, len(b.code)) // the cycle in which what a step needs is there
	done := make([]bool, len(b.code))
	var order []step
	var take func(at, cycle int)
	take = func(at, cycle int) {
		done[at] = true
		for _, n := range needs[at] {
			if !done[n] {
				take(n, cycle)
			}
		}
		order = append(order, b.code[at])
		for _, user := range wanted[at] {
			ready[user] = max(ready[user], cycle+b.code[at].latency())
		}
	}
	masks := 0
	first := 0
	ports := b.ports()
	for cycle := 0; len(order) < len(b.code); cycle++ {
		for _, port := range ports {
			for first < len(done) && done[first] {
				first++
			}
			best := -1
			seen := 0
			for at := first; at < len(b.code) && seen < window; at++ {
				if done[at] || b.code[at].isLoad() {
					continue
				}
				seen++
				s := &b.code[at]
				if ready[at] > cycle || s.toMask != 0 && masks == maskRegisters || !s.runsOn(port) {
					continue
				}
				if slices.ContainsFunc(needs[at], func(n int) bool { return !done[n] && !b.code[n].isLoad() }) {
					continue
				}
				if best < 0 || height[at] > height[best] {
					best = at
				}
			}
			if best < 0 {
				continue
			}
			if b.code[best].toMask != 0 {
				masks++
			}
			if b.code[best].under != 0 {
				masks--
			}
			take(best, cycle)
		}
	}
	b.code = order
}

// dependencies are, of each step, those whose results it reads, and those that read its.
func (b *block) dependencies() (needs, wanted [][]int) {
	needs, wanted = make([][]int, len(b.code)), make([][]int, len(b.code))
	values, masks := map[value]int{}, map[int]int{}
	for at, s := range b.code {
		for _, o := range s.sources {
			if o.text == "" {
				needs[at] = append(needs[at], values[o.value])
			}
		}
		if s.under != 0 {
			needs[at] = append(needs[at], masks[s.under])
		}
		for _, n := range needs[at] {
			wanted[n] = append(wanted[n], at)
		}
		if s.result >= 0 {
			values[s.result] = at
		}
		if s.toMask != 0 {
			masks[s.toMask] = at
		}
	}
	return needs, wanted
}

func (s *step) isLoad() bool {
	return len(s.sources) == 1 && s.sources[0].text != "" && s.toMemory == ""
}

// latency is in cycles, as on Intel's cores from Ice Lake on.
func (s *step) latency() int {
	switch {
	case s.isLoad() || s.toMemory != "":
		return 0
	case s.mnemonic == "VPMULUDQ":
		return 5
	case s.toMask != 0, s.mnemonic == "VPCMPGTQ":
		return 3
	}
	return 1
}

// ports are those of vector instructions of the block's width.
func (b *block) ports() string {
	if b.lanes == 8 {
		return "05"
	}
	return "015"
}

func (s *step) runsOn(port rune) bool {
	switch {
	case s.toMemory != "":
		return true
	case strings.HasPrefix(s.mnemonic, "VPS") && s.mnemonic[3] != 'H' && s.mnemonic[3] != 'U': // shifts
		return port != '5'
	case s.mnemonic == "VPMULUDQ":
		return true
	case s.mnemonic == "VPSHUFD", s.toMask != 0, s.mnemonic == "VPCMPGTQ":
		return port == '5'
	}
	return true
}
