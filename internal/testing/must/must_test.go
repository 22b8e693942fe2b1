package must_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/zkbench/zkbench/internal/testing/must"
)

// ended is a test that keeps what it was ended with, and what it failed for.
type ended struct {
	with   []any
	failed []string
}

func (*ended) Helper()             {}
func (e *ended) Fatal(args ...any) { e.with = append(e.with, args...) }
func (e *ended) Errorf(format string, args ...any) {
	e.failed = append(e.failed, fmt.Sprintf(format, args...))
}

func TestMust(t *testing.T) {
	planted := errors.New("planted")
	for _, test := range []struct {
		name string
		call func(t must.TB, err error)
	}{
		{"Do", func(t must.TB, err error) { must.Do(t, err) }},
		{"Get", func(t must.TB, err error) { must.Get(0, err)(t) }},
	} {
		var good, bad ended
		test.call(&good, nil)
		test.call(&bad, planted)
		if len(good.with) != 0 || len(bad.with) != 1 || bad.with[0] != planted {
			t.Errorf("%s: ended with %v, want nothing, and with %v, want the error", test.name, good.with, bad.with)
		}
	}
	var named ended
	must.Do(&named, planted, "input", 7)
	if want := []any{"input", 7, planted}; !slices.Equal(named.with, want) {
		t.Errorf("ended with %v, want %v", named.with, want)
	}
	if got := must.Get(7, nil)(t); got != 7 {
		t.Errorf("%d, want 7", got)
	}
}

func TestMustNot(t *testing.T) {
	planted, other := errors.New("planted"), errors.New("other")
	for _, test := range []struct {
		name string
		call func(t must.TB, err error)
	}{
		{"Fail", func(t must.TB, err error) { must.Fail(t, err, planted, "input %d", 7) }},
		{"FailGet", func(t must.TB, err error) { must.FailGet(0, err)(t, planted, "input %d", 7) }},
	} {
		var e ended
		test.call(&e, fmt.Errorf("wrapped: %w", planted))
		test.call(&e, nil)
		test.call(&e, other)
		want := []string{"input 7: <nil>, want planted", "input 7: other, want planted"}
		if !slices.Equal(e.failed, want) || len(e.with) != 0 {
			t.Errorf("%s: failed for %q and ended with %v, want %q and nothing", test.name, e.failed, e.with, want)
		}
	}
	var e ended
	must.Fail(&e, other, must.ErrAny, "refused")
	must.Fail(&e, nil, must.ErrAny, "taken")
	if want := []string{"taken: <nil>, want any error"}; !slices.Equal(e.failed, want) {
		t.Errorf("failed for %q, want %q", e.failed, want)
	}
}
