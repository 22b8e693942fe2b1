package token

import (
	"context"
	"fmt"
	"io"
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

// The proof types, by the names that users type.
const (
	Bulletproof    = bulletproof.NameSingle
	CSP            = csp.Name
	BulletproofAgg = bulletproof.NameAggregate
)

// ProofTypes lists the accepted proof types, the default first.
func ProofTypes() []string { return []string{Bulletproof, CSP, BulletproofAgg} }

// DefaultAggregation is the number of outputs that one bulletproof-agg proof covers unless Config says
// otherwise. More outputs need more proofs.
const DefaultAggregation = 4

// Config chooses the cryptography of a token system: everything that proofs depend on.
type Config struct {
	Curve     string // one of Curves, or a name that Curve knows
	Bits      int    // values are below 2^Bits; 1 to 64
	ProofType string // one of ProofTypes; the empty string stands for Bulletproof

	// Aggregation is the maximum number of outputs that one range proof covers if ProofType is bulletproof-agg:
	// 2 to MaxTokens, or 0 for DefaultAggregation. The other proof types prove each output by itself and accept
	// only 0.
	Aggregation int
	// Stop is the vector length at which a range proof's recursion stops. 0 means the proof system's default.
	Stop int
}

// Tuning trades memory for speed, and speed for constant time. It changes no byte of any proof and is not part
// of the parameters' digest. The zero value is the default.
type Tuning struct {
	Table group.TableOptions // memory and speed of fixed-base sums
	// ConstantTime makes the time and the memory accesses of provers' sums independent of the secrets, within
	// the limits that SECURITY.md describes. Proving is slower; a table there says by how much.
	ConstantTime bool
}

// CryptoParams are the public parameters that proofs depend on: curve, bit length, range-proof system,
// aggregation, early stop (Config.Stop) and all generators. They are immutable and safe for concurrent use.
// All methods take and return bytes, so the curve's types do not appear outside this package. NewCryptoParams
// makes them. Other packages cannot implement CryptoParams. Package action proves and verifies with them.
type CryptoParams interface {
	// Config returns the configuration with its defaults filled in. Its curve is one of Curves.
	Config() Config
	// Digest returns a hash of everything that proofs depend on. Two implementations of one group have equal
	// digests, and accept each other's proofs.
	Digest() [transcript.StateLen]byte
	PointLen() int // bytes of a commitment
	// TableBytes returns the size of the fixed-base tables in bytes.
	TableBytes() int
	// Commit returns the compressed commitments to openings, in their order.
	Commit(ctx context.Context, ex executor.Executor, openings []Opening) ([][]byte, error)
	// ProofLen returns the length in bytes of the proof of an action. An issue has 0 inputs.
	ProofLen(inputs, outputs int) int
	// Rand returns the source of randomness that provers use if they are given none.
	Rand() io.Reader

	// sealed makes NewCryptoParams the only source of CryptoParams. Package action proves and verifies with
	// their other methods, those of statement.ProofSystem.
	sealed()
}

// Whoever has CryptoParams can assert that they are a ProofSystem.
var _ statement.ProofSystem[Opening] = (*params[int, int])(nil)

type witness = statement.Witness[Opening]

// NewCryptoParams derives the generators and builds tables of their multiples, which make multi-scalar
// multiplications faster. If a name is unknown or a number is out of range, it returns an ErrParams that
// names the field and the accepted values.
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
