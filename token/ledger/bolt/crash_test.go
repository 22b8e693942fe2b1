package bolt

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/ledgertest"
)

const (
	crashFile  = "ZKBENCH_LEDGER_CRASH" // the child's ledger
	crashCount = "ZKBENCH_KILLS"        // how often TestCrash kills
)

// TestCrashChild is the child of TestCrash: it applies batches on some
// goroutines, and acknowledges each on its standard output, until it is killed.
func TestCrashChild(t *testing.T) {
	path := os.Getenv(crashFile)
	if path == "" {
		t.Skip("runs as the child of TestCrash")
	}
	l := must.Get(Open(path))(t)
	ledgertest.Stream(t, l)
}

// TestCrash kills a process that applies batches, at random points: the ledger
// opens and verifies, has every acknowledged batch, whole, and at most the one
// that was in the making besides; what was spent is spent.
func TestCrash(t *testing.T) {
	kills, perLedger := testsize.Pick(20, 200, 200), 20
	if n := os.Getenv(crashCount); n != "" {
		var err error
		if kills, err = strconv.Atoi(n); err != nil || kills < 1 {
			t.Fatalf("%s=%s: want a number of 1 or more", crashCount, n)
		}
	}
	rng := rand.New(rand.NewPCG(rand.Uint64(), 1))
	var path string
	var acked ledgertest.Counts
	total := 0
	for i := range kills {
		if i%perLedger == 0 {
			path = filepath.Join(t.TempDir(), "ledger.db")
			l := must.Get(Create(path, ledger.Genesis{}))(t)
			must.Do(t, l.Close())
			acked = ledgertest.Counts{}
		}
		exe := must.Get(os.Executable())(t)
		cmd := exec.Command(exe, "-test.run=^TestCrashChild$")
		cmd.Env = append(os.Environ(), crashFile+"="+path)
		total += ledgertest.Kill(t, cmd, time.Duration(rng.IntN(60_000))*time.Microsecond, &acked)
		l, err := Open(path)
		must.Do(t, err, "after kill", i)
		ledgertest.Verify(t, l)
		acked = ledgertest.Survived(t, l, acked)
		ledgertest.StateSurvived(t, l)
		ledgertest.HeadsSurvived(t, l, acked)
		must.Do(t, l.Close())
	}
	if total < kills {
		t.Errorf("only %d batches acknowledged in %d lives", total, kills)
	}
}

// TestTornCommit cuts a commit off at the disk: any part of its data, by
// sectors of 512 bytes, may have arrived; its meta page has not. The ledger
// opens to the state before.
func TestTornCommit(t *testing.T) {
	l, path := newLedger(t)
	image := func() []byte {
		return must.Get(os.ReadFile(path))(t)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	var before, after []byte
	torn := filepath.Join(t.TempDir(), "torn.db")
	for k := range testsize.Pick(10, 30, 30) {
		before = after
		ledgertest.Apply(t, l, ledgertest.StreamBatch(0, k)...)
		if after = image(); k == 0 {
			continue
		}
		pageSize := os.Getpagesize()
		for range 4 {
			data := make([]byte, max(len(before), len(after)))
			copy(data, before)
			keep := rng.IntN(101)
			for at := 2 * pageSize; at < len(after); at += 512 {
				if rng.IntN(100) < keep {
					copy(data[at:at+512], after[at:])
				}
			}
			must.Do(t, os.WriteFile(torn, data, 0o600))
			l, err := Open(torn)
			if err != nil {
				t.Fatalf("batch %d, %d%% written: %v", k, keep, err)
			}
			ledgertest.Verify(t, l)
			golden.Equal(t, "batches", k, ledgertest.Applied(t, l)[0])
			must.Do(t, l.Close())
		}
	}
}
