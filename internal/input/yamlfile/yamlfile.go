// Package yamlfile parses YAML files that people write. It reports all mistakes of a file at once, each with its
// line.
package yamlfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/input/argument"
)

// maxFile bounds the bytes of a file.
const maxFile = 1 << 20

// Mistake is one mistake in a file.
type Mistake struct {
	Line int // counted from 1
	Text string
}

// Error lists all mistakes in a file. It wraps zkbench.ErrParams. Its text has one line for each mistake.
type Error struct {
	File     string
	Mistakes []Mistake
}

func (e *Error) Error() string {
	lines := make([]string, len(e.Mistakes))
	for i, m := range e.Mistakes {
		lines[i] = fmt.Sprintf("%s:%d: %s", e.File, m.Line, m.Text)
	}
	return strings.Join(lines, "\n")
}

func (e *Error) Unwrap() error { return zkbench.ErrParams }

// Read parses a file that holds one YAML document, of at most 1 MiB. It returns the document's root node, and a
// Parser that collects the mistakes in it. Read returns an *Error if the file is empty or is not YAML. The last
// two parameters are for error messages. The parameter what is a word for the file's contents, for example
// "suite", and the parameter accepted is a text that lists the keys which such a file may have.
func Read(name string, r io.Reader, what, accepted string) (*yaml.Node, *Parser, error) {
	raw, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(raw) > maxFile {
		return nil, nil, fmt.Errorf("%s: %w", name, &zkbench.LimitError{What: "bytes of a " + what, Estimate: int64(len(raw)), Max: maxFile})
	}
	documents := yaml.NewDecoder(bytes.NewReader(raw))
	var document, second yaml.Node
	if err := documents.Decode(&document); err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, &Error{name, []Mistake{syntax(what, err)}}
	}
	if len(document.Content) == 0 {
		return nil, nil, &Error{name, []Mistake{{1, "the file is empty; accepted: " + accepted}}}
	}
	p := new(Parser)
	switch err := documents.Decode(&second); {
	case err == nil:
		p.Wrong(second.Line, "a second document; accepted: one %s per file", what)
	case !errors.Is(err, io.EOF):
		p.Mistakes = append(p.Mistakes, syntax(what, err))
	}
	return document.Content[0], p, nil
}

// syntax converts an error of package yaml ("yaml: line 3: did not find ...") to a Mistake. what says
// what the file should have been.
func syntax(what string, err error) Mistake {
	wrong := "not a " + what + " file (YAML): "
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	if rest, found := strings.CutPrefix(text, "line "); found {
		if number, reason, found := strings.Cut(rest, ": "); found {
			if line, err := strconv.Atoi(number); err == nil {
				return Mistake{line, wrong + reason}
			}
		}
	}
	return Mistake{1, wrong + text}
}

// Parser reads the nodes of a file and collects the mistakes in them.
type Parser struct{ Mistakes []Mistake }

// Wrong adds a mistake on the given line to p.Mistakes. The parameters format and args give the mistake's
// text, as for fmt.Sprintf.
func (p *Parser) Wrong(line int, format string, args ...any) {
	p.Mistakes = append(p.Mistakes, Mistake{line, fmt.Sprintf(format, args...)})
}

// Unknown adds the mistake that a mapping in the file has a key which is not accepted. The parameter what is the
// mapping's name, or empty for the mapping at the top of the file. The text keys lists the accepted keys, separated
// by a comma and a space.
func (p *Parser) Unknown(what string, key *yaml.Node, keys string) {
	wrong := argument.ValueError{Field: what, Value: key.Value, Near: argument.Near(key.Value, strings.Split(keys, ", ")), Accepted: keys}
	p.Wrong(key.Line, "%s", wrong.Error())
}

// Err returns an *Error with all mistakes, sorted by line, or nil if there are none. The parameter name is the
// file's name.
func (p *Parser) Err(name string) error {
	if len(p.Mistakes) == 0 {
		return nil
	}
	slices.SortStableFunc(p.Mistakes, func(a, b Mistake) int { return a.Line - b.Line })
	return &Error{name, p.Mistakes}
}

// Word is a value in a file, with the line that it is on.
type Word struct {
	Text string
	Line int
}

// Pairs calls the function do with each key of the mapping n and its value. Pairs adds a mistake if a key occurs
// twice or if n is not a mapping. The parameter what names the node in messages.
func (p *Parser) Pairs(n *yaml.Node, what string, do func(key, value *yaml.Node)) {
	if n.Kind != yaml.MappingNode {
		p.Wrong(n.Line, "%s is not a list of keys and values", what)
		return
	}
	seen := make(map[string]bool)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if seen[key.Value] {
			p.Wrong(key.Line, "%s: %q occurs twice", what, key.Value)
			continue
		}
		seen[key.Value] = true
		do(key, n.Content[i+1])
	}
}

// Words returns the values of n, which is a single value or a list of values. Each value is split at its
// commas.
func (p *Parser) Words(what string, n *yaml.Node) (all []Word) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	switch n.Kind {
	case yaml.ScalarNode:
		for text := range strings.SplitSeq(n.Value, ",") {
			all = append(all, Word{strings.TrimSpace(text), n.Line})
		}
	case yaml.SequenceNode:
		for _, item := range n.Content {
			if item.Kind != yaml.ScalarNode {
				p.Wrong(item.Line, "%s: a list within a list", what)
				continue
			}
			all = append(all, p.Words(what, item)...)
		}
	default:
		p.Wrong(n.Line, "%s: accepted: a value or a list of values", what)
	}
	return all
}

// Text returns n's value. It adds a mistake and returns "" if n is not a single value.
func (p *Parser) Text(what string, n *yaml.Node) string {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.Kind != yaml.ScalarNode {
		p.Wrong(n.Line, "%s: accepted: one value", what)
		return ""
	}
	return n.Value
}

// Line returns n's value, like Text. It adds a mistake and returns "" if the value has a character that cannot be
// printed, such as a line break.
func (p *Parser) Line(what string, n *yaml.Node) string {
	text := p.Text(what, n)
	if strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		p.Wrong(n.Line, "%s: %q is not accepted; accepted: printable characters, on one line", what, text)
		return ""
	}
	return text
}
