package recursion_test

import (
	"slices"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/goldilocks"
	hash "github.com/zkbench/zkbench/goldilocks/poseidon"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/stark"
	"github.com/zkbench/zkbench/stark/air"
	boxes "github.com/zkbench/zkbench/stark/poseidon"
	"github.com/zkbench/zkbench/stark/recursion"
)

// refused fails the test unless an error is the wanted one and has this text.
func refused(t *testing.T, what string, err, want error, text string) {
	t.Helper()
	must.Fail(t, err, want, "%s", what)
	if err != nil {
		golden.Contains(t, err.Error(), text)
	}
}

// forms are the forms of powers' proofs.
var forms = []stark.Form{{height}}

// leafOf returns the child for powers' proofs.
func leafOf(s *stark.System, like stark.Statement) recursion.Child {
	return recursion.NewChild(s, like)
}

// ofForms returns a statement that accepts other forms.
func ofForms(s stark.Statement, forms ...stark.Form) stark.Statement {
	s.Forms = forms
	return s
}

// TestBadProofs: a proof that does not verify, of other heights or another system, or none at all is refused before
// anything is proved, and named.
func TestBadProofs(t *testing.T) {
	t.Parallel()
	s, other := powers(t), powersOf(t, poseidon(), 7)
	two, three := power(t, s, 2, height), power(t, s, 3, height)
	pair := must.Get(recursion.New(poseidon(), leafOf(s, two.Statement), leafOf(s, two.Statement)))(t)
	alike := powerFrom(t, other, 7, 3, height)
	cut := slices.Clone(two.Bytes[:len(two.Bytes)-8])
	flipped := slices.Clone(two.Bytes)
	flipped[len(flipped)/2] ^= 1
	for name, bad := range map[string]struct {
		recursion.Proof
		err  error
		says string
	}{
		"twice as high":       {power(t, s, 3, 2*height), zkbench.ErrParams, "statement 1: invalid parameters: a statement of another form"},
		"half as high":        {power(t, s, 3, height/2), zkbench.ErrParams, "statement 1: invalid parameters: a statement of another form"},
		"higher than said":    {recursion.Proof{Bytes: power(t, s, 3, 2*height).Bytes, Statement: two.Statement}, zkbench.ErrProof, "proof 1: proof rejected: tables of [16] rows, the statement accepts [[8]]"},
		"nothing":             {recursion.Proof{Bytes: []byte{}, Statement: two.Statement}, zkbench.ErrMalformed, "proof 1: malformed encoding: heights"},
		"nil":                 {recursion.Proof{Statement: two.Statement}, zkbench.ErrMalformed, "proof 1: there is none"},
		"cut":                 {recursion.Proof{Bytes: cut, Statement: two.Statement}, zkbench.ErrMalformed, "proof 1: malformed encoding"},
		"a bit":               {recursion.Proof{Bytes: flipped, Statement: two.Statement}, must.ErrAny, "proof 1: "},
		"another's statement": {recursion.Proof{Bytes: two.Bytes, Statement: three.Statement}, zkbench.ErrProof, "proof 1: proof rejected: a tuple is not answered"},
		"another's proof":     {recursion.Proof{Bytes: three.Bytes, Statement: two.Statement}, zkbench.ErrProof, "proof 1: proof rejected: a tuple is not answered"},
		"of tables alike":     {alike, zkbench.ErrProof, "proof 1: proof rejected"},
	} {
		_, err := pair.Prove(t.Context(), executor.Serial(), []recursion.Proof{two, bad.Proof}, nil, stark.Options{Span: func(phase string) func() {
			t.Errorf("%s: %s", name, phase)
			return func() {}
		}})
		refused(t, name, err, bad.err, bad.says)
	}
	// Of two the first is named.
	wrong := recursion.Proof{Bytes: two.Bytes, Statement: three.Statement}
	for _, second := range []recursion.Proof{wrong, {Bytes: cut, Statement: two.Statement}} {
		_, err := pair.Prove(t.Context(), executor.Serial(), []recursion.Proof{wrong, second}, nil, stark.Options{})
		refused(t, "two bad proofs", err, zkbench.ErrProof, "proof 0: ")
	}
}

