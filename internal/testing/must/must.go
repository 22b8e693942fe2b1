// Package must checks the errors of calls in tests, in one line each. Do and Get end the test if a call returns
// an error. Fail and FailGet fail the test if a call does not return the wanted error.
package must

import (
	"errors"
	"fmt"
)

// TB is the part of testing.TB that this package needs. Tests of package rapid implement it too.
type TB interface {
	Helper()
	Errorf(format string, args ...any)
	Fatal(args ...any)
}

// Do ends the test if err is not nil. The values of the parameter what, if there are any, are printed before
// the error.
func Do(t TB, err error, what ...any) {
	t.Helper()
	if err != nil {
		t.Fatal(append(what, err)...)
	}
}

// Get takes the results of a call and returns a function. Call this function with the test: it returns the
// value, or ends the test if there is an error.
//
//	point := must.Get(curve.Decode(encoding))(t)
func Get[T any](value T, err error) func(t TB) T {
	return func(t TB) T {
		t.Helper()
		Do(t, err)
		return value
	}
}

// ErrAny makes Fail and FailGet accept any error.
var ErrAny = errors.New("any error")

// Fail fails the test unless errors.Is(err, want). The test continues. The message begins with a description of
// the call. The parameters what and args give this description, as the format and the arguments of fmt.Sprintf.
func Fail(t TB, err, want error, what string, args ...any) {
	t.Helper()
	if !errors.Is(err, want) && (want != ErrAny || err == nil) {
		t.Errorf("%s: %v, want %v", fmt.Sprintf(what, args...), err, want)
	}
}

// FailGet works like Fail, for a call that also returns a value:
//
//	must.FailGet(curve.Decode(identity))(t, zkbench.ErrMalformed, "the point at infinity")
func FailGet[T any](_ T, err error) func(t TB, want error, what string, args ...any) {
	return func(t TB, want error, what string, args ...any) {
		t.Helper()
		Fail(t, err, want, what, args...)
	}
}
