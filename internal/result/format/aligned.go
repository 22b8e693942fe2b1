package format

import (
	"strings"
	"unicode/utf8"
)

// Aligned are rows as lines whose cells begin in the same columns, two blanks apart. What
// is put between the lines, a heading for example, ends no column.
func Aligned(rows [][]string) []string {
	var widths []int
	for _, r := range rows {
		for i, c := range r {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(c)+2)
		}
	}
	lines := make([]string, len(rows))
	for i, r := range rows {
		var b strings.Builder
		for k, c := range r {
			b.WriteString(c + strings.Repeat(" ", widths[k]-utf8.RuneCountInString(c)))
		}
		lines[i] = strings.TrimRight(b.String(), " ")
	}
	return lines
}
