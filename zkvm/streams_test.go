package zkvm

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/goldilocks/poseidon"
	"github.com/zkbench/zkbench/internal/study/rv"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
	"github.com/zkbench/zkbench/riscv"
	"github.com/zkbench/zkbench/riscv/call"
	"github.com/zkbench/zkbench/riscv/precompile"
	"github.com/zkbench/zkbench/stark"
)

// claimed is a run with its statement.
type claimed struct {
	*execution
	system *system
	form   stark.Form
	about  stark.Statement
}

// claim returns the claim that a run's program reads its input and commits to its output.
func claim(t testing.TB, x *execution) *claimed {
	t.Helper()
	s, form, about := proving(t, x)
	return &claimed{x, s, form, about}
}

// check checks the claim, after plant has changed the cells of a table.
func (c *claimed) check(t testing.TB, at table, plant func(cells *stark.Cells)) error {
	t.Helper()
	traces := c.traces(c.form)
	for i, table := range c.all() {
		if fill := traces[i].Fill; table == at {
			traces[i].Fill = func(ctx context.Context, ex executor.Executor, cells *stark.Cells) error {
				err := fill(ctx, ex, cells)
				plant(cells)
				return err
			}
		}
	}
	return c.system.Check(t.Context(), executor.Serial(), traces, c.about)
}

// refused fails the test unless the error is one of a witness, and says why.
func refused(t *testing.T, name, why string, err error) {
	t.Helper()
	if !errors.Is(err, zkbench.ErrWitness) || !strings.Contains(err.Error(), why) {
		t.Errorf("%s: %v, want a witness that is refused because of %q", name, err, why)
	}
}

// Places of assembled programs.
const (
	codeAt     = 0x10000
	constantAt = 0x20000
	dataAt     = 0x30000
)

// The registers of assembled programs that calls do not use.
const (
	s0 = 8
	s1 = 9
)

// assembled returns a program of words that halts after them. It has ten constants from constantAt on, and a page of data from
// dataAt on, in both of which byte i is i + 1.
func assembled(t testing.TB, words ...[]uint32) *Program {
	t.Helper()
	text := slices.Concat(slices.Concat(words...), []uint32{rv.Addi(a7, 0, numberHalt), rv.Addi(a0, 0, 0), rv.Ecall})
	some := []byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	return must.Get(Load(rv.ELF(64, codeAt,
		rv.Segment{At: codeAt, Flags: 5, Data: rv.Text(text...)},
		rv.Segment{At: constantAt, Flags: 4, Data: some},
		rv.Segment{At: dataAt, Flags: 6, Data: some})))(t)
}

// calling returns the words of a call.
func calling(number uint32) []uint32 {
	return []uint32{rv.Lui(a7, number), rv.Addi(a7, a7, int32(number&0xfff)), rv.Ecall}
}

// committing returns the words that commit n bytes at an address, which is a multiple of 4,096 and less than that.
func committing(at uint32, n int32) []uint32 {
	return slices.Concat([]uint32{rv.Lui(a0, at), rv.Addi(a0, a0, int32(at&0xfff)), rv.Addi(a1, 0, n)}, calling(call.Commit))
}

// echo is a program that commits to its input, and to nothing more.
func echo(t testing.TB) *Program { return assembled(t, calling(call.Input), calling(call.Commit)) }

// ran runs a program with an input.
func ran(t testing.TB, p *Program, input []byte) *execution {
	t.Helper()
	x, r, err := p.run(t.Context(), newMachine(rv64), riscv.Options{Input: input})
	must.Do(t, err)
	golden.Equal(t, "output", string(r.Output), string(x.output))
	return x
}

// counting returns n bytes, none of which is 0.
func counting(n int) []byte {
	all := make([]byte, n)
	for i := range all {
		all[i] = byte(1 + i%255)
	}
	return all
}

