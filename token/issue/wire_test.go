package issue_test

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
	"github.com/zkbench/zkbench/token/issue"
	"github.com/zkbench/zkbench/token/transfer"
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

func issued(t testing.TB, pp token.CryptoParams, context []byte) ([]byte, []token.Opening) {
	t.Helper()
	outputs := []issue.Output{{Owner: []byte("alice"), Value: 200}, {Owner: []byte("bob"), Value: 255}}
	a, openings, err := issue.Issue(ctx, serial, pp, "USD", outputs, []byte("why"), context, nil)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := a.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return raw, openings
}

func receive(pp token.CryptoParams, raw, context []byte) error {
	a, err := issue.Decode(pp, raw)
	if err != nil {
		return err
	}
	return a.Verify(ctx, serial, pp, context)
}

func TestEveryByte(t *testing.T) {
	for _, proofType := range token.ProofTypes() {
		pp := newParams(t, proofType)
		raw, _ := issued(t, pp, []byte("anchor"))
		if err := receive(pp, raw, []byte("anchor")); err != nil {
			t.Fatal(err)
		}
		if err := receive(pp, raw, nil); !errors.Is(err, zkbench.ErrProof) {
			t.Errorf("proof=%s, other context: %v", proofType, err)
		}
		for i := range raw {
			bad := bytes.Clone(raw)
			bad[i] ^= 1 << (i % 8)
			err := receive(pp, bad, []byte("anchor"))
			if !errors.Is(err, zkbench.ErrProof) && !errors.Is(err, zkbench.ErrMalformed) {
				t.Errorf("proof=%s, byte %d of %d: %v", proofType, i, len(raw), err)
			}
			if _, err := issue.Decode(pp, raw[:i]); !errors.Is(err, zkbench.ErrMalformed) {
				t.Errorf("proof=%s, cut at %d: %v", proofType, i, err)
			}
		}
	}
}

// TestIssuedTokenTransfers spends what an issue made.
func TestIssuedTokenTransfers(t *testing.T) {
	pp := newParams(t, token.Bulletproof)
	raw, openings := issued(t, pp, nil)
	a, err := issue.Decode(pp, raw)
	if err != nil {
		t.Fatal(err)
	}
	var owned []transfer.Owned
	for i, tok := range a.Outputs {
		owned = append(owned, transfer.Owned{Input: transfer.Input{ID: []byte{1, byte(i)}, Token: tok}, Opening: openings[i]})
	}
	s, err := transfer.NewSender(ctx, serial, pp, owned)
	if err != nil {
		t.Fatal(err)
	}
	moved, _, err := s.Transfer(ctx, []transfer.Output{{Value: 255}, {Value: 100}, {Value: 100}}, nil, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	enc, err := moved.Encode()
	if err != nil {
		t.Fatal(err)
	}
	decoded, err := transfer.Decode(pp, enc)
	if err != nil {
		t.Fatal(err)
	}
	if err := decoded.Verify(ctx, serial, pp, nil); err != nil {
		t.Error(err)
	}
	// One kind of action is no other.
	if _, err := transfer.Decode(pp, raw); !errors.Is(err, zkbench.ErrMalformed) {
		t.Errorf("an issue decoded as a transfer: %v", err)
	}
	if _, err := issue.Decode(pp, enc); !errors.Is(err, zkbench.ErrMalformed) {
		t.Errorf("a transfer decoded as an issue: %v", err)
	}
}

func TestIssueRefuses(t *testing.T) {
	pp := newParams(t, token.CSP)
	for name, c := range map[string]struct {
		outputs []issue.Output
		typ     string
		want    error
	}{
		"no outputs":     {nil, "USD", zkbench.ErrParams},
		"range":          {[]issue.Output{{Value: 256}}, "USD", zkbench.ErrParams},
		"long owner":     {[]issue.Output{{Owner: make([]byte, token.MaxOwner+1)}}, "USD", zkbench.ErrLimit},
		"very long type": {[]issue.Output{{Value: 1}}, string(make([]byte, 1<<17)), zkbench.ErrLimit},
		"long type":      {[]issue.Output{{Value: 1}}, string(make([]byte, token.MaxType+1)), zkbench.ErrLimit},
	} {
		if _, _, err := issue.Issue(ctx, serial, pp, c.typ, c.outputs, nil, nil, nil); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestBatch(t *testing.T) {
	pp := newParams(t, token.BulletproofAgg)
	items := make([]token.Item, 5)
	for i := range items {
		context := fmt.Appendf(nil, "anchor %d", i)
		raw, _ := issued(t, pp, context)
		a, err := issue.Decode(pp, raw)
		if err != nil {
			t.Fatal(err)
		}
		items[i] = token.Item{Action: a, Context: context}
	}
	if err := token.VerifyBatch(ctx, executor.Pool(), pp, items); err != nil {
		t.Fatal(err)
	}
	items[3].Context = items[2].Context
	var c *zkbench.CheckError
	if err := token.VerifyBatch(ctx, executor.Pool(), pp, items); !errors.As(err, &c) || c.Action != 3 {
		t.Errorf("bad action 3: %v", err)
	}
}

func FuzzDecode(f *testing.F) {
	pp := newParams(f, token.Bulletproof)
	raw, _ := issued(f, pp, nil)
	f.Add(raw)
	f.Add(raw[:len(raw)/2])
	f.Add([]byte{1, 1, 0, 1})
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := issue.Decode(pp, data)
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
