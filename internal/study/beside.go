package study

import (
	"fmt"
	"slices"
	"strings"

	"github.com/zkbench/zkbench/internal/result/format"
)

// Beside is a figure of ours beside a figure of a study, or of another system, for the same work. Both figures are in
// one unit, and the smaller figure is the better one. A figure that is not known is 0.
type Beside struct {
	What         string // in Markdown
	Ours, Theirs float64
	Text         func(v float64) string // formats a figure; nil: Seconds
}

// Answer is the beginning of a page: the sentences that answer the study's question, then those that name the figures in
// which we are worse (Worse). Empty sentences are left out.
type Answer struct{ Sentences, Worse []string }

// String formats the answer in Markdown, with a paragraph for each of the two. It returns an empty string if all sentences
// are empty.
func (a Answer) String() string {
	var paragraphs []string
	for _, sentences := range [][]string{a.Sentences, a.Worse} {
		if kept := slices.DeleteFunc(slices.Clone(sentences), func(s string) bool { return s == "" }); len(kept) > 0 {
			paragraphs = append(paragraphs, strings.Join(kept, " ")+"\n")
		}
	}
	return strings.Join(paragraphs, "\n")
}

// Seconds formats a time in s for a sentence.
func Seconds(v float64) string { return Time(1e9 * v) }

// Worse returns a sentence that names the figures of ours that are worse than the other ones, each with both figures. The
// parameter claim says what is compared, for example "We are slower than the study", and whose names the other side
// in the list, for example "the study". Worse returns an empty string if there is no figure with both sides.
func Worse(claim, whose string, all []Beside) string {
	known := 0
	var worse []string
	for _, b := range all {
		if b.Ours <= 0 || b.Theirs <= 0 {
			continue
		}
		if known++; b.Ours <= b.Theirs {
			continue
		}
		text := b.Text
		if text == nil {
			text = Seconds
		}
		worse = append(worse, fmt.Sprintf("%s (%s, %s %s)", b.What, text(b.Ours), whose, text(b.Theirs)))
	}
	of := format.Plural(known, "figure")
	switch {
	case known == 0:
		return ""
	case len(worse) == 0:
		return fmt.Sprintf("%s in none of %s.", claim, of)
	}
	return fmt.Sprintf("%s in %d of %s: %s.", claim, len(worse), of, strings.Join(worse, "; "))
}