// TestDigestOf: the digest of bytes is Poseidon's of their length and of seven bytes an element.
func TestDigestOf(t *testing.T) {
	for _, test := range []struct {
		data     string
		elements []goldilocks.Element
	}{
		{"", []goldilocks.Element{0}},
		{"\x00", []goldilocks.Element{1, 0}},
		{"\x01\x02", []goldilocks.Element{2, 0x201}},
		{"\x01\x02\x03\x04\x05\x06\xff", []goldilocks.Element{7, 0xff060504030201}},
		{"\x01\x02\x03\x04\x05\x06\x07\x08", []goldilocks.Element{8, 0x07060504030201, 8}},
	} {
		got := digestOf([]byte(test.data))
		golden.Equal(t, "length", uint64(len(test.data)), got.length)
		golden.Equal(t, "hash of "+test.data, poseidon.Hash(test.elements), got.hash)
	}
}

// TestEcho: inputs of all lengths around a word, an element, a row and the sponge's rate, each of which is also the output.
func TestEcho(t *testing.T) {
	p := echo(t)
	for _, n := range testsize.Pick([]int{0, 9, 57}, []int{0, 1, 6, 7, 8, 9, 48, 49, 50, 55, 56, 57, 112, 113, 4096}, []int{0, 1, 6, 7, 8, 9, 48, 49, 50, 55, 56, 57, 104, 105, 106, 112, 113, 4095, 4096, 4097}) {
		t.Run(fmt.Sprintf("bytes=%d", n), func(t *testing.T) {
			input := counting(n)
			x := ran(t, p, input)
			golden.Equal(t, "output", string(input), string(x.output))
			must.Do(t, check(t, x))
		})
	}
}

// hashProgram returns the ELF file of the example guest in C.
func hashProgram(t *testing.T) []byte {
	t.Helper()
	testsize.Full(t)
	compiler := testsize.Program(t, "riscv-gcc", "riscv64-linux-gnu-gcc")
	path := filepath.Join(t.TempDir(), "hash")
	cmd := exec.CommandContext(t.Context(), "sh", "../riscv/c/cc.sh", "rv64im", "-O2", "../examples/guest/hash.c", "-o", path)
	cmd.Env = append(os.Environ(), "CC="+compiler)
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	return must.Get(os.ReadFile(path))(t)
}

// TestHash: the example guest in C, which reads its input by bytes.
func TestHash(t *testing.T) {
	p := must.Get(Load(hashProgram(t)))(t)
	for _, n := range []int{0, 1, 55, 56, 64, 1000} {
		t.Run(fmt.Sprintf("bytes=%d", n), func(t *testing.T) {
			input := counting(n)
			x := ran(t, p, input)
			sum := sha256.Sum256(input)
			golden.Equal(t, "output", fmt.Sprintf("%x", sum), fmt.Sprintf("%x", x.output))
			must.Do(t, check(t, x))
		})
	}
}

