package bolt

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/ledgertest"
)

const (
	crashFile  = "ZKBENCH_LEDGER_CRASH" // the child's ledger
	longTests  = "ZKBENCH_LONG"         // set: the long forms of tests
	crashCount = "ZKBENCH_KILLS"        // how often TestCrash kills
	streams    = 4
)

// crashBatch is batch k of stream w: three entries, the first of which spends
// what batch k-1 has left, and each of which spends what the one before has
// created.
func crashBatch(w, k int) []ledger.Entry {
	name := func(k, i int) string { return fmt.Sprintf("%d/%d/%d", w, k, i) }
	batch := []ledger.Entry{ledgertest.Issue(name(k, 0), 2)}
	if k > 0 {
		batch[0].Spends = []token.ID{token.ID(name(k-1, 2) + "/0")}
	}
	for i := 1; i < 3; i++ {
		batch = append(batch, ledgertest.Spend(name(k, i), token.ID(name(k, i-1)+"/0")))
	}
	for i := range batch {
		batch[i].Request = make([]byte, 3000)
	}
	return batch
}

// applied counts the batches of each stream that are on the ledger. It fails on
// a batch of which only a part is, and on batches out of order.
func applied(t *testing.T, l *Ledger) (counts [streams]int) {
	var entries [streams]int
	for r, err := range l.Log(context.Background(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		var w, k, i int
		if _, err := fmt.Sscanf(string(r.Anchor), "%d/%d/%d", &w, &k, &i); err != nil {
			t.Fatal(err)
		}
		if entries[w] != 3*k+i {
			t.Fatalf("request %d is %s, after %d entries of its stream", r.Seq, r.Anchor, entries[w])
		}
		entries[w]++
	}
	for w, n := range entries {
		if n%3 != 0 {
			t.Fatalf("stream %d has %d entries, a part of a batch", w, n)
		}
		counts[w] = n / 3
	}
	return counts
}

// TestCrashChild is the child of TestCrash: it applies batches on some
// goroutines, and acknowledges each on its standard output, until it is killed.
func TestCrashChild(t *testing.T) {
	path := os.Getenv(crashFile)
	if path == "" {
		t.Skip("runs as the child of TestCrash")
	}
	l, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	counts := applied(t, l)
	var wg sync.WaitGroup
	for w := range streams {
		wg.Go(func() {
			for k := counts[w]; ; k++ {
				if err := l.Apply(context.Background(), crashBatch(w, k)); err != nil {
					t.Error(err)
					return
				}
				fmt.Printf("ack %d %d\n", w, k)
			}
		})
	}
	wg.Wait()
}

// TestCrash kills a process that applies batches, at random points: the ledger
// opens and verifies, has every acknowledged batch, whole, and at most the one
// that was in the making besides; what was spent is spent.
func TestCrash(t *testing.T) {
	kills, perLedger := 20, 20
	if os.Getenv(longTests) != "" {
		kills = 200
	}
	if n := os.Getenv(crashCount); n != "" {
		var err error
		if kills, err = strconv.Atoi(n); err != nil || kills < 1 {
			t.Fatalf("%s=%s: want a number of 1 or more", crashCount, n)
		}
	}
	rng := rand.New(rand.NewPCG(rand.Uint64(), 1))
	var path string
	var acked [streams]int
	total := 0
	for i := range kills {
		if i%perLedger == 0 {
			path = filepath.Join(t.TempDir(), "ledger.db")
			l, err := Create(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			acked = [streams]int{}
		}
		n := kill(t, path, time.Duration(rng.IntN(60_000))*time.Microsecond, &acked)
		total += n
		l, err := Open(path)
		if err != nil {
			t.Fatalf("after kill %d: %v", i, err)
		}
		verify(t, l)
		counts := applied(t, l)
		for w, n := range counts {
			if n != acked[w] && n != acked[w]+1 {
				t.Fatalf("after kill %d: stream %d has %d batches, acknowledged were %d", i, w, n, acked[w])
			}
			checkStream(t, l, w, n)
		}
		acked = counts
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if total < kills {
		t.Errorf("only %d batches acknowledged in %d lives", total, kills)
	}
}

// kill starts a child, kills it some time after its first acknowledgement, and
// counts what it acknowledged before.
func kill(t *testing.T, path string, after time.Duration, acked *[streams]int) (n int) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, "-test.run=^TestCrashChild$")
	cmd.Env = append(os.Environ(), crashFile+"="+path)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		var w, k int
		if _, err := fmt.Sscanf(lines.Text(), "ack %d %d", &w, &k); err != nil {
			continue // a line that the kill cut, or an error that the exit status tells
		}
		if k != acked[w] {
			t.Errorf("batch %d of stream %d acknowledged, want %d", k, w, acked[w])
		}
		acked[w] = k + 1
		if n++; n == 1 {
			defer time.AfterFunc(after, func() { _ = cmd.Process.Kill() }).Stop()
		}
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.Exited() {
		t.Fatalf("the child was to be killed: %v\n%s", err, stderr.String())
	}
	return n
}

// checkStream checks the tokens of a stream of n batches: spent and unspent as
// they must be, and what is spent is refused.
func checkStream(t *testing.T, l *Ledger, w, n int) {
	ctx := context.Background()
	var again []ledger.Entry
	for k := range n {
		for i, e := range crashBatch(w, k) {
			for _, id := range e.Spends {
				again = append(again, ledgertest.Spend("again "+string(id), id))
			}
			last := k == n-1 && i == 2
			if _, err := l.Token(ctx, e.Creates[0].ID); last != (err == nil) || (!last && !errors.Is(err, zkbench.ErrSpent)) {
				t.Errorf("token %s: %v", e.Creates[0].ID, err)
			}
		}
	}
	for part := range slices.Chunk(again, ledger.MaxBatch) {
		rejected, err := l.ApplyEach(ctx, part)
		if err != nil {
			t.Fatal(err)
		}
		for i, err := range rejected {
			if !errors.Is(err, zkbench.ErrSpent) {
				t.Errorf("%s: %v", part[i].Anchor, err)
			}
		}
	}
}

// TestTornCommit cuts a commit off at the disk: any part of its data, by
// sectors of 512 bytes, may have arrived; its meta page has not. The ledger
// opens to the state before.
func TestTornCommit(t *testing.T) {
	l, path := newLedger(t)
	image := func() []byte {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	rng := rand.New(rand.NewPCG(1, 2))
	var before, after []byte
	torn := filepath.Join(t.TempDir(), "torn.db")
	for k := range 30 {
		before = after
		apply(t, l, crashBatch(0, k)...)
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
			if err := os.WriteFile(torn, data, 0o600); err != nil {
				t.Fatal(err)
			}
			l, err := Open(torn)
			if err != nil {
				t.Fatalf("batch %d, %d%% written: %v", k, keep, err)
			}
			verify(t, l)
			if n := applied(t, l)[0]; n != k {
				t.Errorf("%d batches, want %d", n, k)
			}
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}
