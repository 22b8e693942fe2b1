package record

import "strings"

// timeUnits are the units of time that figures are in, with their length in ns.
var timeUnits = map[string]float64{"ns": 1, "us": 1e3, "µs": 1e3, "μs": 1e3, "ms": 1e6, "s": 1e9, "sec": 1e9}

// TimeUnit reports whether figures in the given unit are times. It also returns the length of the unit of time in ns,
// and the rest of the text from its slash on. For example, it returns 1e6 and "/op" for ms/op, and 1 and "" for ns. If
// the text before the slash has dashes, its last word is the unit of time: p99-ns is a time in ns.
func TimeUnit(unit string) (ns float64, per string, ok bool) {
	name, _, _ := strings.Cut(unit, "/")
	per = unit[len(name):]
	if i := strings.LastIndexByte(name, '-'); i >= 0 {
		name = name[i+1:]
	}
	ns, ok = timeUnits[name]
	return ns, per, ok
}

// BetterOf returns which direction is better for figures in the given unit: Higher for rates, and Lower for all others.
// It is for figures about which nothing else is known, such as those of `go test -bench`.
func BetterOf(unit string) Direction {
	if IsRate(unit) {
		return Higher
	}
	return Lower
}

// IsRate reports whether a unit is a rate per second.
func IsRate(unit string) bool { return strings.HasSuffix(unit, "/s") }