// TestStatements: a proof is of its statements, in their order, and of no others; those of another form are refused.
func TestStatements(t *testing.T) {
	t.Parallel()
	s := powers(t)
	two, three := power(t, s, 2, height), power(t, s, 3, height)
	leaf := leafOf(s, two.Statement)
	pair := must.Get(recursion.New(poseidon(), leaf, leaf))(t)
	proof := must.Get(pair.Prove(t.Context(), executor.Serial(), []recursion.Proof{two, three}, nil, stark.Options{}))(t)
	must.Do(t, pair.Verify(proof, []stark.Statement{two.Statement, three.Statement}, nil))
	for name, all := range map[string][]stark.Statement{
		"exchanged": {three.Statement, two.Statement},
		"one twice": {two.Statement, two.Statement},
		"neither":   {power(t, s, 4, height).Statement, power(t, s, 5, height).Statement},
	} {
		must.Fail(t, pair.Verify(proof, all, nil), zkbench.ErrProof, "%s", name)
	}
	// What a proof says is the digest of all numbers, in the two cells that hold it.
	said := must.Get(pair.Statement([]stark.Statement{two.Statement, three.Statement}, nil))(t)
	leafSystem, _ := leaf.Parts()
	var numbers []goldilocks.Element
	for _, s := range []stark.Statement{two.Statement, three.Statement} {
		for _, n := range must.Get(leafSystem.StatementElements(s))(t) {
			numbers = append(numbers, goldilocks.Element(n))
		}
	}
	var got []uint64
	for _, m := range said.Messages {
		got = append(got, m.Tuple[1:]...)
	}
	var digest []uint64
	for _, e := range hash.HashNoPad(numbers) {
		digest = append(digest, uint64(e))
	}
	golden.Equal(t, "digest", digest, got)

	message := stark.Message{Bus: "power", Times: -1, Tuple: []uint64{1}}
	for name, c := range map[string]struct {
		stark.Statement
		says string
	}{
		"a message more":      {stark.Statement{Forms: forms, Publics: []uint64{3}, Messages: []stark.Message{message, message}}, "statement 1: "},
		"no message":          {stark.Statement{Forms: forms, Publics: []uint64{3}}, "statement 1: "},
		"other times":         {stark.Statement{Forms: forms, Publics: []uint64{3}, Messages: []stark.Message{{Bus: "power", Times: 1, Tuple: []uint64{1}}}}, "statement 1: "},
		"another bus":         {stark.Statement{Forms: forms, Publics: []uint64{3}, Messages: []stark.Message{{Bus: "square", Times: -1, Tuple: []uint64{1}}}}, "statement 1: "},
		"a number more":       {stark.Statement{Forms: forms, Publics: []uint64{3}, Messages: []stark.Message{{Bus: "power", Times: -1, Tuple: []uint64{1, 0}}}}, "statement 1: "},
		"a public value more": {stark.Statement{Forms: forms, Publics: []uint64{3, 0}, Messages: []stark.Message{message}}, "statement 1: "},
		"a public value less": {stark.Statement{Forms: forms, Messages: []stark.Message{message}}, "statement 1: "},
		"a context":           {stark.Statement{Forms: forms, Publics: []uint64{3}, Messages: []stark.Message{message}, Context: []byte{0}}, "statement 1: "},
		"a number above p":    {stark.Statement{Forms: forms, Publics: []uint64{1<<64 - 1}, Messages: []stark.Message{message}}, "statement 1: "},
	} {
		refused(t, name, pair.Verify(proof, []stark.Statement{two.Statement, c.Statement}, nil), zkbench.ErrParams, c.says)
		_, err := pair.Prove(t.Context(), executor.Serial(), []recursion.Proof{two, {Bytes: three.Bytes, Statement: c.Statement}}, nil, stark.Options{})
		refused(t, name, err, zkbench.ErrParams, c.says)
	}
	for n := range 4 {
		if n == 2 {
			continue
		}
		refused(t, "as many statements", pair.Verify(proof, slices.Repeat([]stark.Statement{two.Statement}, n), nil), zkbench.ErrParams, "statements, accepted are 2")
		_, err := pair.Prove(t.Context(), executor.Serial(), slices.Repeat([]recursion.Proof{two}, n), nil, stark.Options{})
		refused(t, "as many proofs", err, zkbench.ErrParams, "proofs, accepted are 2")
	}
}

