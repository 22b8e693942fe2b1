package receipt

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"

	"golang.org/x/crypto/cryptobyte"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/internal/wire"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/head"
	"github.com/zkbench/zkbench/token/policy"
)

// Limits of receipts.
const (
	MaxReceipt = 64 << 20 // bytes of a receipt
	MaxUpdates = 1 << 12  // updates of the policy
)

const (
	format        = "c2sp.org/tlog-proof@v1"
	version       = 1
	maxProof      = 49 // hashes: a path of a tree with up to ledger.MaxRecords+1 leaves
	commitmentLen = 32
	blindingLen   = 32
)

// Encode returns the encoding of the receipt. It is text:
//
//	c2sp.org/tlog-proof@v1
//	extra BASE64
//	index NUMBER
//	hashes of the proof, from the leaf to the root, each in base64 on a line of its own
//
//	the signed head
//
// The extra data is, with numbers big-endian:
//
//	version(1) genesis leaf count(2) updates opened(1) opening
//	leaf       = entry commitment(32)
//	opening    = output(2) type value(8) blinding(32)
//
// A length comes before the genesis (2 bytes), the leaf (4 bytes), each update (3 bytes) and the type (2 bytes). The
// flag opened is 0 or 1; if it is 0, there is no opening. The record's hash in the tree is tlog.RecordHash(leaf).
//
// Encode returns a *zkbench.LimitError, or a *zkbench.CheckError about the record, if a part is too long.
func (r *Receipt) Encode() ([]byte, error) {
	extra, err := r.extra()
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "%s\nextra %s\nindex %d\n", format, base64.StdEncoding.EncodeToString(extra), r.Record.Seq)
	for _, hash := range r.Proof {
		fmt.Fprintf(&out, "%s\n", base64.StdEncoding.EncodeToString(hash[:]))
	}
	fmt.Fprintf(&out, "\n%s", r.Head)
	if n := out.Len(); n > MaxReceipt {
		return nil, &zkbench.LimitError{What: "bytes of receipt", Estimate: int64(n), Max: MaxReceipt}
	}
	return out.Bytes(), nil
}

func (r *Receipt) extra() ([]byte, error) {
	if err := r.Record.Check(-1); err != nil {
		return nil, err
	}
	var b wire.Builder
	b.Bound("forks of the ledger", len(r.Genesis.Forks), 0, ledger.MaxForks)
	b.Bound("hashes of the proof", len(r.Proof), 0, maxProof)
	b.Bound("updates of the policy", len(r.Updates), 0, MaxUpdates)
	for _, u := range r.Updates {
		b.Bound("bytes of update", len(u), 1, policy.MaxUpdate)
	}
	if o := r.Opening; o != nil {
		b.Bound("number of output", o.Output, 1, maxOutput)
		b.Bound("bytes of type", len(o.Type), 1, token.MaxType)
		b.Bound("bytes of blinding", len(o.Blinding), blindingLen, blindingLen)
	}
	if err := b.Err(); err != nil {
		return nil, err
	}
	b.AddUint8(version)
	b.Short(r.Genesis.Append(nil))
	b.AddUint32LengthPrefixed(func(b *cryptobyte.Builder) {
		b.AddBytes(r.Record.Append(nil))
		b.AddBytes(r.Record.Commitment[:])
	})
	b.AddUint16(uint16(len(r.Updates)))
	for _, u := range r.Updates {
		b.AddUint24LengthPrefixed(func(b *cryptobyte.Builder) { b.AddBytes(u) })
	}
	if o := r.Opening; o == nil {
		b.AddUint8(0)
	} else {
		b.AddUint8(1)
		b.AddUint16(uint16(o.Output))
		b.Short([]byte(o.Type))
		b.AddUint64(o.Value)
		b.AddBytes(o.Blinding)
	}
	return b.Bytes()
}

