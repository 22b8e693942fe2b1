package format

import (
	"fmt"
	"html"
	"io"
	"strings"
	"unicode/utf8"
)

// Table is a table that can be written in several forms. Each of its rows has a cell for each
// column.
type Table struct {
	Columns []Column
	Rows    []Row
	Markup  bool // the cells are Markdown; otherwise Markdown writes them as they are
}

// Column describes a column of a Table.
type Column struct {
	Head   string
	Unit   string // of the cells, which HTML shows below the head; other forms do not have it
	Number bool   // the cells are figures, which Markdown and HTML align to the right
	// Priority says which columns Text leaves out if a table is wider than its width: those with the
	// highest numbers first. A column with the priority 0 always stays.
	Priority int
}

// Row is a row of a Table.
type Row struct {
	// Title, if not empty, names what the row and the following ones are about. Text writes a title
	// on a line of its own, once for consecutive rows; Markdown has it in a first column.
	Title string
	Cells []string
	// Values has what HTML sorts the cells by: numbers as text, or "" for a cell that is sorted by its text. It may be
	// shorter than Cells.
	Values []string
	Paint  func(line string) string // colours the line of Text; nil: as it is
}

// Heads returns columns of words with the given heads.
func Heads(heads ...string) (columns []Column) {
	for _, head := range heads {
		columns = append(columns, Column{Head: head})
	}
	return columns
}

// Add appends a row with the given cells.
func (t *Table) Add(cells ...string) { t.Rows = append(t.Rows, Row{Cells: cells}) }

// Text writes the table in aligned columns, with the text indent before each line but titles. If
// the lines are longer than width and width is not 0, columns are left out (Column.Priority).
func (t *Table) Text(w io.Writer, indent string, width int) error {
	kept := t.fitting(width - utf8.RuneCountInString(indent))
	rows := [][]string{pick(t.heads(), kept)}
	for _, r := range t.Rows {
		rows = append(rows, pick(r.Cells, kept))
	}
	var b strings.Builder
	title := ""
	for i, line := range Aligned(rows) {
		line = indent + line
		if i > 0 {
			r := t.Rows[i-1]
			if r.Title != title {
				title = r.Title
				fmt.Fprintln(&b, title)
			}
			if r.Paint != nil {
				line = r.Paint(line)
			}
		}
		fmt.Fprintln(&b, line)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (t *Table) heads() (heads []string) {
	for _, c := range t.Columns {
		heads = append(heads, c.Head)
	}
	return heads
}

// fitting returns the indices of the columns that a text of the given width has. A width of at most
// 0 has all columns.
func (t *Table) fitting(width int) (kept []int) {
	widths := make([]int, len(t.Columns))
	for i, c := range t.Columns {
		kept = append(kept, i)
		widths[i] = utf8.RuneCountInString(c.Head)
		for _, r := range t.Rows {
			widths[i] = max(widths[i], utf8.RuneCountInString(r.Cells[i]))
		}
	}
	for width > 0 {
		total, least := -2, -1 // no space after the last column
		for at, i := range kept {
			total += widths[i] + 2
			if c := t.Columns[i]; c.Priority > 0 && (least < 0 || c.Priority >= t.Columns[kept[least]].Priority) {
				least = at
			}
		}
		if total <= width || least < 0 {
			break
		}
		kept = append(kept[:least:least], kept[least+1:]...)
	}
	return kept
}

func pick(cells []string, kept []int) (some []string) {
	for _, i := range kept {
		some = append(some, cells[i])
	}
	return some
}

// titled reports whether a row has a title.
func (t *Table) titled() bool {
	for _, r := range t.Rows {
		if r.Title != "" {
			return true
		}
	}
	return false
}

// Markdown writes the table in Markdown. If rows have titles, the first column has the head title
// and the titles, each once for consecutive rows.
func (t *Table) Markdown(w io.Writer, title string) error {
	columns, titled := t.Columns, t.titled()
	if titled {
		columns = append([]Column{{Head: title}}, columns...)
	}
	var b strings.Builder
	line := func(cells []string) {
		for _, c := range cells {
			if t.Markup {
				c = inMarkdown.Replace(c)
			} else {
				c = Escape(c)
			}
			b.WriteString("| " + c + " ")
		}
		b.WriteString("|\n")
	}
	heads := t.heads()
	if titled {
		heads = append([]string{title}, heads...)
	}
	line(heads)
	for _, c := range columns {
		if c.Number {
			b.WriteString("|---:")
		} else {
			b.WriteString("|---")
		}
	}
	b.WriteString("|\n")
	last := ""
	for _, r := range t.Rows {
		cells := r.Cells
		if titled {
			first := r.Title
			if first == last {
				first = ""
			}
			last = r.Title
			cells = append([]string{first}, cells...)
		}
		line(cells)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// HTML writes the table as an element of HTML. Cells are text, whatever they contain. If rows have titles, the first
// column has the head title and the titles. The attribute data-value of a cell is its element of Row.Values.
func (t *Table) HTML(w io.Writer, title string) error {
	columns, titled := t.Columns, t.titled()
	if titled {
		columns = append([]Column{{Head: title}}, columns...)
	}
	class := func(c Column) string {
		if c.Number {
			return ` class="number"`
		}
		return ""
	}
	var b strings.Builder
	b.WriteString("<table>\n<thead><tr>")
	for _, c := range columns {
		unit := ""
		if c.Unit != "" {
			unit = " <small>" + html.EscapeString(c.Unit) + "</small>"
		}
		fmt.Fprintf(&b, `<th scope="col"%s>%s%s</th>`, class(c), html.EscapeString(c.Head), unit)
	}
	b.WriteString("</tr></thead>\n<tbody>\n")
	for _, r := range t.Rows {
		cells, values := r.Cells, r.Values
		if titled {
			cells, values = append([]string{r.Title}, cells...), append([]string{""}, values...)
		}
		b.WriteString("<tr>")
		for i, cell := range cells {
			value := ""
			if i < len(values) && values[i] != "" {
				value = ` data-value="` + html.EscapeString(values[i]) + `"`
			}
			fmt.Fprintf(&b, "<td%s%s>%s</td>", class(columns[i]), value, html.EscapeString(cell))
		}
		b.WriteString("</tr>\n")
	}
	b.WriteString("</tbody>\n</table>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// inMarkdown keeps Markdown within its cell and its line.
var inMarkdown = strings.NewReplacer("\n", " ", "\r", " ", "<", "&lt;", "|", `\|`)

// asText keeps text from being read as Markdown.
var asText = strings.NewReplacer(`\`, `\\`, "[", `\[`, "|", `\|`, "_", `\_`, "*", `\*`, "<", "&lt;", "\n", " ", "\r", " ", "~", `\~`, "`", "\\`")

// Escape returns Markdown that shows the text as it is, on one line.
func Escape(text string) string { return asText.Replace(text) }
