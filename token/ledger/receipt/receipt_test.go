package receipt_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/head"
	"github.com/zkbench/zkbench/token/ledger/receipt"
	"github.com/zkbench/zkbench/token/policy"
)

// TestVerify: each record under the head has a receipt that says what the ledger says.
func TestVerify(t *testing.T) {
	t.Parallel()
	b := town(t)
	for seq, anchor := range []string{"one", "two", string(policy.Anchor(1)), "four"} {
		data := encoded(t, b.made(anchor))
		c := must.Get(receipt.Verify(t.Context(), data, b.params))(t)
		record, _, err := b.Record(t.Context(), []byte(anchor))
		must.Do(t, err)
		golden.Equal(t, "record", record, c.Record)
		golden.Equal(t, "number", uint64(seq)+1, c.Record.Seq)
		golden.Equal(t, "ledger", b.genesis.ID(), c.Ledger)
		golden.Equal(t, "policy", b.policy, c.Policy)
		golden.Equal(t, "leaves", uint64(5), c.Head.Size)
		golden.Equal(t, "time of the head", noon, c.Head.Time)
		golden.Equal(t, "validators", 2, len(c.Head.Validators))
		if c.Output != nil {
			t.Error("an output is open")
		}
		again := must.Get(receipt.Decode(data))(t)
		golden.Equal(t, "encoded again", string(data), string(encoded(t, again)))
	}
}

// TestOpening: a receipt that opens an output shows its value and owner.
func TestOpening(t *testing.T) {
	t.Parallel()
	b := town(t)
	for i, owner := range []string{"ben", "", "dora"} {
		r := b.made("two")
		must.Do(t, r.Open(t.Context(), b.params, twos[i]))
		c := must.Get(receipt.Verify(t.Context(), encoded(t, r), b.params))(t)
		want := &receipt.Output{Opening: receipt.Opening{Output: i + 1, Opening: twos[i]}, Owner: []byte{}}
		if owner != "" {
			want.Owner = key(t, owner).Identity()
		}
		golden.Equal(t, "output", want, c.Output)
		if said := fmt.Sprintf("%v %+v", r.Opening, c.Output.Opening); strings.Contains(said, strconv.FormatUint(twos[i].Value, 10)) {
			t.Errorf("printed: %s", said)
		}
	}
	for name, o := range map[string]token.Opening{"another blinding": opening(40, 2), "another value": opening(41, 1), "another type": {Type: "EUR", Value: 40, Blinding: twos[0].Blinding}} {
		must.Fail(t, b.made("two").Open(t.Context(), b.params, o), zkbench.ErrProof, "%s", name)
	}
	must.Fail(t, b.made("two").Open(t.Context(), b.params, token.Opening{Type: "USD", Value: 40, Blinding: bytes.Repeat([]byte{255}, 32)}), zkbench.ErrMalformed, "no scalar")
	must.Fail(t, b.made(string(policy.Anchor(1))).Open(t.Context(), b.params, twos[0]), zkbench.ErrProof, "an update has no outputs")
}

// TestMake: what has no receipt, and why.
func TestMake(t *testing.T) {
	t.Parallel()
	b := town(t)
	must.FailGet(receipt.Make(t.Context(), b, []byte("six")))(t, receipt.ErrNoRecord, "an anchor of nothing")
	_, err := receipt.Make(t.Context(), b, []byte("five"))
	golden.Equal[error](t, "a record after the head", &receipt.HeadError{Record: 5, Leaves: 5}, err)
	golden.Contains(t, err.Error(), "request 5", "5 leaves")

	empty := newBook(t, b.params, 1)
	empty.pay("one", []token.Token{opened(t, "carl", opening(42, 9))})
	_, err = receipt.Make(t.Context(), empty, []byte("one"))
	golden.Equal[error](t, "no head", &receipt.HeadError{Record: 1}, err)
	golden.Contains(t, err.Error(), "the ledger has none")

	other := newBook(t, b.params, 2)
	for name, test := range map[string]struct {
		signed []byte
		want   error
	}{
		"no head":        {[]byte("nonsense"), zkbench.ErrMalformed},
		"another ledger": {other.head("v1"), zkbench.ErrPolicy},
		"another log":    {signed(t, head.Head{Ledger: b.genesis.ID(), Size: 6, Root: [32]byte{1}}, "v1"), zkbench.ErrProof},
		"a longer log":   {signed(t, head.Head{Ledger: b.genesis.ID(), Size: 7, Root: [32]byte{1}}, "v1"), ledger.ErrNoLeaf},
	} {
		must.Do(t, b.PutHead(t.Context(), 6, test.signed, true))
		must.FailGet(receipt.Make(t.Context(), b, []byte("one")))(t, test.want, name)
	}
}

