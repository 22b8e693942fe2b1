package plot

import (
	"strings"
	"unicode"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
)

// printable replaces what XML does not allow in a text.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '?'
	}, s)
}

// wrap breaks text between words into lines no wider than room; a longer word is
// a line of its own, cut.
func wrap(s text.Style, words string, room vg.Length) []string {
	var lines []string
	current := ""
	for word := range strings.FieldsSeq(words) {
		if longer := strings.TrimSpace(current + " " + word); current == "" || s.Width(longer) <= room {
			current = longer
			continue
		}
		lines = append(lines, cut(s, current, room))
		current = word
	}
	if current != "" {
		lines = append(lines, cut(s, current, room))
	}
	return lines
}

// cut shortens a text to room.
func cut(s text.Style, line string, room vg.Length) string {
	if s.Width(line) <= room {
		return line
	}
	runes := []rune(line)
	least, most := 0, len(runes)-1 // runes that are kept
	for least < most {
		middle := (least + most + 1) / 2
		if s.Width(string(runes[:middle])+"…") <= room {
			least = middle
		} else {
			most = middle - 1
		}
	}
	return string(runes[:least]) + "…"
}
