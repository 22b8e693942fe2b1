package page

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/zkbench/zkbench/internal/result/env"
	"github.com/zkbench/zkbench/internal/result/format"
	"github.com/zkbench/zkbench/internal/result/record"
)

// environment is a machine and a build. Figures share a table only within an environment.
type environment struct {
	Name        string   `json:"name"` // A, B, ..., with the host if it is known
	Summary     string   `json:"summary"`
	Facts       []pair   `json:"facts"`
	Differences []string `json:"differences,omitempty"` // from the first environment
}

// pair is a name and its value.
type pair = [2]string

// environments describes the environments of records. The number of processors that a case
// may use is a parameter of the case and not part of the environment.
func environments(all env.Distinct) []environment {
	list := []environment{} // an empty list is [] in JSON, not null
	for i, e := range all {
		one := environment{Name: strings.TrimSpace(letters(i) + " " + e.Host), Summary: format.Build(e), Facts: facts(e)}
		if i > 0 {
			one.Differences = env.AllDifferences(all[0], e)
		}
		list = append(list, one)
	}
	return list
}

// letters returns A to Z for i from 0, then AA and so on.
func letters(i int) string {
	name := string(rune('A' + i%26))
	if i < 26 {
		return name
	}
	return letters(i/26-1) + name
}

// facts returns everything that is known about the environment.
func facts(e record.Env) []pair {
	var all []pair
	add := func(name, value string) {
		if value != "" {
			all = append(all, pair{name, value})
		}
	}
	add("Host", e.Host)
	add("Processor", e.CPU)
	add("Processors", strconv.Itoa(e.Cores))
	if e.Quota > 0 {
		add("Quota", strconv.FormatFloat(e.Quota, 'g', 4, 64)+" processors")
	}
	add("Arithmetic", e.Path)
	add("Vector extensions", strings.Join(e.Vector, " "))
	if e.Memory > 0 {
		add("Memory", format.Bytes(float64(e.Memory)))
	}
	add("Governor", e.Governor)
	add("Platform", e.OS+"/"+e.Arch)
	add("Kernel", e.Kernel)
	add("Go", e.Go)
	add("Commit", e.Commit)
	switch {
	case e.GOGC < 0:
		add("GOGC", "off")
	case e.GOGC > 0:
		add("GOGC", strconv.FormatInt(e.GOGC, 10))
	}
	if e.GOMEMLIMIT > 0 {
		add("GOMEMLIMIT", format.Bytes(float64(e.GOMEMLIMIT)))
	}
	for _, path := range slices.Sorted(maps.Keys(e.Modules)) {
		add(path, e.Modules[path])
	}
	return all
}
