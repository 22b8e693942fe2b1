package stark

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/goldilocks/ext"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/stark/air"
	"github.com/zkbench/zkbench/stark/internal/field"
)

// imageTables returns mixedTables, of which some have an image in place of fixed columns, and the contents of that.
func imageTables(wide int, images []int, change func(squares, picks [][]uint64)) (tables []*air.Table, contents [][][]uint64) {
	tables = mixedTables(wide, change)
	for _, i := range images {
		contents = append(contents, tables[i].Fixed)
		tables[i].Image, tables[i].Fixed = len(tables[i].Fixed), nil
	}
	return tables, contents
}

// imageSystem returns a system of imageTables, and its image.
func imageSystem(t testing.TB, c Config, wide int, images []int) (*System, *Image) {
	t.Helper()
	tables, contents := imageTables(wide, images, nil)
	s := must.Get(New(c, tables...))(t)
	return s, must.Get(s.Image(t.Context(), executor.Serial(), contents...))(t)
}

// imageTraces returns mixedTraces for an image.
func imageTraces(form Form, wide int, image *Image, change func(table int, c *Cells)) ([]Trace, Statement) {
	traces, about := mixedTraces(form, wide, change)
	about.Image = image
	return traces, about
}

// TestImage: one image is proved in all forms, beside fixed columns and without, and a verifier needs its commitment
// only. What is proved depends on no executor, no other proof, and not on how much of it is in memory.
func TestImage(t *testing.T) {
	t.Parallel()
	for _, c := range mixedConfigs() {
		for i, images := range [][]int{{2}, {1}, {1, 2}} {
			wide := []int{0, 40, 7}[i]
			t.Run(fmt.Sprintf("%s/%s/degree=%d/stack=%d/images=%d", c.Field, c.Hash, c.Params.Degree, c.Params.Stack, images), func(t *testing.T) {
				t.Parallel()
				s, image := imageSystem(t, c, wide, images)
				tables, contents := imageTables(wide, images, nil)
				again := must.Get(NewOn(t.Context(), executor.Pool(), c, tables...))(t)
				other := must.Get(again.Image(t.Context(), executor.Pool(), contents...))(t)
				golden.Equal(t, "the image of another system on another executor", image.Bytes(), other.Bytes())
				known := must.Get(s.DecodeImage(image.Bytes()))(t)
				golden.Equal(t, "the decoded image", image.Bytes(), known.Bytes())
				for _, form := range mixedForms {
					traces, about := imageTraces(form, wide, image, nil)
					must.Do(t, s.Check(t.Context(), executor.Serial(), traces, about))
					proof := must.Get(s.Prove(t.Context(), executor.Serial(), traces, about, Options{}))(t)
					must.Do(t, s.Verify(proof, about))
					golden.Equal(t, "a proof of another system on another executor", proof, must.Get(again.Prove(t.Context(), executor.Pool(), traces, about, Options{Lean: true}))(t))
					for _, lean := range []bool{false, true} {
						golden.Equal(t, "a proof in other memory", proof, s.ProveLean(t, lean, traces, about, Options{}))
					}
					about.Image = known
					must.Do(t, s.Verify(proof, about))
					about.Image = other
					must.Do(t, s.Verify(proof, about))
				}
			})
		}
	}
}

