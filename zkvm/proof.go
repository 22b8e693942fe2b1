package zkvm

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/stark"
)

// proof is a proof with what it says, except the caller's context.
type proof struct {
	hash    stark.Hash
	image   []byte // commitment to the program
	input   digest
	output  []byte
	exit    uint64
	halted  uint64 // when the last instruction began
	encoded []byte // the proof of package stark
}

// version is the first byte of a proof.
const version = 1

// hashes has the hash functions of trees, in the order of their numbers in proofs.
var hashes = []stark.Hash{stark.Keccak, stark.Poseidon}

// encode returns the encoding: version, number of the hash, length of the image in two bytes, image, length and hash of the input,
// exit code, time of the halt, length of the output in four bytes, output, and the rest. Numbers are little-endian.
func (p *proof) encode() []byte {
	b := []byte{version, 0}
	for i, h := range hashes {
		if h == p.hash {
			b[1] = byte(i)
		}
	}
	b = binary.LittleEndian.AppendUint16(b, uint16(len(p.image)))
	b = append(b, p.image...)
	b = binary.LittleEndian.AppendUint64(b, p.input.length)
	for _, e := range p.input.hash {
		b = binary.LittleEndian.AppendUint64(b, uint64(e))
	}
	b = binary.LittleEndian.AppendUint64(b, p.exit)
	b = binary.LittleEndian.AppendUint64(b, p.halted)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(p.output)))
	return append(append(b, p.output...), p.encoded...)
}

// imageAt is where the image begins in a proof.
const imageAt = 4

// run returns what the proof says about the run. It copies the output.
func (p *proof) run() *Run {
	return &Run{Output: bytes.Clone(p.output), Input: p.input.exported(), Exit: p.exit, Cycles: p.cycles()}
}

// cycles returns the number of instructions that the program retired: one for each row but the first one, which jumps to the entry,
// and those of committed bytes.
func (p *proof) cycles() uint64 { return (p.halted-start)/accesses - uint64(len(p.output)) }

// HashOf returns the hash function of a proof's trees, to which the program's key belongs (Program.Key). It does not check
// whether the proof holds. It returns a *zkbench.DecodeError if the proof cannot be decoded.
func HashOf(encoded []byte) (stark.Hash, error) {
	of, err := decodeProof(encoded)
	if err != nil {
		return "", err
	}
	return of.hash, nil
}

// decodeProof decodes what encode returns. The parts of the result share the memory of b.
func decodeProof(b []byte) (p *proof, err error) {
	p = &proof{}
	at := 0
	take := func(path string, n int) (part []byte) {
		if err == nil && n > len(b)-at {
			err = &zkbench.DecodeError{Path: path, Offset: at, Reason: fmt.Sprintf("%d bytes, %d are needed", len(b)-at, n)}
		}
		if err != nil {
			return make([]byte, 8)
		}
		at += n
		return b[at-n : at]
	}
	fail := func(path, reason string) {
		if err == nil {
			err = &zkbench.DecodeError{Path: path, Offset: at, Reason: reason}
		}
	}
	if v := take("version", 1)[0]; v != version {
		fail("version", fmt.Sprintf("%d, accepted is %d", v, version))
	}
	number := int(take("hash", 1)[0])
	if number >= len(hashes) {
		fail("hash", fmt.Sprintf("%d, accepted are 0 to %d", number, len(hashes)-1))
		number = 0
	}
	p.hash = hashes[number]
	p.image = take("program", int(binary.LittleEndian.Uint16(take("program", 2))))
	p.input.length = binary.LittleEndian.Uint64(take("input", 8))
	if p.input.length >= goldilocks.Modulus {
		fail("input", "a length that is not below the field's order")
	}
	for i := range p.input.hash {
		e := goldilocks.Element(binary.LittleEndian.Uint64(take("input", 8)))
		if !e.Canonical() {
			fail("input", "an element of the hash that is not below the field's order")
		}
		p.input.hash[i] = e
	}
	p.exit = binary.LittleEndian.Uint64(take("exit", 8))
	p.halted = binary.LittleEndian.Uint64(take("cycles", 8))
	if p.halted%accesses != 0 || p.halted >= goldilocks.Modulus {
		fail("cycles", "not a time at which an instruction begins")
	}
	committed := binary.LittleEndian.Uint32(take("output", 4))
	if committed > MaxOutput {
		fail("output", fmt.Sprintf("%d bytes, accepted are at most %d", committed, MaxOutput))
	}
	p.output = take("output", int(committed))
	if err == nil && p.halted/accesses <= uint64(len(p.output))+1 {
		fail("output", "more bytes than the run has time for")
	}
	if err != nil {
		return nil, err
	}
	p.encoded = b[at:]
	return p, nil
}
