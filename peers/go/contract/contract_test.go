package contract

import (
	"bytes"
	"errors"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func cases() []Case {
	return []Case{
		{Name: "RangeVerify/bits=8/m=1", Setup: func() (func() error, int, error) {
			return func() error { time.Sleep(2 * time.Millisecond); return nil }, 608, nil
		}},
		{Name: "NoInputs", Setup: func() (func() error, int, error) {
			return nil, 0, errors.New("no inputs")
		}},
		{Name: "Rejects", Setup: func() (func() error, int, error) {
			return func() error { return errors.New("rejected") }, 0, nil
		}},
	}
}

// memory are the columns that no two runs have alike.
var memory = regexp.MustCompile(`\t\d+ (B/op|allocs/op|peak-rss-bytes)`)

func TestServe(t *testing.T) {
	const line = "BenchmarkRangeVerify/bits=8/m=1\t50\t2000000.0 ns/op\t608 proof-bytes\n"
	for _, tc := range []struct {
		name   string
		args   []string
		stdout string
		status int
	}{
		{"args=list", []string{"list"}, "RangeVerify/bits=8/m=1\nNoInputs\nRejects\n", 0},
		{"args=run", []string{"run", "RangeVerify/bits=8/m=1"}, line, 0},
		{"args=samples", []string{"run", "RangeVerify/bits=8/m=1", "-samples", "3"}, line + line + line, 0},
		{"args=setup", []string{"run", "NoInputs"}, "", 1},
		{"args=op", []string{"run", "Rejects"}, "", 1},
		{"args=none", nil, "", 2},
		{"args=unknown", []string{"run", "RangeVerify/bits=9/m=1"}, "", 2},
		{"args=empty", []string{"run", ""}, "", 2},
		{"args=zero", []string{"run", "RangeVerify/bits=8/m=1", "-samples", "0"}, "", 2},
		{"args=word", []string{"run", "RangeVerify/bits=8/m=1", "-samples", "x"}, "", 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			// The bubble's clock moves by the operation's sleep and by nothing
			// else, so the counts and the times are exact.
			synctest.Test(t, func(t *testing.T) {
				var stdout, stderr bytes.Buffer
				if got := Serve(tc.args, &stdout, &stderr, cases()); got != tc.status {
					t.Errorf("exit status %d, want %d", got, tc.status)
				}
				got := memory.ReplaceAllString(stdout.String(), "")
				if got != tc.stdout {
					t.Errorf("stdout %q, want %q", got, tc.stdout)
				}
				if tc.status == 0 && tc.args[0] == "run" && strings.Count(stdout.String(), " B/op\t") != strings.Count(got, "\n") {
					t.Errorf("%q tells no memory", stdout.String())
				}
				want := 1
				if tc.status == 0 {
					want = 0
				}
				if got := strings.Count(stderr.String(), "\n"); got != want {
					t.Errorf("stderr %q: %d lines, want %d", stderr.String(), got, want)
				}
			})
		})
	}
}
