package postgres

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/ledgertest"
)

const (
	childURL    = "ZKBENCH_LEDGER_URL"    // the server of a child
	childSchema = "ZKBENCH_LEDGER_SCHEMA" // its ledger
	childName   = "ZKBENCH_LEDGER_CHILD"  // who it is
)

// child returns a command that runs one test of this binary on the ledger.
func child(t *testing.T, test, schema, name string) *exec.Cmd {
	t.Helper()
	exe := must.Get(os.Executable())(t)
	cmd := exec.Command(exe, "-test.run=^"+test+"$")
	cmd.Env = append(os.Environ(), childURL+"="+server.URL(t), childSchema+"="+schema, childName+"="+name)
	return cmd
}

// childLedger opens a child's ledger. If the process is not a child, it skips the test.
func childLedger(t *testing.T) *Ledger {
	t.Helper()
	url := os.Getenv(childURL)
	if url == "" {
		t.Skip("runs as a child of another test")
	}
	return open(t, url, os.Getenv(childSchema))
}

const contested = 64 // tokens that two processes want

// TestRaceChild is a child of TestTwoProcesses: goroutines spend all tokens, each
// in an order of its own, and the standard output says what was won.
func TestRaceChild(t *testing.T) {
	l := childLedger(t)
	name := os.Getenv(childName)
	tokens := ledgertest.Issue("issue", contested).Creates
	fmt.Println("ready")
	_, _ = io.ReadAll(os.Stdin) // until the other one is ready too
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			order := rand.New(rand.NewPCG(1, uint64(w)))
			for i, k := range order.Perm(contested) {
				e := ledgertest.Spend(fmt.Sprintf("%s/%d/%d", name, w, i), tokens[k].ID, tokens[(k+1)%contested].ID)
				if order.IntN(2) == 0 {
					e.Spends = e.Spends[:1]
				}
				switch err := l.Apply(context.Background(), []ledger.Entry{e}); {
				case err == nil:
					fmt.Printf("won %s\n", e.Anchor)
				case !errors.Is(err, zkbench.ErrSpent):
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

// TestTwoProcesses has two processes spend the same tokens: each token has one
// winner, and the log is what the winners were told.
func TestTwoProcesses(t *testing.T) {
	l, schema := newLedger(t)
	ledgertest.Apply(t, l, ledgertest.Issue("issue", contested))
	var mu sync.Mutex
	won := map[string]bool{}
	var ready, ended sync.WaitGroup
	start := make(chan struct{})
	for _, name := range []string{"a", "b"} {
		cmd := child(t, "TestRaceChild", schema, name)
		in := must.Get(cmd.StdinPipe())(t)
		out := must.Get(cmd.StdoutPipe())(t)
		must.Do(t, cmd.Start())
		ready.Add(1)
		ended.Go(func() {
			lines := bufio.NewScanner(out)
			if !lines.Scan() || lines.Text() != "ready" {
				t.Errorf("%s is not ready: %s", name, lines.Text())
			}
			ready.Done()
			<-start
			_ = in.Close()
			for lines.Scan() {
				if anchor, ok := strings.CutPrefix(lines.Text(), "won "); ok {
					mu.Lock()
					won[anchor] = true
					mu.Unlock()
				}
			}
			if err := cmd.Wait(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	ready.Wait()
	close(start)
	ended.Wait()

	spender := map[string]string{}
	winners := map[byte]int{}
	for _, r := range ledgertest.Records(t, l, 2) {
		if !won[string(r.Anchor)] {
			t.Errorf("request %d: %s is on the ledger, and was not told so", r.Seq, r.Anchor)
		}
		delete(won, string(r.Anchor))
		winners[r.Anchor[0]]++
		for _, id := range r.Spends {
			if other, twice := spender[string(id)]; twice {
				t.Errorf("request %d: %s spends %s, as %s did", r.Seq, r.Anchor, id, other)
			}
			spender[string(id)] = string(r.Anchor)
		}
	}
	if len(won) > 0 {
		t.Errorf("not on the ledger, and told that they are: %v", won)
	}
	golden.Equal(t, "tokens that are spent", contested, len(spender))
	t.Logf("requests by process: %v", winners)
	ledgertest.Verify(t, l)
}

// TestCrashChild is the child of TestCrash.
func TestCrashChild(t *testing.T) { ledgertest.Stream(t, childLedger(t)) }

// TestCrash kills a process that applies batches, at random points: every
// acknowledged batch is on the ledger, whole, and other processes go on.
func TestCrash(t *testing.T) {
	kills := testsize.Pick(10, 10, 200)
	rng := rand.New(rand.NewPCG(rand.Uint64(), 1))
	var l *Ledger
	var schema string
	var acked ledgertest.Counts
	for i := range kills {
		if i%10 == 0 {
			l, schema = newLedger(t)
			acked = ledgertest.Counts{}
		}
		ledgertest.Kill(t, child(t, "TestCrashChild", schema, ""), time.Duration(rng.IntN(60_000))*time.Microsecond, &acked)
		// The server may still be at the child's last transaction, and is not after
		// a later one.
		ledgertest.Apply(t, l)
		ledgertest.Verify(t, l)
		acked = ledgertest.Survived(t, l, acked)
		ledgertest.StateSurvived(t, l)
		ledgertest.HeadsSurvived(t, l, acked)
	}
}

// TestServerCrash ends the server and single sessions while batches are applied.
func TestServerCrash(t *testing.T) {
	l, schema := newLedger(t)
	watch := func() int { // the process of one session of the ledger, none: 0
		conn := connect(t, schema)
		var pid int
		must.Do(t, conn.QueryRow(context.Background(), `SELECT coalesce(max(pid), 0) FROM pg_stat_activity
			WHERE pid <> pg_backend_pid() AND query LIKE '%' || $1 || '%'`, schema).Scan(&pid))
		_ = conn.Close(context.Background())
		return pid
	}
	disturbed(t, l, 6, func(i int) {
		if i%2 == 0 {
			server.Restart(t)
			return
		}
		pid := 0
		for pid == 0 {
			pid = watch()
		}
		process := must.Get(os.FindProcess(pid))(t)
		must.Do(t, process.Kill())
		server.Recovered()
	})
}

// disturbed calls disturb several times, with 0, 1 and so on, while batches are applied. Callers that repeat a batch
// until they know of it have it applied once, and the ledger goes on with fresh connections.
func disturbed(t *testing.T, l *Ledger, times int, disturb func(i int)) {
	t.Helper()
	stop, acks := make(chan struct{}), make(chan struct{}, ledgertest.Streams)
	var applied ledgertest.Counts
	var unknown, refused [ledgertest.Streams]int
	var wg sync.WaitGroup
	for w := range ledgertest.Streams {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				switch err := l.Apply(context.Background(), ledgertest.StreamBatch(w, applied[w])); {
				case err == nil:
					applied[w]++
					select {
					case acks <- struct{}{}:
					default:
					}
				case errors.Is(err, zkbench.ErrOutcomeUnknown):
					unknown[w]++
				case errors.Is(err, zkbench.ErrEnv):
					refused[w]++
				default:
					t.Error(err)
					return
				}
			}
		})
	}
	for i := range times {
		for range 40 {
			<-acks
		}
		disturb(i)
	}
	close(stop)
	wg.Wait()
	t.Logf("applied %v, unknown %v, refused %v", applied, unknown, refused)
	for w := range applied { // what the last answer left open
		ledgertest.Apply(t, l, ledgertest.StreamBatch(w, applied[w])...)
		applied[w]++
	}
	ledgertest.Verify(t, l)
	golden.Equal(t, "batches on the ledger, and applied", applied, ledgertest.Survived(t, l, applied))
}