// TestParts: commitments in several parts, from everywhere, and marks, which change no register.
func TestParts(t *testing.T) {
	name := []uint32{rv.Lui(a0, dataAt), rv.Addi(s1, 0, 's'), rv.S(rv.OpStore, 0, a0, s1, 0), rv.Addi(a1, 0, 1)} // of a section
	for _, test := range []struct {
		name  string
		words [][]uint32
		want  string
	}{
		{"nothing", [][]uint32{committing(dataAt, 0)}, ""},
		{"nothing from nowhere", [][]uint32{committing(0, 0)}, ""},
		{"nothing between", [][]uint32{committing(dataAt, 2), committing(dataAt, 0), committing(dataAt, 1)}, "\x01\x02\x01"},
		{"across elements", [][]uint32{committing(dataAt+1, 5), committing(dataAt, 9), committing(dataAt+6, 1)}, "\x02\x03\x04\x05\x06\x01\x02\x03\x04\x05\x06\x07\x08\x09\x07"},
		{"whole elements", [][]uint32{committing(dataAt, 7), committing(dataAt, 7)}, "\x01\x02\x03\x04\x05\x06\x07\x01\x02\x03\x04\x05\x06\x07"},
		{"constants", [][]uint32{committing(constantAt+3, 7)}, "\x04\x05\x06\x07\x08\x09\x0a"},
		{"behind constants", [][]uint32{committing(constantAt+8, 4)}, "\x09\x0a\x00\x00"},
		{"zeros", [][]uint32{committing(dataAt+8, 9), committing(dataAt+2000, 2)}, "\x09\x0a\x00\x00\x00\x00\x00\x00\x00\x00\x00"},
		{"code", [][]uint32{committing(codeAt, 4)}, "\x37\x05\x01\x00"},
		{"input twice", [][]uint32{calling(call.Input), calling(call.Commit), calling(call.Input), calling(call.Commit)}, "inputinput"},
		{"after a store", [][]uint32{{rv.Lui(s0, dataAt), rv.Addi(s1, 0, 'x'), rv.S(rv.OpStore, 0, s0, s1, 1)}, committing(dataAt, 3), {rv.S(rv.OpStore, 0, s0, s1, 0)}, committing(dataAt, 1)}, "\x01x\x03x"},
		{"marks", [][]uint32{committing(dataAt, 1), name, calling(call.Begin), calling(call.Commit), calling(call.End), calling(call.Input), calling(call.Commit)}, "\x01sinput"},
	} {
		t.Run(test.name, func(t *testing.T) {
			x := ran(t, assembled(t, test.words...), []byte("input"))
			golden.Equal(t, "output", test.want, string(x.output))
			must.Do(t, check(t, x))
		})
	}
}

// TestStatements: a statement of another input, output, length or hash is refused.
func TestStatements(t *testing.T) {
	c := claim(t, ran(t, echo(t), counting(60)))
	must.Do(t, c.check(t, nil, nil))
	said := c.about.Publics
	for i := range said {
		c.about.Publics = slices.Clone(said)
		c.about.Publics[i]++
		why := "lower limb of a1"
		if i == publicOutput {
			why = "something is behind other bytes"
		} else if i != publicInput {
			why = fmt.Sprintf("element %d of the digest", i%publicOutput-1)
		}
		refused(t, fmt.Sprintf("public value %d", i), why, c.check(t, nil, nil))
	}
	other := counting(60)
	other[59]++
	for name, streams := range map[string][2][]byte{
		"another input": {other, c.output}, "another output": {c.options.Input, other}, "a shorter output": {c.options.Input, other[:59]},
		"no output": {c.options.Input, nil}, "a longer input": {append(counting(60), 0), c.output},
	} {
		c.about.Publics = c.statement(nil, 0, 0, digestOf(streams[0]), digestOf(streams[1])).Publics
		refused(t, name, "", c.check(t, nil, nil))
	}
	c.about.Publics = said
	proof := must.Get(c.system.Prove(t.Context(), executor.Serial(), c.traces(c.form), c.about, stark.Options{}))(t)
	must.Do(t, c.system.Verify(proof, c.about))
	for i := range said {
		c.about.Publics = slices.Clone(said)
		c.about.Publics[i]++
		if err := c.system.Verify(proof, c.about); !errors.Is(err, zkbench.ErrProof) {
			t.Errorf("public value %d: %v, want %v", i, err, zkbench.ErrProof)
		}
	}
}

