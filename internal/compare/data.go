package compare

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/zkbench/zkbench/internal/result/record"
)

// CSV writes the table in CSV format, one line for each row. Figures are not rounded, changes and
// noise floors are relative, and a missing figure is an empty cell. Remarks about the whole table
// are repeated on every line, in the column "remarks".
func (t *Table) CSV(w io.Writer) error {
	out := csv.NewWriter(w)
	lines := [][]string{{
		"package", "case", "metric", "unit", "kind", "old", "new", "change", "low", "high",
		"confidence", "p", "floor", "sees", "n", "paired", "verdict", "why", "tripped", "blind", "accepted", "remarks", "whose",
	}}
	var remarks []string
	if len(t.Unlike) > 0 {
		remarks = append(remarks, "unlike environments: "+strings.Join(t.Unlike, "; "))
	}
	if t.Partial != "" {
		remarks = append(remarks, "partial: "+t.Partial)
	}
	if t.Disturbed != "" {
		remarks = append(remarks, "busy machine: "+t.Disturbed)
	}
	for _, text := range t.Unfit {
		remarks = append(remarks, "not compared: "+text)
	}
	for _, text := range t.Unread {
		remarks = append(remarks, "not read: "+text)
	}
	if t.Gate != nil && t.Gate.AllowBlind {
		remarks = append(remarks, "blind rows are let pass")
	}
	remark := strings.Join(remarks, "; ")
	for _, r := range t.Rows {
		d := r.data()
		line := []string{r.Package, r.Case, r.Metric, r.Unit, d.Kind}
		for _, v := range []*float64{d.Old, d.New, d.Change, d.Low, d.High, d.Confidence, d.P, d.Floor, d.Sees} {
			cell := ""
			if v != nil {
				cell = strconv.FormatFloat(*v, 'g', -1, 64)
			}
			line = append(line, cell)
		}
		lines = append(lines, append(line, strconv.Itoa(r.N), strconv.FormatBool(r.Paired),
			string(r.Verdict), r.Why, strconv.FormatBool(r.Tripped), strconv.FormatBool(r.Blind), r.Accepted, remark, string(r.Whose)))
	}
	for _, o := range t.Only {
		line := make([]string, len(lines[0]))
		line[0], line[1], line[2] = o.Package, o.Case, o.Metric
		line[16], line[21] = fmt.Sprintf("only in %s", o.Side), remark
		line[22] = string(o.Whose)
		lines = append(lines, line)
	}
	return out.WriteAll(lines)
}

// rowData is a row in JSON. Values that are not known or not finite are absent.
type rowData struct {
	Package    string   `json:"package,omitempty"`
	Case       string   `json:"case"`
	Metric     string   `json:"metric"`
	Unit       string   `json:"unit"`
	Kind       string   `json:"kind"`
	Better     string   `json:"better"`
	Old        *float64 `json:"old,omitempty"`
	New        *float64 `json:"new,omitempty"`
	Change     *float64 `json:"change,omitempty"` // relative
	Low        *float64 `json:"low,omitempty"`
	High       *float64 `json:"high,omitempty"`
	Confidence *float64 `json:"confidence,omitempty"`
	P          *float64 `json:"p,omitempty"`
	Floor      *float64 `json:"floor,omitempty"`
	Sees       *float64 `json:"sees,omitempty"` // the minimum detectable effect
	N          int      `json:"n"`
	Paired     bool     `json:"paired"`
	Verdict    Verdict  `json:"verdict"`
	Why        string   `json:"why,omitempty"`
	Tripped    bool     `json:"tripped"`
	Blind      bool     `json:"blind,omitempty"`
	Accepted   string   `json:"accepted,omitempty"`

	Whose record.Whose `json:"whose,omitempty"`
	// Plan is that of the row's session, whose looks have the confidence together.
	Plan record.Plan `json:"plan,omitzero"`
}

func (r Row) data() rowData {
	finite := func(v float64, known bool) *float64 {
		if !known || math.IsNaN(v) || math.IsInf(v, 0) {
			return nil
		}
		return &v
	}
	d := rowData{
		Package: r.Package, Case: r.Case, Metric: r.Metric, Unit: r.Unit, Kind: "timed", Better: "lower",
		Old: finite(r.Old, true), New: finite(r.New, true), Change: finite(r.Change, true),
		N: r.N, Paired: r.Paired, Verdict: r.Verdict, Why: r.Why, Tripped: r.Tripped, Blind: r.Blind, Accepted: r.Accepted, Whose: r.Whose, Plan: r.Plan,
	}
	if r.Better == record.Higher {
		d.Better = "higher"
	}
	if r.Exact {
		d.Kind = "exact"
		return d
	}
	attained := r.Confidence > 0
	d.Low, d.High = finite(r.Low, attained), finite(r.High, attained)
	d.Confidence, d.P = finite(r.Confidence, attained), finite(r.P, attained && r.Plan == record.Plan{})
	d.Floor, d.Sees = finite(r.Floor, true), finite(r.Detectable(r.Floor), true)
	return d
}

// JSON writes the table as one JSON object.
func (t *Table) JSON(w io.Writer) error {
	doc := struct {
		Answer  string    `json:"answer"`
		Old     string    `json:"old"`
		New     string    `json:"new"`
		Changed []string  `json:"changed,omitempty"`
		Unlike  []string  `json:"unlike,omitempty"`
		Partial string    `json:"partial,omitempty"`
		Unfit   []string  `json:"unfit,omitempty"`
		Unread  []string  `json:"unread,omitempty"`
		Busy    string    `json:"disturbed,omitempty"`
		Gate    *float64  `json:"gate,omitempty"`        // relative
		Blind   bool      `json:"allow_blind,omitempty"` // blind rows pass
		Rows    []rowData `json:"rows"`
		Only    []Only    `json:"only,omitempty"`
	}{Answer: t.Answer(), Old: t.Old, New: t.New, Changed: t.Changed, Unlike: t.Unlike, Partial: t.Partial, Unfit: t.Unfit, Unread: t.Unread, Busy: t.Disturbed, Rows: []rowData{}, Only: t.Only}
	if t.Gate != nil {
		doc.Gate, doc.Blind = &t.Gate.Limit, t.Gate.AllowBlind
	}
	for _, r := range t.Rows {
		doc.Rows = append(doc.Rows, r.data())
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(doc)
}