// TestMakeEnds: a reader that has an update of each version does not make Make go on for ever, nor take all memory.
func TestMakeEnds(t *testing.T) {
	t.Parallel()
	b := town(t)
	for _, test := range []struct {
		bytes int
		calls uint64
		want  *zkbench.LimitError
	}{
		{1, receipt.MaxUpdates + 1, &zkbench.LimitError{What: "updates of the policy", Estimate: receipt.MaxUpdates + 1, Max: receipt.MaxUpdates}},
		{16 << 20, 4, &zkbench.LimitError{What: "bytes of receipt", Max: receipt.MaxReceipt}},
	} {
		l := &inventive{Store: b, request: make([]byte, test.bytes)}
		_, err := receipt.Make(t.Context(), l, []byte("one"))
		limit, ok := errors.AsType[*zkbench.LimitError](err)
		if !ok || limit.What != test.want.What || limit.Max != test.want.Max || l.updates != test.calls {
			t.Errorf("updates of %d bytes: %v after %d", test.bytes, err, l.updates)
		}
	}
}

// inventive is a reader that makes up updates of the policy.
type inventive struct {
	ledger.Store
	request []byte
	updates uint64
}

// Record implements ledger.Reader.
func (i *inventive) Record(ctx context.Context, anchor []byte) (ledger.Record, bool, error) {
	if !bytes.HasPrefix(anchor, []byte("zkbench/policy/")) {
		return i.Store.Record(ctx, anchor)
	}
	i.updates++
	return ledger.Record{Seq: 1, Entry: ledger.Entry{Anchor: anchor, Request: i.request}}, true, nil
}

// TestFork: a fork has receipts for the records that it shares with its parent, and for its own.
func TestFork(t *testing.T) {
	t.Parallel()
	parent := town(t)
	root := ledger.NewEdge(parent.genesis)
	var shared []ledger.Entry
	for r, err := range parent.Log(t.Context(), 1) {
		must.Do(t, err)
		if r.Seq <= 4 {
			shared = append(shared, r.Entry)
			root.Append(&r.Entry, r.Entry.Append(nil))
		}
	}
	fork := openBook(t, parent.params, must.Get(parent.genesis.Fork(4, 1, root.Root()))(t))
	must.Do(t, fork.Apply(t.Context(), shared))
	fork.policy = parent.policy
	fork.update(func(p *token.Policy) { p.Limits.Inputs-- })
	fork.pay("six", []token.Token{opened(t, "carl", twos[0])})
	fork.putHead("v3", "v4")
	for _, anchor := range []string{"two", "four", string(policy.Anchor(2)), "six"} {
		c := must.Get(receipt.Verify(t.Context(), encoded(t, fork.made(anchor)), fork.params))(t)
		golden.Equal(t, "ledger", fork.genesis.ID(), c.Ledger)
		golden.Equal(t, "version", uint64(2), c.Policy.Version)
	}
	r := parent.made("two")
	r.Genesis = fork.genesis
	refused(t, "the parent's head", encoded(t, r), fork.params, receipt.CheckHead, zkbench.ErrPolicy)
}

