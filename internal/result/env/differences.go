package env

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/zkbench/zkbench/internal/result/record"
)

// Differences returns the differences between two environments, but only those that make times incomparable. Each has
// the form "cpu: A / B" and begins with the name that the field has in a record. If there are none, times measured in
// the two environments may be compared. Differences ignores the commit and the versions of Go and of modules, because
// these are what people compare. It also ignores the kernel's release and the memory, which are only shown.
func Differences(a, b record.Env) []string {
	var all []string
	for _, f := range compared {
		if first, second := f.value(a), f.value(b); first != second {
			all = append(all, fmt.Sprintf("%s: %s / %s", f.name, first, second))
		}
	}
	return all
}

// BuildDifferences returns the differences between the programs that ran in two environments: the commit, and the
// versions of Go and of modules. Each difference has the form "name: A / B", as in Differences.
func BuildDifferences(a, b record.Env) []string {
	var all []string
	differ := func(name, first, second string) {
		if first != second {
			all = append(all, fmt.Sprintf("%s: %s / %s", name, orUnknown(first), orUnknown(second)))
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

// AllDifferences returns the results of Differences and BuildDifferences for two environments in one list. If the
// list is not empty, do not compute one median from figures of both environments. AllDifferences ignores GOMAXPROCS,
// because it is a parameter of a case.
func AllDifferences(a, b record.Env) []string {
	b.GOMAXPROCS = a.GOMAXPROCS
	return append(Differences(a, b), BuildDifferences(a, b)...)
}

// Distinct is a list of environments in the order in which they were added. AllDifferences returns at least one
// difference for any two of them.
type Distinct []record.Env

// Index returns the index of e in the list. An environment in the list counts as e if AllDifferences returns no
// difference between the two. If there is no such environment, Index appends e and returns its index.
func (d *Distinct) Index(e record.Env) int {
	i := slices.IndexFunc(*d, func(known record.Env) bool { return len(AllDifferences(known, e)) == 0 })
	if i < 0 {
		i, *d = len(*d), append(*d, e)
	}
	return i
}

// Name returns a name for environment i. The name is the environment's host. If an earlier environment has the same
// host, the environment's number, counted from 1, is appended: "HOST, environment 2". If an environment has no
// host, its name is empty for the first one and, for example, "environment 2" for the others. So a host's figures
// keep their name when figures of other hosts are shown beside them.
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

// Suffixes returns a function that takes a record and returns a suffix to put after the name of the record's case.
// Suffixes show which figures come from different environments or builds. If environments have no host, the suffix
// is empty for the first one and " (environment 2)" for the next. If an environment has a host, the suffix is "
// (HOST)".
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

// compared lists the fields that Differences compares, in the form in which it shows them.
var compared = [...]struct {
	name  string
	value func(e record.Env) string
}{
	{"host", func(e record.Env) string { return orUnknown(e.Host) }},
	{"os", func(e record.Env) string { return orUnknown(e.OS) }},
	{"arch", func(e record.Env) string { return orUnknown(e.Arch) }},
	{"cpu", func(e record.Env) string { return orUnknown(e.CPU) }},
	{"vector", func(e record.Env) string { return orUnknown(strings.Join(e.Vector, " ")) }},
	{"path", func(e record.Env) string { return orUnknown(e.Path) }},
	{"cores", func(e record.Env) string { return strconv.Itoa(e.Cores) }},
	{"gomaxprocs", func(e record.Env) string { return strconv.Itoa(e.GOMAXPROCS) }},
	{"quota", func(e record.Env) string {
		if e.Quota == 0 {
			return "none"
		}
		return strconv.FormatFloat(e.Quota, 'g', -1, 64)
	}},
	{"governor", func(e record.Env) string { return orUnknown(e.Governor) }},
	{"gogc", func(e record.Env) string { return orOff(e.GOGC) }},
	{"gomemlimit", func(e record.Env) string { return orOff(e.GOMEMLIMIT) }},
}

func orUnknown(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}

func orOff(n int64) string {
	if n < 0 {
		return "off"
	}
	return strconv.FormatInt(n, 10)
}