// TestRefusedCalls: calls without a table and reads behind the input are refused before anything is proved.
func TestRefusedCalls(t *testing.T) {
	behind := []uint32{rv.I(rv.OpLoad, 0, s0, a0, 8)}
	for name, test := range map[string]struct {
		program *Program
		why     string
	}{
		"precompile":              {assembled(t, []uint32{rv.Lui(a0, dataAt), rv.Addi(a1, a0, 0), rv.Addi(12, 0, 1)}, calling(call.Keccak256)), "precompile keccak256 (0x7a6b0109) at 0x10014 is not proved"},
		"a call of Linux":         {assembled(t, []uint32{rv.Addi(a0, 0, 1), rv.Lui(a1, dataAt), rv.Addi(12, 0, 1), rv.Addi(a7, 0, 64), rv.Ecall}), "call 0x40 at 0x10010 is not proved"},
		"load behind the input":   {assembled(t, calling(call.Input), behind), "the instruction at 0x1000c reads 1 bytes at 0x400000000008, behind the input of 5 bytes"},
		"commit behind the input": {assembled(t, calling(call.Input), []uint32{rv.Addi(a1, 0, 9)}, calling(call.Commit)), "reads 9 bytes at 0x400000000000, behind the input of 5 bytes"},
	} {
		_, _, err := test.program.run(t.Context(), newMachine(rv64), riscv.Options{Input: []byte("input"), Precompiles: precompile.All()})
		if !errors.Is(err, zkbench.ErrParams) || !strings.Contains(err.Error(), test.why) {
			t.Errorf("%s: %v, want %q", name, err, test.why)
		}
	}
}