// refused fails the test unless a check refuses the receipt because of cause.
func refused(t *testing.T, name string, data []byte, params *token.PublicParams, check string, cause error) {
	t.Helper()
	c, err := receipt.Verify(t.Context(), data, params)
	e, ok := errors.AsType[*zkbench.CheckError](err)
	if c != nil || !ok || e.Check != check || !errors.Is(err, cause) {
		t.Errorf("%s: %v, want %s: %v", name, err, check, cause)
	}
}

// TestRefused: each part exchanged for another that is in order by itself.
func TestRefused(t *testing.T) {
	t.Parallel()
	b := town(t)
	elsewhere := newBook(t, b.params, 2) // with the same records
	elsewhere.pay("one", []token.Token{opened(t, "carl", opening(42, 9))})
	elsewhere.pay("two", []token.Token{opened(t, "ben", twos[0]), opened(t, "", twos[1])}, []token.Token{opened(t, "dora", twos[2])})
	elsewhere.update(func(p *token.Policy) { validators(t, p, "v2", "v3", "v4") })
	elsewhere.pay("four", []token.Token{opened(t, "carl", opening(1, 4))})
	elsewhere.putHead("v2", "v4")
	foreign := elsewhere.made("two")

	without := newParams(t)
	unsigned := newBook(t, without, 1)
	unsigned.pay("one", []token.Token{opened(t, "carl", opening(42, 9))})
	unsigned.putHead("v1")
	refused(t, "no validators", encoded(t, unsigned.made("one")), without, receipt.CheckHead, head.ErrNoValidators)

	state := must.Get(b.State(t.Context()))(t)
	five := head.Head{Ledger: b.genesis.ID(), Size: 6, Root: state.Root}
	h := must.Get(head.ParseSigned(b.made("one").Head))(t)
	params := b.params
	opens := func(r *receipt.Receipt, output int, o token.Opening) {
		r.Opening = &receipt.Opening{Output: output, Opening: o}
	}
	// remade makes the record another one in a log of its own, whose head the validators sign.
	remade := func(r *receipt.Receipt, edit func(*ledger.Record)) {
		edit(&r.Record)
		h := head.Head{Ledger: b.genesis.ID(), Size: 2, Root: tlog.NodeHash(b.genesis.Leaf(), r.Record.Leaf())}
		r.Record.Seq, r.Proof, r.Head = 1, tlog.RecordProof{b.genesis.Leaf()}, signed(t, h, "v2", "v4")
	}
	for name, test := range map[string]struct {
		edit  func(r *receipt.Receipt)
		check string
		cause error
	}{
		"another ledger's genesis":         {func(r *receipt.Receipt) { r.Genesis = foreign.Genesis }, receipt.CheckUpdates, zkbench.ErrPolicy},
		"another ledger's updates":         {func(r *receipt.Receipt) { r.Updates = foreign.Updates }, receipt.CheckUpdates, zkbench.ErrPolicy},
		"another ledger's head":            {func(r *receipt.Receipt) { r.Head = foreign.Head }, receipt.CheckHead, zkbench.ErrPolicy},
		"another ledger's record":          {func(r *receipt.Receipt) { r.Record = foreign.Record }, receipt.CheckInclusion, zkbench.ErrProof},
		"a genesis of other parameters":    {func(r *receipt.Receipt) { r.Genesis.Params[0]++ }, receipt.CheckParams, zkbench.ErrParams},
		"a genesis of another policy":      {func(r *receipt.Receipt) { r.Genesis.Policy[0]++ }, receipt.CheckParams, zkbench.ErrParams},
		"no update":                        {func(r *receipt.Receipt) { r.Updates = nil }, receipt.CheckHead, zkbench.ErrSignature},
		"an update twice":                  {func(r *receipt.Receipt) { r.Updates = append(r.Updates, r.Updates[0]) }, receipt.CheckUpdates, zkbench.ErrPolicy},
		"an update that is none":           {func(r *receipt.Receipt) { r.Updates = [][]byte{r.Record.Request} }, receipt.CheckUpdates, zkbench.ErrMalformed},
		"an update that nobody signed":     {func(r *receipt.Receipt) { r.Updates = [][]byte{stripped(t, r.Updates[0])} }, receipt.CheckUpdates, zkbench.ErrPolicy},
		"one signature":                    {func(r *receipt.Receipt) { r.Head = signed(t, h, "v2") }, receipt.CheckHead, zkbench.ErrSignature},
		"of a validator who left":          {func(r *receipt.Receipt) { r.Head = signed(t, h, "v1", "v2") }, receipt.CheckHead, zkbench.ErrSignature},
		"of strangers":                     {func(r *receipt.Receipt) { r.Head = signed(t, h, "x", "y", "z") }, receipt.CheckHead, zkbench.ErrSignature},
		"another root":                     {func(r *receipt.Receipt) { r.Head = signed(t, five, "v2", "v4") }, receipt.CheckInclusion, zkbench.ErrProof},
		"a root of fewer leaves":           {func(r *receipt.Receipt) { h := h; h.Size--; r.Head = signed(t, h, "v2", "v4") }, receipt.CheckInclusion, zkbench.ErrProof},
		"a root of too few leaves":         {func(r *receipt.Receipt) { h := h; h.Size = 2; r.Head = signed(t, h, "v2", "v4") }, receipt.CheckInclusion, zkbench.ErrParams},
		"another number":                   {func(r *receipt.Receipt) { r.Record.Seq = 3 }, receipt.CheckInclusion, zkbench.ErrProof},
		"another record's proof":           {func(r *receipt.Receipt) { r.Proof = b.made("one").Proof }, receipt.CheckInclusion, zkbench.ErrProof},
		"a proof with a hash more":         {func(r *receipt.Receipt) { r.Proof = append(r.Proof, tlog.Hash{}) }, receipt.CheckInclusion, zkbench.ErrProof},
		"a proof with a hash less":         {func(r *receipt.Receipt) { r.Proof = r.Proof[1:] }, receipt.CheckInclusion, zkbench.ErrProof},
		"another state":                    {func(r *receipt.Receipt) { r.Record.Commitment[0]++ }, receipt.CheckInclusion, zkbench.ErrProof},
		"another time":                     {func(r *receipt.Receipt) { r.Record.Time = noon }, receipt.CheckInclusion, zkbench.ErrProof},
		"a record that is not its request": {func(r *receipt.Receipt) { remade(r, func(r *ledger.Record) { r.Digest[0]++ }) }, receipt.CheckRecord, zkbench.ErrMalformed},
		"a record of no request":           {func(r *receipt.Receipt) { remade(r, func(r *ledger.Record) { r.Request = []byte("x") }) }, receipt.CheckRecord, zkbench.ErrMalformed},
		"a record of another policy":       {func(r *receipt.Receipt) { remade(r, func(r *ledger.Record) { r.PolicyDigest[0]++ }) }, receipt.CheckRecord, zkbench.ErrPolicy},
		"a record of an older version":     {func(r *receipt.Receipt) { remade(r, func(r *ledger.Record) { r.Policy = 1 }) }, receipt.CheckRecord, zkbench.ErrPolicy},
		"a record of a later policy":       {func(r *receipt.Receipt) { remade(r, func(r *ledger.Record) { r.Policy = 2 }) }, receipt.CheckRecord, zkbench.ErrPolicy},
		"a record of the last policy":      {func(r *receipt.Receipt) { remade(r, func(r *ledger.Record) { r.Policy = 1<<64 - 1 }) }, receipt.CheckRecord, zkbench.ErrPolicy},
		"a record of another ledger":       {func(r *receipt.Receipt) { remade(r, func(r *ledger.Record) { *r = foreign.Record }) }, receipt.CheckRecord, zkbench.ErrMalformed},
		"the opening of another output":    {func(r *receipt.Receipt) { opens(r, 1, twos[1]) }, receipt.CheckOpening, zkbench.ErrProof},
		"another output":                   {func(r *receipt.Receipt) { opens(r, 2, twos[0]) }, receipt.CheckOpening, zkbench.ErrProof},
		"another value":                    {func(r *receipt.Receipt) { opens(r, 1, opening(41, 1)) }, receipt.CheckOpening, zkbench.ErrProof},
		"an output that is not there":      {func(r *receipt.Receipt) { opens(r, 4, twos[0]) }, receipt.CheckOpening, zkbench.ErrProof},
		"a blinding that is no scalar": {func(r *receipt.Receipt) {
			opens(r, 1, token.Opening{Type: "USD", Value: 40, Blinding: bytes.Repeat([]byte{255}, 32)})
		}, receipt.CheckOpening, zkbench.ErrMalformed},
	} {
		r := must.Get(receipt.Decode(encoded(t, b.made("two"))))(t)
		test.edit(r)
		refused(t, name, encoded(t, r), params, test.check, test.cause)
	}
	data := encoded(t, b.made("two"))
	refused(t, "other parameters", data, newParams(t, "v2", "v4"), receipt.CheckParams, zkbench.ErrParams)
	refused(t, "no parameters", data, new(token.PublicParams), receipt.CheckParams, zkbench.ErrParams)
	_, err := receipt.Verify(t.Context(), encoded(t, &receipt.Receipt{Genesis: b.genesis, Record: b.made("two").Record, Head: b.head("v2"), Updates: b.made("two").Updates}), params)
	if e, ok := errors.AsType[*head.ThresholdError](err); !ok || e.Signed != 1 || e.Want != 2 || e.Of != 3 {
		t.Errorf("%v, want a ThresholdError", err)
	}
}

