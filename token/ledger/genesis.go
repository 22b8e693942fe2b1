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

// Genesis is entry 0 of a ledger's log, written when the ledger is created. It holds the digests of the
// public parameters and of their policy, and a nonce that distinguishes ledgers with the same parameters.
// Callers must not modify it.
type Genesis struct {
	Params [transcript.StateLen]byte // the parameters' digest
	Policy [transcript.StateLen]byte // the digest of the parameters' policy, which has version 0
	Nonce  [32]byte                  // random
	Forks  []Fork                    // the forks that led to this ledger, oldest first; none if its log began empty
}

// Fork says where a ledger branched off from another one, its parent. The fork has the parent's
// records up to number Last, and its own records after that.
type Fork struct {
	Last   uint64   // sequence number of the last shared record; not below the previous fork's Last
	Policy uint64   // version of the policy after record Last; not below the previous fork's Policy
	Root   [32]byte // of the parent's log up to record Last
	Nonce  [32]byte // random
}

// MaxForks is the maximum length of Genesis.Forks.
const MaxForks = 16

// NewGenesis returns the genesis of a new ledger with the given parameters and a random nonce. It returns
// the error of PublicParams.Encode if the parameters cannot be encoded.
func NewGenesis(params *token.PublicParams) (Genesis, error) {
	digest, err := params.Digest()
	if err != nil {
		return Genesis{}, err
	}
	g := Genesis{Params: digest}
	_, _ = rand.Read(g.Nonce[:]) // which never fails
	g.Policy, err = params.Policy.Digest()
	return g, err
}

// Fork returns the genesis of a fork that shares with this ledger the records up to number last. The
// parameters policy and root are the version of the policy and the root of the log after that record. If last is
// less than Inherited, the new ledger is a fork of this ledger's parent. Fork returns a *zkbench.LimitError if
// the new ledger would have more than MaxForks forks.
func (g Genesis) Fork(last, policy uint64, root [32]byte) (Genesis, error) {
	for len(g.Forks) > 0 && g.Inherited() > last {
		g = g.parent()
	}
	if n := len(g.Forks) + 1; n > MaxForks {
		return Genesis{}, &zkbench.LimitError{What: "forks of a ledger", Estimate: int64(n), Max: MaxForks}
	}
	f := Fork{Last: last, Policy: policy, Root: root}
	_, _ = rand.Read(f.Nonce[:]) // which never fails
	g.Forks = append(slices.Clone(g.Forks), f)
	return g, nil
}

// ForRecord returns the genesis of the ledger that accepted record seq. If this ledger is a fork and shares
// the record with its parent, ForRecord returns the genesis of the parent, or of an earlier ledger from which
// the parent was forked. Signatures and proofs in the record are bound to the ID of that genesis.
func (g Genesis) ForRecord(seq uint64) Genesis {
	for len(g.Forks) > 0 && seq <= g.Inherited() {
		g = g.parent()
	}
	return g
}

// ForPolicy returns the genesis of the ledger that accepted the update to the given version of the policy, as
// ForRecord does for a record.
func (g Genesis) ForPolicy(version uint64) Genesis {
	for len(g.Forks) > 0 && version <= g.Forks[len(g.Forks)-1].Policy {
		g = g.parent()
	}
	return g
}

// Trunk returns the genesis of the first ledger in this ledger's line of parents: of this ledger, if it is no
// fork.
func (g Genesis) Trunk() Genesis {
	g.Forks = nil
	return g
}

// ForksAfter reports whether this ledger, or a fork that it descends from, branched off directly after record
// seq. The ledger that branched off shares record seq with its parent, and record seq+1 is its own.
// ForksAfter returns false if seq is 0.
func (g Genesis) ForksAfter(seq uint64) bool {
	return seq > 0 && len(g.ForRecord(seq).Forks) != len(g.ForRecord(seq+1).Forks)
}

// Parent returns the genesis of the ledger that this one was forked from, and whether there is one.
func (g Genesis) Parent() (Genesis, bool) {
	if len(g.Forks) == 0 {
		return Genesis{}, false
	}
	return g.parent(), true
}

// parent returns the genesis of the parent. g must be a fork.
func (g Genesis) parent() Genesis {
	if n := len(g.Forks) - 1; n > 0 {
		g.Forks = g.Forks[:n]
	} else {
		g.Forks = nil
	}
	return g
}

// Inherited returns how many records the ledger shares with its parent, or 0 if it has no parent.
func (g Genesis) Inherited() uint64 {
	if len(g.Forks) == 0 {
		return 0
	}
	return g.Forks[len(g.Forks)-1].Last
}

// ID returns the ledger's id, the SHA-256 of "zkbench/v3/ledger id" and the encoding of g.
func (g Genesis) ID() token.LedgerID {
	return sha256.Sum256(g.Append([]byte("zkbench/v3/ledger id")))
}

// Append appends the encoding of g to dst: params(64) policy(64) nonce(32), and for each fork last(8)
// policy(8) root(32) nonce(32). Numbers are big-endian.
func (g Genesis) Append(dst []byte) []byte {
	dst = append(append(append(dst, g.Params[:]...), g.Policy[:]...), g.Nonce[:]...)
	for _, f := range g.Forks {
		dst = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(dst, f.Last), f.Policy)
		dst = append(append(dst, f.Root[:]...), f.Nonce[:]...)
	}
	return dst
}

// Encoded lengths in bytes.
const (
	GenesisLen = 2*transcript.StateLen + 32 // a Genesis without forks
	ForkLen    = 8 + 8 + 32 + 32            // a Fork
)

// DecodeGenesis decodes a genesis that Append encoded. The error is of type *zkbench.DecodeError.
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
	copy(g.Policy[:], f.Bytes("policy", len(g.Policy)))
	copy(g.Nonce[:], f.Bytes("nonce", len(g.Nonce)))
	for i := range forks {
		f.Item("forks", i)
		at := f.Offset()
		next := Fork{Last: f.Uint64(".last"), Policy: f.Uint64(".policy")}
		var prev Fork
		if i > 0 {
			prev = g.Forks[i-1]
		}
		if next.Last < prev.Last {
			f.Fail(".last", at, fmt.Sprintf("%d, the previous fork has %d", next.Last, prev.Last))
		}
		if next.Policy < prev.Policy || next.Policy > next.Last {
			f.Fail(".policy", at+8, fmt.Sprintf("%d, accepted are %d to %d", next.Policy, prev.Policy, next.Last))
		}
		copy(next.Root[:], f.Bytes(".root", len(next.Root)))
		copy(next.Nonce[:], f.Bytes(".nonce", len(next.Nonce)))
		g.Forks = append(g.Forks, next)
	}
	f.EndItems()
	if err := f.End("end"); err != nil {
		return Genesis{}, err
	}
	return g, nil
}

// CheckParams returns ErrParams unless params is the digest of the ledger's parameters.
func (g Genesis) CheckParams(params [transcript.StateLen]byte) error {
	if g.Params != params {
		return fmt.Errorf("%w: ledger %x has other parameters", zkbench.ErrParams, g.ID())
	}
	return nil
}
