// Package must says in a line what a call of a test must do, or must not: it ends a test
// in which a call fails that must not, and fails one in which a call is not refused as it
// must be.
package must

import (
	"errors"
	"fmt"
)

// TB is the part of testing.TB that is needed; rapid's tests have it too.
type TB interface {
	Helper()
	Errorf(format string, args ...any)
	Fatal(args ...any)
}

// Do ends the test if err is one; what says what was tried, where the call does not.
func Do(t TB, err error, what ...any) {
	t.Helper()
	if err != nil {
		t.Fatal(append(what, err)...)
	}
}

// Get takes what a call returns, and gives a test its value, or ends the test at its error:
//
//	point := must.Get(curve.Decode(encoding))(t)
func Get[T any](value T, err error) func(t TB) T {
	return func(t TB) T {
		t.Helper()
		Do(t, err)
		return value
	}
}

// ErrAny is what Fail and FailGet want where any error will do.
var ErrAny = errors.New("any error")

// Fail fails the test, which goes on, unless err is the refusal that is wanted; what says
// what was tried.
func Fail(t TB, err, want error, what string, args ...any) {
	t.Helper()
	if !errors.Is(err, want) && (want != ErrAny || err == nil) {
		t.Errorf("%s: %v, want %v", fmt.Sprintf(what, args...), err, want)
	}
}

// FailGet is Fail for a call that returns a value too:
//
//	must.FailGet(curve.Decode(identity))(t, zkbench.ErrMalformed, "the point at infinity")
func FailGet[T any](_ T, err error) func(t TB, want error, what string, args ...any) {
	return func(t TB, want error, what string, args ...any) {
		t.Helper()
		Fail(t, err, want, what, args...)
	}
}