// stripped returns an update without signatures.
func stripped(t *testing.T, data []byte) []byte {
	u := must.Get(policy.Decode(data))(t)
	u.Signatures = nil
	return must.Get(u.Encode())(t)
}

// TestEveryByte: no byte of a receipt can be another one.
func TestEveryByte(t *testing.T) {
	t.Parallel()
	b := town(t)
	r := b.made("two")
	must.Do(t, r.Open(t.Context(), b.params, twos[0]))
	data := encoded(t, r)
	must.Get(receipt.Verify(t.Context(), data, b.params))(t)
	for i := range data {
		for _, bit := range []byte{1, 0x20} {
			bent := bytes.Clone(data)
			bent[i] ^= bit
			if c, err := receipt.Verify(t.Context(), bent, b.params); err == nil || c != nil {
				t.Errorf("byte %d of %d: %q for %q verifies", i, len(data), bent[i], data[i])
			} else if !typed(err) {
				t.Errorf("byte %d: untyped error %v", i, err)
			}
		}
		if c, err := receipt.Verify(t.Context(), data[:i], b.params); err == nil || c != nil || !typed(err) {
			t.Errorf("the first %d bytes of %d: %v", i, len(data), err)
		}
	}
}

func typed(err error) bool {
	_, check := errors.AsType[*zkbench.CheckError](err)
	_, malformed := errors.AsType[*zkbench.DecodeError](err)
	_, limit := errors.AsType[*zkbench.LimitError](err)
	return check || malformed || limit
}

