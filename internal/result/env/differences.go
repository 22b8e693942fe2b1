package env

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/zkbench/zkbench/internal/result/record"
)

// Differences returns in what two environments are so unlike that times measured
// in them say nothing about each other, each as "cpu: A / B" under the field's
// name in the record; none where they may be compared. Commit, Go and module
// versions are what is compared, and the kernel's release and the memory are
// only shown: they never count.
func Differences(a, b record.Env) []string {
	var all []string
	for _, f := range compared {
		if of, is := f.value(a), f.value(b); of != is {
			all = append(all, fmt.Sprintf("%s: %s / %s", f.name, of, is))
		}
	}
	return all
}

// BuildDifferences returns in what the programs of two environments are unlike:
// commit, Go and module versions, each as Differences writes it.
func BuildDifferences(a, b record.Env) []string {
	var all []string
	differ := func(name, of, is string) {
		if of != is {
			all = append(all, fmt.Sprintf("%s: %s / %s", name, told(of), told(is)))
		}
	}
	differ("commit", a.Commit, b.Commit)
	differ("go", a.Go, b.Go)
	paths := make(map[string]bool)
	for _, modules := range []map[string]string{a.Modules, b.Modules} {
		for path := range modules {
			paths[path] = true
		}
	}
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		differ(path, a.Modules[path], b.Modules[path])
	}
	return all
}

// AllDifferences returns why what was measured in two environments may not be put into one
// median: their Differences and BuildDifferences. GOMAXPROCS is left aside, which is a
// coordinate of a case.
func AllDifferences(a, b record.Env) []string {
	b.GOMAXPROCS = a.GOMAXPROCS
	return append(Differences(a, b), BuildDifferences(a, b)...)
}

// Distinct are environments with AllDifferences from each other, in the order in which
// they were first seen.
type Distinct []record.Env

// Index returns which of them e is, after adding it where it is none.
func (d *Distinct) Index(e record.Env) int {
	i := slices.IndexFunc(*d, func(known record.Env) bool { return len(AllDifferences(known, e)) == 0 })
	if i < 0 {
		i, *d = len(*d), append(*d, e)
	}
	return i
}

// Name tells environment i from the others: its host, where it has one, and its number, from
// the second one on, where that alone does not. Figures of a host have the same name whatever
// they stand beside.
func (d Distinct) Name(i int) string {
	sameHost := func(e record.Env) bool { return e.Host == d[i].Host }
	var words []string
	if d[i].Host != "" {
		words = append(words, d[i].Host)
	}
	if d[i].Host == "" && i > 0 || slices.ContainsFunc(d[:i], sameHost) {
		words = append(words, fmt.Sprintf("environment %d", i+1))
	}
	return strings.Join(words, ", ")
}

// Suffixes returns a function that gives what to put after the name of a record's case, so that figures of different
// environments and builds are never taken for one: nothing for the first environment, " (environment 2)" for the next, " (HOST)"
// for one with a host.
func Suffixes(recs []*record.Record) func(*record.Record) string {
	var all Distinct
	for _, r := range recs {
		all.Index(r.Env)
	}
	return func(r *record.Record) string {
		if name := all.Name(all.Index(r.Env)); name != "" {
			return " (" + name + ")"
		}
		return ""
	}
}

// compared are the fields that count, as they are shown.
var compared = [...]struct {
	name  string
	value func(e record.Env) string
}{
	{"host", func(e record.Env) string { return told(e.Host) }},
	{"os", func(e record.Env) string { return told(e.OS) }},
	{"arch", func(e record.Env) string { return told(e.Arch) }},
	{"cpu", func(e record.Env) string { return told(e.CPU) }},
	{"vector", func(e record.Env) string { return told(strings.Join(e.Vector, " ")) }},
	{"path", func(e record.Env) string { return told(e.Path) }},
	{"cores", func(e record.Env) string { return strconv.Itoa(e.Cores) }},
	{"gomaxprocs", func(e record.Env) string { return strconv.Itoa(e.GOMAXPROCS) }},
	{"quota", func(e record.Env) string {
		if e.Quota == 0 {
			return "none"
		}
		return strconv.FormatFloat(e.Quota, 'g', -1, 64)
	}},
	{"governor", func(e record.Env) string { return told(e.Governor) }},
	{"gogc", func(e record.Env) string { return orOff(e.GOGC) }},
	{"gomemlimit", func(e record.Env) string { return orOff(e.GOMEMLIMIT) }},
}

func told(s string) string {
	if s == "" {
		return "not told"
	}
	return s
}

func orOff(n int64) string {
	if n < 0 {
		return "off"
	}
	return strconv.FormatInt(n, 10)
}
