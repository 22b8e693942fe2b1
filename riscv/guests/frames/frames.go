// Package frames packs several inputs of a guest into one. It serves the guests of this module and the
// workloads that run them. It is public only because both must import it.
package frames

import "encoding/binary"

// Join concatenates the parts. Before each part it writes the part's length, a little-endian
// uint32.
func Join(parts ...[]byte) (joined []byte) {
	for _, p := range parts {
		joined = binary.LittleEndian.AppendUint32(joined, uint32(len(p)))
		joined = append(joined, p...)
	}
	return joined
}

// Split returns the parts that Join concatenated. The parts alias the parameter joined. Split
// panics if this parameter is not an output of Join: a guest cannot do anything useful with such
// an input.
func Split(joined []byte) (parts [][]byte) {
	for len(joined) > 0 {
		n := binary.LittleEndian.Uint32(joined)
		parts = append(parts, joined[4:4+n])
		joined = joined[4+n:]
	}
	return parts
}
