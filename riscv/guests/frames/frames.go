// Package frames is several inputs of a guest in one.
package frames

import "encoding/binary"

// Join is each part after its length, a little-endian uint32.
func Join(parts ...[]byte) (joined []byte) {
	for _, p := range parts {
		joined = binary.LittleEndian.AppendUint32(joined, uint32(len(p)))
		joined = append(joined, p...)
	}
	return joined
}

// Split is Join's inverse. It panics where joined is no such thing, which a guest has no use for.
func Split(joined []byte) (parts [][]byte) {
	for len(joined) > 0 {
		n := binary.LittleEndian.Uint32(joined)
		parts = append(parts, joined[4:4+n])
		joined = joined[4+n:]
	}
	return parts
}
