package study

import (
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/zkbench/zkbench/internal/result/format"
)

var (
	// figureWithUnit matches a time, or a size of memory, in a cell.
	figureWithUnit = regexp.MustCompile(`([\d.,]+) (ns|us|ms|s|B|kB|MB|GB)\b`)
	// besideFigures matches what a cell has beside its figures: the mark of an estimate or of a negative figure, a range,
	// a deviation, a footnote and the mark of a reconstructed figure.
	besideFigures = regexp.MustCompile(`^(\*≈ )?−?( to −?)?( ± [\d.]+ %)?(\[\^\w+\])?\*?$`)
)

// tooWide is the ratio of two figures that no unit fits.
const tooWide = 1e6

// unitsOf returns the units of time, or of memory, to which the unit with the given name belongs.
func unitsOf(name string) []format.Unit {
	for _, base := range []string{"ns", "B"} {
		units := format.Units(base)
		for i := range units {
			units[i].Name = strings.Replace(units[i].Name, "µ", "u", 1) // as Time does
			if units[i].Name == name {
				return units
			}
		}
	}
	return nil
}

// sizeOf returns the size of the unit with the given name, in ns or bytes.
func sizeOf(name string) float64 {
	for _, u := range unitsOf(name) {
		if u.Name == name {
			return u.Size
		}
	}
	return 0
}

// shareUnit gives all figures of some columns one unit, removes it from their cells, and returns its name. The unit fits
// the geometric mean of the smallest and the largest figure. If a cell is not a time, or if one is not a size of memory,
// shareUnit changes nothing and returns an empty string. So it does if the largest figure is more than tooWide times the
// smallest.
func shareUnit(rows [][]string, columns ...int) string {
	var cells []*string
	for _, r := range rows {
		for _, c := range columns {
			if r[c] != "" && r[c] != None {
				cells = append(cells, &r[c])
			}
		}
	}
	least, most := math.Inf(1), 0.0
	var units []format.Unit
	for _, at := range cells {
		cell := *at
		figures := figureWithUnit.FindAllStringSubmatch(cell, -1)
		if len(figures) == 0 || !besideFigures.MatchString(figureWithUnit.ReplaceAllString(cell, "")) {
			return ""
		}
		for _, f := range figures {
			of := unitsOf(f[2])
			if units == nil {
				units = of
			}
			v := parsed(f[1])
			if v <= 0 || of[0] != units[0] {
				return ""
			}
			least, most = min(least, v*sizeOf(f[2])), max(most, v*sizeOf(f[2]))
		}
	}
	if units == nil || most > tooWide*least {
		return ""
	}
	shared := units[len(units)-1]
	for _, u := range units {
		if math.Sqrt(least*most) >= u.Size {
			shared = u
			break
		}
	}
	for _, cell := range cells {
		*cell = figureWithUnit.ReplaceAllStringFunc(*cell, func(text string) string {
			f := figureWithUnit.FindStringSubmatch(text)
			return inUnit(f[1], parsed(f[1])*sizeOf(f[2])/shared.Size)
		})
	}
	return shared.Name
}

// parsed returns the figure of a text with thousands separators, or 0 if it is none.
func parsed(text string) float64 {
	v, _ := strconv.ParseFloat(strings.ReplaceAll(text, ",", ""), 64)
	return v
}

// inUnit formats v with as many significant digits as the text of the same figure in another unit has, and with
// thousands separators.
func inUnit(text string, v float64) string {
	digits := len(strings.TrimLeft(strings.NewReplacer(".", "", ",", "").Replace(text), "0"))
	whole, fraction, some := strings.Cut(format.Significant(v, digits, 9), ".")
	if whole = format.Count(parsed(whole)); some {
		return whole + "." + fraction
	}
	return whole
}
