package zkbench

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
	"github.com/zkbench/zkbench/internal/workload"
)

// smallest are the values of axes, by the axis' key, with which an operation of every workload
// takes the least time. Other axes have their small values.
var smallest = map[string]string{
	"bits": "2", "in": "1", "out": "1", "batch": "2", "values": "2", "proof": "csp", "exec": "pool", "curve": "BN254",
	"gates": "16", "points": "16", "log": "4", "hashes": "1", "leaves": "16", "width": "8", "n": "16", "columns": "2",
	"states": "4", "units": "4", "function": "add", "set": "compare100", "bytes": "1", "table": "permutations", "size": workload.Own,
}

// several are the axes whose values each have an operation and a check of their own.
var several = map[string][]string{
	"stage": {"prove", "verify", "build", "keys", "witness"}, "impl": {"gnark", "zkbench", "stored"},
	"system": {"plonk", "groth16", "ultra"}, "tampered": {"spent", "signature", "proof", "structure"}, "transform": {"natural", "inverse"},
}

// onlyStage are workloads of circuits that take long to build, especially for groth16. Their stages
// are those of gates.
var onlyStage = map[string]string{"Keccak": "witness", "Pairing": "witness", "Pedersen": "witness"}

// smallCases returns small cases of a workload, one of each operation.
func smallCases(t *testing.T, def workload.Def) []workload.Case {
	t.Helper()
	lists := make(map[string]string)
	for _, a := range def.Axes {
		list, ok := smallest[a.Key]
		if !ok {
			list = a.Smoke
		}
		if _, err := a.Parse(list); err != nil {
			list = a.Smoke // the key has another meaning here
		}
		var accepted []string
		for _, v := range several[a.Key] {
			if _, err := a.Parse(v); err == nil {
				accepted = append(accepted, v)
			}
		}
		if stage, only := onlyStage[def.Name]; only && a.Key == record.StageKey {
			accepted = []string{stage}
		} else if only && a.Key == "system" {
			accepted = slices.DeleteFunc(accepted, func(system string) bool { return system == "groth16" })
		}
		for i, v := range accepted {
			if i == 0 {
				list = v
				continue
			}
			list += "," + v
		}
		lists[a.Key] = list
	}
	var cases []workload.Case
	// Resolve refuses some values of axes that do not go together, one at a time.
	for _, c := range product(def, lists) {
		resolved, err := def.Resolved(c)
		if err != nil {
			continue
		}
		for _, r := range resolved {
			if !slices.ContainsFunc(cases, func(other workload.Case) bool { return other.String() == r.String() }) {
				cases = append(cases, r)
			}
		}
	}
	if len(cases) == 0 {
		t.Errorf("%s: no small case", def.Name)
	}
	return cases
}

// product returns the cases of lists, before they are resolved.
func product(def workload.Def, lists map[string]string) []workload.Case {
	def.Resolve = nil
	cases, err := workload.Cases(def, lists)
	if err != nil {
		panic(err) // of lists that were parsed
	}
	return cases
}

// TestSideBySide: operations on one input and checks of their results run side by side, as workers do both, and
// none sees another: neither an operation nor a check changes what they share.
func TestSideBySide(t *testing.T) {
	testsize.Full(t)
	for _, def := range Program().Defs() {
		for _, c := range smallCases(t, def) {
			t.Run(fmt.Sprint(def.Name, "/", c), func(t *testing.T) {
				t.Parallel()
				ctx := workload.WithWorkers(context.Background(), 2)
				i := must.Get(def.New(ctx, c, 1))(t)
				defer func() { must.Do(t, i.Close()) }()
				input := must.Get(i.Input(ctx, 0))(t)
				rounds, end := 3, time.Now()
				if c.Get(record.StageKey) == "verify" { // which is quick, so that few of them meet
					rounds, end = 200, end.Add(2*time.Second)
				}
				var all sync.WaitGroup
				for range 2 {
					all.Go(func() {
						for n := range rounds {
							if n >= 3 && time.Now().After(end) {
								return
							}
							output, err := i.Run(ctx, input)
							if err == nil {
								err = i.Check(ctx, input, output)
							}
							if err == nil { // again, beside the other's operation
								err = i.Check(ctx, input, output)
							}
							if err != nil {
								t.Errorf("beside others: %v", err)
								return
							}
						}
					})
				}
				all.Wait()
			})
		}
	}
}