// TestDecode: bad text is named by its field.
func TestDecode(t *testing.T) {
	t.Parallel()
	b := town(t)
	good := string(encoded(t, b.made("two")))
	lines := strings.SplitAfter(good, "\n")
	line := func(i int, with string) string {
		return strings.Join(lines[:i], "") + with + strings.Join(lines[i+1:], "")
	}
	for name, test := range map[string]struct{ data, path string }{
		"empty":                   {"", "receipt.format"},
		"another format":          {line(0, "c2sp.org/tlog-proof@v2\n"), "receipt.format"},
		"carriage return":         {line(0, "c2sp.org/tlog-proof@v1\r\n"), "receipt.format"},
		"no extra data":           {line(1, ""), "receipt.extra"},
		"extra is no base64":      {line(1, "extra =\n"), "receipt.extra"},
		"extra is empty":          {line(1, "extra \n"), "receipt.extra.version"},
		"another version":         {line(1, "extra Ag==\n"), "receipt.extra.version"},
		"a carriage return in it": {line(1, strings.Replace(lines[1], "\n", "\r\n", 1)), "receipt.extra"},
		"no index":                {line(2, ""), "receipt.index"},
		"index of the genesis":    {line(2, "index 0\n"), "receipt.index"},
		"index with zeros":        {line(2, "index 02\n"), "receipt.index"},
		"index with a sign":       {line(2, "index +2\n"), "receipt.index"},
		"index too large":         {line(2, "index 281474976710657\n"), "receipt.index"},
		"a short hash":            {line(3, "AAAA\n"), "receipt.proof"},
		"a hash that is none":     {line(3, "x\n"), "receipt.proof"},
		"fifty hashes":            {line(3, strings.Repeat(lines[3], 50)), "receipt.proof"},
		"no empty line":           {strings.Replace(good, "\n\n", "\n", 1), "receipt.proof"},
		"two empty lines":         {strings.Replace(good, "\n\n", "\n\n\n", 1), "receipt.head.origin"},
		"no signatures":           {good[:strings.LastIndex(good, "\n\n")], "receipt.head"},
		"ends within a hash":      {good[:strings.Index(good, "index")+20], "receipt.proof"},
	} {
		_, err := receipt.Decode([]byte(test.data))
		if e, ok := errors.AsType[*zkbench.DecodeError](err); !ok || e.Path != test.path {
			t.Errorf("%s: %v, want %s", name, err, test.path)
		}
	}
	must.FailGet(receipt.Decode(make([]byte, receipt.MaxReceipt+1)))(t, zkbench.ErrLimit, "too long")
}