// TestPlantedStreams: rows that are wrong are refused, and by the constraint or bus that is there for them.
func TestPlantedStreams(t *testing.T) {
	// Two rows of input, the second with 5 bytes: a word that is not full, and an element that is not.
	p := assembled(t, calling(call.Input), calling(call.Commit), committing(dataAt, 0))
	c := claim(t, ran(t, p, counting(61)))
	m := c.machine
	must.Do(t, c.check(t, nil, nil))
	set := func(row int, to uint64, at ...column) func(cells *stark.Cells) {
		return func(cells *stark.Cells) {
			for _, column := range at {
				cells.Set(row, int(column), to)
			}
		}
	}
	// move sets bits of a row: one to 0 and another to 1.
	move := func(row int, from, to column) func(cells *stark.Cells) {
		return func(cells *stark.Cells) {
			cells.Set(row, int(from), 0)
			cells.Set(row, int(to), 1)
		}
	}
	const inputCall, commitCall, nothingCall, haltCall = 0, 1, 2, 3 // rows
	for i, test := range []struct {
		name  string
		at    table
		plant func(cells *stark.Cells)
		why   string
	}{
		{"calls: a number that is not the flag's", m.calls, move(inputCall, m.calls.flags[callInput], m.calls.flags[callBegin]), "lower limb of the number"},
		{"calls: a number with an upper limb", m.calls, set(inputCall, 1, m.calls.number.hi), "upper limb of the number"},
		{"calls: no flag", m.calls, set(inputCall, 0, m.calls.flags[callInput]), "lower limb of the number"},
		{"calls: a flag that is no bit", m.calls, set(inputCall, 2, m.calls.flags[callInput]), "input is a bit"},
		{"calls: two flags", m.calls, set(commitCall, 1, m.calls.flags[callNothing]), "number"},
		{"calls: bytes that are not committed", m.calls, move(commitCall, m.calls.flags[callCommit], m.calls.flags[callNothing]), "commit nothing"},
		{"calls: a length above 2^32", m.calls, set(commitCall, 1, m.calls.second.hi, m.calls.length.hi), "upper limb of the length"},
		{"calls: nothing that is a commitment", m.calls, move(nothingCall, m.calls.flags[callNothing], m.calls.flags[callCommit]), `bus "`},
		{"calls: an address above 2^48", m.calls, set(commitCall, 1<<16, m.calls.first.hi), `bus "`},
		{"calls: another exit code", m.calls, set(haltCall, 1, m.calls.first.lo, m.calls.result.lo), `bus "`},
		{"calls: two marks in one", m.calls, func(cells *stark.Cells) {
			set(haltCall, 0, m.calls.flags[callHalt])(cells)
			set(haltCall, 1, m.calls.flags[callBegin], m.calls.flags[callEnd])(cells)
			set(haltCall, call.Begin+call.End, m.calls.number.lo)(cells)
		}, `asks "state" once at most`},
		{"calls: the input at another address", m.calls, set(inputCall, 8, m.calls.result.lo), "lower limb of a0"},
		{"calls: the input at another high address", m.calls, set(inputCall, 1<<13, m.calls.result.hi), "upper limb of a0"},
		{"calls: an input of another length", m.calls, set(inputCall, 60, m.calls.length.lo), "lower limb of a1"},
		{"calls: an input of more than 2^32 bytes", m.calls, set(inputCall, 1, m.calls.length.hi), "upper limb of a1"},
		{"calls: a commitment that fails", m.calls, set(commitCall, 1, m.calls.result.lo), "lower limb of a0"},
		{"calls: a padding row that commits", m.calls, set(4, 1, m.calls.flags[callCommit]), "lower limb of the number"},

		{"output: a phase that is no bit", m.output, set(0, 2, m.output.phases[0]), "phase is a bit"},
		{"output: another phase", m.output, move(0, m.output.phases[0], m.output.phases[3]), `table "output"`},
		{"output: two phases", m.output, set(0, 1, m.output.phases[1]), `table "output"`},
		{"output: the last byte too early", m.output, set(3, 1, m.output.last), "one byte is left"},
		{"output: the last byte never", m.output, set(60, 0, m.output.last), `bus "`},
		{"output: last is no bit", m.output, set(60, 2, m.output.last), "last is a bit"},
		{"output: a padding row that leads to an instruction", m.output, set(61, 1, m.output.last, m.output.left), "only a byte is the last"},
		{"output: another byte", m.output, set(9, 99, m.output.part), "bytes of the half"},
		{"output: another half", m.output, set(9, 99, m.output.half), "halves of the limb"},
		{"output: a bit of the address that is none", m.output, set(9, 2, m.output.inside[0]), "bit of the address is a bit"},
		{"output: another place in the word", m.output, set(8, 1, m.output.inside[0]), `table "output"`},
		{"output: another word of memory", m.output, set(8, 5, m.output.memory.lo), "halves of the limb"},
		{"output: memory that is written", m.output, set(8, 0, m.output.readOnly), `bus "`},
		{"output: read only is no bit", m.output, set(8, 2, m.output.readOnly), "read only is a bit"},
		{"output: the next address", m.output, set(8, 1<<43+2, m.output.address), `bus "`},
		{"output: more elements filled", m.output, set(8, 2, m.output.filled), "something is behind other bytes"},
		{"output: an element of other bytes, low", m.output, set(8, 5, m.output.after.lo), "lower limb of the element"},
		{"output: an element of other bytes, high", m.output, set(8, 5, m.output.after.hi), "upper limb of the element"},
		{"output: another element before", m.output, set(8, 5, m.output.element.hi), "upper limb of the element"},
		{"output: an end too early", m.output, set(8, 1, m.output.ends), "nothing is behind the end"},
		{"output: no end, so that the last element is left out", m.output, set(60, 0, m.output.ends), "something is behind other bytes"},
		{"output: a padding row with an element", m.output, set(61, 1, m.output.ends), `table "output", row 61`},
		{"output: a padding row that reads", m.output, set(61, 1, m.output.readOnly), `asks "half" once at most`},
		{"registers: another length", m.registers, set(cellPosition, 0, m.registers.last.lo), "length of the output"},

		{"input: another byte", m.input, set(0, 99, m.input.bytes[8]), `bus "`},
		{"input: a byte that is none", m.input, set(0, 256, m.input.bytes[8]), `bus "`},
		{"input: a byte behind the input", m.input, set(1, 1, m.input.bytes[5]), "bytes behind the input are 0"},
		{"input: a byte more", m.input, move(1, m.input.last[4], m.input.last[5]), `table "input"`},
		{"input: a byte less", m.input, move(1, m.input.last[4], m.input.last[3]), "bytes behind the input are 0"},
		{"input: two ends", m.input, set(1, 1, m.input.last[3]), "one byte is the last"},
		{"input: an end that is no bit", m.input, set(1, 2, m.input.last[4]), "last is a bit"},
		{"input: a row that is not full", m.input, move(0, m.input.last[55], m.input.last[54]), `table "input"`},
		{"input: a row behind the end", m.input, set(2, 1, m.input.last[0]), "another row"},
		{"input: a load behind the end", m.input, set(1, 1, m.input.loaded[1]), "loads of the input only"},
		{"input: a load in a padding row", m.input, set(2, 1, m.input.loaded[0]), "loads of the input only"},
		{"input: a word that is loaded more often", m.input, set(0, 9, m.input.loaded[0]), `bus "cell"`},
		{"input: bytes before the first row", m.input, set(0, 56, m.input.before), "bytes before the"},
		{"input: bytes before the second row", m.input, set(1, 0, m.input.before), "bytes before the next row"},

		{"sponge: the input is not first", m.sponge, set(0, 0, m.sponge.stream[0]), "the input comes first"},
		{"sponge: both streams", m.sponge, set(0, 1, m.sponge.stream[1]), "the output does not"},
		{"sponge: a stream that does not begin", m.sponge, set(0, 0, m.sponge.begins), "the input begins"},
		{"sponge: a row that begins", m.sponge, set(1, 1, m.sponge.begins), "the output begins"},
		{"sponge: an end too early", m.sponge, set(0, 1, m.sponge.ends), `table "sponge"`},
		{"sponge: no end", m.sponge, set(1, 0, m.sponge.ends), `table "sponge"`},
		{"sponge: no input", m.sponge, set(1, 0, m.sponge.stream[0]), "rows of the input"},
		{"sponge: an end that is no bit", m.sponge, set(1, 2, m.sponge.ends), "ends is a bit"},
		{"sponge: no output", m.sponge, set(2, 0, m.sponge.stream[1]), "rows of the output"},
		{"sponge: a row too many", m.sponge, set(4, 1, m.sponge.stream[1]), "rows of the output"},
		{"sponge: an element that is not absorbed", m.sponge, set(0, 0, m.sponge.has[3]), "no element"},
		{"sponge: an element that is not there", m.sponge, set(1, 1, m.sponge.has[4]), `table "sponge"`},
		{"sponge: has is no bit", m.sponge, set(0, 2, m.sponge.has[3]), "has is a bit"},
		{"sponge: another length", m.sponge, set(0, 62, m.sponge.elements[0]), "length"},
		{"sponge: another element", m.sponge, set(0, 62, m.sponge.elements[5]), "round 0, x³ of element 5"},
		{"sponge: another capacity", m.sponge, set(0, 1, m.sponge.capacity[1]), `table "sponge"`},
		{"sponge: elements before the first row", m.sponge, set(0, 8, m.sponge.before), "elements before the"},
		{"sponge: elements before the second row", m.sponge, set(1, 0, m.sponge.before), "elements before the next row"},
		{"sponge: elements left", m.sponge, set(1, 9, m.sponge.left), `table "sponge"`},
		{"sponge: a box", m.sponge, set(1, 9, m.sponge.boxes), "round 0, x³ of element 0"},
	} {
		if i%testsize.Pick(4, 1, 1) == 0 {
			refused(t, test.name, test.why, c.check(t, test.at, test.plant))
		}
	}
}

