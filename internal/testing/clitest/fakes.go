package clitest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/runner/stage"
	"github.com/zkbench/zkbench/internal/workload"
)

// StartedEnv names an environment variable with a network address. The operation of the workload Slow dials this
// address when it begins, and ends when the connection is closed.
const StartedEnv = "ZKBENCH_TEST_STARTED"

// Defs returns workloads with trivial operations, so that tests of commands do not depend on real workloads. Some have
// the names and axes of real workloads. Others fail, each in its own way.
func Defs() []workload.Def {
	axes := []workload.Axis{
		workload.CurveAxis([]string{"BN254", "BLS12_381_BBS"}, []string{"BN254"}),
		workload.BitsAxis(), workload.InputsAxis(8), workload.OutputsAxis(8),
		workload.ProofAxis([]string{"bulletproof", "csp"}),
		workload.ExecutorAxis([]string{"serial", "pool"}),
	}
	defs := []workload.Def{
		{Name: "Sender", Alias: "transfer", Doc: "Counts.", Axes: axes},
		{Name: "VerificationSenderProof", Doc: "Counts back.", Axes: axes},
		{Name: "Issuer", Alias: "issue", Doc: "Counts, without inputs.", Axes: slices.Delete(slices.Clone(axes), 2, 3)},
		{Name: "BrokenOperation", Doc: "Fails.", Axes: axes[1:2]},
		{Name: "WrongResult", Doc: "Returns a wrong result.", Axes: axes[1:2]},
		{Name: "Crash", Doc: "Ends its process.", Axes: axes[1:2]},
		{Name: "Slow", Doc: "Takes a minute.", Axes: axes[1:2]},
		{Name: "EarlyExit", Doc: "Counts to its witness.", Axes: axes[1:2]},
	}
	for i := range defs {
		defs[i].New = func(_ context.Context, c workload.Case, seed uint64) (workload.Instance, error) {
			bits, err := c.Int("bits")
			if defs[i].Name == "EarlyExit" {
				return earlyExit{fake{name: "Sender"}}, err
			}
			return fake{name: defs[i].Name, bits: bits, seed: seed}, err
		}
	}
	for _, i := range []int{0, 3} { // Sender, BrokenOperation
		defs[i].Stages = func(_ context.Context, _ workload.Case, _ uint64, r *stage.Recorder) (workload.Staged, error) {
			size := record.Reported("key", "B/key", 42, record.Exact)
			r.Start("first").End(size)
			if defs[i].Name == "BrokenOperation" {
				return workload.Staged{}, errors.New("second: broken on purpose")
			}
			r.Start("second").End()
			return workload.Staged{Metrics: []record.Metric{size}}, nil
		}
	}
	return defs
}

type fake struct {
	name string
	bits int
	seed uint64
}

func (f fake) Input(_ context.Context, seq uint64) (any, error) { return f.seed + seq, nil }

func (f fake) Run(ctx context.Context, input any) ([]byte, error) {
	switch f.name {
	case "BrokenOperation":
		return nil, errors.New("broken on purpose")
	case "Crash":
		fmt.Fprintln(os.Stderr, "crashed on purpose")
		os.Exit(7)
	case "Slow":
		conn, err := net.Dial("tcp", os.Getenv(StartedEnv))
		if err != nil {
			return nil, err
		}
		defer conn.Close()
		let := make(chan struct{})
		go func() {
			_, _ = conn.Read(make([]byte, 1)) // until the test closes it
			close(let)
		}()
		select {
		case <-time.After(time.Minute):
		case <-let:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	case "WrongResult":
		return []byte("0"), nil
	}
	n := input.(uint64)
	for range 1000 {
		n = n*6364136223846793005 + 1
	}
	return strconv.AppendUint(nil, n, 10), nil
}

func (f fake) Check(ctx context.Context, input any, output []byte) error {
	want, err := fake{name: "Sender"}.Run(ctx, input)
	if err == nil && !bytes.Equal(want, output) {
		err = errors.New("not the right number")
	}
	return err
}

func (f fake) Metrics(context.Context) ([]record.Metric, error) {
	return []record.Metric{record.Reported("proof-size", "B/proof", float64(f.bits), record.Exact)}, nil
}

func (f fake) Close() error { return nil }

// earlyExit is a workload that takes twice as long for the fixed witness as for others.
type earlyExit struct{ fake }

func (e earlyExit) SecretInput(_ context.Context, seq uint64, fixed bool) (any, error) {
	return fixed, nil
}

func (e earlyExit) Run(ctx context.Context, input any) ([]byte, error) {
	times := 10
	if input.(bool) {
		times = 20
	}
	for range times {
		if _, err := e.fake.Run(ctx, uint64(1)); err != nil {
			return nil, err
		}
	}
	return nil, nil
}
