package ledger

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/internal/wire"
)

// The encoding of an entry, integers big-endian:
//
//	entry   = uint8 length, anchor | digest(32) | int64 seconds | uint32 nanoseconds |
//	          uint64 policy | policy digest(64) | uint8 update (0 or 1) |
//	          uint32 length, request | uint16 count, spends | uint16 count, creates
//	spend   = uint8 length, id
//	create  = uint8 length, id | uint16 length, token
//
// Seconds count from 1970-01-01 UTC.

// Check checks the entry against the limits of this package. It returns a *zkbench.CheckError that
// wraps a *zkbench.LimitError. The parameter action becomes the CheckError's field Action.
func (e *Entry) Check(action int) error {
	outside := func(check string, index int, what string, n, lo, hi int) error {
		if lo <= n && n <= hi {
			return nil
		}
		return &zkbench.CheckError{
			Check: check, Action: action, Index: index,
			Err: &zkbench.LimitError{What: fmt.Sprintf("%s (%d or more)", what, lo), Estimate: int64(n), Max: int64(hi)},
		}
	}
	if err := outside("anchor", -1, "bytes of anchor", len(e.Anchor), 1, token.MaxAnchor); err != nil {
		return err
	}
	if err := outside("request", -1, "bytes of request", len(e.Request), 0, token.MaxRequest); err != nil {
		return err
	}
	if err := outside("spend", -1, "spends", len(e.Spends), 0, MaxSpends); err != nil {
		return err
	}
	if err := outside("create", -1, "creates", len(e.Creates), 0, MaxCreates); err != nil {
		return err
	}
	for i, id := range e.Spends {
		if err := outside("spend", i, "bytes of token id", len(id), 1, token.MaxID); err != nil {
			return err
		}
	}
	for i, c := range e.Creates {
		if err := outside("create", i, "bytes of token id", len(c.ID), 1, token.MaxID); err != nil {
			return err
		}
		if err := outside("create", i, "bytes of token", len(c.Token), 1, MaxToken); err != nil {
			return err
		}
	}
	return nil
}

// Size returns the length of the encoding in bytes, as MaxBatchBytes counts it.
func (e *Entry) Size() int {
	n := 1 + len(e.Anchor) + len(e.Digest) + TimeLen + 8 + len(e.PolicyDigest) + 1 + 4 + len(e.Request) + 2 + 2
	for _, id := range e.Spends {
		n += 1 + len(id)
	}
	for _, c := range e.Creates {
		n += 1 + len(c.ID) + 2 + len(c.Token)
	}
	return n
}

// TimeLen is the length of an encoded time in bytes.
const TimeLen = 12

// AppendTime appends the encoding of t to dst: Unix seconds and nanoseconds.
func AppendTime(dst []byte, t time.Time) []byte {
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint64(dst, uint64(t.Unix())), uint32(t.Nanosecond()))
}

// DecodeTime decodes a time that AppendTime encoded, and returns it in UTC. The error is of type
// *zkbench.DecodeError.
func DecodeTime(data []byte) (time.Time, error) {
	if len(data) != TimeLen {
		return time.Time{}, &zkbench.DecodeError{Path: "time", Reason: fmt.Sprintf("%d bytes, want %d", len(data), TimeLen)}
	}
	nanoseconds := binary.BigEndian.Uint32(data[8:])
	if nanoseconds >= 1e9 {
		return time.Time{}, &zkbench.DecodeError{Path: "time", Offset: 8, Reason: "a second or more of nanoseconds"}
	}
	return time.Unix(int64(binary.BigEndian.Uint64(data)), int64(nanoseconds)).UTC(), nil
}

// Append appends the encoding of the entry to dst. The entry must be within the limits that Check
// checks.
func (e *Entry) Append(dst []byte) []byte {
	dst = append(append(dst, byte(len(e.Anchor))), e.Anchor...)
	dst = append(dst, e.Digest[:]...)
	dst = AppendTime(dst, e.Time)
	dst = append(binary.BigEndian.AppendUint64(dst, e.Policy), e.PolicyDigest[:]...)
	if e.Update {
		dst = append(dst, 1)
	} else {
		dst = append(dst, 0)
	}
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

// DecodeEntry decodes an entry that Append encoded, and refuses trailing bytes. The entry's slices
// point into data. Every error is of type *zkbench.DecodeError.
func DecodeEntry(data []byte) (Entry, error) {
	f := wire.NewFields(data, "entry", len(data))
	// count reads a number of items, each of which takes two bytes or more.
	count := func(list string, most int) int {
		at := f.Offset()
		n := f.Number(list, 2, 0, most)
		if n > (len(data)-f.Offset())/2 {
			f.Fail(list, at, "truncated")
			return 0
		}
		return n
	}
	var e Entry
	e.Anchor = f.Block("anchor", 1, 1, token.MaxAnchor)
	copy(e.Digest[:], f.Bytes("digest", len(e.Digest)))
	e.Time = wire.Decoded(f, "time", TimeLen, DecodeTime)
	e.Policy = f.Uint64("policy")
	copy(e.PolicyDigest[:], f.Bytes("policy digest", len(e.PolicyDigest)))
	e.Update = f.Number("update", 1, 0, 1) == 1
	e.Request = f.Block("request", 4, 0, token.MaxRequest)
	if n := count("spends", MaxSpends); n > 0 {
		e.Spends = make([]token.ID, n)
	}
	for i := range e.Spends {
		f.Item("spends", i)
		e.Spends[i] = f.Block("", 1, 1, token.MaxID)
	}
	f.EndItems()
	if n := count("creates", MaxCreates); n > 0 {
		e.Creates = make([]Created, n)
	}
	for i := range e.Creates {
		f.Item("creates", i)
		e.Creates[i].ID = f.Block("", 1, 1, token.MaxID)
		e.Creates[i].Token = f.Block("", 2, 1, MaxToken)
	}
	f.EndItems()
	if err := f.End("end"); err != nil {
		return Entry{}, err
	}
	return e, nil
}
