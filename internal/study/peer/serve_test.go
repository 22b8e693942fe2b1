package peer_test

import (
	"bytes"
	"errors"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zkbench/zkbench/internal/study/peer"
	"github.com/zkbench/zkbench/internal/testing/golden"
)

// memory are the columns that no two runs have alike.
var memory = regexp.MustCompile(`\t\d+ (B/op|allocs/op|peak-rss-bytes)`)

func TestServe(t *testing.T) {
	sleep := func(d time.Duration) func() error {
		return func() error { time.Sleep(d); return nil }
	}
	cases := []peer.Case{
		{Name: "RangeVerify/bits=8/m=1", Setup: func() (func() error, map[string]float64, error) {
			return sleep(2 * time.Millisecond), map[string]float64{"proof-bytes": 608, "B/table": 1.5}, nil
		}},
		{Name: "RangeVerifyBatch/bits=8/m=1/batch=64", PerCall: 64, Rate: "proofs/s", Setup: func() (func() error, map[string]float64, error) {
			return sleep(64 * time.Millisecond), nil, nil
		}},
		{Name: "NoInputs", Setup: func() (func() error, map[string]float64, error) {
			return nil, nil, errors.New("no inputs")
		}},
		{Name: "Rejects", Setup: func() (func() error, map[string]float64, error) {
			return func() error { return errors.New("rejected") }, nil, nil
		}},
		{Name: "Long", Once: func() (time.Duration, map[string]float64, error) {
			return 2 * time.Second, map[string]float64{"proof-bytes": 7, "B/op": 1}, nil
		}},
		{Name: "LongRejects", Once: func() (time.Duration, map[string]float64, error) {
			return 0, nil, errors.New("rejected")
		}},
	}
	const (
		single = "BenchmarkRangeVerify/bits=8/m=1\t50\t2000000.0 ns/op\t1.5 B/table\t608 proof-bytes\n"
		long   = "BenchmarkLong\t1\t2000000000 ns/op\t7 proof-bytes\n"
		batch  = "BenchmarkRangeVerifyBatch/bits=8/m=1/batch=64\t128\t1000000.0 ns/op\t1000.0 proofs/s\n"
	)
	for _, tc := range []struct {
		name   string
		args   []string
		stdout string
		status int
	}{
		{"args=list", []string{"list"}, "RangeVerify/bits=8/m=1\nRangeVerifyBatch/bits=8/m=1/batch=64\nNoInputs\nRejects\nLong\nLongRejects\n", 0},
		{"args=run", []string{"run", "RangeVerify/bits=8/m=1"}, single, 0},
		{"args=batch", []string{"run", "RangeVerifyBatch/bits=8/m=1/batch=64"}, batch, 0},
		{"args=samples", []string{"run", "RangeVerify/bits=8/m=1", "-samples", "3"}, single + single + single, 0},
		{"args=long", []string{"run", "Long", "-samples", "2"}, long + long, 0},
		{"args=once", []string{"run", "LongRejects"}, "", 1},
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
				golden.Equal(t, "exit status", tc.status, peer.Serve(tc.args, &stdout, &stderr, cases))
				output := memory.ReplaceAllString(stdout.String(), "")
				golden.Equal(t, "output", tc.stdout, output)
				if tc.args != nil && tc.args[0] == "run" && strings.Count(stdout.String(), " B/op\t") != strings.Count(output, "\n") {
					t.Errorf("%q tells no memory", stdout.String())
				}
				want := 1
				if tc.status == 0 {
					want = 0
				}
				golden.Equal(t, "lines of messages: "+stderr.String(), want, strings.Count(stderr.String(), "\n"))
			})
		})
	}
}
