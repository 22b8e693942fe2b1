package token

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/group/fp256bn"
	"github.com/zkbench/zkbench/group/kilic"
	"github.com/zkbench/zkbench/rangeproof/bulletproof"
	"github.com/zkbench/zkbench/rangeproof/csp"
	"github.com/zkbench/zkbench/token/internal/statement"
	"github.com/zkbench/zkbench/transcript"
)

// The proof types, as users type them.
const (
	Bulletproof    = bulletproof.NameSingle
	CSP            = csp.Name
	BulletproofAgg = bulletproof.NameAggregate
)

// ProofTypes lists the accepted proof types, the default first.
func ProofTypes() []string { return []string{Bulletproof, CSP, BulletproofAgg} }

// DefaultAggregation is the number of outputs that one bulletproof-agg proof
// covers unless Config says otherwise. More outputs take more proofs.
const DefaultAggregation = 4

// Config chooses the cryptography of a token system: what proofs depend on.
type Config struct {
	Curve     string // one of Curves, or a name that Curve knows
	Bits      int    // values are below 2^Bits; 1 to 64
	ProofType string // one of ProofTypes; empty: bulletproof

	// Aggregation is the most outputs that one range proof covers, 2 to
	// MaxTokens, for bulletproof-agg; 0: DefaultAggregation. Other proof types
	// prove each output by itself and take 0.
	Aggregation int
	// Stop is the vector length at which a range proof's recursion stops; 0:
	// the proof system's default.
	Stop int
}

// Tuning is what changes no byte of any proof and is not part of the digest. Its zero
// value is the default.
type Tuning struct {
	Table group.TableOptions // memory and speed of fixed-base sums
	// ConstantTime makes provers' sums independent in time and memory accesses
	// from the secrets, as far as SECURITY.md says, and proving slower, by
	// how much a table there says.
	ConstantTime bool
}

// CryptoParams are the public parameters that proofs depend on: curve, bit
// length, range-proof system, aggregation, early stop and all generators. They
// are immutable and safe for concurrent use. The types of the curve end here:
// all methods speak bytes.
type CryptoParams interface {
	// Config returns the configuration with its defaults filled in, its curve one of Curves.
	Config() Config
	// Digest commits to everything that proofs depend on. Two implementations
	// of one group have equal digests, and accept each other's proofs.
	Digest() [transcript.StateLen]byte
	PointLen() int // bytes of a commitment
	// TableBytes is the memory of the fixed-base tables.
	TableBytes() int
	// Commit returns the compressed commitments to openings.
	Commit(ctx context.Context, ex executor.Executor, openings []Opening) ([][]byte, error)
	// ProofLen is the length in bytes of the proof of an action; an issue has no inputs.
	ProofLen(inputs, outputs int) int

	// System is what package action proves and verifies with.
	statement.System[Opening]
}

type witness = statement.Witness[Opening]

// NewCryptoParams derives the generators and builds the tables. An unknown name
// or a number out of range is an ErrParams that names the field and what is
// accepted.
func NewCryptoParams(cfg Config, tuning Tuning) (CryptoParams, error) {
	if cfg.ProofType == "" {
		cfg.ProofType = Bulletproof
	}
	cfg.Curve = Curve(cfg.Curve)
	switch {
	case !slices.Contains(Curves(), cfg.Curve):
		return nil, badConfig("curve", cfg.Curve, AcceptedCurves(Curves()...))
	case !slices.Contains(ProofTypes(), cfg.ProofType):
		return nil, badConfig("proof type", cfg.ProofType, strings.Join(ProofTypes(), ", "))
	case cfg.Bits < 1 || cfg.Bits > 64:
		return nil, badConfig("bits", cfg.Bits, "1 to 64")
	case cfg.ProofType == BulletproofAgg && cfg.Aggregation == 0:
		cfg.Aggregation = DefaultAggregation
	case cfg.ProofType == BulletproofAgg && (cfg.Aggregation < 2 || cfg.Aggregation > MaxTokens):
		return nil, badConfig("aggregation", cfg.Aggregation, fmt.Sprintf("2 to %d", MaxTokens))
	case cfg.ProofType != BulletproofAgg && cfg.Aggregation != 0:
		return nil, badConfig("aggregation", cfg.Aggregation, "0 for "+cfg.ProofType)
	}
	switch cfg.Curve {
	case "BN254":
		return newParams(group.BN254(), cfg, tuning)
	case "BLS12_381_BBS_GURVY", fastRNG:
		return newParams(group.BLS12381(), cfg, tuning)
	case "BLS12_381_BBS":
		return newParams(kilic.BLS12381(), cfg, tuning)
	case "FP256BN_AMCL":
		return newParams(fp256bn.AMCL(), cfg, tuning)
	default:
		return newParams(fp256bn.Miracl(), cfg, tuning)
	}
}

func badConfig(field string, value any, accepted string) error {
	return fmt.Errorf("%w: %s %v, accepted: %s", zkbench.ErrParams, field, value, accepted)
}
