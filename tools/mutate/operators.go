package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strings"
)

// mutant is one change at one place: text inserted before and after a piece of the source. The text
// contains the mutant's number, so that one build holds all mutants and a variable selects one.
type mutant struct {
	id   int
	file string // under the root
	line int
	key  string // file, function, operator and text: identifies the mutant
}

// edit is an insertion. At the same offset, closing edits come before opening ones. Closing edits
// are ordered from the inner to the outer, opening edits from the outer to the inner.
type edit struct {
	offset int
	close  bool
	id     int
	text   string
}

func compareEdits(a, b edit) int {
	switch {
	case a.offset != b.offset:
		return a.offset - b.offset
	case a.close != b.close && a.close:
		return -1
	case a.close != b.close:
		return 1
	case a.close:
		return b.id - a.id
	}
	return a.id - b.id
}

// mutator finds the mutants of one file.
type mutator struct {
	fset    *token.FileSet
	info    *types.Info
	name    string
	src     []byte
	next    *int // the next mutant's number
	keys    map[string]int
	mutants []mutant
	edits   []edit
	fn      string // the function that is being visited

	packageEnd int // offset of the end of the package clause
}

func (m *mutator) offset(p token.Pos) int { return m.fset.Position(p).Offset }

func (m *mutator) text(n ast.Node) string { return string(m.src[m.offset(n.Pos()):m.offset(n.End())]) }

var space = regexp.MustCompile(`\s+`)

// add adds a mutant of the node. In before and behind, # is replaced by the mutant's number.
func (m *mutator) add(n ast.Node, operator, before, behind string) {
	m.insert(n.Pos(), m.offset(n.Pos()), m.offset(n.End()), operator, m.text(n), before, behind)
}

// insert adds a mutant of the source between two offsets; place, operator and text identify it.
func (m *mutator) insert(place token.Pos, from, to int, operator, text, before, behind string) {
	text = space.ReplaceAllString(text, " ")
	if r := []rune(text); len(r) > 70 {
		text = string(r[:70]) + "…"
	}
	key := fmt.Sprintf("%s %s: %s: %s", m.name, m.fn, operator, text)
	if m.keys[key]++; m.keys[key] > 1 {
		key = fmt.Sprintf("%s (%d)", key, m.keys[key])
	}
	id := *m.next
	*m.next++
	number := fmt.Sprint(id)
	m.mutants = append(m.mutants, mutant{id, m.name, m.fset.Position(place).Line, key})
	m.edits = append(m.edits,
		edit{from, from == to, id, strings.ReplaceAll(before, "#", number)},
		edit{to, true, id, strings.ReplaceAll(behind, "#", number)})
}

// visit applies the operators for this kind of node.
func (m *mutator) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.FuncDecl:
		if n.Body == nil || n.Name.Name == "String" {
			return false
		}
		m.fn = n.Name.Name
		m.function(n.Type, n.Body)
	case *ast.FuncLit:
		m.function(n.Type, n.Body)
	case *ast.BlockStmt:
		m.statements(n.List)
	case *ast.CaseClause:
		m.statements(n.Body)
		for _, e := range n.List {
			if t := m.info.TypeOf(e); t != nil && isBasic(t, types.Bool) {
				m.add(e, "case never", "(", ") && !mut.On(#)")
			}
		}
	case *ast.RangeStmt:
		m.loop(n.Body)
	case *ast.ForStmt:
		if n.Cond != nil { // a function may end with a loop that no break leaves
			m.loop(n.Body)
		}
	case *ast.IfStmt:
		m.add(n.Cond, "if never", "(", ") && !mut.On(#)")
		m.add(n.Cond, "if always", "(", ") || mut.On(#)")
	case *ast.BinaryExpr:
		m.binary(n)
	case *ast.CallExpr:
		m.call(n)
	case *ast.CompositeLit:
		m.literal(n)
	case *ast.ReturnStmt:
		for _, r := range n.Results {
			m.result(r)
		}
	case *ast.GenDecl:
		return n.Tok == token.VAR
	}
	return true
}

// function adds a mutant that returns zeros at once.
func (m *mutator) function(t *ast.FuncType, body *ast.BlockStmt) {
	var zeros []string
	if t.Results != nil {
		for _, f := range t.Results.List {
			for range max(1, len(f.Names)) {
				zeros = append(zeros, "*new("+m.text(f.Type)+")")
			}
		}
	}
	at := m.offset(body.Lbrace) + 1
	m.insert(body.Pos(), at, at, "return at once", m.text(t), "", " if mut.On(#) { return "+strings.Join(zeros, ", ")+" };")
}

