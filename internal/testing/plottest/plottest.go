// Package plottest parses the PDF and SVG files that package plot writes, for tests. It does not parse
// files of other programs.
package plottest

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// Page lists what is drawn on one page of a PDF document.
type Page struct {
	Texts []string
	Fills map[string]int // number of filled paths by colour: the shares of red, green and blue
}

var (
	pageObject   = regexp.MustCompile(`<</Type /Page\n[^>]*(?:>>[^>]*)?/Contents (\d+) 0 R`)
	streamObject = regexp.MustCompile(`(?m)^(\d+) 0 obj\n<</Filter /FlateDecode /Length (\d+)>>\nstream\n`)
	escape       = regexp.MustCompile(`\\(.)`)
)

// Pages returns the pages of a PDF document.
func Pages(pdf []byte) (pages []Page, err error) {
	streams := make(map[string][]byte)
	for _, m := range streamObject.FindAllSubmatchIndex(pdf, -1) {
		in, err := zlib.NewReader(bytes.NewReader(pdf[m[1]:]))
		if err != nil {
			return nil, fmt.Errorf("stream at %d: %w", m[0], err)
		}
		if streams[string(pdf[m[2]:m[3]])], err = io.ReadAll(in); err != nil {
			return nil, fmt.Errorf("stream at %d: %w", m[0], err)
		}
	}
	for _, m := range pageObject.FindAllSubmatch(pdf, -1) {
		content, ok := streams[string(m[1])]
		if !ok {
			return nil, fmt.Errorf("a page's content %s is missing", m[1])
		}
		pages = append(pages, read(string(content)))
	}
	return pages, nil
}

// read parses the operators of a page. Each line has one operator, except lines with text.
func read(content string) Page {
	p := Page{Fills: make(map[string]int)}
	colour := ""
	for line := range strings.Lines(content) {
		line = strings.TrimSuffix(line, "\n")
		_, after, isText := strings.Cut(line, " Td (")
		switch {
		case isText:
			text, _, _ := strings.Cut(after, ")Tj ET")
			p.Texts = append(p.Texts, decoded(escape.ReplaceAllString(text, "$1")))
		case strings.HasSuffix(line, " rg"):
			colour = strings.TrimSuffix(line, " rg")
		case strings.HasSuffix(line, " g"): // grey
			share := strings.TrimSuffix(line, " g")
			colour = share + " " + share + " " + share
		case line == "f":
			p.Fills[colour]++
		}
	}
	return p
}

// decoded decodes a text in code page 1252, which differs from Unicode only in 0x80 to 0x9f.
func decoded(s string) string {
	runes := make([]rune, len(s))
	for i := range len(s) {
		runes[i] = rune(s[i])
	}
	return strings.NewReplacer("\u0085", "…", "\u0096", "–").Replace(string(runes))
}
