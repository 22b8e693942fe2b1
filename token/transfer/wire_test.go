package transfer_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/transfer"
	"github.com/zkbench/zkbench/transcript"
)

var (
	ctx    = context.Background()
	serial = executor.Serial()
)

func newParams(t testing.TB, proofType string) token.CryptoParams {
	t.Helper()
	pp, err := token.NewCryptoParams(token.Config{
		Curve: "BN254", Bits: 8, ProofType: proofType, Table: group.TableOptions{Window: 4, Spacing: 8},
	})
	if err != nil {
		t.Fatal(err)
	}
	return pp
}

// owned makes tokens of one type that a sender may spend.
func owned(t testing.TB, pp token.CryptoParams, label string, values ...uint64) []transfer.Owned {
	t.Helper()
	outputs := make([]token.Output, len(values))
	for i, v := range values {
		outputs[i] = token.Output{Owner: fmt.Appendf(nil, "owner %d", i), Value: v}
	}
	rand := transcript.XOF("zkbench/v1/test", []byte(label))
	w, tokens, err := token.MakeOutputs(ctx, serial, pp, token.Issue, nil, "USD", outputs, nil, rand)
	if err != nil {
		t.Fatal(err)
	}
	out := make([]transfer.Owned, len(values))
	for i := range out {
		out[i] = transfer.Owned{Input: transfer.Input{ID: fmt.Appendf(nil, "%s/%d", label, i), Token: tokens[i]}, Opening: w.Outputs[i]}
	}
	return out
}

