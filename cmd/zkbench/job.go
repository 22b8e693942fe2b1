package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/zkbench/zkbench/internal/workload"
)

// mainJobDuration is the window of each of the main job's cases; with two proof
// systems, proved and verified, the job ends well within a minute.
const mainJobDuration = 6 * time.Second

// mainJob is what run does when no workload is named: transfers of two inputs
// and two outputs, proved and verified with both range proofs on BN254, all
// processors at work. typed, by the axis' key, takes precedence.
func mainJob(defs []workload.Def, typed map[string]string) ([]workload.Plan, error) {
	lists := map[string]string{
		"curve": "BN254", "bits": "32", "in": "2", "out": "2",
		"proof": "bulletproof,csp", "exec": "pool",
	}
	maps.Copy(lists, typed)
	return plans(defs, []string{"Sender", "VerificationSenderProof"}, lists)
}

// plans returns the matrices of the named workloads. lists holds values by the
// axis' key.
func plans(defs []workload.Def, names []string, lists map[string]string) ([]workload.Plan, error) {
	var all []workload.Plan
	for _, name := range names {
		def, err := workload.Find(defs, name)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(all, func(p workload.Plan) bool { return p.Def.Name == def.Name }) {
			continue
		}
		for key := range lists {
			if _, ok := def.Axis(key); !ok {
				var keys []string
				for _, a := range def.Axes {
					keys = append(keys, a.Key)
				}
				return nil, &workload.ValueError{Field: "axis of " + def.ID(), Value: key, Accepted: strings.Join(keys, ", ")}
			}
		}
		cases, err := workload.Cases(def, lists)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", def.ID(), err)
		}
		all = append(all, workload.Plan{Def: def, Cases: cases})
	}
	return all, nil
}