// TestImageBound: all that follows a statement depends on the image's commitment, and a proof is one of its image. Images
// of one system share its digest.
func TestImageBound(t *testing.T) {
	t.Parallel()
	c := Config{KoalaBear, Keccak, attackParams}
	s, image := imageSystem(t, c, 0, []int{2})
	traces, about := imageTraces(mixedForms[2], 0, image, nil)
	proof := must.Get(s.Prove(t.Context(), executor.Serial(), traces, about, Options{}))(t)
	for name, change := range map[string]func(squares, picks [][]uint64){
		"a number":          func(_, picks [][]uint64) { picks[0][1] = 1 },
		"two of one sum":    func(_, picks [][]uint64) { picks[2][0]++; picks[2][1]-- },
		"columns exchanged": func(_, picks [][]uint64) { picks[0], picks[1] = picks[1], picks[0] },
		"rows exchanged":    func(_, picks [][]uint64) { picks[3][0], picks[3][1] = picks[3][1], picks[3][0] },
	} {
		tables, contents := imageTables(0, []int{2}, change)
		if must.Get(New(c, tables...))(t).Digest() != s.Digest() {
			t.Errorf("%s: another digest", name)
		}
		other := must.Get(s.Image(t.Context(), executor.Serial(), contents...))(t)
		if bytes.Equal(other.Bytes(), image.Bytes()) {
			t.Errorf("%s: one commitment", name)
		}
		about.Image = other
		// The first thing that is wrong comes before trees: the challenges are others.
		refused(t, s, proof, about, name, `table "walk": its constraints do not hold`)
	}
}

// TestImageRows: Check and Prove name the row in which an image does not fit, and nothing is known about an image:
// a table asks by its column as if a prover had filled it.
func TestImageRows(t *testing.T) {
	t.Parallel()
	s, _ := imageSystem(t, Config{KoalaBear, Keccak, attackParams}, 0, []int{2})
	for _, c := range []struct {
		column, row int
		by          uint64
		want        string
	}{
		{0, 1, 1, `table "picks", row 1: sum`},
		{1, 2, 1, `bus "square": the tuple of table `},
		{2, 3, 1, `table "picks", row 3: sum`},
		{4, 0, 1, `table "picks", row 0: asks "square" once at most`},
		{4, 1, 1, `bus "square": the tuple of table `},
	} {
		_, contents := imageTables(0, []int{2}, func(_, picks [][]uint64) { picks[c.column][c.row] += c.by })
		image := must.Get(s.Image(t.Context(), executor.Serial(), contents...))(t)
		traces, about := imageTraces(mixedForms[2], 0, image, nil)
		_, err := s.Prove(t.Context(), executor.Serial(), traces, about, Options{})
		for _, err := range []error{err, s.Check(t.Context(), executor.Pool(), traces, about)} {
			must.Fail(t, err, zkbench.ErrWitness, "%s", c.want)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %s", err, c.want)
			}
		}
		must.Fail(t, s.Verify(s.ProveForced(t, traces, about), about), zkbench.ErrProof, "%s", c.want)
	}
}

