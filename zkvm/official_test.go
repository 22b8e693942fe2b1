package zkvm

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
	"github.com/zkbench/zkbench/riscv"
)

// official returns the programs of riscv-tests for a set of instructions, by name.
func official(t testing.TB, prefix string) map[string][]byte {
	t.Helper()
	file := must.Get(os.Open("../riscv/testdata/riscv-tests/programs.tar.gz"))(t)
	defer file.Close()
	archive, all := tar.NewReader(must.Get(gzip.NewReader(file))(t)), make(map[string][]byte)
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		must.Do(t, err)
		if strings.HasPrefix(header.Name, prefix) {
			all[header.Name] = must.Get(io.ReadAll(archive))(t)
		}
	}
}

// TestOfficial: the tables of each program hold. A sample is proved and verified, and all of them in the long form. Two programs
// have no proof, and the error says where.
func TestOfficial(t *testing.T) {
	m := newMachine(rv64)
	programs := official(t, "rv64im/rv64u")
	maps.Copy(programs, official(t, "rv64gc/rv64uc"))
	for name, raw := range programs {
		if testing.Short() && !strings.HasSuffix(name, "-add") && !strings.HasSuffix(name, "-ld_st") && !strings.HasSuffix(name, "-rvc") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			raw[0x30] = 1 // of the flags of the ELF header, those for floating point: no program uses it
			p := must.Get(Load(raw))(t)
			for suffix, kind := range map[string]riscv.FaultKind{
				"-ma_data": riscv.Misaligned,
				"-fence_i": riscv.WildJump, // into data that the program has written
			} {
				if strings.HasSuffix(name, suffix) {
					_, _, err := p.Prove(t.Context(), executor.Serial(), nil, About{}, Options{})
					fault, ok := errors.AsType[*riscv.Fault](err)
					if !ok || fault.Kind != kind || !strings.Contains(err.Error(), fmt.Sprintf("at %#x", fault.PC)) {
						t.Fatalf("%v, want a %v and its address", err, kind)
					}
					t.Log(err)
					return
				}
			}
			x, _, err := p.run(t.Context(), m, riscv.Options{})
			must.Do(t, err)
			must.Do(t, check(t, x))
			if testsize.Long() || !testing.Short() && slices.Contains([]string{"rv64im/rv64ui-ld_st", "rv64im/rv64um-div", "rv64gc/rv64uc-rvc"}, name) {
				proveAndVerify(t, p, nil)
			}
		})
	}
}

// proveAndVerify proves a run that ends with exit code 0, and verifies the proof.
func proveAndVerify(t *testing.T, p *Program, input []byte) {
	t.Helper()
	key := must.Get(p.Key(t.Context(), executor.Serial(), ""))(t)
	proof, run, err := p.Prove(t.Context(), executor.Serial(), input, About{}, Options{})
	must.Do(t, err)
	golden.Equal(t, "what the proof says", fmt.Sprint(*run), fmt.Sprint(*must.Get(Verify(key, proof, About{}))(t)))
}
