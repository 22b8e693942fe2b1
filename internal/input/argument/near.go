package argument

import (
	"cmp"
	"slices"
	"strings"
)

const (
	mostNamed = 10 // an error lists up to this many names in full
	mostNear  = 3  // it asks whether up to this many similar names were meant
)

// Unknown returns the error for a name that the user typed and that the field does not accept. The parameter names
// has the accepted names. The error's text suggests those that are similar to the typed name. It also lists all
// accepted names if there are at most ten. If there are more, it refers to the command listedBy, which lists
// them.
func Unknown(field, typed string, names []string, listedBy string) *ValueError {
	e := &ValueError{Field: field, Value: typed, Near: Near(typed, names), Accepted: strings.Join(names, ", ")}
	if len(names) > mostNamed {
		e.Accepted = "the names that the command " + listedBy + " shows"
	}
	return e
}

// Canonical returns the accepted name that equals typed without regard to case. If there is none, it returns typed
// unchanged. A name that equals typed exactly is preferred.
func Canonical(typed string, names []string) string {
	if slices.Contains(names, typed) {
		return typed
	}
	if i := slices.IndexFunc(names, func(name string) bool { return strings.EqualFold(name, typed) }); i >= 0 {
		return names[i]
	}
	return typed
}

// Near returns up to three names that are similar to typed, the most similar first. A name is similar if it begins
// with typed, or if at most two typing errors turn one into the other. If typed has up to four letters, only one
// typing error may do so.
func Near(typed string, names []string) []string {
	type candidate struct {
		name  string
		slips int
	}
	var near []candidate
	for _, name := range names {
		slips := distance(strings.ToLower(typed), strings.ToLower(name))
		bare := strings.ToLower(strings.TrimLeft(typed, "-"))
		begins := len(bare) > 1 && strings.HasPrefix(strings.ToLower(strings.TrimLeft(name, "-")), bare)
		if begins || slips <= 2 && (slips <= 1 || len(bare) > 4) {
			near = append(near, candidate{name, slips})
		}
	}
	slices.SortStableFunc(near, func(a, b candidate) int { return cmp.Compare(a.slips, b.slips) })
	var out []string
	for _, c := range near[:min(len(near), mostNear)] {
		out = append(out, c.name)
	}
	return out
}

// distance returns how many letters must be inserted, deleted, replaced or swapped with their neighbour to turn
// a into b (optimal string alignment).
func distance(a, b string) int {
	var before, last []int
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before, last, row = last, row, make([]int, len(b)+1)
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(last[j+1]+1, row[j]+1, last[j]+cost)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
	}
	return row[len(b)]
}
