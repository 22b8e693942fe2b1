package must_test

import (
	"errors"
	"testing"

	"github.com/zkbench/zkbench/internal/must"
)

// ended is a test that keeps what it was ended with.
type ended struct{ with []any }

func (*ended) Helper()             {}
func (e *ended) Fatal(args ...any) { e.with = append(e.with, args...) }

func TestMust(t *testing.T) {
	planted := errors.New("planted")
	for _, test := range []struct {
		name string
		call func(t must.TB, err error)
	}{
		{"Do", must.Do},
		{"Get", func(t must.TB, err error) { must.Get(0, err)(t) }},
	} {
		var good, bad ended
		test.call(&good, nil)
		test.call(&bad, planted)
		if len(good.with) != 0 || len(bad.with) != 1 || bad.with[0] != planted {
			t.Errorf("%s: ended with %v, want nothing, and with %v, want the error", test.name, good.with, bad.with)
		}
	}
	if got := must.Get(7, nil)(t); got != 7 {
		t.Errorf("%d, want 7", got)
	}
}