// loop adds mutants that skip all iterations, or all but the first.
func (m *mutator) loop(body *ast.BlockStmt) {
	if len(body.List) == 0 {
		return
	}
	first, end := m.offset(body.Lbrace)+1, m.offset(body.Rbrace)
	m.insert(body.Pos(), first, first, "no iteration", m.text(body.List[0]), "", " if mut.On(#) { break };")
	if _, ends := body.List[len(body.List)-1].(*ast.ReturnStmt); !ends {
		m.insert(body.Pos(), end, end, "one iteration", m.text(body.List[0]), "", "; if mut.On(#) { break }; ")
	}
}

func (m *mutator) statements(list []ast.Stmt) {
	for _, s := range list {
		switch s := s.(type) {
		case *ast.ExprStmt:
			if !isCallOf(s.X, "panic") {
				m.add(s, "delete", "if !mut.On(#) { ", " }")
				m.exchange(s)
			}
		case *ast.IncDecStmt:
			m.add(s, "delete", "if !mut.On(#) { ", " }")
		case *ast.AssignStmt:
			if s.Tok != token.DEFINE && !slices.ContainsFunc(s.Rhs, isView) {
				m.add(s, "delete", "if !mut.On(#) { ", " }")
			}
			m.assigned(s)
		}
	}
}

func isCallOf(x ast.Expr, names ...string) bool {
	c, ok := x.(*ast.CallExpr)
	return ok && slices.Contains(names, called(c))
}

func called(c *ast.CallExpr) string {
	fun := c.Fun
	if ix, ok := fun.(*ast.IndexExpr); ok {
		fun = ix.X
	}
	switch f := fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	}
	return ""
}

// isView reports whether an expression only allocates or names memory.
func isView(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.SliceExpr, *ast.CompositeLit:
		return true
	case *ast.CallExpr:
		return isCallOf(x, "make", "take")
	}
	return false
}

// assigned adds mutants that set an assigned variable to zero or to a constant.
func (m *mutator) assigned(s *ast.AssignStmt) {
	for i, left := range s.Lhs {
		if id, ok := left.(*ast.Ident); ok && id.Name == "_" || len(s.Rhs) == len(s.Lhs) && isView(s.Rhs[i]) {
			continue
		}
		x := m.text(left)
		if _, ok := s.Rhs[min(i, len(s.Rhs)-1)].(*ast.SelectorExpr); ok && isSlice(m.info.TypeOf(left)) {
			continue // memory that has not been written yet
		}
		zero, fix := m.constants(m.info.TypeOf(left), x)
		for _, c := range []struct{ operator, stmt string }{{"zero", zero}, {"constant", fix}} {
			if c.stmt != "" {
				m.add(s, c.operator+" "+x, "", "; if mut.On(#) { "+c.stmt+" }")
			}
		}
	}
}

// constants returns a statement that sets x to zero, and one that sets it to a constant. They are
// empty if neither secrecy nor soundness depends on values of type t.
func (m *mutator) constants(t types.Type, x string) (zero, fix string) {
	if t == nil {
		return "", ""
	}
	if types.Identical(t, types.Universe.Lookup("error").Type()) || isBasic(t, types.Bool) {
		return "mut.Zero(&" + x + ")", ""
	}
	if s, ok := t.Underlying().(*types.Slice); ok {
		if isScalar(s.Elem()) || isBasic(s.Elem(), types.Uint8) {
			return "clear(" + x + ")", "mut.FixAll(" + x + ")"
		}
		return "", ""
	}
	a, isArray := t.Underlying().(*types.Array)
	switch {
	case isScalar(t), isArray && isBasic(a.Elem(), types.Uint8):
		return "mut.Zero(&" + x + ")", "mut.Fix(&" + x + ")"
	case isTypeParam(t):
		return "mut.Zero(&" + x + ")", ""
	}
	return "", ""
}

func isSlice(t types.Type) bool {
	if t == nil {
		return false
	}
	_, ok := t.Underlying().(*types.Slice)
	return ok
}

func isTypeParam(t types.Type) bool { _, ok := t.(*types.TypeParam); return ok }

func isScalar(t types.Type) bool { return isTypeParam(t) && t.String() == "S" }

func isBasic(t types.Type, kind types.BasicKind) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Kind() == kind
}

// exchange adds mutants that swap the operands of a difference, and that exchange sums and
// differences.
func (m *mutator) exchange(s *ast.ExprStmt) {
	c, ok := s.X.(*ast.CallExpr)
	if !ok || len(c.Args) != 3 {
		return
	}
	sel, ok := c.Fun.(*ast.SelectorExpr)
	if !ok {
		return
	}
	recv, name := m.text(sel.X), sel.Sel.Name
	d, a, b := m.text(c.Args[0]), m.text(c.Args[1]), m.text(c.Args[2])
	other := func(operator, name, a, b string) {
		m.add(s, operator, fmt.Sprintf("if mut.On(#) { %s.%s(%s, %s, %s) } else { ", recv, name, d, a, b), " }")
	}
	if kind, ok := strings.CutPrefix(name, "Sub"); ok {
		other("swap", name, b, a)
		other("add", "Add"+kind, a, b)
	} else if kind, ok := strings.CutPrefix(name, "Add"); ok {
		other("subtract", "Sub"+kind, a, b)
	}
}

