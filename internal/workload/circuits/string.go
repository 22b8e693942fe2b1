package circuits

import (
	"context"
	"fmt"
	"math/bits"
	"os"
	"path/filepath"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/record"
	"github.com/zkbench/zkbench/internal/usage"
	"github.com/zkbench/zkbench/internal/workload"
	"github.com/zkbench/zkbench/srs"
)

// referenceString is one, once it is got.
type referenceString struct {
	srs   *srs.SRS
	notes []record.Finding
}

// get makes a string of that size; with cached, takes it from the user's cache. A file that the
// context names comes before both.
func (r *referenceString) get(ctx context.Context, size int, seed uint64, cached bool) (bytes int, err error) {
	switch path := workload.SRSFile(ctx); {
	case path != "":
		r.srs, r.notes, err = readString(ctx, path, size)
	case cached:
		r.srs, err = r.userCache().Insecure(ctx, executor.Pool(), size, seed)
	default:
		r.srs, err = srs.Insecure(ctx, executor.Pool(), size, seed)
	}
	if err != nil {
		return 0, err
	}
	return r.srs.Bytes(), nil
}

func (r *referenceString) close() error {
	if r.srs == nil {
		return nil
	}
	return r.srs.Close()
}

// readString reads a reference string of that size from a .ptau file, and notes it. The error
// is an ErrParams that names the flag, or the context's cause.
func readString(ctx context.Context, path string, size int) (*srs.SRS, []record.Finding, error) {
	s, err := openString(ctx, path, size)
	switch {
	case ctx.Err() != nil:
		return nil, nil, context.Cause(ctx)
	case err != nil:
		accepted := fmt.Sprintf("a .ptau file over BN254 of 2^%d or more", bits.Len(uint(size))-1)
		return nil, nil, fmt.Errorf("%w: %w", &usage.ValueError{Field: "srs", Value: path, Accepted: accepted}, err)
	}
	note := record.Finding{Name: "reference string", Text: fmt.Sprintf("of size %d from %s, not the seed's; its points are powers of one τ, the contributions that it counts, %d, were not verified, "+
		"and without a published hash whoever made it may know τ", size, path, s.Contributions())}
	return s, []record.Finding{note}, nil
}

func openString(ctx context.Context, path string, size int) (*srs.SRS, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	return srs.ReadPtau(ctx, executor.Pool(), file, info.Size(), size, srs.NoHashKnown())
}

// userCache is the cache of the user's reference strings. What cannot be used or kept is
// made again, and noted.
func (r *referenceString) userCache() *srs.Cache {
	dir, err := os.UserCacheDir()
	if err != nil {
		dir = os.TempDir()
	}
	return &srs.Cache{Dir: filepath.Join(dir, "zkbench", "srs"), Warn: func(reason string) {
		r.notes = append(r.notes, record.Finding{Name: "reference string", Text: reason})
	}}
}
