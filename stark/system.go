package stark

import (
	"context"
	"crypto/sha512"
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/stark/air"
	"github.com/zkbench/zkbench/stark/internal/tree"
)

// statement is what prover and verifier share: the tables and the parameters of the protocol.
type statement struct {
	tables   []*air.Table
	programs []*air.Program
	groups   [][][]int // for each table, its messages in groups
	pieces   []int     // for each table, the number of pieces of its quotient: a power of two
	buses    map[string]bus
	longest  int               // length of the longest tuple on a bus
	linked   map[string]uint64 // how often fixed columns ask each bus
	fixed    []int             // for each table, the logarithm of its fixed columns' height, or 0 if it has none
	nested   bool              // whether domains are nested, because words of fixed columns or of an image may be shorter than others (points.go)
	publics  int
	params   Params
	digest   [sha512.Size]byte
}

func newStatement(ctx context.Context, ex executor.Executor, params Params, tables []*air.Table) (*statement, error) {
	if len(tables) == 0 {
		return nil, fmt.Errorf("%w: no table", zkbench.ErrParams)
	}
	s := &statement{params: params, fixed: make([]int, len(tables))}
	for _, t := range tables { // copied, because the caller may change them later
		own := *t
		s.tables = append(s.tables, &own)
	}
	// All tables are compiled at once. An error that comes before that of a table's program still comes first.
	programs, errs := make([]*air.Program, len(s.tables)), make([]error, len(s.tables))
	err := ex.Do(ctx, len(s.tables), func(_ context.Context, i int) error {
		programs[i], errs[i] = s.tables[i].Compile()
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i, t := range s.tables {
		for _, other := range s.tables[:i] {
			if other.Name == t.Name {
				return nil, fmt.Errorf("%w: two tables are called %q", zkbench.ErrParams, t.Name)
			}
		}
		p, err := programs[i], errs[i]
		if err != nil {
			return nil, err
		}
		if params.ZeroKnowledge && p.Wraps() {
			return nil, fmt.Errorf("%w: table %q reads the row after its last one, which is random in zero knowledge; accepted are constraints on transitions", zkbench.ErrParams, t.Name)
		}
		if p.Fixed > 0 {
			if params.ZeroKnowledge {
				return nil, fmt.Errorf("%w: table %q has %s columns, which zero knowledge does not support yet", zkbench.ErrParams, t.Name, phaseNames[s.fixedPhase(i)])
			}
			if t.Image == 0 {
				s.fixed[i] = bits.TrailingZeros(uint(len(t.Fixed[0])))
			}
		}
		degree := max(p.Degree(), leastDegree(p), 2)
		if params.ZeroKnowledge && len(p.Messages) > 0 {
			degree = max(degree, 3) // the degree of the masks of sums, which are bound to two rows
		}
		pieces := 1 << bits.Len(uint(degree-2)) // at least degree - 1, which is far below 2^63
		if pieces > 1<<params.LogBlowup {
			return nil, fmt.Errorf("%w: table %q has degree %d, accepted at rate 1/%d are up to %d", zkbench.ErrParams, t.Name, degree, 1<<params.LogBlowup, 1+1<<params.LogBlowup)
		}
		s.programs = append(s.programs, p)
		s.pieces = append(s.pieces, pieces)
		s.groups = append(s.groups, groups(p, pieces+1))
		s.publics = max(s.publics, p.Publics)
	}
	s.nested = s.anyFixed() && slices.Contains(s.fixed, 0)
	if s.buses, err = buses(s.tables, s.programs); err != nil {
		return nil, err
	}
	for _, b := range s.buses {
		s.longest = max(s.longest, b.length)
	}
	if params.ZeroKnowledge {
		s.longest = max(s.longest, params.Degree) // the length of the sums' masks
	}
	return s, nil
}

// anyFixed reports whether a table has fixed columns or an image.
func (s *statement) anyFixed() bool {
	return slices.ContainsFunc(s.programs, func(p *air.Program) bool { return p.Fixed > 0 })
}

// fixedPhase returns the phase of a table's fixed columns: ofFixed or ofImage.
func (s *statement) fixedPhase(t int) int {
	if s.tables[t].Image > 0 {
		return ofImage
	}
	return ofFixed
}

// imaged returns the tables with an image.
func (s *statement) imaged() (all []int) {
	for t, table := range s.tables {
		if table.Image > 0 {
			all = append(all, t)
		}
	}
	return all
}

// hash returns a digest of everything that decides what a proof states, including the cap over fixed columns.
func (s *statement) hash(about string, fixed []tree.Digest) [sha512.Size]byte {
	var data []byte
	number := func(values ...int) {
		for _, v := range values {
			data = binary.LittleEndian.AppendUint64(data, uint64(v))
		}
	}
	text := func(t string) {
		number(len(t))
		data = append(data, t...)
	}
	text("zkbench/v1/stark")
	text(about)
	params := s.params
	text(params.Name)
	number(params.Bits, params.Degree, params.LogBlowup, params.Queries, params.Grinding, params.Stack, params.LogFold, params.LogFinal, params.LogCap, len(s.tables))
	for i, p := range s.programs {
		text(s.tables[i].Name)
		number(p.Columns, len(p.Steps), len(p.Constraints), len(p.Messages))
		for _, step := range p.Steps {
			sign := 0
			if step.Value.Negative {
				sign = 1
			}
			number(int(step.Op), step.X, step.Y, step.Index, int(step.Value.Abs), sign)
		}
		for _, c := range p.Constraints {
			number(int(c.Where), c.Step)
		}
		for _, m := range p.Messages {
			text(m.Bus)
			number(m.Multiplicity, int(m.Asks), m.Link, len(m.Tuple))
			number(m.Tuple...)
		}
	}
	if s.anyFixed() {
		for i, rows := range s.fixed {
			if s.fixedPhase(i) == ofImage {
				rows = -1 // no height
			}
			number(s.programs[i].Fixed, rows)
		}
	}
	for _, d := range fixed {
		data = d.Append(data)
	}
	return sha512.Sum512(data)
}

// layout says where everything is in a proof, for tables of given heights.
type layout struct {
	*statement
	degree int // degree of the extension
	bytes  int // length of an element
	cells  int // number of cells of all columns, including fixed ones, sums and pieces
	// A lean proof holds few cosets of its columns and computes the others when it needs them. Its trees omit
	// their lowest levels. These would take most of a proof's memory. If that is little, time matters more, and
	// proofs are not lean. A proof with Options.Lean takes the least memory, and holds one coset.
	lean, least bool

	rows  []int // logarithm of each table's height
	size  int   // logarithm of the stacks' length
	folds []int // logarithms of FRI's arities
	// phases are the shapes of what is committed to, for each table: columns, sums, quotients, fixed columns and
	// image.
	phases [phases][]shape
	next   [phases][][]bool // which stacks are read in the next row
	// sizes are the logarithms of the length of each phase's words. Columns of a phase are stacked as if no table
	// were higher than those that have some. This matters for fixed columns and images only: their words are the
	// same whatever heights a form gives to other tables. A shorter word counts as one of the full length that
	// depends on a power of X only.
	sizes  [phases]int
	shared [phases]int // logarithm of the number of positions in a phase's words that share a leaf
	// In zero knowledge, and 0 otherwise: the number of random elements in a leaf, and the number of
	// coordinates of the codeword that hides all others.
	salt, masks int
}

// The phases of commitment. Fixed columns belong to a system and an image to a statement, not to proofs.
const (
	ofColumns = iota
	ofSums
	ofQuotients
	ofFixed
	ofImage
	phases
)

func (s *statement) layout(degree, bytes, twoAdicity int, rows []int) (*layout, error) {
	if len(rows) != len(s.tables) {
		return nil, fmt.Errorf("%w: heights of %d tables, accepted are %d", zkbench.ErrParams, len(rows), len(s.tables))
	}
	l := &layout{statement: s, degree: degree, bytes: bytes, rows: rows}
	random := s.params.Random()
	if s.params.ZeroKnowledge {
		l.masks, l.salt = degree, (saltBytes+bytes-1)/bytes
	}
	for i, r := range rows {
		if fixed := s.fixed[i]; fixed > 0 && r != fixed {
			return nil, fmt.Errorf("%w: table %q has 2^%d rows, accepted are the 2^%d of its fixed columns", zkbench.ErrParams, s.tables[i].Name, r, fixed)
		}
		if 1<<min(r, 32) < 2*random {
			return nil, fmt.Errorf("%w: table %q has 2^%d rows, of which %d are random, accepted are at least twice as many rows", zkbench.ErrParams, s.tables[i].Name, r, random)
		}
		if r < 1 || r+s.params.Stack+s.params.LogBlowup > twoAdicity {
			return nil, fmt.Errorf("%w: table %q has 2^%d rows, accepted are 2^1 to 2^%d", zkbench.ErrParams, s.tables[i].Name, r, twoAdicity-s.params.Stack-s.params.LogBlowup)
		}
		l.size = max(l.size, r+s.params.Stack)
		if s.programs[i].Fixed > 0 {
			size := &l.sizes[s.fixedPhase(i)]
			*size = max(*size, r+s.params.Stack)
		}
	}
	for phase := range ofFixed {
		l.sizes[phase] = l.size
	}
	for i, r := range rows {
		widths := [phases]int{s.programs[i].Columns, len(s.groups[i]) * degree, l.chunks(i) * degree}
		widths[s.fixedPhase(i)] = s.programs[i].Fixed
		if l.masked(i) {
			widths[ofColumns] += degree
		}
		for phase, width := range widths {
			stack := max(0, l.sizes[phase]-r) // 0 if the table is higher than all that have columns of the phase
			sh := shape{r, stack, width}
			l.cells += width << r
			l.phases[phase] = append(l.phases[phase], sh)
			next := make([]bool, sh.stacks())
			switch phase {
			case ofColumns:
				for column, read := range s.programs[i].ReadsNext() {
					next[column>>stack] = next[column>>stack] || read
				}
			case ofSums: // φ is the first group's column
				for column := range min(degree, width) {
					next[column>>stack] = true
				}
			}
			l.next[phase] = append(l.next[phase], next)
		}
	}
	for left := l.size; left > s.params.LogFinal; {
		fold := min(s.params.LogFold, left-s.params.LogFinal)
		l.folds = append(l.folds, fold)
		left -= fold
	}
	for phase := range l.shared {
		l.shared[phase] = l.share(phase, bytes)
	}
	return l, nil
}

// share returns the logarithm of how many of a phase's positions share a leaf. They are positions that FRI
// folds into one if words have the phase's length, as long as the additional elements that a query opens take
// no more bytes than the digests that it saves. Narrow leaves then take a fraction of the hashes. In zero
// knowledge a leaf has no more positions than stacks have columns: it depends on one value of each column.
func (l *layout) share(phase, bytes int) (log int) {
	most := min(l.params.LogFold, max(0, l.sizes[phase]-l.params.LogFinal))
	if l.params.ZeroKnowledge {
		most = min(most, l.params.Stack)
	}
	for log < most && (2<<log-1)*l.leaf(phase)*bytes <= (log+1)*tree.DigestBytes {
		log++
	}
	return log
}

// final returns the logarithm of the number of coefficients of FRI's last polynomial.
func (l *layout) final() int {
	left := l.size
	for _, f := range l.folds {
		left -= f
	}
	return left
}

// capOf returns the number of digests in the cap of a tree of 2^log leaves.
func (l *layout) capOf(log int) int { return 1 << min(log, l.params.LogCap) }

// word is a codeword that is batched: a stack minus its value at a point, divided by what is 0 there.
type word struct {
	phase, table, stack int
	next                bool
	cell                int // the stack's index among all stacks of the phase
}

// words returns all codewords, in the order of their weights.
func (l *layout) words() (all []word) {
	for phase, shapes := range l.phases {
		cell := 0
		for t, s := range shapes {
			for stack := range s.stacks() {
				all = append(all, word{phase, t, stack, false, cell})
				if l.next[phase][t][stack] {
					all = append(all, word{phase, t, stack, true, cell})
				}
				cell++
			}
		}
	}
	return all
}

// batched returns the number of codewords, including the one that hides all others.
func (l *layout) batched() int { return len(l.words()) + min(l.masks, 1) }

// leaf returns the number of elements that a phase has at one position.
func (l *layout) leaf(phase int) (n int) {
	for _, s := range l.phases[phase] {
		n += s.stacks()
	}
	if phase == ofQuotients {
		n += l.masks
	}
	return n
}

// shown returns the number of elements in a phase's leaf: those of all its positions, and the random ones.
func (l *layout) shown(phase int) int { return l.leaf(phase)<<l.shared[phase] + l.salt }

// leaves returns the logarithm of the number of a phase's leaves on each coset.
func (l *layout) leaves(phase int) int { return l.sizes[phase] - l.shared[phase] }

// depth returns the logarithm of the number of all leaves of a phase.
func (l *layout) depth(phase int) int { return l.leaves(phase) + l.params.LogBlowup }

// absent reports whether transcripts contain nothing about a phase's values: fixed columns or an image, if no table
// has any.
func (l *layout) absent(phase int) bool { return phase >= ofFixed && l.leaf(phase) == 0 }

// constraints returns the number of a table's constraints, including those of its sums.
func (l *layout) constraints(table int) int {
	n := len(l.programs[table].Constraints) + len(l.groups[table])
	if l.masked(table) {
		n++
	}
	return n
}

// apart returns the distance between the cosets on which a table's quotient is computed.
func (l *layout) apart(table int) int { return 1 << l.params.LogBlowup / l.pieces[table] }

// setLean sets the layout of a proof with Options.Lean.
func (l *layout) setLean() { l.lean, l.least = true, true }

// held says what is held of columns.
func (l *layout) held() holding {
	switch {
	case l.least:
		return holdOne
	case l.lean && l.params.LogBlowup > 1: // two cosets take as much as the coefficients and one of them
		return holdCoefficients
	}
	return holdAll
}

// again is how many leaves a tree has for each that it hashes again, at least, unless the proof is lean. To
// collect a leaf's elements again takes several times as long as to hash it.
const again = 1 << 9

// omitted returns how many levels a tree of 2^log leaves omits: as many as takes little time, or all that may
// be omitted if the proof is lean.
func (l *layout) omitted(log int) (levels int) {
	for levels < tree.Most && (l.lean || l.params.Queries<<(levels+1) <= 1<<log/again) {
		levels++
	}
	return levels
}

// masked reports whether a table's sum is hidden.
func (l *layout) masked(table int) bool { return l.masks > 0 && len(l.groups[table]) > 0 }

// used returns the number of a table's rows that are not random.
func (l *layout) used(table int) int { return 1<<l.rows[table] - l.params.Random() }

// chunks returns the number of pieces of a table's quotient. Each has as many coefficients as the table has
// used rows.
func (l *layout) chunks(table int) int {
	used := l.used(table)
	return (l.pieces[table]<<l.rows[table] + l.params.Random() + used - 1) / used
}
