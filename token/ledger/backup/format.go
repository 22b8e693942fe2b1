// Package backup copies a ledger to one file, and makes a ledger of such a file. A backup can be made while the
// ledger is used, and restored to another kind of store. A Mirror is a file that keeps the log of a ledger as it
// grows, so that a backup can be restored with the records that came after it.
//
// Both files have the genesis and the records of the log, each with the commitment to the state and the root of the
// log's tree after it. Reading a file checks every record against both. A file contains no secrets beyond those that
// everybody who may read the ledger knows.
//
// Integers are big-endian:
//
//	backup  = "zkbench ledger backup 1\n", genesis, records, end
//	mirror  = "zkbench ledger mirror 1\n", genesis, records
//	genesis = uint16 length, ledger.Genesis
//	record  = uint32 length of what follows, ledger.Entry, commitment(32), root(32)
//	end     = uint32 zero, uint32 length, ledger.State.Bytes, uint32 length, signed head, SHA-256(32) of all before
//
// The head is the newest one that counted on the ledger (ledger.Reader.Head). Its length is 0 if there was none.
package backup

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
	"strings"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/head"
)

// kind is a kind of file. It is the file's first line.
type kind string

const (
	backupKind kind = "zkbench ledger backup 1\n"
	mirrorKind kind = "zkbench ledger mirror 1\n"
)

const (
	hashesLen = 32 + tlog.HashSize // commitment and root
	maxRecord = ledger.MaxBatchBytes + hashesLen
)

// beginning returns what a file has before the first record.
func beginning(k kind, g ledger.Genesis) []byte {
	genesis := g.Append(nil)
	return append(binary.BigEndian.AppendUint16([]byte(k), uint16(len(genesis))), genesis...)
}

func named(seq uint64) string { return fmt.Sprintf("request %d", seq) }

// advance checks the record that must follow an edge, whose entry has the given encoding, and moves the edge behind it.
// The error is of type *ledger.CorruptError.
func advance(e *ledger.Edge, g ledger.Genesis, r *ledger.Record, encoded []byte) error {
	if r.Seq != e.Last()+1 {
		return ledger.Corruptf(named(e.Last()+1), "the log has request %d in its place", r.Seq)
	}
	if err := e.CheckEntry(&r.Entry); err != nil {
		return ledger.Corruptf(named(r.Seq), "%v", err)
	}
	if commitment, _ := e.Append(&r.Entry, encoded); commitment != r.Commitment {
		return ledger.Corruptf(named(r.Seq), "commits to another state than the log leads to")
	}
	return e.CheckForks(g)
}

// appendRecord appends a record, which has moved the edge, as the files have it.
func appendRecord(dst []byte, e *ledger.Edge, r *ledger.Record, encoded []byte) []byte {
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(encoded)+hashesLen))
	root := e.Root()
	return append(append(append(dst, encoded...), r.Commitment[:]...), root[:]...)
}

// decoder reads a file and checks it. Every error of a decoder is of type *zkbench.DecodeError or
// *ledger.CorruptError, or is the reader's.
type decoder struct {
	in      *bufio.Reader
	sum     hash.Hash // of what was read
	kind    kind
	genesis ledger.Genesis
	edge    ledger.Edge // of the records that were read
	offset  int         // bytes that were read
	whole   int         // offset after the last record
	ended   bool
	cut     bool // the file ends within what it should have

	state, head []byte // of a backup, after its end
}

// newDecoder reads the header of a file.
func newDecoder(in io.Reader, k kind) (*decoder, error) {
	d := &decoder{in: bufio.NewReaderSize(in, 1<<16), sum: sha256.New(), kind: k}
	first, err := d.bytes("first line", len(k))
	if err != nil {
		return nil, err
	}
	if string(first) != string(k) {
		return nil, &zkbench.DecodeError{Path: "first line", Reason: fmt.Sprintf("want %q", strings.TrimSuffix(string(k), "\n"))}
	}
	length, err := d.bytes("genesis", 2)
	if err != nil {
		return nil, err
	}
	at := d.offset
	encoded, err := d.bytes("genesis", int(binary.BigEndian.Uint16(length)))
	if err != nil {
		return nil, err
	}
	if d.genesis, err = ledger.DecodeGenesis(encoded); err != nil {
		return nil, within(err, "", at)
	}
	d.edge, d.whole = ledger.NewEdge(d.genesis), d.offset
	return d, d.edge.CheckForks(d.genesis)
}