// TestPlantedSponge: hashes of other states, whose permutations are right.
func TestPlantedSponge(t *testing.T) {
	echo := echo(t)
	for _, test := range []struct {
		name       string
		bytes, row int // the input, and the row of the sponge that changes
		change     func(a *absorbed)
		cell       column // is cleared after that
		why        string
	}{
		{"number of elements", 9, 0, func(a *absorbed) { a.state[8]++ }, 0, "element 0 of the input's capacity"},
		{"a capacity that does not begin with zeros", 9, 0, func(a *absorbed) { a.state[9]++ }, 0, "element 1 of the input's capacity"},
		{"number of elements and what counts them", 9, 0, func(a *absorbed) { a.state[8]++; a.left++ }, 0, `table "sponge", row 0`},
		{"another capacity", 61, 1, func(a *absorbed) { a.state[8]++ }, 0, "element 0 of the next capacity"},
		{"another last capacity", 61, 1, func(a *absorbed) { a.state[11]++ }, 0, "element 3 of the next capacity"},
		{"another element", 61, 1, func(a *absorbed) { a.state[1]++ }, 0, "element 0 of the digest"},
		{"an element left out", 61, 1, func(a *absorbed) { a.state[1] = 0 }, newSponge().has[0], "no elements are left"},
		{"another length", 9, 0, func(a *absorbed) { a.state[0]++ }, 0, "length"},
	} {
		input := counting(test.bytes)
		c := claim(t, ran(t, echo, input))
		err := c.check(t, c.sponge, func(cells *stark.Cells) {
			a := absorbedBy(streamInput, input)[test.row]
			test.change(&a)
			c.sponge.fill(&writer{shape: c.shape, all: cells, cells: stark.Columns[uint64](cells), row: test.row}, &a)
			if test.cell > 0 {
				cells.Set(test.row, int(test.cell), 0)
			}
		})
		refused(t, test.name, test.why, err)
	}
	// A prover that also states the digest of what it has absorbed.
	input, other := counting(9), counting(9)
	other[8]++
	c := claim(t, ran(t, echo, input))
	c.about.Publics = c.statement(nil, 0, 0, digestOf(other), digestOf(input)).Publics
	refused(t, "another input", `bus "element"`, c.check(t, c.sponge, func(cells *stark.Cells) {
		c.sponge.fill(&writer{shape: c.shape, all: cells, cells: stark.Columns[uint64](cells)}, &absorbedBy(streamInput, other)[0])
	}))
}