// TestImageLimits: an image that does not fit a system, a statement or a form is refused by name.
func TestImageLimits(t *testing.T) {
	t.Parallel()
	c := Config{KoalaBear, Keccak, attackParams}
	s, image := imageSystem(t, c, 0, []int{2})
	form := mixedForms[1]
	traces, about := imageTraces(form, 0, image, nil)
	proof := must.Get(s.Prove(t.Context(), executor.Serial(), traces, about, Options{}))(t)
	refused := func(name, want string, err error) {
		t.Helper()
		must.Fail(t, err, zkbench.ErrParams, "%s", name)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
	prove := func(s *System, about Statement) error {
		_, err := s.Prove(t.Context(), executor.Serial(), traces, about, Options{})
		return err
	}
	everywhere := func(name, want string, s *System, about Statement) {
		t.Helper()
		refused(name+": prove", want, prove(s, about))
		refused(name+": check", want, s.Check(t.Context(), executor.Serial(), traces, about))
		refused(name+": verify", want, s.Verify(proof, about))
	}
	with := func(image *Image) Statement {
		other := about
		other.Image = image
		return other
	}
	// The statement's image.
	everywhere("no image", `no image, table "picks" needs one`, s, with(nil))
	everywhere("an empty image", "not of this system", s, with(&Image{}))
	mixed := must.Get(New(c, mixedTables(0, nil)...))(t)
	everywhere("an image for a system without", "not of this system", mixed, about)
	others, contents := imageTables(1, []int{2}, nil)
	other := must.Get(New(c, others...))(t)
	everywhere("another system's image", "not of this system", s, with(must.Get(other.Image(t.Context(), executor.Serial(), contents...))(t)))
	var higher [][]uint64
	for _, column := range contents[0] {
		higher = append(higher, append(slices.Clone(column), column...))
	}
	double := must.Get(s.Image(t.Context(), executor.Serial(), higher))(t)
	everywhere("an image of other heights", `form: table "picks" of 4 rows, accepted are the 8 of its image`, s, with(double))
	several := about
	several.Forms = []Form{form, {form[0], form[1], 2 * form[2], form[3]}}
	everywhere("a form of other heights", `form: table "picks" of 8 rows, accepted are the 4 of its image`, s, several)
	known := with(must.Get(s.DecodeImage(image.Bytes()))(t))
	must.Do(t, s.Verify(proof, known))
	refused("prove without contents", "contents of the statement's image are not known", prove(s, known))
	refused("check without contents", "contents of the statement's image are not known", s.Check(t.Context(), executor.Serial(), traces, known))
	// Contents.
	for name, c := range map[string]struct {
		change func(contents [][][]uint64) [][][]uint64
		want   string
	}{
		"no table":      {func([][][]uint64) [][][]uint64 { return nil }, "contents of 0 tables"},
		"two tables":    {func(c [][][]uint64) [][][]uint64 { return append(c, c[0]) }, "contents of 2 tables"},
		"a column less": {func(c [][][]uint64) [][][]uint64 { return [][][]uint64{c[0][1:]} }, `table "picks": 4 image columns, accepted are 5`},
		"a column more": {func(c [][][]uint64) [][][]uint64 { return [][][]uint64{append(c[0], c[0][0])} }, `table "picks": 6 image columns, accepted are 5`},
		"a short column": {func(c [][][]uint64) [][][]uint64 {
			c[0][3] = c[0][3][:2]
			return c
		}, `table "picks": image column 3 has 2 rows`},
		"three rows": {func(c [][][]uint64) [][][]uint64 {
			for i := range c[0] {
				c[0][i] = c[0][i][:3]
			}
			return c
		}, `table "picks": image column 0 has 3 rows`},
		"no rows": {func([][][]uint64) [][][]uint64 { return [][][]uint64{make([][]uint64, 5)} }, `table "picks": image column 0 has 0 rows`},
		"p": {func(c [][][]uint64) [][][]uint64 {
			c[0][4][2] = s.engine.order()
			return c
		}, `table "picks", image column 4, row 2`},
	} {
		_, contents := imageTables(0, []int{2}, nil)
		_, err := s.Image(t.Context(), executor.Serial(), c.change(contents)...)
		refused(name, c.want, err)
	}
	_, err := mixed.Image(t.Context(), executor.Serial())
	refused("an image of a system without", "no table has an image", err)
	high := smallParams(4)
	high.Stack, high.LogBlowup = 8, 5
	tables, _ := imageTables(0, []int{2}, nil)
	s = must.Get(New(Config{KoalaBear, Keccak, high}, tables...))(t)
	_, err = s.Image(t.Context(), executor.Serial(), slices.Repeat([][]uint64{make([]uint64, 1<<12)}, 5))
	refused("too high", `table "picks" has 2^12 rows, accepted are 2^1 to 2^11`, err)
	// Tables.
	params := attackParams
	params.ZeroKnowledge = true
	tables, _ = imageTables(0, []int{1, 2}, nil)
	_, err = New(Config{KoalaBear, Keccak, params}, tables...)
	refused("zero knowledge", `table "squares" has image columns`, err)
}

// TestImageForgeries: a prover that says of an image what it is not is seen, wherever it is said. So is an image behind
// which there are no columns.
func TestImageForgeries(t *testing.T) {
	attacks(t, testImageForgeries[bear, quartic], testImageForgeries[cell, ext.Quadratic], testImageForgeries[cell, ext.Cubic])
}

func testImageForgeries[E field.Element[E], X field.Extension[E, X]](t *testing.T) {
	type (
		forger  = prover[E, X]
		before  = map[string]func(p *forger)
		attempt = forgery[E, X]
	)
	c := configOf[E, X](attackParams)
	s, image := imageSystem(t, c, 0, []int{2})
	// The image of another number than the statement's, of which a prover has a true trace.
	_, contents := imageTables(0, []int{2}, func(_, picks [][]uint64) { picks[2][1]++ })
	other := must.Get(s.Image(t.Context(), executor.Serial(), contents...))(t)
	wrong := func(table int, c *Cells) {
		if table == 2 {
			add(c, 1, 0, 1)
		}
	}
	end := func(do func(p *forger)) before { return before{"end": do} }
	// claimed makes the prover of one image absorb the commitment to another one.
	claimed := func(other *Image) func(p *forger) {
		return func(p *forger) {
			y := s.engine.(*system[E, X])
			claim := *p.claim
			claim.Image = other
			p.challenger = y.begin(s.statement, p.layout.rows, &claim)
			friOf(p).challenger = p.challenger
		}
	}
	for _, form := range []Form{mixedForms[1], mixedForms[3]} {
		for name, f := range map[string]attempt{
			"nothing":                    {},
			"a wrong cell":               {change: wrong, says: `table "picks": its constraints`},
			"another image":              {change: wrong, statement: func(about *Statement) { about.Image = other }, says: "constraints"},
			"another image, as this one": {change: wrong, statement: func(about *Statement) { about.Image = other }, before: before{"extend": claimed(image)}, says: "lead to the cap"},
			"a value that makes the identity hold": {
				change: wrong,
				before: before{"send values": func(p *forger) {
					var none X
					solve(p, 2, &p.proof.values[ofImage][2][0][2], none)
				}},
				says: "folded into it",
			},
			"values of columns exchanged": {
				before: before{"send values": func(p *forger) {
					v := p.proof.values[ofImage][2][0]
					v[2], v[3] = v[3], v[2]
				}},
				says: "constraints",
			},
			"another leaf": {before: end(func(p *forger) {
				leaf := p.proof.leaves[ofImage][1]
				leaf[0] = leaf[0].Add(p.field.New(1))
			}), says: "lead to the cap"},
			"leaves exchanged": {before: end(func(p *forger) {
				all := p.proof.leaves[ofImage]
				all[0], all[1] = all[1], all[0]
			}), says: "lead to the cap"},
			"another path": {before: end(func(p *forger) { p.proof.paths[ofImage][0][0] ^= 1 }), says: "lead to the cap"},
			"the leaves beside the right ones": {before: reopened[E, X](t, ofImage, func(_ *layout, leaf int) int {
				return leaf ^ 1
			}), says: "lead to the cap"},
			"leaves of other cosets": {before: reopened[E, X](t, ofImage, func(l *layout, leaf int) int {
				return leaf ^ 1<<l.leaves(ofImage)
			}), says: "lead to the cap"},
			"another height of the image": {before: end(func(p *forger) { p.proof.rows[2]++ }), says: "tables of ["},
		} {
			traces, about := imageTraces(form, 0, image, f.change)
			proof, about := forcedOf(t, s, traces, about, f)
			about.Image = image
			if name == "nothing" {
				must.Do(t, verified(t, s, proof, about), name)
				continue
			}
			refused(t, s, proof, about, fmt.Sprintf("%d: %s", form, name), f.says)
		}
		// Columns that are too long for the table, under a cap that a statement names.
		long := must.Get(s.Image(t.Context(), executor.Serial(), contents...))(t)
		of := long.contents.(*fixed[E])
		traces, about := imageTraces(form, 0, long, wrong)
		proof, about := forcedOf(t, s, traces, about, forgery[E, X]{before: before{"extend": func(p *forger) {
			x := p.extended[ofImage][2]
			x.cosets = slices.Clone(x.cosets)
			for c := range x.cosets {
				x.cosets[c] = slices.Clone(x.cosets[c])
				x.cosets[c][0] = slices.Clone(x.cosets[c][0])
			}
			addPower(p, x)
			must.Do(t, p.grow(ofImage))
			long.top, of.tree = p.proof.caps[ofImage], p.trees[ofImage]
			claimed(long)(p)
		}}})
		refused(t, s, proof, about, fmt.Sprintf("%d: columns that are too long", form), `table "picks": its constraints`)
	}
}

// TestImageForFixed: the trees of fixed columns and of the image cannot take each other's place, even where both have one
// shape.
func TestImageForFixed(t *testing.T) {
	attacks(t, testImageForFixed[bear, quartic], testImageForFixed[cell, ext.Quadratic], testImageForFixed[cell, ext.Cubic])
}

func testImageForFixed[E field.Element[E], X field.Extension[E, X]](t *testing.T) {
	// Two tables copy their column. What they copy is exchanged.
	one, two := []uint64{1, 2, 3, 4, 5, 6, 7, 8}, []uint64{8, 7, 6, 5, 4, 3, 2, 1}
	copies := func(name string, fixed [][]uint64, image int) *air.Table {
		return &air.Table{Name: name, Columns: 1, Fixed: fixed, Image: image, State: func(b *air.Builder) {
			b.Zero(air.Everywhere, "copy", b.Here(0).Sub(b.Fixed(0)))
		}}
	}
	s := must.Get(New(configOf[E, X](attackParams), copies("fixed", [][]uint64{one}, 0), copies("image", nil, 1)))(t)
	image := must.Get(s.Image(t.Context(), executor.Serial(), [][]uint64{two}))(t)
	traces := func(all ...[]uint64) (traces []Trace) {
		for i, values := range all {
			traces = append(traces, tracesOf(nil)(i, len(values), func(c *Cells) {
				for row, v := range values {
					c.Set(row, 0, v)
				}
			}))
		}
		return traces
	}
	about := Statement{Forms: []Form{{8, 8}}, Image: image}
	must.Do(t, verified(t, s, must.Get(s.Prove(t.Context(), executor.Serial(), traces(one, two), about, Options{}))(t), about))
	swapped := func(p *prover[E, X]) {
		for _, phase := range []int{ofFixed} {
			p.trees[phase], p.trees[phase+1] = p.trees[phase+1], p.trees[phase]
			x, y := p.extended[phase], p.extended[phase+1]
			x[0], y[1] = y[1], x[0]
		}
	}
	proof, about := forcedOf(t, s, traces(two, one), about, forgery[E, X]{before: map[string]func(p *prover[E, X]){"extend": swapped}})
	refused(t, s, proof, about, "an image in place of fixed columns", "lead to the cap")
}

// FuzzDecodeImage: what is no commitment does not decode, and what decodes has one encoding.
func FuzzDecodeImage(f *testing.F) {
	var systems []*System
	for _, c := range []Config{{KoalaBear, Keccak, attackParams}, {Goldilocks, Poseidon, smallParams(2)}} {
		c.Params.LogCap = 1
		for _, images := range [][]int{{2}, {1, 2}} {
			s, image := imageSystem(f, c, 0, images)
			systems = append(systems, s)
			f.Add(image.Bytes())
		}
	}
	systems = append(systems, must.Get(New(Config{KoalaBear, Keccak, attackParams}, mixedTables(0, nil)...))(f))
	f.Add([]byte{})
	f.Add([]byte{255, 255})
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, s := range systems {
			image, err := s.DecodeImage(data)
			var wrong *zkbench.DecodeError
			if err != nil {
				if !errors.As(err, &wrong) {
					t.Fatal(err)
				}
				continue
			}
			if !bytes.Equal(image.Bytes(), data) {
				t.Errorf("%x decodes to an image that is encoded as %x", data, image.Bytes())
			}
		}
	})
}