// TestOthers: what proves other proofs is another system, and verifies none of this one's.
func TestOthers(t *testing.T) {
	t.Parallel()
	s, alike := powers(t), powersOf(t, poseidon(), 7)
	two := power(t, s, 2, height)
	leaf := leafOf(s, two.Statement)
	one := must.Get(recursion.New(poseidon(), leaf))(t)
	proof := must.Get(one.Prove(t.Context(), executor.Serial(), []recursion.Proof{two}, nil, stark.Options{}))(t)
	must.Do(t, one.Verify(proof, []stark.Statement{two.Statement}, nil))
	another := two.Statement
	another.Messages = []stark.Message{{Bus: "power", Times: -2, Tuple: two.Statement.Messages[0].Tuple}}
	others := map[string]recursion.Child{
		"tables alike": leafOf(alike, two.Statement),
		"other times":  leafOf(s, another),
		"other rows":   recursion.NewChild(s, ofForms(two.Statement, stark.Form{2 * height})),
		"fewer rows":   recursion.NewChild(s, ofForms(two.Statement, stark.Form{height / 2})),
	}
	seen := map[[64]byte]string{one.Digest(): "one"}
	for name, child := range others {
		other := must.Get(recursion.New(poseidon(), child))(t)
		if of, ok := seen[other.Digest()]; ok {
			t.Errorf("%s and %s are one system", name, of)
		}
		seen[other.Digest()] = name
		_, like := child.Parts()
		must.Fail(t, other.Verify(proof, []stark.Statement{like}, nil), must.ErrAny, "%s", name)
	}
	// A proof of another program is none of a child, though its statement has the form.
	above := must.Get(recursion.New(poseidon(), one.Child()))(t)
	other := must.Get(recursion.New(poseidon(), leafOf(alike, two.Statement)))(t)
	seven := powerFrom(t, alike, 7, 2, height)
	bad := must.Get(other.Prove(t.Context(), executor.Serial(), []recursion.Proof{seven}, nil, stark.Options{}))(t)
	said := must.Get(other.Statement([]stark.Statement{seven.Statement}, nil))(t)
	must.Do(t, other.Tables().Verify(bad, said))
	_, err := above.Prove(t.Context(), executor.Serial(), []recursion.Proof{{Bytes: bad, Statement: said}}, nil, stark.Options{})
	refused(t, "a proof of another program", err, zkbench.ErrProof, "proof 0: proof rejected")
}

// TestChildren: children that have no program, or promise less than is asked for, are refused.
func TestChildren(t *testing.T) {
	t.Parallel()
	s := powers(t)
	like := power(t, s, 2, height).Statement
	leaf := leafOf(s, like)
	strong := must.Get(stark.Secure100(stark.Goldilocks, 3))(t)
	promised := poseidon()
	promised.Params.Bits = 1
	promising := leafOf(powersOf(t, promised, 1), like)
	overCubic := poseidon()
	overCubic.Params.Degree = 3
	cubic := leafOf(powersOf(t, overCubic, 1), like)
	hidden := poseidon()
	hidden.Params.ZeroKnowledge = true
	last := must.Get(recursion.New(stark.Config{Field: stark.Goldilocks, Hash: stark.Keccak, Params: small(3)}, leaf))(t)
	for name, c := range map[string]struct {
		config   stark.Config
		children []recursion.Child
		says     string
	}{
		"none":                  {poseidon(), nil, "no child"},
		"of no promised bits":   {stark.Config{Field: stark.Goldilocks, Hash: stark.Poseidon, Params: strong}, []recursion.Child{leaf}, "child 0 promises 0 bits"},
		"the second of two":     {promised, []recursion.Child{promising, leaf}, "child 1 promises 0 bits, accepted are 1"},
		"over two extensions":   {poseidon(), []recursion.Child{leaf, cubic}, "child 1 is over an extension of degree 3, accepted is that of child 0, 2"},
		"of no rows":            {poseidon(), []recursion.Child{leaf, recursion.NewChild(s, ofForms(like))}, "child 1: "},
		"of 3 rows":             {poseidon(), []recursion.Child{recursion.NewChild(s, ofForms(like, stark.Form{3}))}, "child 0: "},
		"of two forms":          {poseidon(), []recursion.Child{recursion.NewChild(s, ofForms(like, stark.Form{height}, stark.Form{2 * height}))}, "child 0: "},
		"of no statement":       {poseidon(), []recursion.Child{recursion.NewChild(s, stark.Statement{Forms: forms})}, "child 0: "},
		"of Keccak":             {poseidon(), []recursion.Child{last.Child()}, "child 0: "},
		"in another field":      {stark.Config{Field: stark.KoalaBear, Hash: stark.Keccak, Params: small(4)}, []recursion.Child{leaf}, "not below the field's order"},
		"in zero knowledge":     {hidden, []recursion.Child{leaf}, "zero knowledge"},
		"of unknown parameters": {stark.Config{Field: stark.Goldilocks, Hash: stark.Poseidon, Params: small(4)}, []recursion.Child{leaf}, "degree 4"},
	} {
		_, err := recursion.New(c.config, c.children...)
		refused(t, name, err, zkbench.ErrParams, c.says)
	}
}