// TestLowTables: heights that hold a part of a stream.
func TestLowTables(t *testing.T) {
	echo := echo(t)
	for _, test := range []struct {
		bytes int // 56 in a row, but the sponge's first one
		low   func(m *machine) table
		why   string
	}{
		{64*56 - 7, func(m *machine) table { return m.sponge }, "the input has ended"},
		{40 * 56, func(m *machine) table { return m.sponge }, "the output ends"},
		{65 * 56, func(m *machine) table { return m.input }, "length of the input"},
	} {
		c := claim(t, ran(t, echo, counting(test.bytes)))
		c.form[slices.Index(c.all(), test.low(c.machine))] = 64
		refused(t, test.why, test.why, c.check(t, nil, nil))
	}
}

// TestStreamColumns: a change of any cell of a row is refused, in the tables of calls, input, output and their hash. Package
// stark/poseidon tests the columns of a permutation.
func TestStreamColumns(t *testing.T) {
	testsize.Full(t)
	c := claim(t, ran(t, echo(t), counting(61)))
	for _, at := range []struct {
		table
		row int
	}{{c.calls, 0}, {c.calls, 1}, {c.machine.output, 0}, {c.machine.output, 6}, {c.input, 0}, {c.sponge, 0}, {c.sponge, 1}} {
		for column, name := range at.shapeOf().names {
			if name == "box" {
				break
			}
			err := c.check(t, at.table, func(cells *stark.Cells) { stark.Columns[uint64](cells)[column][at.row]++ })
			refused(t, fmt.Sprintf("%s, row %d, column %d (%s)", at.name(), at.row, column, name), "", err)
		}
	}
}

// TestOutputAfterHalt: bytes that no call commits are refused, also if all other tables count them.
func TestOutputAfterHalt(t *testing.T) {
	x := ran(t, echo(t), counting(9))
	halted := x.halted()
	x.commit(2, riscv.InputAddress, 1)
	c := claim(t, x)
	c.about.Messages[1].Tuple[0] = halted
	refused(t, "another byte", `bus "commit"`, c.check(t, nil, nil))
}