// TestEncode: what no receipt may contain is not written.
func TestEncode(t *testing.T) {
	t.Parallel()
	b := town(t)
	for name, edit := range map[string]func(r *receipt.Receipt){
		"a long anchor":    func(r *receipt.Receipt) { r.Record.Anchor = make([]byte, 1000) },
		"many updates":     func(r *receipt.Receipt) { r.Updates = make([][]byte, receipt.MaxUpdates+1) },
		"an empty update":  func(r *receipt.Receipt) { r.Updates = [][]byte{nil} },
		"output 0":         func(r *receipt.Receipt) { r.Opening = &receipt.Opening{Opening: twos[0]} },
		"a short blinding": func(r *receipt.Receipt) { r.Opening = &receipt.Opening{Output: 1, Opening: token.Opening{Type: "USD"}} },
		"a long proof":     func(r *receipt.Receipt) { r.Proof = make(tlog.RecordProof, 50) },
		"many forks":       func(r *receipt.Receipt) { r.Genesis.Forks = make([]ledger.Fork, ledger.MaxForks+1) },
		"too long": func(r *receipt.Receipt) {
			for range 7 {
				r.Updates = append(r.Updates, make([]byte, policy.MaxUpdate))
			}
		},
	} {
		r := b.made("two")
		edit(r)
		must.FailGet(r.Encode())(t, zkbench.ErrLimit, name)
	}
}

// cosigner is a verifier of C2SP cosignatures that has nothing from package head.
type cosigner struct {
	name string
	hash uint32
	key  ed25519.PublicKey
}

func (c cosigner) Name() string    { return c.name }
func (c cosigner) KeyHash() uint32 { return c.hash }
func (c cosigner) Verify(msg, sig []byte) bool {
	return len(sig) == 8+ed25519.SignatureSize &&
		ed25519.Verify(c.key, fmt.Appendf(nil, "cosignature/v1\ntime %d\n%s", binary.BigEndian.Uint64(sig), msg), sig[8:])
}

// cosigners knows the keys that are named by their public key, as validators' are.
type cosigners struct{}

func (cosigners) Verifier(name string, hash uint32) (note.Verifier, error) {
	key, err := base16(strings.TrimPrefix(name, "zkbench/validator/"))
	if err != nil {
		return nil, &note.UnknownVerifierError{Name: name, KeyHash: hash}
	}
	return cosigner{name, hash, key}, nil
}

