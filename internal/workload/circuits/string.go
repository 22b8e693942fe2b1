package circuits

import (
	"context"
	"fmt"
	"math/bits"
	"os"
	"path/filepath"

	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/workload"
	"github.com/zkbench/zkbench/srs"
)

// referenceString holds a reference string after get has made or read it.
type referenceString struct {
	srs   *srs.SRS
	notes []record.Finding
}

// get reads a reference string of the given size from the file that the context names. If there is no such file,
// it takes the string from the user's cache, if cached is set, or makes it. It returns the string's size in bytes.
func (r *referenceString) get(ctx context.Context, size int, seed uint64, cached bool) (bytes int, err error) {
	switch file := workload.SRS(ctx); {
	case file.Path != "":
		r.srs, r.notes, err = readString(ctx, file, size)
	case cached:
		r.srs, err = r.userCache().Insecure(ctx, workload.Pool(ctx), size, seed)
	default:
		r.srs, err = srs.Insecure(ctx, workload.Pool(ctx), size, seed)
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

// readString reads a reference string of the given size from a .ptau file, and returns a finding about it. It returns
// an ErrParams that names the flag srs if the file cannot be used, or the context's cause.
func readString(ctx context.Context, file workload.SRSFile, size int) (*srs.SRS, []record.Finding, error) {
	s, err := openString(ctx, file, size)
	switch {
	case ctx.Err() != nil:
		return nil, nil, context.Cause(ctx)
	case err != nil:
		accepted := fmt.Sprintf("a .ptau file over BN254 of 2^%d or more", bits.Len(uint(size))-1)
		return nil, nil, fmt.Errorf("%w: %w", &argument.ValueError{Field: "srs", Value: file.Path, Accepted: accepted}, err)
	}
	vouched := "the published one by its hash"
	if s.Insecure() {
		vouched = "of no published hash, so its maker may know τ"
	}
	text := fmt.Sprintf("of size %d from %s, %s; its points are powers of one τ; number of contributions that the file claims: %d, none of them verified", size, file.Path, vouched, s.Contributions())
	return s, []record.Finding{{Name: "reference string", Text: text}}, nil
}

func openString(ctx context.Context, from workload.SRSFile, size int) (*srs.SRS, error) {
	published := srs.NoHashKnown()
	if from.Hash != "" {
		var err error
		if published, err = srs.PublishedHash(from.Hash); err != nil {
			return nil, err
		}
	}
	file, err := os.Open(from.Path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	return srs.ReadPtau(ctx, workload.Pool(ctx), file, info.Size(), size, published)
}

// userCache returns the cache of the user's reference strings. A string that cannot be read from it is made again.
// That, and a string that cannot be stored, becomes a finding.
func (r *referenceString) userCache() *srs.Cache {
	dir, err := os.UserCacheDir()
	if err != nil {
		dir = os.TempDir()
	}
	return &srs.Cache{Dir: filepath.Join(dir, "zkbench", "srs"), Warn: func(reason string) {
		r.notes = append(r.notes, record.Finding{Name: "reference string", Text: reason})
	}}
}
