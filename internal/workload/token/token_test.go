package token_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"testing/cryptotest"

	"github.com/google/go-cmp/cmp"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
	"github.com/zkbench/zkbench/internal/workload"
	"github.com/zkbench/zkbench/internal/workload/token"
	core "github.com/zkbench/zkbench/token"
)

// values holds a small value for every axis.
var values = map[string]string{
	"curve": "BN254", "bits": "8", "in": "2", "out": "2", "proof": "csp", "exec": "serial", "batch": "3", "owner": "pseudonym", "records": "20", "proofs": "on", "over": "tls",
}

func TestMain(m *testing.M) {
	token.ServerMain()
	m.Run()
}

func newInstance(t *testing.T, def workload.Def, change map[string]string, seed uint64) workload.Instance {
	t.Helper()
	var axes []record.Axis
	for _, a := range def.Axes {
		v := values[a.Key]
		if c, ok := change[a.Key]; ok {
			v = c
		}
		axes = append(axes, record.Axis{Key: a.Key, Value: v})
	}
	instance := must.Get(def.New(context.Background(), workload.NewCase(axes...), seed))(t)
	t.Cleanup(func() {
		must.Do(t, instance.Close(), def.Name)
	})
	return instance
}

// TestEveryWorkload runs and checks one operation of every workload at the
// corners of its axes.
func TestEveryWorkload(t *testing.T) {
	testsize.Full(t)
	ctx := context.Background()
	for _, def := range token.Defs() {
		for _, change := range []map[string]string{
			{}, {"bits": "1"}, {"bits": "64", "proof": "bulletproof"}, {"in": "1", "out": "1"}, {"out": "5", "proof": "bulletproof-agg", "exec": "pool"},
		} {
			instance := newInstance(t, def, change, 1)
			for seq := range uint64(3) {
				input, err := instance.Input(ctx, seq)
				must.Do(t, err, def.Name, change)
				output, err := instance.Run(ctx, input)
				must.Do(t, err, def.Name, change)
				must.Do(t, instance.Check(ctx, input, output), def.Name, change)
			}
		}
	}
}

// TestCorpus: inputs depend on case, seed and sequence number, and on nothing
// else, the executor included.
func TestCorpus(t *testing.T) {
	testsize.Full(t)
	// The pool encrypts several notes at once, so they would draw from the system in an order that differs from run to run.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	ctx := context.Background()
	for _, def := range token.Defs() {
		// dump returns an input as text, and what comes next in the system's stream after it.
		dump := func(change map[string]string, seed, seq uint64) (text string, next [64]byte) {
			cryptotest.SetGlobalRandom(t, seq) // HPKE draws from the system: its ciphertexts alone differ without that
			input := must.Get(newInstance(t, def, change, seed).Input(ctx, seq))(t)
			must.Get(rand.Read(next[:]))(t)
			return spew(reflect.ValueOf(input)), next
		}
		var base, again string
		for range 3 { // pings at the same time are rare
			var after, afterAgain [64]byte
			base, after = dump(nil, 7, 5)
			again, afterAgain = dump(map[string]string{"exec": "pool"}, 7, 5)
			if again == base || !pinged(after, afterAgain) {
				break
			}
		}
		if again != base {
			t.Errorf("%s: the same seed and sequence number gave another input: %s", def.Name, cmp.Diff(base, again))
		}
		if other, _ := dump(nil, 8, 5); other == base {
			t.Errorf("%s: another seed gave the same input", def.Name)
		}
		if other, _ := dump(nil, 7, 6); other == base {
			t.Errorf("%s: another sequence number gave the same input", def.Name)
		}
	}
}

// pinged reports whether one of two draws from the same stream came 8 bytes behind the other. An HTTP/2 connection
// draws 8 bytes for a ping when it has been silent for 15 s, even if its client was closed in that time. So a test that
// ran before can draw during this one. No workload draws so few.
func pinged(a, b [64]byte) bool {
	return bytes.HasPrefix(a[:], b[8:]) || bytes.HasPrefix(b[:], a[8:])
}

// spew writes a value with everything that it points to, including unexported fields. It
// leaves out the set-up of an instance.
func spew(v reflect.Value) string {
	switch v.Type() {
	case reflect.TypeFor[core.CryptoParams](), reflect.TypeFor[executor.Executor]():
		return "set up"
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return "nil"
		}
		return spew(v.Elem())
	case reflect.Struct:
		var b strings.Builder
		for i := range v.NumField() {
			fmt.Fprintf(&b, "%s:%s ", v.Type().Field(i).Name, spew(v.Field(i)))
		}
		return "{" + b.String() + "}"
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return fmt.Sprintf("%x", v)
		}
		var b strings.Builder
		for i := range v.Len() {
			b.WriteString(spew(v.Index(i)) + " ")
		}
		return "[" + b.String() + "]"
	default:
		return fmt.Sprint(v)
	}
}

// TestCheckSaysNo: the check of a proof's workload refuses a wrong result.
func TestCheckSaysNo(t *testing.T) {
	ctx := context.Background()
	for _, def := range []workload.Def{token.TransferProofGeneration(), token.Sender(), token.Issuer()} {
		instance := newInstance(t, def, nil, 1)
		input := must.Get(instance.Input(ctx, 0))(t)
		output := must.Get(instance.Run(ctx, input))(t)
		output[len(output)-1] ^= 1
		must.Fail(t, instance.Check(ctx, input, output), must.ErrAny, "%s: a wrong result", def.Name)
	}
}