// Decode decodes a receipt that Encode encoded. It verifies nothing. It returns a *zkbench.LimitError if data is
// longer than MaxReceipt, and a *zkbench.DecodeError if it is malformed. In errors about the extra data the offset
// counts its bytes, without base64.
func Decode(data []byte) (*Receipt, error) {
	if len(data) > MaxReceipt {
		return nil, &zkbench.LimitError{What: "bytes of receipt", Estimate: int64(len(data)), Max: MaxReceipt}
	}
	t := &text{rest: data, total: len(data)}
	if line := t.line("format"); t.err == nil && string(line) != format {
		t.fail("format", "accepted: "+format)
	}
	extra := t.base64("extra", t.after("extra", "extra "))
	seq := t.number("index", t.after("index", "index "))
	var proof tlog.RecordProof
	for line := t.line("proof"); t.err == nil && len(line) > 0; line = t.line("proof") {
		hash := t.base64("proof", line)
		if t.err == nil && len(hash) != tlog.HashSize {
			t.fail("proof", fmt.Sprintf("a hash of %d bytes, accepted: %d", len(hash), tlog.HashSize))
		}
		if len(proof) == maxProof {
			t.fail("proof", fmt.Sprintf("accepted: up to %d hashes", maxProof))
		}
		if t.err == nil {
			proof = append(proof, tlog.Hash(hash))
		}
	}
	if t.err != nil {
		return nil, t.err
	}
	if _, err := head.ParseSigned(t.rest); err != nil {
		return nil, within("receipt", t.offset(), err)
	}
	r, err := decodeExtra(extra)
	if err != nil {
		return nil, within("receipt.extra", 0, err)
	}
	r.Record.Seq, r.Proof, r.Head = seq, proof, t.rest
	return r, nil
}

// within adds the path and the offset of a part to an error about it.
func within(path string, offset int, err error) error {
	if d, ok := errors.AsType[*zkbench.DecodeError](err); ok {
		return d.Within(path, offset)
	}
	return err
}

func decodeExtra(data []byte) (*Receipt, error) {
	f := wire.NewFields(data, "data", len(data))
	f.Version(version)
	r := new(Receipt)
	r.Genesis = wire.Decoded(f, "genesis", f.Number("genesis", 2, ledger.GenesisLen, ledger.GenesisLen+ledger.MaxForks*ledger.ForkLen), ledger.DecodeGenesis)
	r.Record.Entry = wire.Decoded(f, "leaf", f.Number("leaf", 4, commitmentLen, MaxReceipt)-commitmentLen, ledger.DecodeEntry)
	copy(r.Record.Commitment[:], f.Bytes("leaf.commitment", commitmentLen))
	for i := range f.Number("updates", 2, 0, MaxUpdates) {
		f.Item("updates", i)
		r.Updates = append(r.Updates, f.Prefixed("", 3, 1, policy.MaxUpdate))
		if !f.OK() {
			break
		}
	}
	f.EndItems()
	if f.Number("opened", 1, 0, 1) == 1 {
		r.Opening = &Opening{Output: f.Number("opening.output", 2, 1, maxOutput), Opening: token.Opening{
			Type: string(f.Prefixed("opening.type", 2, 1, token.MaxType)), Value: f.Uint64("opening.value"), Blinding: f.Bytes("opening.blinding", blindingLen),
		}}
	}
	return r, f.End("end")
}

// text reads the lines of a receipt and stores the first error. After an error all reads return zero values.
type text struct {
	rest  []byte
	total int
	at    int // offset of the line that was read last
	err   error
}

func (t *text) offset() int { return t.total - len(t.rest) }

func (t *text) fail(field, reason string) {
	if t.err == nil {
		t.err = &zkbench.DecodeError{Path: "receipt." + field, Offset: t.at, Reason: reason}
	}
}

// line reads a line without its newline.
func (t *text) line(field string) []byte {
	if t.err != nil {
		return nil
	}
	t.at = t.offset()
	line, rest, ended := bytes.Cut(t.rest, []byte("\n"))
	if !ended {
		t.fail(field, "truncated")
		return nil
	}
	t.rest = rest
	return line
}

// after reads a line that begins with the given word and returns what follows it.
func (t *text) after(field, word string) []byte {
	line, ok := bytes.CutPrefix(t.line(field), []byte(word))
	if !ok {
		t.fail(field, fmt.Sprintf("accepted: a line that begins with %q", word))
	}
	return line
}

// base64 decodes a text in canonical base64.
func (t *text) base64(field string, text []byte) []byte {
	decoded, err := base64.StdEncoding.Strict().AppendDecode(nil, text)
	if err != nil || base64.StdEncoding.EncodedLen(len(decoded)) != len(text) { // the decoder skips carriage returns
		t.fail(field, "not base64")
		return nil
	}
	return decoded
}

// number decodes the number of a record.
func (t *text) number(field string, text []byte) uint64 {
	n, err := strconv.ParseUint(string(text), 10, 64)
	if err != nil || n < 1 || n > ledger.MaxRecords || strconv.FormatUint(n, 10) != string(text) {
		t.fail(field, fmt.Sprintf("accepted: 1 to %d, without leading zeros", uint64(ledger.MaxRecords)))
		return 0
	}
	return n
}
