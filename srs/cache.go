package srs

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/consensys/gnark-crypto/ecc/bn254"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/atomicfile"
	"github.com/zkbench/zkbench/internal/mapped"
)

// Cache keeps strings that Insecure made in the files of a directory, which it makes
// where there is none. A string that it returns is mapped read-only.
type Cache struct {
	Dir string
	// Warn, where set, hears why a file was not used or not written. The string is
	// right all the same.
	Warn func(reason string)
}

// Insecure returns Insecure's string from its file if that is whole, and else makes it
// and the file. A file that is damaged, or is another string's, is replaced.
func (c Cache) Insecure(ctx context.Context, ex executor.Executor, size int, seed uint64) (*SRS, error) {
	if err := checkSize(size); err != nil {
		return nil, err
	}
	path := filepath.Join(c.Dir, fmt.Sprintf("insecure-%d-%d.srs", size, seed))
	s, err := load(path, size, seed)
	if err == nil {
		return s, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		c.warn("%s is made anew: %v", path, err)
	}
	made, err := Insecure(ctx, ex, size, seed)
	if err != nil {
		return nil, err
	}
	if err := store(path, made, seed); err != nil {
		c.warn("%s is not kept: %v", path, err)
		return made, nil
	}
	if s, err = load(path, size, seed); err != nil {
		c.warn("%s is not used: %v", path, err)
		return made, nil
	}
	return s, nil
}

func (c Cache) warn(format string, args ...any) {
	if c.Warn != nil {
		c.Warn(fmt.Sprintf(format, args...))
	}
}

// The file: a header, and the points as they lie in memory, canonical then Lagrange.
//
//	header = magic(8) size(8) seed(8) CRC-32C of the points(4) CRC-32C of the header before(4)
//
// Numbers are little-endian, as the limbs of the points are on all platforms of
// package group's; the header takes headerBytes, so that points begin at a page.
const (
	magic       = "zkbsrs\x00\x01"
	headerBytes = 4096
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func header(size int, seed uint64, sum uint32) []byte {
	b := append(make([]byte, 0, headerBytes), magic...)
	b = binary.LittleEndian.AppendUint64(b, uint64(size))
	b = binary.LittleEndian.AppendUint64(b, seed)
	b = binary.LittleEndian.AppendUint32(b, sum)
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
	return b[:headerBytes]
}

// load maps the file of a string and checks it: header, checksum, and a few points
// against τ.
func load(path string, size int, seed uint64) (*SRS, error) {
	data, unmap, err := mapped.Open(path, int64(headerBytes+(2*size+Extra)*pointBytes))
	if err != nil {
		return nil, err
	}
	body := data[headerBytes:]
	if sum := crc32.Checksum(body, castagnoli); string(data[:headerBytes]) != string(header(size, seed, sum)) {
		return nil, errors.Join(errors.New("damaged, or another string's"), unmap())
	}
	tau := tauOf(size, seed)
	points := mapped.Values[bn254.G1Affine](body)
	s := ofTau(points, size, &tau, unmap)
	if !spotCheck(s, &tau) {
		return nil, errors.Join(errors.New("its points are not the seed's"), unmap())
	}
	return s, nil
}

// store writes the file of a string. It appears complete or not at all.
func store(path string, s *SRS, seed uint64) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	canonical, lagrange := mapped.Bytes(s.Canonical.Pk.G1), mapped.Bytes(s.Lagrange.Pk.G1)
	sum := crc32.Update(crc32.Checksum(canonical, castagnoli), castagnoli, lagrange)
	return atomicfile.Write(path, header(s.Size(), seed, sum), canonical, lagrange)
}
