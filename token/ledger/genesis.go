package ledger

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/internal/wire"
	"github.com/zkbench/zkbench/transcript"
)

// Genesis is entry 0 of a ledger's log, with which it was created: public parameters, and what tells the
// ledger from every other one under the same parameters. It must not be changed.
type Genesis struct {
	Params [transcript.StateLen]byte // the parameters' digest
	Nonce  [32]byte                  // random
	Forks  []Fork                    // that have led to this ledger, the first one first; none if its log began empty
}

// Fork says where a ledger left another one, its parent: it has the parent's records up to Last, and records of its own behind them.
type Fork struct {
	Last  uint64   // sequence number of the last record that the two share; not before that of the fork before
	Hash  [32]byte // of the parent's chain up to it
	Nonce [32]byte // random
}

// MaxForks is how many forks may have led to a ledger.
const MaxForks = 16

// NewGenesis draws that of a new ledger under parameters, whose error of Encode it returns.
func NewGenesis(params *token.PublicParams) (Genesis, error) {
	digest, err := params.Digest()
	g := Genesis{Params: digest}
	_, _ = rand.Read(g.Nonce[:]) // which never fails
	return g, err
}

// Fork draws that of a fork of the ledger behind its record last, up to which its chain has the hash. If last is
// before a fork that has led to the ledger, the parent is the ledger's own parent. Fork returns a
// *zkbench.LimitError if there were MaxForks before.
func (g Genesis) Fork(last uint64, hash [32]byte) (Genesis, error) {
	for len(g.Forks) > 0 && g.Inherited() > last {
		g = g.parent()
	}
	if n := len(g.Forks) + 1; n > MaxForks {
		return Genesis{}, &zkbench.LimitError{What: "forks of a ledger", Estimate: int64(n), Max: MaxForks}
	}
	f := Fork{Last: last, Hash: hash}
	_, _ = rand.Read(f.Nonce[:]) // which never fails
	g.Forks = append(slices.Clone(g.Forks), f)
	return g, nil
}

// At returns the genesis of the ledger on which the record of a sequence number was accepted: of a fork's first
// records, that of its parent. Its ID is what signatures and proofs of the record name.
func (g Genesis) ForRecord(seq uint64) Genesis {
	for len(g.Forks) > 0 && seq <= g.Inherited() {
		g = g.parent()
	}
	return g
}

// ForksAfter reports whether the record of a sequence number, not 0, is the last of a parent: the next one is that of a fork.
func (g Genesis) ForksAfter(seq uint64) bool {
	return seq > 0 && len(g.ForRecord(seq).Forks) != len(g.ForRecord(seq+1).Forks)
}

// Parent returns the genesis of the ledger that this one left last, and whether there is one.
func (g Genesis) Parent() (Genesis, bool) {
	if len(g.Forks) == 0 {
		return Genesis{}, false
	}
	return g.parent(), true
}

// parent is Parent of a fork.
func (g Genesis) parent() Genesis {
	if n := len(g.Forks) - 1; n > 0 {
		g.Forks = g.Forks[:n]
	} else {
		g.Forks = nil
	}
	return g
}

// Inherited returns how many records the ledger has of its parent, 0 if it has none.
func (g Genesis) Inherited() uint64 {
	if len(g.Forks) == 0 {
		return 0
	}
	return g.Forks[len(g.Forks)-1].Last
}

// ID names the ledger: SHA-256 of "zkbench/v2/ledger id" and the encoding.
func (g Genesis) ID() token.LedgerID {
	return sha256.Sum256(g.Append([]byte("zkbench/v2/ledger id")))
}

// Append appends the encoding: params(64) nonce(32), and for each fork last(8, big-endian) hash(32) nonce(32).
func (g Genesis) Append(dst []byte) []byte {
	dst = append(append(dst, g.Params[:]...), g.Nonce[:]...)
	for _, f := range g.Forks {
		dst = binary.BigEndian.AppendUint64(dst, f.Last)
		dst = append(append(dst, f.Hash[:]...), f.Nonce[:]...)
	}
	return dst
}

// Lengths in bytes of the encoding of a Genesis without forks, and of a Fork.
const (
	GenesisLen = transcript.StateLen + 32
	ForkLen    = 8 + 32 + 32
)

// DecodeGenesis decodes what Append made. The error is a *zkbench.DecodeError.
func DecodeGenesis(data []byte) (Genesis, error) {
	forks := (len(data) - GenesisLen) / ForkLen
	if forks < 0 || forks > MaxForks || len(data) != GenesisLen+forks*ForkLen {
		return Genesis{}, &zkbench.DecodeError{
			Path:   "genesis",
			Reason: fmt.Sprintf("%d bytes, accepted are %d, and %d for each of up to %d forks", len(data), GenesisLen, ForkLen, MaxForks),
		}
	}
	f := wire.NewFields(data, "genesis", len(data))
	var g Genesis
	copy(g.Params[:], f.Bytes("params", len(g.Params)))
	copy(g.Nonce[:], f.Bytes("nonce", len(g.Nonce)))
	for i := range forks {
		f.Item("forks", i)
		at := f.Offset()
		next := Fork{Last: f.Uint64(".last")}
		if next.Last < g.Inherited() {
			f.Fail(".last", at, fmt.Sprintf("%d, before that of the fork before, %d", next.Last, g.Inherited()))
		}
		copy(next.Hash[:], f.Bytes(".hash", len(next.Hash)))
		copy(next.Nonce[:], f.Bytes(".nonce", len(next.Nonce)))
		g.Forks = append(g.Forks, next)
	}
	f.EndItems()
	if err := f.End("end"); err != nil {
		return Genesis{}, err
	}
	return g, nil
}

// Of refuses parameters that are not those of the ledger, as an ErrParams.
func (g Genesis) CheckParams(params [transcript.StateLen]byte) error {
	if g.Params != params {
		return fmt.Errorf("%w: the ledger %x is of other parameters", zkbench.ErrParams, g.ID())
	}
	return nil
}
