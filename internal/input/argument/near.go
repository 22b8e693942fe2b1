package argument

import (
	"cmp"
	"slices"
	"strings"
)

const (
	mostNamed = 8 // an error lists up to this many names in full
	mostNear  = 3 // if there are more, it lists up to this many similar ones
)

// Among returns text for an error message, which tells a user which names are accepted. The parameter typed is
// the name that the user typed, and the parameter names has the accepted names. If there are at most eight
// accepted names, the text lists all of them. If there are more, the text lists up to three that are similar to
// the name typed by the user. It then also names a command that lists all accepted names; the parameter listedBy
// is this command.
func Among(typed string, names []string, listedBy string) string {
	if len(names) <= mostNamed {
		return strings.Join(names, ", ")
	}
	if near := nearest(typed, names); len(near) > 0 {
		return strings.Join(near, ", ") + "; " + listedBy + " lists all"
	}
	return "the names that the command " + listedBy + " shows"
}

// nearest returns names similar to typed, the most similar first: names that begin with it, and names within two
// typing errors of it, or one for a word of up to four letters.
func nearest(typed string, names []string) []string {
	type candidate struct {
		name  string
		slips int
	}
	var near []candidate
	for _, name := range names {
		slips := distance(strings.ToLower(typed), strings.ToLower(name))
		bare := strings.TrimLeft(typed, "-")
		begins := len(bare) > 1 && strings.HasPrefix(strings.TrimLeft(name, "-"), bare)
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