// TestForms: of a statement of many messages each has its bus and its times.
func TestForms(t *testing.T) {
	t.Parallel()
	s := must.Get(stark.New(poseidon(), &air.Table{Name: "sends", Columns: 1, State: func(b *air.Builder) {
		b.Answer("one", air.Constant(1), b.Here(0))
		b.Answer("other", air.Constant(1), b.Here(0))
	}}))(t)
	form := func(first, second string, times int64) stark.Statement {
		return stark.Statement{Forms: forms, Messages: []stark.Message{{Bus: first, Times: -4, Tuple: []uint64{5}}, {Bus: second, Times: times, Tuple: []uint64{5}}}}
	}
	r := must.Get(recursion.New(poseidon(), leafOf(s, form("one", "other", -4))))(t)
	must.FailGet(r.Statement([]stark.Statement{form("one", "other", -3)}, nil))(t, zkbench.ErrParams, "other times")
	must.FailGet(r.Statement([]stark.Statement{form("one", "one", -4)}, nil))(t, zkbench.ErrParams, "another bus")
	must.FailGet(r.Statement([]stark.Statement{form("other", "one", -4)}, nil))(t, zkbench.ErrParams, "buses exchanged")
	must.Get(r.Statement([]stark.Statement{form("one", "other", -4)}, nil))(t)
	within := func(publics []uint64, context string) stark.Statement {
		s := form("one", "other", -4)
		s.Publics, s.Context = publics, []byte(context)
		return s
	}
	r = must.Get(recursion.New(poseidon(), leafOf(s, within(nil, "context"))))(t)
	must.Get(r.Statement([]stark.Statement{within(nil, "another")}, nil))(t)
	must.FailGet(r.Statement([]stark.Statement{within(nil, "short")}, nil))(t, zkbench.ErrParams, "a context of another length")
	must.FailGet(r.Statement([]stark.Statement{within(nil, "")}, nil))(t, zkbench.ErrParams, "no context")
}

// TestBits: what is proved of a proof is the least of all layers.
func TestBits(t *testing.T) {
	t.Parallel()
	bits := func(c recursion.Child) int {
		s, like := c.Parts()
		p := must.Get(s.Security(like.Forms[0], len(like.Messages)))(t)
		return must.Get(p.Best())(t).Bits()
	}
	config := func(queries int) stark.Config {
		c := poseidon()
		c.Params.Queries = queries
		return c
	}
	like := power(t, powers(t), 2, height).Statement
	weak, strong := leafOf(powersOf(t, config(1), 1), like), leafOf(powersOf(t, config(9), 1), like)
	least := bits(weak)
	for _, c := range []struct {
		top      int
		children []recursion.Child
		least    bool
	}{{9, []recursion.Child{strong, weak}, true}, {9, []recursion.Child{weak, strong}, true}, {9, []recursion.Child{strong}, false}, {3, []recursion.Child{strong}, false}} {
		r := must.Get(recursion.New(config(c.top), c.children...))(t)
		above := must.Get(recursion.New(config(4), r.Child()))(t)
		want := min(bits(r.Child()), bits(c.children[0]))
		if c.least {
			want = least
		}
		golden.Equal(t, "bits", want, must.Get(r.Bits())(t))
		golden.Equal(t, "bits above", min(want, bits(above.Child())), must.Get(above.Bits())(t))
		if least >= bits(strong) || least >= bits(above.Child()) {
			t.Errorf("%d bits are not the least", least)
		}
	}
}

// TestLaid: proofs that are children have up to twelve permutations in a row, last ones three, and S-boxes in one column
// where the rate has room.
func TestLaid(t *testing.T) {
	t.Parallel()
	s := powers(t)
	leaf := leafOf(s, power(t, s, 2, height).Statement)
	for _, c := range []struct {
		hash           stark.Hash
		degree, blowup int
		lanes          int
		boxes          boxes.Boxes
	}{
		{stark.Poseidon, 2, 2, 12, boxes.Cubed},
		{stark.Poseidon, 2, 3, 12, boxes.Plain},
		{stark.Poseidon, 3, 2, 12, boxes.Cubed},
		{stark.Keccak, 2, 3, 3, boxes.Plain},
		{stark.Keccak, 3, 4, 3, boxes.Plain},
	} {
		params := small(c.degree)
		params.LogBlowup = c.blowup
		r := must.Get(recursion.New(stark.Config{Field: stark.Goldilocks, Hash: c.hash, Params: params}, slices.Repeat([]recursion.Child{leaf}, 8)...))(t)
		p := r.Program()
		golden.Equal(t, "S-boxes", c.boxes, p.Boxes())
		golden.Within(t, "permutations in a row", c.lanes/2+1, p.Lanes()[1], c.lanes)
	}
}
