package guest

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/workload"
)

// MakeInput returns an input of the guest of a name, the same for each seed: what workload Guest gives it first. size is one
// of its axis; below 0: the guest's own. The error is a *argument.ValueError of a name or size that is not accepted.
func MakeInput(ctx context.Context, name string, size int, seed uint64) ([]byte, error) {
	i := slices.IndexFunc(subjects, func(s *subject) bool { return s.name == name })
	if i < 0 {
		return nil, &argument.ValueError{Field: "guest", Value: name, Accepted: strings.Join(Names(), ", ")}
	}
	s := subjects[i]
	if size < 0 {
		size = s.size
	}
	if err := s.accepts(size); err != nil {
		return nil, err
	}
	make, err := s.inputs(ctx, size)
	if err != nil {
		return nil, err
	}
	raw, _, err := make(ctx, workload.Random(seed, 0))
	return raw, err
}

// NameOf is the name of the guest of this module that a program is, by its path: a folder of riscv/guests, or a file that
// make guests builds of one; empty: it is none.
func NameOf(path string) string {
	path, err := filepath.Abs(path)
	if err != nil {
		return ""
	}
	folder := filepath.ToSlash(filepath.Dir(path))
	if !strings.HasSuffix(folder, "/riscv/guests") && !strings.HasSuffix(folder, "-guests") {
		return ""
	}
	pkg, _, _ := strings.Cut(filepath.Base(path), ".") // before tags
	if i := slices.IndexFunc(subjects, func(s *subject) bool { return s.pkg == pkg }); i >= 0 {
		return subjects[i].name
	}
	return ""
}
