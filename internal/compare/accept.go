package compare

import (
	"bufio"
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/result/record"
)

// Acceptance is an exception for a Gate: it lets one exact figure of a case grow up to the value
// Most. The field Metric names the figure.
type Acceptance struct {
	Metric string
	Case   string  // workload/case, or a prefix of it followed by *
	Most   float64 // the largest value that passes
	Reason string
}

// ParseAcceptances parses a file of acceptances. Each line has a metric, a case, the largest value
// that passes, and the reason, separated by spaces. Empty lines and lines that begin with # are
// skipped. The error is of type *zkbench.DecodeError and names the line.
func ParseAcceptances(data []byte) (all []Acceptance, err error) {
	lines, offset := bufio.NewScanner(bytes.NewReader(data)), 0
	for n := 1; lines.Scan(); n++ {
		refuse := func(reason string) error {
			return &zkbench.DecodeError{Path: fmt.Sprintf("accepted growth, line %d", n), Offset: offset, Reason: reason}
		}
		text := strings.TrimSpace(lines.Text())
		if words := strings.Fields(text); len(words) > 0 && words[0][0] != '#' {
			if len(words) < 4 {
				return nil, refuse("accepted: a metric, a case, the largest value and a reason")
			}
			most, err := strconv.ParseFloat(words[2], 64)
			if err != nil || !(most >= 0) || math.IsInf(most, 0) {
				return nil, refuse(fmt.Sprintf("value %q; accepted: a number from 0 on", words[2]))
			}
			all = append(all, Acceptance{words[0], words[1], most, strings.Join(words[3:], " ")})
		}
		offset += len(lines.Bytes()) + 1
	}
	if err := lines.Err(); err != nil {
		return nil, &zkbench.DecodeError{Path: "accepted growth", Offset: offset, Reason: err.Error()}
	}
	return all, nil
}

// accepts reports whether the growth of a row is accepted, in each process.
func (a Acceptance) accepts(r *Row) bool {
	begin, any := strings.CutSuffix(a.Case, "*")
	return r.Metric == a.Metric && (r.Case == a.Case || any && strings.HasPrefix(r.Case, begin)) &&
		r.Better == record.Lower && r.most <= a.Most
}