// send makes an encoded transfer of 3 inputs to 2 outputs.
func send(t testing.TB, pp token.CryptoParams, label string, context []byte) []byte {
	t.Helper()
	s, err := transfer.NewSender(ctx, serial, pp, owned(t, pp, label, 100, 20, 3))
	if err != nil {
		t.Fatal(err)
	}
	outputs := []transfer.Output{{Owner: []byte("alice"), Value: 120}, {Value: 3}}
	action, openings, err := s.Transfer(ctx, outputs, []byte("metadata"), context, nil)
	if err != nil {
		t.Fatal(err)
	}
	commitments, err := pp.Commit(ctx, serial, openings)
	if err != nil {
		t.Fatal(err)
	}
	for j := range commitments {
		if !bytes.Equal(commitments[j], action.Outputs[j].Commitment) || openings[j].Value != outputs[j].Value {
			t.Fatalf("opening %d is not that of the output", j)
		}
	}
	raw, err := action.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func receive(pp token.CryptoParams, raw, context []byte) error {
	a, err := transfer.Decode(pp, raw)
	if err != nil {
		return err
	}
	return a.Verify(ctx, serial, pp, context)
}

func TestRoundTrip(t *testing.T) {
	for _, proofType := range token.ProofTypes() {
		pp := newParams(t, proofType)
		raw := send(t, pp, "round trip", []byte("anchor"))
		a, err := transfer.Decode(pp, raw)
		if err != nil {
			t.Fatal(err)
		}
		if len(a.Inputs) != 3 || len(a.Outputs) != 2 || string(a.Metadata) != "metadata" || string(a.Outputs[0].Owner) != "alice" || len(a.Outputs[1].Owner) != 0 || string(a.Inputs[2].ID) != "round trip/2" {
			t.Errorf("decoded another action: %+v", a)
		}
		again, err := a.Encode()
		if err != nil || !bytes.Equal(again, raw) {
			t.Errorf("encoding of the decoded action differs (%v)", err)
		}
		if err := a.Verify(ctx, serial, pp, []byte("anchor")); err != nil {
			t.Error(err)
		}
		if err := a.Verify(ctx, serial, pp, []byte("another")); !errors.Is(err, zkbench.ErrProof) {
			t.Errorf("other context: %v", err)
		}
	}
}

// TestEveryByte flips one bit of every byte of an encoded transfer: ids, owners,
// commitments, metadata, proof. None may be accepted.
func TestEveryByte(t *testing.T) {
	for _, proofType := range token.ProofTypes() {
		pp := newParams(t, proofType)
		raw := send(t, pp, "every byte", nil)
		for i := range raw {
			bad := bytes.Clone(raw)
			bad[i] ^= 1 << (i % 8)
			err := receive(pp, bad, nil)
			if !errors.Is(err, zkbench.ErrProof) && !errors.Is(err, zkbench.ErrMalformed) {
				t.Errorf("proof=%s, byte %d of %d: %v", proofType, i, len(raw), err)
			}
		}
	}
}

// TestTruncated cuts an encoded transfer at every length and adds a byte.
func TestTruncated(t *testing.T) {
	pp := newParams(t, token.Bulletproof)
	raw := send(t, pp, "truncated", nil)
	for n := range raw {
		var d *zkbench.DecodeError
		if _, err := transfer.Decode(pp, raw[:n]); !errors.As(err, &d) || d.Path == "" || d.Offset > n {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
	if _, err := transfer.Decode(pp, append(bytes.Clone(raw), 0)); !errors.Is(err, zkbench.ErrMalformed) {
		t.Errorf("trailing byte: %v", err)
	}
}

func TestDecodeNamesTheField(t *testing.T) {
	pp := newParams(t, token.Bulletproof)
	raw := send(t, pp, "field", nil)
	id := len("field/0")
	owner := len("owner 0")
	input := 2 + id + 2 + owner + 32
	for name, c := range map[string]struct {
		at     int
		value  []byte
		path   string
		offset int
	}{
		"version":        {0, []byte{2}, "version", 0},
		"kind":           {1, []byte{1}, "kind", 1},
		"no inputs":      {2, []byte{0, 0}, "inputs", 2},
		"many inputs":    {2, []byte{0xff, 0xff}, "inputs", 2},
		"empty id":       {4, []byte{0, 0}, "inputs[0].id", 4},
		"long id":        {4, []byte{0xff, 0xff}, "inputs[0].id", 4},
		"long owner":     {4 + 2 + id, []byte{0xff, 0xff}, "inputs[0].owner", 4 + 2 + id},
		"id named twice": {4 + input, raw[4 : 4+input], "inputs[1].id", 4 + input},
		"commitment":     {4 + input + 2 + id + 2 + owner, make([]byte, 32), "inputs[1].commitment", 4 + input + 2 + id + 2 + owner},
		"no outputs":     {4 + 3*input, []byte{0, 0}, "outputs", 4 + 3*input},
		"output's point": {4 + 3*input + 2 + 2 + 5, bytes.Repeat([]byte{0xff}, 32), "outputs[0].commitment", 4 + 3*input + 2 + 2 + 5},
	} {
		bad := bytes.Clone(raw)
		copy(bad[c.at:], c.value)
		_, err := transfer.Decode(pp, bad)
		var d *zkbench.DecodeError
		if !errors.As(err, &d) || d.Path != c.path || d.Offset != c.offset {
			t.Errorf("%s: %v, want %s at %d", name, err, c.path, c.offset)
		}
	}
}

func TestSenderRefuses(t *testing.T) {
	pp := newParams(t, token.Bulletproof)
	good := func() []transfer.Owned { return owned(t, pp, "sender", 10, 20) }
	if _, err := transfer.NewSender(ctx, serial, pp, good()); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(o []transfer.Owned){
		"value":          func(o []transfer.Owned) { o[1].Opening.Value++ },
		"type":           func(o []transfer.Owned) { o[1].Opening.Type = "EUR" },
		"same token":     func(o []transfer.Owned) { o[1] = o[0] },
		"same id":        func(o []transfer.Owned) { o[1].ID = o[0].ID },
		"types":          func(o []transfer.Owned) { o[0].Opening.Type, o[1].Opening.Type = "EUR", "EUR" },
		"blinding":       func(o []transfer.Owned) { o[0].Opening.Blinding = o[1].Opening.Blinding },
		"short blinding": func(o []transfer.Owned) { o[0].Opening.Blinding = nil },
	} {
		o := good()
		change(o)
		_, err := transfer.NewSender(ctx, serial, pp, o)
		if !errors.Is(err, zkbench.ErrParams) && !errors.Is(err, zkbench.ErrMalformed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	s, err := transfer.NewSender(ctx, serial, pp, good())
	if err != nil {
		t.Fatal(err)
	}
	many := make([]transfer.Output, token.MaxTokens+1)
	for name, c := range map[string]struct {
		outputs  []transfer.Output
		metadata []byte
		want     error
	}{
		"no outputs":    {nil, nil, zkbench.ErrParams},
		"many outputs":  {many, nil, zkbench.ErrParams},
		"sum":           {[]transfer.Output{{Value: 29}}, nil, zkbench.ErrParams},
		"range":         {[]transfer.Output{{Value: 1 << 8}}, nil, zkbench.ErrParams},
		"long owner":    {[]transfer.Output{{Value: 30, Owner: make([]byte, token.MaxOwner+1)}}, nil, zkbench.ErrLimit},
		"long metadata": {[]transfer.Output{{Value: 30}}, make([]byte, token.MaxMetadata+1), zkbench.ErrLimit},
	} {
		if _, _, err := s.Transfer(ctx, c.outputs, c.metadata, nil, nil); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, _, err := s.Transfer(ctx, []transfer.Output{{Value: 30}}, nil, make([]byte, token.MaxContext+1), nil); !errors.Is(err, zkbench.ErrLimit) {
		t.Errorf("long context: %v", err)
	}
	if _, _, err := s.Transfer(ctx, []transfer.Output{{Value: 30}}, nil, nil, bytes.NewReader(make([]byte, 31))); err == nil {
		t.Error("31 bytes of randomness were enough")
	}
	// An action that was made here is not one that was decoded.
	a, _, err := s.Transfer(ctx, []transfer.Output{{Value: 30}}, nil, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Verify(ctx, serial, pp, nil); !errors.Is(err, zkbench.ErrParams) {
		t.Errorf("verifying an action that was not decoded: %v", err)
	}
}

// TestBatch verifies batches with bad actions at every place, and holds single
// and batch verification together.
func TestBatch(t *testing.T) {
	for _, proofType := range token.ProofTypes() {
		pp := newParams(t, proofType)
		items := make([]token.Item, 7)
		for i := range items {
			context := []byte{byte(i)}
			a, err := transfer.Decode(pp, send(t, pp, fmt.Sprint("batch ", i), context))
			if err != nil {
				t.Fatal(err)
			}
			items[i] = token.Item{Action: a, Context: context}
		}
		for _, name := range executor.Names() {
			ex, err := executor.ByName(name)
			if err != nil {
				t.Fatal(err)
			}
			for bad := range 1 << len(items) {
				if bad%11 != 0 { // a sample of the subsets, the empty one among them
					continue
				}
				mixed := make([]token.Item, len(items))
				var want []int
				for i := range items {
					mixed[i] = items[i]
					if bad>>i&1 == 1 {
						mixed[i].Context = []byte("wrong")
						want = append(want, i)
					}
				}
				err := token.VerifyBatch(ctx, ex, pp, mixed)
				if got := failedActions(err); fmt.Sprint(got) != fmt.Sprint(want) {
					t.Errorf("proof=%s executor=%s: named %v, want %v", proofType, name, got, want)
				}
			}
		}
		if err := token.VerifyBatch(ctx, serial, pp, nil); err != nil {
			t.Errorf("empty batch: %v", err)
		}
	}
}

// failedActions returns the indices that a joined error names.
func failedActions(err error) []int {
	var out []int
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range joined.Unwrap() {
			var c *zkbench.CheckError
			if errors.As(e, &c) && errors.Is(e, zkbench.ErrProof) {
				out = append(out, c.Action)
			}
		}
	}
	return out
}

func FuzzDecode(f *testing.F) {
	pp := newParams(f, token.CSP)
	raw := send(f, pp, "fuzz", nil)
	f.Add(raw)
	f.Add(raw[:len(raw)/2])
	f.Add([]byte{1, 2, 0, 1})
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := transfer.Decode(pp, data)
		if err != nil {
			if !errors.Is(err, zkbench.ErrMalformed) {
				t.Fatalf("untyped error %v", err)
			}
			return
		}
		again, err := a.Encode()
		if err != nil || !bytes.Equal(again, data) {
			t.Fatalf("two encodings of one action (%v)", err)
		}
	})
}
