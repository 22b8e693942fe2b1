package plottest

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
)

// Drawing lists what an SVG file shows.
type Drawing struct {
	Lines map[string][]Path // by colour of the stroke, #RRGGBB
	Fills map[string][]Path // by colour, #RRGGBB
	Texts []string
}

// Path is a list of the points that a path connects.
type Path [][2]float64

var (
	point  = regexp.MustCompile(`[ML](-?[\d.e+-]+),(-?[\d.e+-]+)`)
	stroke = regexp.MustCompile(`stroke:(#\w+)`)
	fill   = regexp.MustCompile(`fill:(#\w+)`)
)

// SVG parses an SVG file. It returns an error if the file is not well-formed XML.
func SVG(svg []byte) (Drawing, error) {
	d := Drawing{Lines: make(map[string][]Path), Fills: make(map[string][]Path)}
	dec := xml.NewDecoder(bytes.NewReader(svg))
	inText := false
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return d, nil
		}
		if err != nil {
			return d, err
		}
		switch e := token.(type) {
		case xml.StartElement:
			inText = e.Name.Local == "text"
			if e.Name.Local == "path" {
				if err := d.path(e.Attr); err != nil {
					return d, err
				}
			}
		case xml.CharData:
			if s := strings.TrimSpace(string(e)); inText && s != "" {
				d.Texts = append(d.Texts, s)
			}
		}
	}
}

// path adds a path with these attributes.
func (d *Drawing) path(attributes []xml.Attr) error {
	values := make(map[string]string)
	for _, a := range attributes {
		values[a.Name.Local] = a.Value
	}
	var p Path
	for _, m := range point.FindAllStringSubmatch(values["d"], -1) {
		x, errX := strconv.ParseFloat(m[1], 64)
		y, errY := strconv.ParseFloat(m[2], 64)
		if err := errors.Join(errX, errY); err != nil {
			return fmt.Errorf("path %s: %w", values["d"], err)
		}
		p = append(p, [2]float64{x, y})
	}
	if m := stroke.FindStringSubmatch(values["style"]); m != nil {
		d.Lines[m[1]] = append(d.Lines[m[1]], p)
	} else if m := fill.FindStringSubmatch(values["style"]); m != nil {
		d.Fills[m[1]] = append(d.Fills[m[1]], p)
	}
	return nil
}