func base16(text string) ([]byte, error) {
	key := make([]byte, ed25519.PublicKeySize)
	if n, err := fmt.Sscanf(text, "%x", &key); n != 1 || len(key) != ed25519.PublicKeySize {
		return nil, fmt.Errorf("no key: %w", err)
	}
	return key, nil
}

// TestOtherProgram: a reader of C2SP proofs, made of golang.org/x/mod/sumdb, verifies that the record is in the log. Of the
// extra data it needs to know where the leaf is.
func TestOtherProgram(t *testing.T) {
	t.Parallel()
	b := town(t)
	rest := string(encoded(t, b.made("two")))
	line := func(prefix string) string {
		text, after, found := strings.Cut(rest, "\n")
		if !found || !strings.HasPrefix(text, prefix) {
			t.Fatalf("%q, want %q", text, prefix)
		}
		rest = after
		return strings.TrimPrefix(text, prefix)
	}
	line("c2sp.org/tlog-proof@v1")
	extra := must.Get(base64.StdEncoding.DecodeString(line("extra ")))(t)
	index := must.Get(strconv.ParseInt(line("index "), 10, 64))(t)
	var proof tlog.RecordProof
	for text := line(""); text != ""; text = line("") {
		proof = append(proof, must.Get(tlog.ParseHash(text))(t))
	}
	n := must.Get(note.Open([]byte(rest), cosigners{}))(t)
	golden.Equal(t, "signatures", 2, len(n.Sigs))
	tree := strings.Split(n.Text, "\n")
	golden.Equal(t, "origin", fmt.Sprintf("zkbench/ledger/%x", b.genesis.ID()), tree[0])
	size := must.Get(strconv.ParseInt(tree[1], 10, 64))(t)
	root := must.Get(tlog.ParseHash(tree[2]))(t)

	extra = extra[1:]
	extra = extra[2+binary.BigEndian.Uint16(extra):]
	leaf := extra[4:][:binary.BigEndian.Uint32(extra)]
	must.Do(t, tlog.CheckRecord(proof, size, root, index, tlog.RecordHash(leaf)))
	leaf[len(leaf)-1] ^= 1
	if tlog.CheckRecord(proof, size, root, index, tlog.RecordHash(leaf)) == nil {
		t.Error("another leaf is in the tree")
	}
}

// TestVector: the format stays as it is. The receipt in testdata opens an output of the payment two.
func TestVector(t *testing.T) {
	t.Parallel()
	b := town(t)
	r := b.made("two")
	must.Do(t, r.Open(t.Context(), b.params, twos[0]))
	golden.File(t, "testdata/two.tlog-proof", string(encoded(t, r)))
}

// TestTime: the time of a head is that by which as many validators as must have signed.
func TestTime(t *testing.T) {
	t.Parallel()
	b := town(t)
	r := b.made("two")
	r.Head = signed(t, must.Get(head.ParseSigned(r.Head))(t), "v2", "v3", "v4") // a minute apart
	c := must.Get(receipt.Verify(t.Context(), encoded(t, r), b.params))(t)
	golden.Equal(t, "time", noon.Add(time.Minute), c.Head.Time)
}

func FuzzDecode(f *testing.F) {
	b := town(f)
	f.Add(encoded(f, b.made("one")))
	r := b.made("two")
	must.Do(f, r.Open(f.Context(), b.params, twos[0]))
	f.Add(encoded(f, r))
	f.Add([]byte("c2sp.org/tlog-proof@v1\nextra AQ==\nindex 1\n\nzkbench/ledger/00\n1\n\n\n— a AAAAAA==\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := receipt.Decode(data)
		if err != nil {
			if !typed(err) {
				t.Errorf("untyped error %v", err)
			}
			return
		}
		again, err := r.Encode()
		if err != nil || !bytes.Equal(again, data) {
			t.Errorf("not canonical: %v", err)
		}
	})
}
