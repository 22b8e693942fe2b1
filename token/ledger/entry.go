package ledger

import (
	"encoding/binary"
	"fmt"
	"time"

	"golang.org/x/crypto/cryptobyte"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token"
)

// The encoding of an entry, integers big-endian:
//
//	entry   = uint8 length, anchor | digest(32) | int64 seconds | uint32 nanoseconds |
//	          uint32 length, request | uint16 count, spends | uint16 count, creates
//	spend   = uint8 length, id
//	create  = uint8 length, id | uint16 length, token
//
// Seconds count from 1970-01-01 UTC.

// Check holds the entry against the limits. The error is a *zkbench.CheckError
// with the given Action around a *zkbench.LimitError.
func (e *Entry) Check(action int) error {
	over := func(check string, index int, what string, n, lo, hi int) error {
		if lo <= n && n <= hi {
			return nil
		}
		return &zkbench.CheckError{
			Check: check, Action: action, Index: index,
			Err: &zkbench.LimitError{What: fmt.Sprintf("%s (%d or more)", what, lo), Estimate: int64(n), Max: int64(hi)},
		}
	}
	if err := over("anchor", -1, "bytes of anchor", len(e.Anchor), 1, token.MaxAnchor); err != nil {
		return err
	}
	if err := over("request", -1, "bytes of request", len(e.Request), 0, token.MaxRequest); err != nil {
		return err
	}
	if err := over("spend", -1, "spends", len(e.Spends), 0, MaxSpends); err != nil {
		return err
	}
	if err := over("create", -1, "creates", len(e.Creates), 0, MaxCreates); err != nil {
		return err
	}
	for i, id := range e.Spends {
		if err := over("spend", i, "bytes of token id", len(id), 1, token.MaxID); err != nil {
			return err
		}
	}
	for i, c := range e.Creates {
		if err := over("create", i, "bytes of token id", len(c.ID), 1, token.MaxID); err != nil {
			return err
		}
		if err := over("create", i, "bytes of token", len(c.Token), 1, MaxToken); err != nil {
			return err
		}
	}
	return nil
}

// Append appends the encoding of an entry that is within the limits.
func (e *Entry) Append(dst []byte) []byte {
	dst = append(append(dst, byte(len(e.Anchor))), e.Anchor...)
	dst = append(dst, e.Digest[:]...)
	dst = binary.BigEndian.AppendUint64(dst, uint64(e.Time.Unix()))
	dst = binary.BigEndian.AppendUint32(dst, uint32(e.Time.Nanosecond()))
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(e.Request)))
	dst = append(dst, e.Request...)
	dst = binary.BigEndian.AppendUint16(dst, uint16(len(e.Spends)))
	for _, id := range e.Spends {
		dst = append(append(dst, byte(len(id))), id...)
	}
	dst = binary.BigEndian.AppendUint16(dst, uint16(len(e.Creates)))
	for _, c := range e.Creates {
		dst = append(append(dst, byte(len(c.ID))), c.ID...)
		dst = append(binary.BigEndian.AppendUint16(dst, uint16(len(c.Token))), c.Token...)
	}
	return dst
}

// DecodeEntry decodes what Append made and nothing else. The entry's slices
// are parts of data. Every error is a *zkbench.DecodeError.
func DecodeEntry(data []byte) (Entry, error) {
	r := reader{s: data, total: len(data)}
	var e Entry
	e.Anchor = r.bytes("anchor", -1, 1, 1, token.MaxAnchor)
	copy(e.Digest[:], r.fixed("digest", len(e.Digest)))
	at := r.fixed("time", 12)
	if r.err == nil {
		nanoseconds := binary.BigEndian.Uint32(at[8:])
		if nanoseconds >= 1e9 {
			r.fail("time", -1, r.offset()-4, "a second or more of nanoseconds")
		}
		e.Time = time.Unix(int64(binary.BigEndian.Uint64(at)), int64(nanoseconds)).UTC()
	}
	e.Request = r.bytes("request", -1, 4, 0, token.MaxRequest)
	if n := r.count("spends", MaxSpends); n > 0 {
		e.Spends = make([]token.ID, n)
	}
	for i := range e.Spends {
		e.Spends[i] = r.bytes("spends", i, 1, 1, token.MaxID)
	}
	if n := r.count("creates", MaxCreates); n > 0 {
		e.Creates = make([]Created, n)
	}
	for i := range e.Creates {
		e.Creates[i].ID = r.bytes("creates", i, 1, 1, token.MaxID)
		e.Creates[i].Token = r.bytes("creates", i, 2, 1, MaxToken)
	}
	if len(r.s) > 0 {
		r.fail("end", -1, r.offset(), fmt.Sprintf("%d bytes too many", len(r.s)))
	}
	if r.err != nil {
		return Entry{}, r.err
	}
	return e, nil
}

// reader reads an entry. After the first error all reads return zero values.
type reader struct {
	s     cryptobyte.String
	total int
	err   error
}

func (r *reader) offset() int { return r.total - len(r.s) }

func (r *reader) fail(field string, index, offset int, reason string) {
	if r.err != nil {
		return
	}
	if index >= 0 {
		field = fmt.Sprintf("%s[%d]", field, index)
	}
	r.err = &zkbench.DecodeError{Path: field, Offset: offset, Reason: reason}
	r.s = nil
}

func (r *reader) fixed(field string, n int) (out []byte) {
	if at := r.offset(); !r.s.ReadBytes(&out, n) {
		r.fail(field, -1, at, "truncated")
	}
	return out
}

// number reads a big-endian integer of width bytes, lo to hi.
func (r *reader) number(field string, index, width, lo, hi int) int {
	at := r.offset()
	var raw []byte
	if !r.s.ReadBytes(&raw, width) {
		r.fail(field, index, at, "truncated")
		return 0
	}
	n := 0
	for _, b := range raw {
		n = n<<8 | int(b)
	}
	if n < lo || n > hi {
		r.fail(field, index, at, fmt.Sprintf("%d, accepted are %d to %d", n, lo, hi))
		return 0
	}
	return n
}

// count reads a uint16 number of items, each of which takes two bytes or more.
func (r *reader) count(field string, most int) int {
	at := r.offset()
	n := r.number(field, -1, 2, 0, most)
	if n > len(r.s)/2 {
		r.fail(field, -1, at, "truncated")
		return 0
	}
	return n
}

// bytes reads a length of width bytes, lo to hi, and that many bytes.
func (r *reader) bytes(field string, index, width, lo, hi int) (out []byte) {
	at := r.offset()
	n := r.number(field, index, width, lo, hi)
	if r.err == nil && !r.s.ReadBytes(&out, n) {
		r.fail(field, index, at, "truncated")
	}
	return out[:len(out):len(out)] // appending to a field must not write over the next
}
