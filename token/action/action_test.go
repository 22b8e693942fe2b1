package action_test

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/action"
)

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	for _, proofType := range token.ProofTypes() {
		for _, kind := range kinds {
			pp := newParams(t, proofType)
			d := draft(t, pp, kind, "round trip", "anchor")
			raw := proven(t, d)
			a := must.Get(action.Decode(pp, kind, raw))(t)
			if len(a.Outputs) != 2 || string(a.Metadata) != "metadata" || a.Kind() != kind {
				t.Fatalf("proof=%s: decoded another %v: %+v", proofType, kind, a)
			}
			if kind == token.Transfer && (len(a.Inputs) != 3 || string(a.Inputs[2].ID) != "round trip/2" || len(a.Outputs[1].Owner) != 0) {
				t.Errorf("proof=%s: decoded another transfer: %+v", proofType, a)
			}
			if note, _ := noteOf(d.Openings[0]); kind == token.Transfer && (!bytes.Equal(a.Notes[0], note) || len(a.Notes[1]) != 0) {
				t.Errorf("proof=%s: other notes: %q", proofType, a.Notes)
			}
			commitments := must.Get(pp.Commit(ctx, serial, d.Openings))(t)
			for j := range commitments {
				if !bytes.Equal(a.Outputs[j].Owner, d.Outputs[j].Owner) || !bytes.Equal(a.Outputs[j].Commitment, commitments[j]) {
					t.Errorf("output %d is not that of the draft and its opening", j)
				}
			}
			again, err := a.Encode(a.Proof())
			if err != nil || !bytes.Equal(again, raw) {
				t.Errorf("encoding of the decoded %v differs (%v)", kind, err)
			}
			must.Do(t, a.Verify(ctx, serial, action.NothingLookedUp(), "anchor"))
			must.Fail(t, a.Verify(ctx, serial, action.NothingLookedUp(), "another"), zkbench.ErrProof, "other anchor")
		}
	}
}

// TestEveryByte flips one bit of every byte of an encoded action: ids, owners,
// commitments, metadata, proof. None may be accepted; nor may a part of it decode, or
// more than it. The short form takes every thirteenth byte.
func TestEveryByte(t *testing.T) {
	t.Parallel()
	for _, proofType := range token.ProofTypes() {
		for _, kind := range kinds {
			pp := newParams(t, proofType)
			raw := sent(t, pp, kind, "every byte", "anchor")
			for i := 0; i < len(raw); i += testsize.Pick(13, 1, 1) {
				bad := bytes.Clone(raw)
				bad[i] ^= 1 << (i % 8)
				err := receive(pp, kind, bad, "anchor")
				if !errors.Is(err, zkbench.ErrProof) && !errors.Is(err, zkbench.ErrMalformed) {
					t.Errorf("proof=%s, %v, byte %d of %d: %v", proofType, kind, i, len(raw), err)
				}
				var d *zkbench.DecodeError
				if _, err := action.Decode(pp, kind, raw[:i]); !errors.As(err, &d) || d.Path == "" || d.Offset > i {
					t.Errorf("proof=%s, %v, cut at %d: %v", proofType, kind, i, err)
				}
			}
			must.FailGet(action.Decode(pp, kind, append(bytes.Clone(raw), 0)))(t, zkbench.ErrMalformed, "proof=%s, %v, trailing byte", proofType, kind)
		}
	}
}

func TestDecodeNamesTheField(t *testing.T) {
	t.Parallel()
	pp := newParams(t, token.Bulletproof)
	raw := sent(t, pp, token.Transfer, "field", "anchor")
	id := len("field/0")
	owner := len("owner 0")
	input := 2 + id + 2 + owner + 32
	for name, c := range map[string]struct {
		at     int
		value  []byte
		path   string
		offset int
	}{
		"version":        {0, []byte{1}, "version", 0},
		"kind":           {1, []byte{1}, "kind", 1},
		"no inputs":      {2, []byte{0, 0}, "inputs", 2},
		"many inputs":    {2, []byte{0xff, 0xff}, "inputs", 2},
		"empty id":       {4, []byte{0, 0}, "inputs[0].id", 4},
		"long id":        {4, []byte{0xff, 0xff}, "inputs[0].id", 4},
		"long owner":     {4 + 2 + id, []byte{0xff, 0xff}, "inputs[0].owner", 4 + 2 + id},
		"id named twice": {4 + input, raw[4 : 4+input], "inputs[1].id", 4 + input},
		"commitment":     {4 + input + 2 + id + 2 + owner, make([]byte, 32), "inputs[1].commitment", 4 + input + 2 + id + 2 + owner},
		"no outputs":     {4 + 3*input, []byte{0, 0}, "outputs", 4 + 3*input},
		"long note":      {4 + 3*input + 2 + 2 + 5 + 32, []byte{0xff, 0xff}, "outputs[0].note", 4 + 3*input + 2 + 2 + 5 + 32},
		"output's point": {4 + 3*input + 2 + 2 + 5, bytes.Repeat([]byte{0xff}, 32), "outputs[0].commitment", 4 + 3*input + 2 + 2 + 5},
	} {
		bad := bytes.Clone(raw)
		copy(bad[c.at:], c.value)
		_, err := action.Decode(pp, token.Transfer, bad)
		if d, ok := errors.AsType[*zkbench.DecodeError](err); !ok || d.Path != c.path || d.Offset != c.offset {
			t.Errorf("%s: %v, want %s at %d", name, err, c.path, c.offset)
		}
	}
	// One kind of action is no other.
	for i, kind := range kinds {
		must.FailGet(action.Decode(pp, kinds[1-i], sent(t, pp, kind, "kind", "anchor")))(t, zkbench.ErrMalformed, "%v decoded as %v", kind, kinds[1-i])
	}
}

