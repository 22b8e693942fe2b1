package format

import (
	"strings"
	"unicode/utf8"
)

// Aligned formats each row as a line of text. The cells of all lines begin at the same columns, at
// least two spaces apart. Text that the caller inserts between lines, such as a heading, does not
// change the columns.
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
