package bolt

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.etcd.io/bbolt"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/ledgertest"
)

const (
	smallPage  = 1024
	headerLen  = 16 // of a page
	elementLen = 16 // of an element behind it
)

// victim is a small ledger as bytes, also as it was some batches before, with what readers must see of it.
type victim struct {
	data, earlier []byte
	spent         []token.ID
	unspent       []token.ID
	state         string
	needed        int64 // bytes up to the last page
}

func newVictim(t testing.TB) *victim {
	path := filepath.Join(t.TempDir(), "victim.db")
	empty(t, path, smallPage)
	l := must.Get(Open(path))(t)
	settings(t, l, func(db *bbolt.DB) { db.NoSync = true })
	v := &victim{}
	rng := rand.New(rand.NewPCG(1, 3))
	for k := range 12 {
		var batch []ledger.Entry
		for i := range 4 {
			e := ledgertest.Issue(fmt.Sprintf("request %d/%d", k, i), 2)
			e.Request = bytes.Repeat([]byte{byte(k)}, 200+900*(i/3)) // some with overflow pages
			for range min(len(v.unspent), rng.IntN(3)) {
				at := rng.IntN(len(v.unspent))
				e.Spends = append(e.Spends, v.unspent[at])
				v.spent = append(v.spent, v.unspent[at])
				v.unspent = append(v.unspent[:at], v.unspent[at+1:]...)
			}
			for _, c := range e.Creates {
				v.unspent = append(v.unspent, c.ID)
			}
			batch = append(batch, e)
		}
		must.Do(t, l.ApplyState(context.Background(), batch, bytes.Repeat([]byte{byte(k)}, 300)))
		if k == 7 {
			v.earlier = must.Get(os.ReadFile(path))(t)
		}
	}
	v.state = must.Get(v.dump(l))(t)
	must.Do(t, l.view(func(tx *bbolt.Tx) error { v.needed = tx.Size(); return nil }))
	must.Do(t, l.Close())
	v.data = must.Get(os.ReadFile(path))(t)
	return v
}

// dump returns all that readers see of the ledger.
func (v *victim) dump(l *Ledger) (string, error) {
	ctx := context.Background()
	var b bytes.Buffer
	s, err := l.State(ctx)
	if err != nil {
		return "", err
	}
	fmt.Fprintf(&b, "%+v\n", s)
	for r, err := range l.Log(ctx, 0) {
		if err != nil {
			return "", err
		}
		at, found, err := l.Record(ctx, r.Anchor)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "%d %x %x %v\n", r.Seq, r.Append(nil), at.Append(nil), found)
		for _, c := range r.Creates {
			data, err := l.Token(ctx, c.ID)
			if err != nil && !errors.Is(err, zkbench.ErrSpent) {
				return "", err
			}
			fmt.Fprintf(&b, "%s %s %v\n", c.ID, data, err)
		}
	}
	return b.String(), nil
}

// outcome says what became of a corrupted file.
type outcome string

const (
	refused    outcome = "refused to open"
	reported   outcome = "reported by verify"
	unaffected outcome = "unaffected"
)

// try opens a damaged copy. It fails the test on a panic, on a write after a failed opening, on a change
// that is not reported, and on a token that is spent or created twice.
func (v *victim) try(t *testing.T, path, what string, data []byte) outcome {
	t.Helper()
	must.Do(t, os.WriteFile(path, data, 0o600))
	l, err := Open(path)
	if err != nil {
		must.Fail(t, err, zkbench.ErrMalformed, "%s: open", what)
		if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, data) {
			t.Errorf("%s: written to on opening, or %v", what, err)
		}
		return refused
	}
	defer l.Close()
	settings(t, l, func(db *bbolt.DB) { db.NoSync = true })
	result := unaffected
	if _, err := l.Verify(context.Background(), nil); err != nil {
		ledgertest.Corrupt(t, err, "", fmt.Sprintf("%s: verify", what))
		result = reported
	} else if got, err := v.dump(l); err != nil {
		t.Errorf("%s: not reported: %v", what, err)
	} else if diff := cmp.Diff(v.state, got); diff != "" {
		t.Errorf("%s: not reported (-want +got):\n%s", what, diff)
	}
	v.attack(t, l, what, v.spent)
	// A payment that may pass, or find the damage; then all once more.
	pay := ledgertest.Spend("pay", v.unspent[0])
	if err := l.Apply(context.Background(), []ledger.Entry{pay}); err == nil {
		v.attack(t, l, what, append([]token.ID{v.unspent[0]}, v.spent...))
	} else if result == unaffected {
		t.Errorf("%s: a good payment is refused: %v", what, err)
	}
	return result
}

