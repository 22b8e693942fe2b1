package history

import (
	"encoding/csv"
	"io"
	"strconv"
	"strings"
	"time"
)

// CSV writes a row for each point, figures unrounded, times in UTC. The step stands as a
// relative change at the first point of the new level.
func CSV(w io.Writer, lines []Line) error {
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	rows := [][]string{{
		"workload", "case", "metric", "unit", "environment", "begun", "commit", "go", "median", "least", "greatest", "n", "step",
	}}
	for _, l := range lines {
		where := strings.TrimSuffix(environment(l.Env)+", "+strings.Join(l.Env.Vector, " "), ", ")
		for i, p := range l.Points {
			step := ""
			if s, ok := l.step(i); ok {
				step = number(s.Change())
			}
			rows = append(rows, []string{
				l.Workload, l.Case, l.Metric, l.Unit, where, p.Time.UTC().Format(time.RFC3339), p.Commit, p.Go,
				number(p.Median()), number(p.Least()), number(p.Greatest()), strconv.Itoa(len(p.Values)), step,
			})
		}
	}
	return csv.NewWriter(w).WriteAll(rows)
}
