package ledgertest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/ledger"
)

// Streams is the number of streams in a test that kills the process. Each stream is a sequence of batches
// that one goroutine applies.
const Streams = 4

// Counts is a list with one number of batches for each stream.
type Counts [Streams]int

// StreamBatch returns batch k of stream w. It has three entries: the first spends the token that batch k-1
// has left unspent, and each other entry spends a token that the entry before it has created.
func StreamBatch(w, k int) []ledger.Entry {
	name := func(k, i int) string { return fmt.Sprintf("%d/%d/%d", w, k, i) }
	batch := []ledger.Entry{Issue(name(k, 0), 2)}
	if k > 0 {
		batch[0].Spends = []token.ID{token.ID(name(k-1, 2) + "/0")}
	}
	for i := 1; i < 3; i++ {
		batch = append(batch, Spend(name(k, i), token.ID(name(k, i-1)+"/0")))
	}
	for i := range batch {
		batch[i].Request = make([]byte, 3000)
	}
	return batch
}

// Applied returns how many batches of each stream are on the ledger. It fails the test if a batch
// is there only in part, or if batches are out of order.
func Applied(t testing.TB, l ledger.Store) (counts Counts) {
	t.Helper()
	var entries Counts
	for _, r := range Records(t, l, 0) {
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

// Stream applies the next batches of all streams until the process is killed. Together with each batch,
// Stream stores the state that StreamState returns for that batch. It then prints a line on standard
// output that acknowledges the batch. Before each batch of stream 0 it puts a head (HeadsSurvived).
func Stream(t testing.TB, l ledger.Store) {
	counts := Applied(t, l)
	var wg sync.WaitGroup
	for w := range Streams {
		wg.Go(func() {
			for k := counts[w]; ; k++ {
				var err error
				if w == 0 {
					err = streamHead(context.Background(), l, k)
				}
				if err == nil {
					err = l.ApplyState(context.Background(), StreamBatch(w, k), StreamState(w, k))
				}
				if err != nil {
					t.Error(err)
					return
				}
				fmt.Printf("ack %d %d\n", w, k)
			}
		})
	}
	wg.Wait()
}

// Kill starts a command that calls Stream. It kills the command when the given time has passed since the
// first acknowledgement. It adds the number of acknowledged batches of each stream to acked, and returns the
// number of all acknowledged batches.
func Kill(t testing.TB, cmd *exec.Cmd, after time.Duration, acked *Counts) (n int) {
	t.Helper()
	return KillAfter(t, cmd, after, func(line string) bool { return acked.Acknowledge(t, line) })
}

// Acknowledge counts the batch that a line of Stream's output acknowledges, and reports whether it is such a line. It
// fails the test if the batch is not the next one of its stream.
func (c *Counts) Acknowledge(t testing.TB, line string) bool {
	t.Helper()
	var w, k int
	if _, err := fmt.Sscanf(line, "ack %d %d", &w, &k); err != nil {
		return false
	}
	if k != c[w] {
		t.Errorf("batch %d of stream %d acknowledged, want %d", k, w, c[w])
	}
	c[w] = k + 1
	return true
}

// KillAfter starts a command. It kills the command when the given time has passed since the first line of
// output for which the function acknowledgement returns true. KillAfter returns the number of lines for which
// that function returns true. It ignores other lines: the line that was cut off when the process was killed,
// and errors, which the exit status reports too.
func KillAfter(t testing.TB, cmd *exec.Cmd, after time.Duration, acknowledgement func(line string) bool) (n int) {
	t.Helper()
	var stderr strings.Builder
	cmd.Stderr = &stderr
	cmd.Env = append(cmd.Environ(), "TMPDIR="+t.TempDir()) // a killed process leaves its files there
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if !acknowledgement(lines.Text()) {
			continue
		}
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

// Survived checks a ledger after a Kill, and returns how many batches of each stream it has. The ledger
// must have every acknowledged batch, whole, and at most one more batch of each stream. Every token that
// was spent must still be spent.
func Survived(t testing.TB, l ledger.Store, acked Counts) Counts {
	t.Helper()
	counts := Applied(t, l)
	for w, n := range counts {
		if n != acked[w] && n != acked[w]+1 {
			t.Fatalf("stream %d has %d batches, acknowledged were %d", w, n, acked[w])
		}
		checkStream(t, l, w, n)
	}
	return counts
}

// checkStream checks that the tokens of a stream of n batches are spent or unspent as they must be,
// and that spending them again is rejected.
func checkStream(t testing.TB, l ledger.Store, w, n int) {
	t.Helper()
	ctx := context.Background()
	var again []ledger.Entry
	for k := range n {
		for i, e := range StreamBatch(w, k) {
			for _, id := range e.Spends {
				again = append(again, Spend("again "+string(id), id))
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
