package circuittest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/stark"
	"github.com/zkbench/zkbench/stark/internal/circuit"
	"github.com/zkbench/zkbench/stark/recursion"
)

// Verify verifies a proof of a statement that accepts one form, and returns the verifier's error. The test
// fails unless the program of circuit.Verify reports the same error. Verify also fills the tables of package
// recursion with the values that the program has computed from the proof. If the proof verifies, the tables
// must be satisfied. Otherwise, the row checker (System.Check) must refuse the tables at the first row of the
// program that does not hold. If these tables are proved all the same, a verifier must refuse their proof. If
// a proof does not decode, no tables are filled. In short tests, tables are filled for one error of each
// kind.
func Verify(t testing.TB, s *stark.System, proof []byte, about stark.Statement) error {
	t.Helper()
	verified := s.Verify(proof, about)
	degree := s.Params().Degree
	b := circuit.New(circuit.Degree(degree))
	cells, err := circuit.Verify(s, b, proof, about)
	if err == nil {
		err = b.Err()
	}
	if Reason(verified) != Reason(err) {
		t.Errorf("verified: %v; in the circuit: %v", verified, err)
	}
	if cells == nil {
		return verified
	}
	if _, tried := tried.LoadOrStore(Reason(verified), nil); tried && testing.Short() {
		return verified // the short tests try one of each kind
	}
	above := parentOf(t, s, about)
	traces, said, err := above.Traces([]recursion.Proof{{Bytes: proof, Statement: about}}, nil)
	if (verified == nil) != (err == nil) {
		t.Errorf("verified: %v; before it is proved: %v", verified, err)
	}
	lanes, fill := 0, traces[0].Fill
	traces[0].Fill = func(ctx context.Context, ex executor.Executor, cells *stark.Cells) error {
		lanes = len(stark.Columns[uint64](cells)) / (degree * circuit.Operands)
		return fill(ctx, ex, cells)
	}
	err = above.Tables().Check(t.Context(), executor.Serial(), traces, said)
	broken := (&Program{Builder: b}).Broken(b.Values)
	if len(broken) == 0 {
		if verified != nil || err != nil {
			t.Errorf("verified: %v; all rows hold, and the row checker says: %v", verified, err)
		}
		return verified
	}
	where := fmt.Sprintf(`table "operations", row %d: operation of lane %d, `, broken[0]/lanes, broken[0]%lanes)
	if verified == nil || !errors.Is(err, zkbench.ErrWitness) || !strings.Contains(err.Error(), where) {
		t.Errorf("verified: %v; the row checker says: %v, want %s", verified, err, where)
	}
	forced := must.Get(above.Tables().Prove(t.Context(), Careless{executor.Serial()}, traces, said, stark.Options{}))(t)
	err = above.Tables().Verify(forced, said)
	if !errors.Is(err, zkbench.ErrProof) || !strings.Contains(err.Error(), `table "operations": its constraints do not hold`) {
		t.Errorf("verified: %v; the proof that it verifies: %v", verified, err)
	}
	return verified
}

// parent proves that proofs of one form verify.
type parent struct {
	*recursion.System
	once sync.Once
}

var (
	parents sync.Map // by form
	tried   sync.Map // reasons of errors
)

// parentOf returns the parent of a system's proofs. Proofs of one form share it.
func parentOf(t testing.TB, s *stark.System, like stark.Statement) *parent {
	t.Helper()
	form := fmt.Sprint(s.Digest(), like.Forms, len(like.Publics), len(like.Context))
	for _, m := range like.Messages {
		form += fmt.Sprint(m.Bus, m.Times, len(m.Tuple))
	}
	is, _ := parents.LoadOrStore(form, new(parent))
	p := is.(*parent)
	p.once.Do(func() {
		params := stark.Params{Name: "parent", Bits: stark.Unproven, Degree: 2, LogBlowup: 2, Queries: 1, Stack: 3, LogFold: 3, LogFinal: 3}
		p.System = must.Get(recursion.New(stark.Config{Field: stark.Goldilocks, Hash: stark.Poseidon, Params: params}, recursion.NewChild(s, like)))(t)
	})
	return p
}

// Careless is an executor that drops errors. A prover that runs on it continues even if constraints do not
// hold.
type Careless struct{ executor.Executor }

// Do runs the tasks until one fails, and returns nil even then.
func (c Careless) Do(ctx context.Context, n int, task func(ctx context.Context, i int) error) error {
	_ = c.Executor.Do(ctx, n, task)
	return nil
}

// Reason returns what is wrong according to an error. It leaves out the layer or tree that the error names,
// because the program checks query by query and may first find an error in another layer or tree. A proof
// that opens wrong positions can lead to one of three errors: the rows do not lead to the cap, the path has a
// wrong length, or the number of rows is wrong. Reason returns one text for all three.
func Reason(err error) string {
	if err == nil {
		return ""
	}
	for _, reason := range []string{"the nonce", "folded into it"} {
		if strings.Contains(err.Error(), reason) {
			return reason
		}
	}
	for _, reason := range []string{"lead to the cap", "digests, accepted", "under a cap of"} {
		if strings.Contains(err.Error(), reason) {
			return "lead to the cap"
		}
	}
	return err.Error()
}
