package ours

import (
	"context"
	"errors"
	"fmt"

	"github.com/zkbench/zkbench/internal/study/peer"
	"github.com/zkbench/zkbench/internal/study/peer/guest"
	"github.com/zkbench/zkbench/riscv"
)

// Names of our peers that execute RISC-V programs, and that prove runs of them, with Keccak and Poseidon in their trees.
const (
	Riscv        = "riscv"
	Zkvm         = "zkvm"
	ZkvmPoseidon = "zkvm-poseidon"
)

// An operation is a million instructions, so that times of programs of any length can be compared.
const (
	guestMillions     = 100
	guestInstructions = guestMillions * 1_000_000
)

// Guests returns the cases of the peer Riscv. Each case executes a RISC-V program that is already loaded, until the
// program exits.
func Guests() (cases []peer.Case) {
	for _, loop := range guest.Loops() {
		for _, isa := range []*riscv.ISA{riscv.RV32IM(), riscv.RV64IM()} {
			p := &guest.Program{Loop: loop, XLEN: isa.XLEN, System: guest.Linux, Instructions: guestInstructions}
			cases = append(cases, peer.Case{
				Name:    fmt.Sprintf("GuestExecute/loop=%s/isa=rv%dim", loop.Name, isa.XLEN),
				PerCall: guestMillions,
				Rate:    "Minstr/s",
				Setup:   func() (func() error, map[string]float64, error) { return executeGuest(p, isa) },
			})
		}
	}
	return cases
}

func executeGuest(p *guest.Program, isa *riscv.ISA) (func() error, map[string]float64, error) {
	program, err := riscv.Load(p.ELF(), isa)
	if err != nil {
		return nil, nil, err
	}
	want := p.Exit()
	run := func() error {
		r, err := riscv.Run(context.Background(), program, riscv.Options{})
		if _, ended := errors.AsType[*riscv.ExitError](err); ended {
			err = nil // by the code, which is the loop's result
		}
		if err == nil && (r.Exit != want || r.Cycles != uint64(p.Instructions)) {
			err = fmt.Errorf("exit code %d after %d instructions, want %d after %d", r.Exit, r.Cycles, want, p.Instructions)
		}
		return err
	}
	return run, map[string]float64{"instructions": float64(p.Instructions)}, run()
}
