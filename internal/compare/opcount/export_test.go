package opcount

import (
	"io"
	"slices"

	"github.com/zkbench/zkbench/internal/result/record"
)

// IndexOf returns an index of the given places.
func IndexOf(of map[string]record.Quantity) *Index { return &Index{of} }

// ReadProfile reads a profile.
func (x *Index) ReadProfile(profile io.Reader, ops uint64) ([]record.Metric, error) {
	return x.read(profile, ops)
}

// Where returns the places of each quantity's operations.
func (x *Index) Where() map[string][]string {
	where := make(map[string][]string)
	for at, q := range x.quantities {
		where[q.Name()] = append(where[q.Name()], at)
		slices.Sort(where[q.Name()])
	}
	return where
}
