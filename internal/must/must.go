// Package must ends a test at an error that the test is not about.
package must

// TB is the part of testing.TB that is needed; rapid's tests have it too.
type TB interface {
	Helper()
	Fatal(args ...any)
}

// Do ends the test if err is one.
func Do(t TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
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
