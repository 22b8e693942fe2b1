package rangeproof_test

import (
	"bytes"
	"fmt"
	"reflect"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/workload"
	"github.com/zkbench/zkbench/internal/workload/rangeproof"
	"github.com/zkbench/zkbench/token"
)

// caseOf returns a small case with changes, which are keys and values in turn.
func caseOf(def workload.Def, changes ...string) workload.Case {
	small := map[string]string{"curve": "BN254", "bits": "8", "values": "2", "proof": "bulletproof", "exec": "serial", "batch": "3"}
	for i := 0; i < len(changes); i += 2 {
		small[changes[i]] = changes[i+1]
	}
	var axes []record.Axis
	for _, a := range def.Axes {
		axes = append(axes, record.Axis{Key: a.Key, Value: small[a.Key]})
	}
	return workload.NewCase(axes...)
}

// operate runs and checks an operation, and returns its input and output.
func operate(t *testing.T, def workload.Def, c workload.Case) (i workload.Instance, input any, output []byte) {
	t.Helper()
	i = must.Get(def.New(t.Context(), c, 1))(t)
	input = must.Get(i.Input(t.Context(), 3))(t)
	output = must.Get(i.Run(t.Context(), input))(t)
	must.Do(t, i.Check(t.Context(), input, output), def.Name, c)
	return i, input, output
}

// TestEveryCase: an operation of each workload is right on every curve that tokens have, with every range
// proof, executor and number of values, at the least and the greatest bit length.
func TestEveryCase(t *testing.T) {
	t.Parallel()
	changes := [][]string{{"values", "1", "bits", "64"}, {"bits", "1"}, {"exec", "pool", "values", "3"}, {"exec", "unbounded"}}
	for _, proof := range token.ProofTypes() {
		changes = append(changes, []string{"proof", proof}, []string{"proof", proof, "values", "1"})
	}
	curves := token.Curves()
	if testing.Short() {
		curves = curves[:1]
	}
	for _, curve := range curves {
		changes = append(changes, []string{"curve", curve, "values", "1"})
	}
	for _, def := range rangeproof.Defs() {
		for _, change := range changes {
			t.Run(fmt.Sprint(def.Name, change), func(t *testing.T) {
				t.Parallel()
				operate(t, def, caseOf(def, change...))
			})
		}
	}
}

// TestSizes: bulletproof and csp prove each value by itself, bulletproof-agg all together.
func TestSizes(t *testing.T) {
	t.Parallel()
	def := rangeproof.RangeProve()
	size := func(changes ...string) int {
		i, _, output := operate(t, def, caseOf(def, changes...))
		m := must.Get(i.Metrics(t.Context()))(t)
		values := must.Get(caseOf(def, changes...).Int("values"))(t)
		if m[0].Quantity != record.ProofSize {
			t.Errorf("the first figure is %v", m[0].Name())
		}
		golden.Equal(t, "bytes that an operation leaves, without commitments", float64(len(output)-32*values), m[0].Value)
		return int(m[0].Value)
	}
	for _, proof := range []string{token.Bulletproof, token.CSP} {
		golden.Equal(t, proof+": four values", 4*size("proof", proof, "values", "1"), size("proof", proof, "values", "4"))
	}
	if one, four := size("proof", token.BulletproofAgg, "values", "1"), size("proof", token.BulletproofAgg, "values", "4"); four <= one || four >= 2*one {
		t.Errorf("one proof of four values has %d bytes, of one %d", four, one)
	}
}

// TestCorpus: inputs depend on case, seed and sequence number, and on nothing else, the executor included.
func TestCorpus(t *testing.T) {
	t.Parallel()
	for _, def := range rangeproof.Defs() {
		input := func(seed, seq uint64, changes ...string) any {
			i := must.Get(def.New(t.Context(), caseOf(def, changes...), seed))(t)
			return must.Get(i.Input(t.Context(), seq))(t)
		}
		first := input(7, 5)
		for what, other := range map[string]any{"again": input(7, 5), "by the pool": input(7, 5, "exec", "pool")} {
			if !reflect.DeepEqual(first, other) {
				t.Errorf("%s: the input %s is another", def.Name, what)
			}
		}
		for what, other := range map[string]any{"of another seed": input(8, 5), "of another sequence number": input(7, 6)} {
			if reflect.DeepEqual(first, other) {
				t.Errorf("%s: the input %s is the same", def.Name, what)
			}
		}
	}
}

// TestCheckSaysNo: a changed proof, a short one and another statement's are refused.
func TestCheckSaysNo(t *testing.T) {
	t.Parallel()
	for _, proof := range token.ProofTypes() {
		def := rangeproof.RangeProve()
		i, input, output := operate(t, def, caseOf(def, "proof", proof))
		bad := bytes.Clone(output)
		bad[len(bad)-1] ^= 1
		for what, wrong := range map[string][]byte{"changed": bad, "short": output[:len(output)-1], "none": nil} {
			must.Fail(t, i.Check(t.Context(), input, wrong), must.ErrAny, "%s: %s", proof, what)
		}
		other := must.Get(i.Input(t.Context(), 4))(t)
		must.Fail(t, i.Check(t.Context(), other, output), zkbench.ErrProof, "%s: another statement's proof", proof)
	}
}

// TestSecretInputs: those of the leak test have the same values, or others, and blindings of their own.
func TestSecretInputs(t *testing.T) {
	t.Parallel()
	def := rangeproof.RangeProve()
	i := must.Get(def.New(t.Context(), caseOf(def), 1))(t)
	secret, ok := i.(workload.Secret)
	if !ok {
		t.Fatal("range-prove has no inputs for the leak test")
	}
	dump := func(seq uint64, fixed bool) (values, blindings string) {
		in := reflect.ValueOf(must.Get(secret.SecretInput(t.Context(), seq, fixed))(t)).Elem()
		return fmt.Sprint(in.FieldByName("values")), fmt.Sprint(in.FieldByName("blindings"))
	}
	values, blindings := dump(1, true)
	for _, fixed := range []bool{true, false} {
		v, b := dump(2, fixed)
		golden.Equal(t, fmt.Sprintf("fixed=%v: values are those of another sequence number", fixed), fixed, v == values)
		golden.Equal(t, "blindings are", false, b == blindings)
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	for _, def := range rangeproof.Defs() {
		for _, change := range [][]string{
			{"curve", "bn254"}, {"bits", "0"}, {"bits", "65"}, {"values", "0"}, {"values", "257"}, {"proof", "snark"}, {"exec", "gpu"},
		} {
			must.FailGet(def.New(t.Context(), caseOf(def, change...), 1))(t, zkbench.ErrParams, "%s: %v", def.Name, change)
		}
	}
	def := rangeproof.RangeBatch()
	must.FailGet(def.New(t.Context(), caseOf(def, "batch", "0"), 1))(t, zkbench.ErrParams, "a batch of none")
	for _, curve := range token.Curves() { // none of which is refused
		must.Get(rangeproof.RangeProve().New(t.Context(), caseOf(rangeproof.RangeProve(), "curve", curve, "bits", "1", "values", "1"), 1))(t)
	}
}
