package boltfile

import (
	"encoding/binary"
	"fmt"

	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/store"
)

// SumLen is the length of the checksum behind a body.
const SumLen = 4

// Seal appends the checksum to body, with which the value is good only in its place.
func Seal(bucket string, key, body []byte) []byte {
	return binary.BigEndian.AppendUint32(body, store.Checksum(bucket, key, body))
}

// Unseal returns the body of a sealed value, at least so long. The error is a
// *ledger.CorruptError that names the bucket and shows neither key nor body.
func Unseal(bucket string, key, value []byte, least int) ([]byte, error) {
	n := len(value) - SumLen
	if n < least {
		return nil, ledger.Corruptf("bucket "+bucket, "%d bytes, too few", len(value))
	}
	if binary.BigEndian.Uint32(value[n:]) != store.Checksum(bucket, key, value[:n]) {
		return nil, ledger.Corruptf(fmt.Sprintf("bucket %s, key of %d bytes", bucket, len(key)), "wrong checksum")
	}
	return value[:n:n], nil
}
