package srs

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"

	"github.com/consensys/gnark-crypto/ecc/bn254"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/sys/mapped"
)

// Cache stores reference strings in files of the directory Dir. It creates the directory if there is none. It
// stores only strings that the function Insecure has made. A string from a Cache is a copy in read-only
// memory, so later changes of the file do not affect the string.
type Cache struct {
	Dir string
	// Warn, if set, is called with the reason why a file was not used or not written. The string is right all
	// the same.
	Warn func(reason string)
}

// Insecure returns the same reference string as the function Insecure of this package. It reads the string
// from its file if the file is intact, and otherwise makes the string and writes the file. A file that is
// damaged, or holds another string, is replaced. The method returns the same errors as the function
// Insecure.
func (c Cache) Insecure(ctx context.Context, ex executor.Executor, size int, seed uint64) (*SRS, error) {
	if err := checkSize(size); err != nil {
		return nil, err
	}
	file := c.file(size, seed)
	if data, unmap := file.Read(); data != nil {
		return inFile(data, size, seed, unmap), nil
	}
	made, err := Insecure(ctx, ex, size, seed)
	if err != nil {
		return nil, err
	}
	_ = os.MkdirAll(c.Dir, 0o755) // else writing says why it cannot
	if data, unmap := file.Write(parts(made, seed)...); data != nil {
		return inFile(data, size, seed, unmap), nil
	}
	return made, nil
}

// The file: a header, and the points as they are in memory, canonical then Lagrange.
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

// file returns the file of a string. Its check tests the header, the checksum and a few points against τ.
func (c Cache) file(size int, seed uint64) *mapped.Kept {
	return &mapped.Kept{
		Path: filepath.Join(c.Dir, fmt.Sprintf("insecure-%d-%d.srs", size, seed)),
		Size: int64(headerBytes + (2*size+Extra)*pointBytes), Warn: c.Warn,
		Check: func(data []byte) error {
			sum := crc32.Checksum(data[headerBytes:], castagnoli)
			if string(data[:headerBytes]) != string(header(size, seed, sum)) {
				return errors.New("damaged, or another string's")
			}
			if tau := tauOf(size, seed); !spotCheck(inFile(data, size, seed, nil), &tau) {
				return errors.New("its points are not the seed's")
			}
			return nil
		},
	}
}

// inFile returns the string in data, the memory that a file was copied to.
func inFile(data []byte, size int, seed uint64, unmap func() error) *SRS {
	tau := tauOf(size, seed)
	return ofTau(mapped.Values[bn254.G1Affine](data[headerBytes:]), size, &tau, unmap)
}

// parts returns the contents of a string's file.
func parts(s *SRS, seed uint64) [][]byte {
	canonical, lagrange := mapped.Bytes(s.Canonical.Pk.G1), mapped.Bytes(s.Lagrange.Pk.G1)
	sum := crc32.Update(crc32.Checksum(canonical, castagnoli), castagnoli, lagrange)
	return [][]byte{header(s.Size(), seed, sum), canonical, lagrange}
}