// within adds the place of a part to the error of decoding it.
func within(err error, path string, offset int) error {
	if decode, ok := errors.AsType[*zkbench.DecodeError](err); ok {
		return decode.Within(path, offset)
	}
	return err
}

// next returns the next record. It returns io.EOF after the end of a backup, and after the last complete record of a
// mirror's file: that may be cut off anywhere, by a kill, and nothing says what else it should have.
func (d *decoder) next() (ledger.Record, error) {
	if d.ended {
		return ledger.Record{}, io.EOF
	}
	r, err := d.record()
	if d.cut && d.kind == mirrorKind {
		err = io.EOF
	}
	d.ended = err == io.EOF
	return r, err
}

// record reads the next record, or the end of a backup, and then returns io.EOF.
func (d *decoder) record() (r ledger.Record, err error) {
	place := named(d.edge.Last() + 1)
	at := d.offset
	length, err := d.length(place, maxRecord)
	if err != nil {
		return r, err
	}
	if length == 0 && d.kind == backupKind {
		if err := d.end(); err != nil {
			return r, err
		}
		return r, io.EOF
	}
	if length < hashesLen {
		return r, &zkbench.DecodeError{Path: place, Offset: at, Reason: fmt.Sprintf("%d bytes, accepted are %d to %d", length, hashesLen, maxRecord)}
	}
	at = d.offset
	body, err := d.bytes(place, length)
	if err != nil {
		return r, err
	}
	encoded, hashes := body[:length-hashesLen], body[length-hashesLen:]
	if r.Entry, err = ledger.DecodeEntry(encoded); err != nil {
		return r, within(err, place, at)
	}
	r.Seq = d.edge.Last() + 1
	copy(r.Commitment[:], hashes)
	if err := advance(&d.edge, d.genesis, &r, encoded); err != nil {
		return r, err
	}
	if root := d.edge.Root(); !bytes.Equal(root[:], hashes[len(r.Commitment):]) {
		return r, ledger.Corruptf(place, "not what the root after it says")
	}
	d.whole = d.offset
	return r, nil
}

// end reads the end of a backup, after its zero.
func (d *decoder) end() (err error) {
	for _, part := range []struct {
		name string
		most int
		to   *[]byte
	}{{"state", ledger.MaxState, &d.state}, {"head", ledger.MaxHead, &d.head}} {
		length, err := d.length(part.name, part.most)
		if err != nil {
			return err
		}
		if *part.to, err = d.bytes(part.name, length); err != nil {
			return err
		}
	}
	if len(d.head) > 0 {
		if _, err := headLeaves(d.head); err != nil {
			return err
		}
	}
	at, want := d.offset, d.sum.Sum(nil)
	sum, err := d.bytes("checksum", len(want))
	if err != nil {
		return err
	}
	if !bytes.Equal(sum, want) {
		return &zkbench.DecodeError{Path: "checksum", Offset: at, Reason: "the file was changed"}
	}
	if _, err := d.in.Peek(1); err != io.EOF {
		if err == nil {
			err = &zkbench.DecodeError{Path: "end", Offset: d.offset, Reason: "trailing bytes"}
		}
		return err
	}
	return nil
}

// length reads a length of 4 bytes.
func (d *decoder) length(path string, most int) (int, error) {
	at := d.offset
	b, err := d.bytes(path, 4)
	if err != nil {
		return 0, err
	}
	n := binary.BigEndian.Uint32(b)
	if uint64(n) > uint64(most) {
		return 0, &zkbench.DecodeError{Path: path, Offset: at, Reason: fmt.Sprintf("%d bytes, accepted are up to %d", n, most)}
	}
	return int(n), nil
}

// bytes reads n bytes. It allocates no more than twice what the file has.
func (d *decoder) bytes(path string, n int) ([]byte, error) {
	var b bytes.Buffer
	m, err := io.CopyN(&b, d.in, int64(n))
	at := d.offset
	d.offset += int(m)
	if err == io.EOF {
		d.cut = true
		return nil, &zkbench.DecodeError{Path: path, Offset: at, Reason: "truncated"}
	}
	_, _ = d.sum.Write(b.Bytes()) // never fails
	return b.Bytes(), err
}

// headLeaves returns the number of leaves that a signed head is about.
func headLeaves(signed []byte) (uint64, error) {
	checkpoint, _, _ := strings.Cut(string(signed), "\n\n")
	h, err := head.Parse(checkpoint + "\n")
	return h.Size, err
}