// TestBatch verifies batches with bad actions at every place, and holds single
// and batch verification together.
func TestBatch(t *testing.T) {
	t.Parallel()
	for _, proofType := range token.ProofTypes() {
		pp := newParams(t, proofType)
		items := make([]action.Item, 7)
		for i := range items {
			anchor := token.Anchor(byte(i))
			kind := kinds[i%3%2]
			a := must.Get(action.Decode(pp, kind, sent(t, pp, kind, fmt.Sprint("batch ", i), anchor)))(t)
			items[i] = action.Item{Action: a, Anchor: anchor}
		}
		for _, name := range executor.Names() {
			ex := must.Get(executor.ByName(name))(t)
			for bad := range 1 << len(items) {
				if bad%testsize.Pick(31, 11, 11) != 0 { // a sample of the subsets, the empty one among them
					continue
				}
				mixed := make([]action.Item, len(items))
				var want []int
				for i := range items {
					mixed[i] = items[i]
					if bad>>i&1 == 1 {
						mixed[i].Anchor = "wrong"
						want = append(want, i)
					}
				}
				err := action.VerifyBatch(ctx, ex, pp, action.NothingLookedUp(), mixed)
				if got := failedActions(err); fmt.Sprint(got) != fmt.Sprint(want) {
					t.Errorf("proof=%s executor=%s: named %v, want %v", proofType, name, got, want)
				}
			}
		}
	}
}

// failedActions returns the indices that a joined error names.
func failedActions(err error) []int {
	var out []int
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range joined.Unwrap() {
			if c, ok := errors.AsType[*zkbench.CheckError](e); ok && errors.Is(e, zkbench.ErrProof) {
				out = append(out, c.Action)
			}
		}
	}
	return out
}

// TestBatchRefuses: a batch of nothing is refused, an item that is nothing is named.
func TestBatchRefuses(t *testing.T) {
	t.Parallel()
	pp := newParams(t, token.CSP)
	good := must.Get(action.Decode(pp, token.Issue, sent(t, pp, token.Issue, "good", "anchor")))(t)
	for _, items := range [][]action.Item{nil, {}} {
		must.Fail(t, action.VerifyBatch(ctx, serial, pp, action.NothingLookedUp(), items), zkbench.ErrParams, "empty batch")
	}
	must.Fail(t, good.Verify(ctx, serial, action.NothingLookedUp(), ""), zkbench.ErrParams, "no anchor")
	for name, bad := range map[string]*action.Received{"no action": nil, "one that was not decoded": new(action.Received)} {
		err := action.VerifyBatch(ctx, serial, pp, action.NothingLookedUp(), []action.Item{{Action: good, Anchor: "anchor"}, {Action: bad, Anchor: "anchor"}})
		if !errors.Is(err, zkbench.ErrParams) || err.Error() != "invalid parameters: item 1: no action, accepted are those that Decode returns" {
			t.Errorf("%s: %v", name, err)
		}
	}
	must.Fail(t, action.VerifyBatch(ctx, serial, newParams(t, token.CSP), action.NothingLookedUp(), []action.Item{{Action: good, Anchor: "anchor"}}), zkbench.ErrParams, "an action decoded under other parameters")
	must.FailGet(action.Receive(pp, &action.Action{Outputs: good.Outputs}))(t, zkbench.ErrParams, "an action that was not parsed")
}

// TestOnlyWhatWasReceivedVerifies: drafts and parsed actions have no method that
// verifies, and received ones none that proves.
func TestOnlyWhatWasReceivedVerifies(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		of     any
		method string
		want   bool
	}{
		{&action.Draft{}, "Prove", true},
		{&action.Draft{}, "Verify", false},
		{&action.Action{}, "Prove", false},
		{&action.Action{}, "Verify", false},
		{&action.Received{}, "Prove", false},
		{&action.Received{}, "Verify", true},
	} {
		if _, has := reflect.TypeOf(c.of).MethodByName(c.method); has != c.want {
			t.Errorf("%T has %s: %v", c.of, c.method, has)
		}
	}
	if item := reflect.TypeFor[action.Item]().Field(0); item.Type != reflect.TypeFor[*action.Received]() {
		t.Errorf("a batch takes %v", item.Type)
	}
}

func FuzzDecode(f *testing.F) {
	pp := newParams(f, token.CSP)
	for _, kind := range kinds {
		raw := sent(f, pp, kind, "fuzz", "anchor")
		f.Add(raw)
		f.Add(raw[:len(raw)/2])
		f.Add([]byte{1, byte(kind), 0, 1})
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, kind := range kinds {
			a, err := action.Decode(pp, kind, data)
			if err != nil {
				if !errors.Is(err, zkbench.ErrMalformed) {
					t.Fatalf("untyped error %v", err)
				}
				continue
			}
			again, err := a.Encode(a.Proof())
			if err != nil || !bytes.Equal(again, data) {
				t.Fatalf("two encodings of one action (%v)", err)
			}
		}
	})
}
