package head_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/bolt"
	"github.com/zkbench/zkbench/token/ledger/head"
	"github.com/zkbench/zkbench/token/ledger/ledgertest"
)

const killDir = "ZKBENCH_HEAD_KILL" // the folder of the child of TestKilled

// lives is a ledger with the validator v, whose process is killed again and again.
type lives struct {
	ledger, state string              // paths
	acked         ledgertest.Counts   // batches
	signed        map[uint64][32]byte // roots of the heads that have left the validator, by size
	newest        uint64              // the largest size
}

var (
	livesGenesis = ledger.Genesis{Nonce: [32]byte{7}}
	livesPolicy  = policyOf(1, "v")
)

func livesIn(dir string) *lives {
	return &lives{ledger: filepath.Join(dir, "ledger.db"), state: filepath.Join(dir, "state"), signed: map[uint64][32]byte{}}
}

func newLives(t *testing.T) *lives {
	l := livesIn(t.TempDir())
	must.Do(t, must.Get(bolt.Create(l.ledger, livesGenesis))(t).Close())
	edge := ledger.NewEdge(livesGenesis)
	must.Do(t, head.CreateSigner(l.state, signerOf(t, "v"), head.Head{Ledger: livesGenesis.ID(), Size: 1, Root: edge.Root()}, noon))
	return l
}

func (l *lives) open(t *testing.T) (*bolt.Ledger, *head.Signer) {
	return must.Get(bolt.Open(l.ledger))(t), must.Get(head.OpenSigner(l.state, signerOf(t, "v"), livesGenesis.ID()))(t)
}

// The lines of a child, besides those of ledgertest.Stream.
const (
	toldHead    = "head "    // and the signed head in base64, and a full stop
	toldRefused = "refused " // and why no head is signed
)

// TestKilledChild is the child of TestKilled. It applies batches on some goroutines and keeps heads beside them. It
// prints each batch that is acknowledged, each head that leaves the Signer, and why none does, until it is killed.
func TestKilledChild(t *testing.T) {
	dir := os.Getenv(killDir)
	if dir == "" {
		t.Skip("runs as the child of TestKilled")
	}
	store, signer := livesIn(dir).open(t)
	keeper := &head.Keeper{Store: telling{store}, Signer: signer, Policy: livesPolicy, Interval: time.Millisecond}
	if _, err := keeper.Sign(t.Context()); err != nil {
		fmt.Printf("%s%v\n", toldRefused, err)
	}
	go func() {
		for range time.Tick(time.Millisecond) {
			fmt.Printf("%s%v\n", toldRefused, keeper.Run(context.Background()))
		}
	}()
	ledgertest.Stream(t, headless{store})
}

// headless is a ledger that ignores heads. Stream puts some that are not signed.
type headless struct{ *bolt.Ledger }

func (headless) PutHead(context.Context, uint64, []byte, bool) error { return nil }

// telling is a ledger that prints each head before it stores it.
type telling struct{ *bolt.Ledger }

func (l telling) PutHead(ctx context.Context, leaves uint64, signed []byte, counts bool) error {
	fmt.Printf("%s%s.\n", toldHead, base64.StdEncoding.EncodeToString(signed))
	return l.Ledger.PutHead(ctx, leaves, signed, counts)
}

// TestKilled kills a process that applies batches and signs heads, at random points, and starts it again on the same
// files. Every third process gets an older copy of the ledger, and the next one the newest file again. The test checks:
//
//   - Of all heads that ever left the validator, no two have one size and different roots.
//   - Each of these heads is one of the ledger's log. The state file has the last one.
//   - Acknowledged batches are on the ledger.
//   - The validator continues after a kill, and signs nothing on the older copy.
func TestKilled(t *testing.T) {
	kills, perLedger := testsize.Pick(12, 60, 600), 12
	rng := rand.New(rand.NewPCG(rand.Uint64(), 1))
	var l *lives
	var older []byte
	for i := range kills {
		if i%perLedger == 0 {
			l = newLives(t)
		}
		if i%3 == 0 {
			older = must.Get(os.ReadFile(l.ledger))(t)
		}
		if i%3 == 2 {
			l.restored(t, older)
			continue
		}
		heads, refused := l.live(t, time.Duration(rng.IntN(60_000))*time.Microsecond, &l.acked)
		if len(heads) == 0 || len(refused) > 0 {
			t.Errorf("life %d: %d heads, refused: %q", i, len(heads), refused)
		}
		l.survived(t, heads)
	}
}

