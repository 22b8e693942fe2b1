package asm

import (
	"slices"
	"strings"
)

// Schedule reorders a block's steps so that a processor which issues a few vector instructions per cycle always
// finds one that can start. The processor's own reordering is not enough, because it looks ahead by fewer
// instructions than one S-box of Poseidon has.
//
// Schedule chooses each step from a window, which holds the first few of the remaining steps. The window keeps
// the number of values that wait in registers small. Among the steps in the window that can start, it chooses the
// one with the longest path to the end of the block. It moves a load to the first use of its result, and drops a
// load whose result is not used.
func (b *Block) Schedule() {
	_, wanted := b.dependencies()
	kept := b.code[:0:0]
	for at, s := range b.code {
		if !s.isLoad() || len(wanted[at]) > 0 {
			kept = append(kept, s)
		}
	}
	b.code = kept
	// The best windows among 10 to 600: smaller ones leave ports idle, larger ones fill the stack.
	window := map[int]int{8: 80, 4: 40}[b.Lanes]
	needs, wanted := b.dependencies()
	height := make([]int, len(b.code))
	for at := len(b.code) - 1; at >= 0; at-- {
		for _, user := range wanted[at] {
			height[at] = max(height[at], height[user])
		}
		height[at] += b.code[at].latency()
	}
	ready := make([]int, len(b.code)) // the cycle in which a step's sources are ready
	done := make([]bool, len(b.code))
	var order []Step
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

// dependencies returns two lists for each step: the steps whose results it reads, and the steps that read its own
// result.
func (b *Block) dependencies() (needs, wanted [][]int) {
	needs, wanted = make([][]int, len(b.code)), make([][]int, len(b.code))
	values, masks := map[Value]int{}, map[int]int{}
	for at, s := range b.code {
		for _, o := range s.Sources {
			if from, made := values[o.Value]; made && o.Text == "" { // or it has entered
				needs[at] = append(needs[at], from)
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

func (s *Step) isLoad() bool {
	return len(s.Sources) == 1 && s.Sources[0].Text != "" && s.ToMemory == ""
}

// latency returns the step's latency in cycles, on Intel's cores from Ice Lake on.
func (s *Step) latency() int {
	switch {
	case s.isLoad() || s.ToMemory != "":
		return 0
	case s.Mnemonic == "VPMULUDQ":
		return 5
	case strings.HasPrefix(s.Mnemonic, "VPMADD52"):
		return 4
	case s.toMask != 0, s.Mnemonic == "VPCMPGTQ":
		return 3
	}
	return 1
}

// ports returns the ports that execute vector instructions of the block's width, one character each.
func (b *Block) ports() string {
	if b.Lanes == 8 {
		return "05"
	}
	return "015"
}

func (s *Step) runsOn(port rune) bool {
	switch {
	case s.ToMemory != "":
		return true
	case strings.HasPrefix(s.Mnemonic, "VPS") && s.Mnemonic[3] != 'H' && s.Mnemonic[3] != 'U': // shifts
		return port != '5'
	case s.Mnemonic == "VPMULUDQ":
		return true
	case s.Mnemonic == "VPSHUFD", s.toMask != 0, s.Mnemonic == "VPCMPGTQ":
		return port == '5'
	}
	return true
}
