package main

import (
	"fmt"
	"strings"
	"text/tabwriter"
)

// preface says what the file is.
const preface = `Third-party notices
===================

zkbench is under the Apache License 2.0, in the file LICENSE. Its programs also contain the parts
below, under the licences below. "make notices" writes this file from the source code of the parts.

What zkbench writes contains these parts too:
- A report (report.html) contains uPlot and shows its licence.
- A PDF embeds Liberation fonts. Their licence, the Open Font License, sets no terms for documents
  that are made with the fonts.
- An SVG names these fonts and contains nothing of them.

`

// render returns the contents of THIRD_PARTY_NOTICES. It writes a text that several parts have once.
func render(parts []*part) string {
	var b strings.Builder
	b.WriteString(preface)
	tw := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, p := range parts {
		fmt.Fprintf(tw, "%s\t%s\t%s\n", p.name, p.version, strings.Join(p.kinds, ", "))
	}
	tw.Flush()
	where := make(map[string]string) // by the text
	for _, p := range parts {
		fmt.Fprintf(&b, "\n%s\n%s %s\n", strings.Repeat("=", 98), p.name, p.version)
		for i, file := range p.embeds {
			fmt.Fprintf(&b, "%s%s\n", []string{"contained as it is: ", "                    "}[min(i, 1)], file)
		}
		for _, t := range p.texts {
			fmt.Fprintf(&b, "%s\n%s", strings.Repeat("-", 98), t.title)
			if first := where[t.body]; first != "" {
				fmt.Fprintf(&b, ": the same text as %s\n", first)
				continue
			}
			where[t.body] = t.title + " of " + p.name
			fmt.Fprintf(&b, "\n\n%s", t.body)
		}
	}
	return b.String()
}
