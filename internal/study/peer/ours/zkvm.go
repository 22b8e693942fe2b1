package ours

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/result/stat"
	"github.com/zkbench/zkbench/internal/runner/resources"
	"github.com/zkbench/zkbench/internal/study/peer"
	"github.com/zkbench/zkbench/internal/study/peer/guest"
	"github.com/zkbench/zkbench/stark"
	"github.com/zkbench/zkbench/zkvm"
)

// verifications is how often a proof is verified. The column verify-ns is the median.
const verifications = 5

// Proofs returns the cases of the peer Zkvm, or with Poseidon in the trees those of ZkvmPoseidon. Each case proves the run
// of a program that is already loaded, and verifies the proof. SP1's programs do the same turns and end in another way
// (guest.SP1).
func Proofs(hash stark.Hash) (cases []peer.Case) {
	for _, loop := range guest.Proved() {
		p := guest.Program{Loop: loop, XLEN: 64, System: guest.Linux, Instructions: loop.Proved}
		cases = append(cases, peer.Case{
			Name: fmt.Sprintf("GuestProve/loop=%s/isa=rv64im", loop.Name),
			Once: func() (time.Duration, map[string]float64, error) { return proveGuest(&p, hash) },
		})
	}
	return cases
}

// proveGuest proves a run and returns the time that this took. The processor time and the peak memory are those of the
// proof alone, without what is made once for all proofs.
func proveGuest(p *guest.Program, hash stark.Hash) (elapsed time.Duration, extra map[string]float64, err error) {
	ctx, ex := context.Background(), executor.Pool()
	begun := time.Now()
	program, err := zkvm.Load(p.ELF())
	if err != nil {
		return 0, nil, err
	}
	key, err := program.Key(ctx, ex, hash)
	if err != nil {
		return 0, nil, err
	}
	prepared := time.Since(begun)
	about := zkvm.About{Exit: uint64(p.Exit())}
	var plan zkvm.Plan
	debug.FreeOSMemory()
	peak, used := resources.OpenPeak(), resources.Watch()
	begun = time.Now()
	proof, _, err := program.Prove(ctx, ex, nil, about, zkvm.Options{Hash: hash, Plan: func(made zkvm.Plan) error {
		plan = made
		return nil
	}})
	elapsed = time.Since(begun)
	machine := used()
	rss, _ := peak.Close()
	if err != nil {
		return 0, nil, err
	}
	runtime.GC()
	var times []float64
	for range verifications {
		begun := time.Now()
		run, err := zkvm.Verify(key, proof, about)
		times = append(times, float64(time.Since(begun).Nanoseconds()))
		if err != nil {
			return 0, nil, err
		}
		if run.Cycles != uint64(p.Instructions) {
			return 0, nil, fmt.Errorf("the proof is about %d instructions, want %d", run.Cycles, p.Instructions)
		}
	}
	proof[len(proof)/2] ^= 1
	if _, err := zkvm.Verify(key, proof, about); !errors.Is(err, zkbench.ErrProof) && !errors.Is(err, zkbench.ErrMalformed) {
		return 0, nil, fmt.Errorf("the verifier accepts a proof with another byte: %w", err)
	}
	extra = map[string]float64{
		"instructions": float64(p.Instructions), "setup-ns": float64(prepared.Nanoseconds()),
		"cycles/s":    float64(p.Instructions) / elapsed.Seconds(),
		"proof-bytes": float64(len(proof)), "verify-ns": stat.Median(times), "proved-bits": float64(plan.Bits),
	}
	if machine != nil {
		extra["cpu-ns"] = float64(machine.CPU().Nanoseconds())
		extra["cycles/cpu-s"] = float64(p.Instructions) / machine.CPU().Seconds()
	}
	if rss > 0 {
		extra[peer.UnitPeak] = float64(rss)
	}
	return elapsed, extra, nil
}