// attack tries to spend each token, and to create it again.
func (v *victim) attack(t *testing.T, l *Ledger, what string, spent []token.ID) {
	t.Helper()
	var batch []ledger.Entry
	for _, id := range spent {
		again := ledgertest.Issue("again "+string(id), 1)
		again.Creates[0].ID = id
		batch = append(batch, ledgertest.Spend("twice "+string(id), id), again)
	}
	rejected, err := l.ApplyEach(context.Background(), batch)
	if err != nil {
		return // the ledger found the damage, and stops
	}
	for i, err := range rejected {
		if err == nil {
			t.Errorf("%s: accepted: %s", what, batch[i].Anchor)
		}
	}
}

// TestCorrupt damages every page of a ledger: its header and random bytes by a
// bit each (every byte in the long form), the whole page by zeros, noise,
// another page, and what stood there some batches before. The short form takes
// every twentieth page, and their neighbours until each outcome was seen: which
// pages are in use differs from run to run. TestCorrupt counts on the structure
// to be caught on opening, and says what was.
func TestCorrupt(t *testing.T) {
	v := newVictim(t)
	path := filepath.Join(t.TempDir(), "ledger.db")
	if got := v.try(t, path, "intact", v.data); got != unaffected {
		t.Fatalf("intact: %s", got)
	}
	rng := rand.New(rand.NewPCG(1, 4))
	counts := map[outcome]int{}
	pages := len(v.data) / smallPage
	corrupt := func(page int) {
		at := page * smallPage
		damage := func(what string, change func(page []byte)) {
			data := bytes.Clone(v.data)
			change(data[at : at+smallPage])
			if !bytes.Equal(data, v.data) {
				counts[v.try(t, path, fmt.Sprintf("page %d: %s", page, what), data)]++
			}
		}
		flip := func(i int) {
			bit := byte(1) << rng.IntN(8)
			damage(fmt.Sprintf("byte %d ^ %#x", i, bit), func(p []byte) { p[i] ^= bit })
		}
		if testsize.Long() {
			for i := range smallPage {
				flip(i)
			}
		} else {
			for i := range headerLen + elementLen {
				flip(i)
			}
			for range 16 {
				flip(rng.IntN(smallPage))
			}
		}
		damage("zeros", func(p []byte) { clear(p) })
		damage("noise", func(p []byte) {
			for i := range p {
				p[i] = byte(rng.Uint32())
			}
		})
		damage("noise behind the header", func(p []byte) {
			for i := headerLen; i < len(p); i++ {
				p[i] = byte(rng.Uint32())
			}
		})
		damage("another page", func(p []byte) { copy(p, v.data[rng.IntN(pages)*smallPage:]) })
		if at+smallPage <= len(v.earlier) {
			damage("an earlier version", func(p []byte) { copy(p, v.earlier[at:]) })
		}
	}
	outcomes := []outcome{refused, reported, unaffected}
	unseen := func(o outcome) bool { return counts[o] == 0 }
	stride := testsize.Pick(20, 1, 1)
	for first := 0; first < stride && slices.ContainsFunc(outcomes, unseen); first++ {
		for page := first; page < pages; page += stride {
			corrupt(page)
		}
	}
	t.Logf("%d pages: %v", pages, counts)
	for _, o := range outcomes {
		if unseen(o) {
			t.Errorf("nothing was %s", o)
		}
	}
}

// TestTruncate cuts the file at every page (every tenth in the short form), and a byte
// before and after.
func TestTruncate(t *testing.T) {
	v := newVictim(t)
	path := filepath.Join(t.TempDir(), "ledger.db")
	for n := 0; n < len(v.data); n += testsize.Pick(10, 1, 1) * smallPage {
		for _, size := range []int{n - 1, n, n + 1} {
			if size < 0 {
				continue
			}
			want := refused
			if int64(size) >= v.needed {
				want = unaffected
			}
			golden.Equal(t, fmt.Sprintf("size %d, needed are %d", size, v.needed), want, v.try(t, path, fmt.Sprintf("size %d", size), v.data[:size]))
		}
	}
}
