package workload

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/zkbench/zkbench/internal/result/format"
	"github.com/zkbench/zkbench/internal/result/record"
)

// Phrase describes one operation of a case in words, as the subject of a sentence: "a transfer with two inputs and two
// outputs". It names the given axes of the case and no others.
func (d Def) Phrase(axes record.Axes) string {
	var with []string
	for _, x := range axes {
		with = append(with, d.words(x))
	}
	text := cmp.Or(d.Noun, "one operation of "+d.Name)
	if len(with) > 0 {
		text += " with " + format.Listed(with)
	}
	return text
}

// words describes the value of an axis: "two inputs", "a batch of 8", "the curve BN254". If d has no such axis, it
// returns the key and the value.
func (d Def) words(x record.Axis) string {
	a, ok := d.Axis(x.Key)
	n, err := strconv.Atoi(x.Value)
	switch counted, rest, _ := strings.Cut(a.Name, " "); {
	case !ok:
		return x.Key + "=" + x.Value
	case len(a.Names) > 0 || err != nil:
		return "the " + a.Name + " " + x.Value
	case strings.HasSuffix(counted, "s"):
		if n == 1 {
			counted = singular(counted)
		}
		return strings.TrimSpace(format.Spelled(n) + " " + counted + " " + rest)
	}
	return "a " + a.Name + " of " + format.Count(float64(n))
}

// singular returns the singular of the plural nouns by which axes are named.
func singular(plural string) string {
	switch {
	case plural == "leaves":
		return "leaf"
	case strings.HasSuffix(plural, "hes"):
		return strings.TrimSuffix(plural, "es")
	}
	return strings.TrimSuffix(plural, "s")
}
