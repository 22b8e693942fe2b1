package main

import (
	"fmt"
	"go/ast"
	"strings"
)

// special lists changes that must not be forgotten, or that no operator makes. Each is an exact
// text that occurs once in its file. The text before and behind is put around the marked part.
var special = []struct{ name, file, text, before, behind string }{
	{"any merge to one output is exempt from range proofs", "token/prove.go", "«inputs == 1» && outputs == 1", "(", " || mut.On(#))"},
	{"C's blinding is a constant", "token/prove.go", "«tw.r = r[0]»", "", "; if mut.On(#) { mut.Fix(&tw.r) }"},
	{"type-and-sum nonces come from an empty transcript", "token/prove.go", "nonces.Stream(encoded, «&t»)", "mut.Empty(#, ", ")"},
	{"generators are left out of the digest", "token/core.go", `«t.Append("generators", basis.Group.AppendPoints(nil, basis.Points...))»`, "if !mut.On(#) { ", " }"},
	{"parameters are left out of the digest", "token/core.go", "«rp.AppendParams(&t)»", "if !mut.On(#) { ", " }"},
	{"items whose replay failed are left out", "rangeproof/batch.go", "append(«bad», more...)", "mut.Arg(#, ", ")"},
	{"weights have 64 bits", "group/weights.go", "w.xof.Read(«w.buf[:]»)", "mut.Short(#, ", ")"},
}

// specials adds the special mutants of the file.
func (m *mutator) specials(f *ast.File) error {
	m.fn = "special"
	for _, s := range special {
		if s.file != m.name {
			continue
		}
		before, rest, _ := strings.Cut(s.text, "«")
		piece, behind, _ := strings.Cut(rest, "»")
		context := before + piece + behind
		if n := strings.Count(string(m.src), context); n != 1 {
			return fmt.Errorf("special mutant %q: the text %q occurs %d times in %s", s.name, context, n, s.file)
		}
		from := strings.Index(string(m.src), context) + len(before)
		m.insert(m.fset.File(f.Pos()).Pos(from), from, from+len(piece), s.name, piece, s.before, s.behind)
	}
	return nil
}
