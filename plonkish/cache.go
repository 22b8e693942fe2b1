package plonkish

import (
	"context"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash/crc32"
	"os"
	"path/filepath"

	"github.com/consensys/gnark-crypto/ecc/bn254"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/sys/mapped"
	"github.com/zkbench/zkbench/internal/sys/memory"
	"github.com/zkbench/zkbench/srs"
)

// Cache stores the commitments of keys in files of the directory Dir. It creates the directory if there is none. A
// key from a Cache has a copy of them, so later changes of the file do not affect the key. Anyone who can write to
// the directory can replace the keys, so keep it private.
type Cache struct {
	Dir string
	// Warn, if set, is called with the reason why a file was not used or not written. The key is right all
	// the same.
	Warn func(reason string)
}

// Setup returns the same key as the function Setup of this package. It reads the commitments from their file if the
// file is intact. Otherwise it makes the key and writes the file. A file is bound to the circuit and to the
// reference string. The method returns the same errors as the function Setup.
func (c Cache) Setup(ctx context.Context, ex executor.Executor, circuit *Circuit, s *srs.SRS) (*ProvingKey, error) {
	vk, err := newVerifyingKey(circuit, s)
	if err != nil {
		return nil, err
	}
	k, err := vk.proving(circuit, s)
	if err != nil {
		return nil, err
	}
	if err := circuit.checkMemory(k.setupBytes, memory.Available()); err != nil {
		return nil, err
	}
	file := k.file(c)
	if data, free := file.Read(); data != nil {
		k.use(data)
		if err := errors.Join(free(), k.keepColumns(ctx, ex)); err != nil {
			return nil, err
		}
		return k, nil
	}
	made, err := Setup(ctx, ex, circuit, s)
	if err != nil {
		return nil, err
	}
	_ = os.MkdirAll(c.Dir, 0o755) // else writing says why it cannot
	if _, free := file.Write(made.parts()...); free != nil {
		if err := free(); err != nil {
			return nil, err
		}
	}
	return made, nil
}

// The file: a header and the fixed commitments, as they are in memory.
//
//	header = magic(8) name(32) CRC-32C of the rest(4)
const (
	magic       = "zkbkey\x00\x02"
	headerBytes = len(magic) + sha256.Size + 4
	affineBytes = 64
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// name returns the digest of all that a file is bound to.
func (k *ProvingKey) name() [sha256.Size]byte {
	h := sha256.New()
	h.Write([]byte{version})
	h.Write(k.structure.digest[:])
	for i := range k.g2 {
		p := k.g2[i].Bytes()
		h.Write(p[:])
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// FileLen returns the length in bytes of the file in which a Cache stores the key. The file has the commitments
// alone: proofs need the circuit and the reference string besides.
func (k *ProvingKey) FileLen() int64 { return int64(headerBytes + affineBytes*len(k.fixedColumns())) }

// file returns the file of a key, which need not have its commitments yet.
func (k *ProvingKey) file(c Cache) *mapped.Kept {
	name := k.name()
	return &mapped.Kept{
		Path: filepath.Join(c.Dir, hex.EncodeToString(name[:16])+".key"), Warn: c.Warn,
		Size: k.FileLen(),
		Check: func(data []byte) error {
			if string(data[:headerBytes]) != string(header(name, crc32.Checksum(data[headerBytes:], castagnoli))) {
				return errors.New("damaged, or another key's")
			}
			return nil
		},
	}
}

func header(name [sha256.Size]byte, sum uint32) []byte {
	return binary.LittleEndian.AppendUint32(append([]byte(magic), name[:]...), sum)
}

// parts returns the contents of a key's file.
func (k *ProvingKey) parts() [][]byte {
	commitments := mapped.Bytes(k.fixed)
	return [][]byte{header(k.name(), crc32.Checksum(commitments, castagnoli)), commitments}
}

// use takes the commitments from the contents of a file.
func (k *ProvingKey) use(data []byte) {
	k.fixed = make([]bn254.G1Affine, len(k.fixedColumns()))
	copy(mapped.Bytes(k.fixed), data[headerBytes:])
	k.digest = sha512.Sum512(k.Bytes())
}
