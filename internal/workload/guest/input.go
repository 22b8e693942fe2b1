package guest

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/workload"
)

// MakeInput returns an input for the guest with the given name: the first one that the workload Guest makes with this
// seed. The parameter size is a value of the workload's axis "size". If it is negative, MakeInput uses the guest's
// default size. MakeInput returns an *argument.ValueError if the name or size is not accepted.
func MakeInput(ctx context.Context, name string, size int, seed uint64) ([]byte, error) {
	i := slices.IndexFunc(subjects, func(s *subject) bool { return s.name == name })
	if i < 0 {
		return nil, argument.Unknown("guest", name, Names(), "list guest")
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

// NameOf returns the name of the guest that path leads to. It returns an empty string if path does not look like
// the path of a guest of this module. The path of a guest leads to a folder in riscv/guests, or to a file that
// "make guests" has built from such a folder.
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