var boundary = map[token.Token]string{token.LSS: "<=", token.LEQ: "<", token.GTR: ">=", token.GEQ: ">"}

// binary adds mutants that drop an operand of && and ||, and that move the boundary of a comparison
// by one.
func (m *mutator) binary(b *ast.BinaryExpr) {
	neutral := map[token.Token]string{token.LAND: ") || mut.On(#))", token.LOR: ") && !mut.On(#))"}[b.Op]
	if neutral != "" {
		m.add(b.X, "drop operand", "((", neutral)
		m.add(b.Y, "drop operand", "((", neutral)
	}
	if op := boundary[b.Op]; op != "" {
		m.add(b, op, fmt.Sprintf("mut.Either(#, %s %s %s, ", m.text(b.X), op, m.text(b.Y)), ")")
	}
}

// derivations lists the functions that derive secrets, weights or forks from their arguments.
var derivations = []string{"XOF", "Stream", "openStream", "Fork", "NewWeights", "RandomScalars", "DeriveBlindings"}

// call adds mutants that omit, shorten or publish an argument of a derivation or a random source.
func (m *mutator) call(c *ast.CallExpr) {
	name := called(c)
	for i, a := range c.Args {
		t := m.info.TypeOf(a)
		if t == nil {
			continue
		}
		slice, isSlice := t.Underlying().(*types.Slice)
		isBytes := isSlice && isBasic(slice.Elem(), types.Uint8)
		_, isPointer := a.(*ast.UnaryExpr)
		switch derives := slices.Contains(derivations, name); {
		case isBytes && (name == "Read" || name == "ReadFull"):
			m.add(a, "8 bytes", "mut.Short(#, ", ")")
		case strings.HasSuffix(t.String(), "sha3.SHAKE"):
			m.add(a, "public stream", "mut.Stream(#, ", ")")
		case derives && isPointer:
			m.add(a, "empty argument", "mut.Empty(#, ", ")")
		case derives && i > 0 && (isBytes || m.isNumber(a, t)) && c.Ellipsis == token.NoPos:
			m.add(a, "zero argument", "mut.Arg(#, ", ")")
		case isBytes && name != "copy" && name != "clear":
			if s, ok := a.(*ast.SliceExpr); ok && s.High == nil && s.Low == nil {
				if array, ok := m.info.TypeOf(s.X).Underlying().(*types.Array); ok && array.Len() > 8 {
					m.add(a, "8 bytes", "mut.Narrow(#, ", ")")
				}
			}
		}
	}
}

// isNumber reports whether x is a number or an array of bytes, and not a constant.
func (m *mutator) isNumber(x ast.Expr, t types.Type) bool {
	if m.info.Types[x].Value != nil {
		return false
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Info()&types.IsInteger != 0
	case *types.Array:
		return true
	}
	return false
}

// literal adds mutants that leave a field of a struct zero.
func (m *mutator) literal(c *ast.CompositeLit) {
	t := m.info.TypeOf(c)
	if t == nil || strings.HasSuffix(t.String(), "Error") {
		return
	}
	if _, ok := t.Underlying().(*types.Struct); !ok {
		return
	}
	for _, e := range c.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			switch m.info.TypeOf(kv.Value).Underlying().(type) {
			case *types.Basic, *types.Array, *types.Slice:
				m.add(kv.Value, "zero field "+m.text(kv.Key), "mut.Arg(#, ", ")")
			}
		}
	}
}

// result adds mutants that return the opposite truth value, no error, zero, or a constant.
func (m *mutator) result(r ast.Expr) {
	t := m.info.TypeOf(r)
	if id, ok := r.(*ast.Ident); ok && id.Name == "nil" || t == nil {
		return
	}
	switch {
	case isBasic(t, types.Bool):
		if m.text(r) != "true" {
			m.add(r, "return true", "((", ") || mut.On(#))")
		}
		if m.text(r) != "false" {
			m.add(r, "return false", "((", ") && !mut.On(#))")
		}
	case types.AssignableTo(t, types.Universe.Lookup("error").Type()):
		m.add(r, "return no error", "mut.Arg[error](#, ", ")")
	default:
		if _, fix := m.constants(t, "x"); fix != "" && !isView(r) {
			m.add(r, "return zero", "mut.Arg(#, ", ")")
			if _, isSlice := t.Underlying().(*types.Slice); !isSlice {
				m.add(r, "return a constant", "mut.Fixed(#, ", ")")
			}
		}
	}
}