// live kills a child some time after its first line. It returns the heads that left the child, and the reasons why it
// signed none.
func (l *lives) live(t *testing.T, after time.Duration, acked *ledgertest.Counts) (heads []head.Opened, refused []string) {
	t.Helper()
	cmd := exec.Command(must.Get(os.Executable())(t), "-test.run=^TestKilledChild$")
	cmd.Env = append(os.Environ(), killDir+"="+filepath.Dir(l.ledger))
	ledgertest.KillAfter(t, cmd, after, func(line string) bool {
		if reason, ok := strings.CutPrefix(line, toldRefused); ok {
			refused = append(refused, reason)
			return true
		}
		signed, ok := strings.CutPrefix(strings.TrimSuffix(line, "."), toldHead)
		if ok && strings.HasSuffix(line, ".") { // the last line may be cut off
			heads = append(heads, l.left(t, must.Get(base64.StdEncoding.DecodeString(signed))(t)))
			return true
		}
		return acked.Acknowledge(t, line)
	})
	return heads, refused
}

// left notes a signed head that has left the validator.
func (l *lives) left(t *testing.T, signed []byte) head.Opened {
	t.Helper()
	o := must.Get(head.Open(signed, livesGenesis.ID(), livesPolicy))(t)
	if root, there := l.signed[o.Size]; there && root != o.Root {
		t.Fatalf("two roots are signed for size %d", o.Size)
	}
	l.signed[o.Size], l.newest = o.Root, max(l.newest, o.Size)
	return o
}

// survived checks the files after a life in which these heads left the validator.
func (l *lives) survived(t *testing.T, heads []head.Opened) {
	t.Helper()
	store, signer := l.open(t)
	defer store.Close()
	defer signer.Close()
	l.acked = ledgertest.Survived(t, store, l.acked)
	last := l.left(t, signer.Last())
	golden.Equal(t, "size in the state file", l.newest, last.Size)
	heads = append(heads, last)
	if signed := must.Get(store.Head(t.Context()))(t); signed != nil { // or it was killed before it stored the first
		heads = append(heads, l.left(t, signed))
	}
	for _, o := range heads {
		root := must.Get(tlog.TreeHash(int64(o.Size), tlog.HashReaderFunc(func(indexes []int64) ([]tlog.Hash, error) {
			return store.Hashes(t.Context(), indexes)
		})))(t)
		golden.Equal(t, "signed root", root, tlog.Hash(o.Root))
	}
}

// restored runs a process on an older copy of the ledger that continues differently, and puts the newest file back.
func (l *lives) restored(t *testing.T, older []byte) {
	t.Helper()
	newest := must.Get(os.ReadFile(l.ledger))(t)
	must.Do(t, os.WriteFile(l.ledger, older, 0o600))
	store := must.Get(bolt.Open(l.ledger))(t)
	acked, behind := ledgertest.Applied(t, store), ledgertest.State(t, store).Last+1 < l.newest
	other := ledgertest.StreamBatch(0, acked[0])
	other[0].Request[0]++ // so that the log is never the one that was signed
	ledgertest.Apply(t, store, other...)
	acked[0]++
	must.Do(t, store.Close())
	if behind {
		heads, refused := l.live(t, 30*time.Millisecond, &acked)
		if len(heads) > 0 || len(refused) == 0 {
			t.Errorf("%d heads of an older copy, refused: %q", len(heads), refused)
		}
		store, signer := l.open(t)
		ledgertest.Survived(t, store, acked)
		golden.Equal(t, "size in the state file", l.newest, l.left(t, signer.Last()).Size)
		if signed := must.Get(store.Head(t.Context()))(t); signed != nil {
			l.left(t, signed)
		}
		must.Do(t, errors.Join(store.Close(), signer.Close()))
	}
	must.Do(t, os.WriteFile(l.ledger, newest, 0o600))
	l.survived(t, nil)
}
