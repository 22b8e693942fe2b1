package head_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	mathrand "math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token/identity"
	"github.com/zkbench/zkbench/token/ledger/head"
)

// opened returns the head and the time that validator v signed.
func opened(t testing.TB, signed []byte) head.Opened {
	t.Helper()
	return must.Get(head.Open(signed, home, policyOf(1, "v")))(t)
}

func TestSigner(t *testing.T) {
	t.Parallel()
	l := logOf(t, "abcdefgh")
	s, path := newSigner(t, l.head(t, 1))
	golden.Equal(t, "first", l.head(t, 1), opened(t, s.Last()).Head)
	golden.Equal(t, "its time", noon, opened(t, s.Last()).Time)
	for i, step := range []struct {
		size    int64
		at      time.Duration // after noon
		seconds int           // after noon, as signed
	}{
		{1, 0, 0},                             // the same
		{3, 1500 * time.Millisecond, 1},       // a larger one
		{3, time.Minute, 60},                  // the same, anew
		{8, 60*time.Second + 900_000_000, 60}, // within one second
		{8, -time.Hour, 60},                   // a clock that went back
		{8, 61 * time.Second, 61},             // and forward
	} {
		before := s.Last()
		old := must.Get(os.Open(path))(t)
		signed := must.Get(s.Sign(t.Context(), l.head(t, step.size), noon.Add(step.at), l.prove))(t)
		golden.Equal(t, fmt.Sprint("what a reader of the old file sees ", i), string(before), string(must.Get(io.ReadAll(old))(t)))
		must.Do(t, old.Close())
		o := opened(t, signed)
		golden.Equal(t, fmt.Sprint("head ", i), l.head(t, step.size), o.Head)
		golden.Equal(t, fmt.Sprint("time ", i), noon.Add(time.Duration(step.seconds)*time.Second), o.Time)
		golden.Equal(t, fmt.Sprint("file ", i), string(signed), string(must.Get(os.ReadFile(path))(t)))
		golden.Equal(t, fmt.Sprint("last ", i), string(signed), string(s.Last()))
	}
	// What callers get is theirs.
	clear(must.Get(s.Sign(t.Context(), l.head(t, 8), noon, unproved(t)))(t))
	clear(s.Last())
	opened(t, s.Last())

	must.Do(t, s.Close())
	must.Fail(t, s.Close(), fs.ErrClosed, "closed twice")
	must.FailGet(s.Sign(t.Context(), l.head(t, 8), noon, unproved(t)))(t, fs.ErrClosed, "after Close")
	again := openSigner(t, path)
	golden.Equal(t, "opened again", string(s.Last()), string(again.Last()))
	must.FailGet(again.Sign(t.Context(), l.head(t, 7), noon, unproved(t)))(t, head.ErrShorter, "opened again")
	signed := must.Get(again.Sign(t.Context(), l.head(t, 8), noon, unproved(t)))(t)
	golden.Equal(t, "the time that was", noon.Add(61*time.Second), opened(t, signed).Time)
}

// TestSignerRefuses: what does not extend the last head is refused by an error with both heads, and nothing changes. So
// a ledger that was rolled back, changed or exchanged has no signature.
func TestSignerRefuses(t *testing.T) {
	t.Parallel()
	l := logOf(t, "abcdefgh")
	last := l.head(t, 5)
	s, path := newSigner(t, last)
	before := string(must.Get(os.ReadFile(path))(t))
	changed, elsewhere, none, huge := logOf(t, "abXdefgh"), last, last, last
	elsewhere.Ledger[0]++
	none.Size, huge.Size = 0, head.MaxSize+1
	grown := elsewhere
	grown.Size = 8
	broken := errors.New("broken by the test")
	for name, test := range map[string]struct {
		h     head.Head
		at    time.Time
		prove func(context.Context, uint64, uint64) (tlog.TreeProof, error)
		want  error
	}{
		"a ledger rolled back":    {l.head(t, 4), noon, unproved(t), head.ErrShorter},
		"a changed record":        {changed.head(t, 5), noon, unproved(t), head.ErrForked},
		"a changed log that grew": {changed.head(t, 8), noon, changed.prove, head.ErrInconsistent},
		"a root of nothing":       {head.Head{Ledger: home, Size: 8}, noon, l.prove, head.ErrInconsistent},
		"no proof":                {l.head(t, 8), noon, func(context.Context, uint64, uint64) (tlog.TreeProof, error) { return nil, nil }, head.ErrInconsistent},
		"a proof that fails":      {l.head(t, 8), noon, func(context.Context, uint64, uint64) (tlog.TreeProof, error) { return nil, broken }, broken},
		"another ledger":          {elsewhere, noon, unproved(t), zkbench.ErrPolicy},
		"another ledger, larger":  {grown, noon, unproved(t), zkbench.ErrPolicy},
		"size 0":                  {none, noon, unproved(t), zkbench.ErrParams},
		"a size above 2^48":       {huge, noon, unproved(t), zkbench.ErrParams},
		"before 1970":             {last, time.Unix(-1, 0), unproved(t), zkbench.ErrParams},
		"after 9999":              {last, time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), unproved(t), zkbench.ErrParams},
	} {
		signed, err := s.Sign(t.Context(), test.h, test.at, test.prove)
		must.Fail(t, err, test.want, "%s", name)
		if e, ok := errors.AsType[*head.ExtendError](err); ok && (e.Kept != last || e.Told != test.h) {
			t.Errorf("%s: %v does not have both heads", name, err)
		}
		if signed != nil || string(must.Get(os.ReadFile(path))(t)) != before || string(s.Last()) != before {
			t.Errorf("%s: something was signed or stored", name)
		}
	}
	_, err := s.Sign(t.Context(), elsewhere, noon, unproved(t))
	if e, ok := errors.AsType[*head.LedgerError](err); !ok || e.Got != elsewhere.Ledger || e.Want != home {
		t.Errorf("another ledger: %v", err)
	}

	// A context that ends before the head is stored, while the proof is made or before.
	for _, early := range []bool{true, false} {
		ctx, cancel := context.WithCancel(t.Context())
		if early {
			cancel()
		}
		_, err := s.Sign(ctx, l.head(t, 8), noon, func(ctx context.Context, from, to uint64) (tlog.TreeProof, error) {
			cancel()
			return l.prove(ctx, from, to)
		})
		must.Fail(t, err, context.Canceled, "cancelled early: %t", early)
		golden.Equal(t, "cancelled", before, string(must.Get(os.ReadFile(path))(t)))
	}
	_ = must.Get(s.Sign(t.Context(), l.head(t, 8), noon, l.prove))(t)
}

// TestStoredFirst: a signature leaves only after its head is stored, and a Signer that could not store a head refuses
// all others, also those that it signed before.
func TestStoredFirst(t *testing.T) {
	t.Parallel()
	l := logOf(t, "abcdefgh")
	full := errors.New("the disk is full")
	for name, store := range map[string]func(path string, signed []byte, store func(string, []byte) error) error{
		"nothing is written": func(string, []byte, func(string, []byte) error) error { return full },
		"it is written anyway": func(path string, signed []byte, store func(string, []byte) error) error {
			return errors.Join(store(path, signed), full)
		},
	} {
		s, path := newSigner(t, l.head(t, 2))
		s.StoreWith(store)
		signed, err := s.Sign(t.Context(), l.head(t, 5), noon, l.prove)
		must.Fail(t, err, head.ErrStopped, "%s", name)
		must.Fail(t, err, full, "%s: its cause", name)
		must.Fail(t, err, zkbench.ErrEnv, "%s: its kind", name)
		if signed != nil {
			t.Errorf("%s: the signature left", name)
		}
		s.StoreWith(func(path string, signed []byte, store func(string, []byte) error) error { return store(path, signed) })
		for _, size := range []int64{2, 5, 8} {
			must.FailGet(s.Sign(t.Context(), l.head(t, size), noon, l.prove))(t, head.ErrStopped, "%s: then size %d", name, size)
		}
		must.Do(t, s.Close())
		// Whichever head the file has, the next process goes on from it.
		_ = must.Get(openSigner(t, path).Sign(t.Context(), l.head(t, 5), noon, l.prove))(t)
	}
}

// TestKilledBetween: a process that is killed while it replaces the state file leaves the old file and a new one that
// nobody reads, whole or in part, or the new file. Its signature has not left, so either head may be signed next.
func TestKilledBetween(t *testing.T) {
	t.Parallel()
	l, other := logOf(t, "abcdefgh"), logOf(t, "abcdXfgh")
	s, path := newSigner(t, l.head(t, 2))
	old := s.Last()
	written := must.Get(s.Sign(t.Context(), l.head(t, 5), noon, l.prove))(t)
	must.Do(t, s.Close())
	for _, n := range []int{0, 1, len(written) / 2, len(written)} { // before the rename
		must.Do(t, os.WriteFile(path, old, 0o600))
		must.Do(t, os.WriteFile(filepath.Join(filepath.Dir(path), fmt.Sprint(".replace", n)), written[:n], 0o600))
		s := openSigner(t, path)
		golden.Equal(t, fmt.Sprint("with ", n, " bytes of a new one"), string(old), string(s.Last()))
		_ = must.Get(s.Sign(t.Context(), other.head(t, 5), noon, other.prove))(t) // the signature of l's never left
		must.FailGet(s.Sign(t.Context(), l.head(t, 5), noon, l.prove))(t, head.ErrForked, "two roots of one size")
		must.Do(t, s.Close())
	}
	must.Do(t, os.WriteFile(path, written, 0o600)) // after the rename
	s = openSigner(t, path)
	must.FailGet(s.Sign(t.Context(), other.head(t, 5), noon, other.prove))(t, head.ErrForked, "two roots of one size")
	golden.Equal(t, "signed again", string(written), string(must.Get(s.Sign(t.Context(), l.head(t, 5), noon, unproved(t)))(t)))
}

// TestRestoredState: what the documentation says that a Signer cannot notice. A state file that itself went back is
// taken for the last one.
func TestRestoredState(t *testing.T) {
	t.Parallel()
	l, other := logOf(t, "abcdefgh"), logOf(t, "abcdXfgh")
	s, path := newSigner(t, l.head(t, 2))
	backup := must.Get(os.ReadFile(path))(t)
	_ = must.Get(s.Sign(t.Context(), l.head(t, 8), noon, l.prove))(t)
	must.Do(t, s.Close())
	must.Do(t, os.WriteFile(path, backup, 0o600))
	_ = must.Get(openSigner(t, path).Sign(t.Context(), other.head(t, 8), noon, other.prove))(t)
}

func TestOneSigner(t *testing.T) {
	t.Parallel()
	l := logOf(t, "abc")
	s, path := newSigner(t, l.head(t, 1))
	must.FailGet(head.OpenSigner(path, signerOf(t, "v"), home))(t, head.ErrLocked, "open here")
	must.FailGet(head.OpenSigner(path, signerOf(t, "v"), home))(t, zkbench.ErrEnv, "its kind")
	must.Fail(t, head.CreateSigner(path, signerOf(t, "v"), l.head(t, 1), noon), head.ErrLocked, "open here")
	// The lock outlives the state file, which each head replaces.
	_ = must.Get(s.Sign(t.Context(), l.head(t, 2), noon, l.prove))(t)
	must.FailGet(head.OpenSigner(path, signerOf(t, "v"), home))(t, head.ErrLocked, "after a head")

	must.Fail(t, child(t, path), head.ErrLocked, "in another process")
	must.Do(t, s.Close())
	must.Do(t, child(t, path))
	openSigner(t, path)
}

const childFile = "ZKBENCH_HEAD_CHILD" // the state file that TestChild opens

// child opens the state file in another process, and returns ErrLocked if it may not.
func child(t *testing.T, path string) error {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), must.Get(os.Executable())(t), "-test.run=^TestChild$")
	cmd.Env = append(os.Environ(), childFile+"="+path)
	out, err := cmd.CombinedOutput()
	if err != nil && strings.Contains(string(out), head.ErrLocked.Error()) {
		return head.ErrLocked
	}
	must.Do(t, err, string(out))
	return nil
}

func TestChild(t *testing.T) {
	path := os.Getenv(childFile)
	if path == "" {
		t.Skip("runs as the child of TestOneSigner")
	}
	openSigner(t, path)
}

func TestCreateSigner(t *testing.T) {
	t.Parallel()
	first := logOf(t, "abc").head(t, 0)
	path := filepath.Join(t.TempDir(), "heads")
	must.FailGet(head.OpenSigner(path, signerOf(t, "v"), home))(t, fs.ErrNotExist, "no file")
	golden.Equal(t, "files after that", 0, len(must.Get(os.ReadDir(filepath.Dir(path)))(t)))
	must.Fail(t, head.CreateSigner(filepath.Join(path, "below"), signerOf(t, "v"), first, noon), fs.ErrNotExist, "no folder")
	must.Fail(t, head.CreateSigner(path, signerOf(t, "v"), head.Head{Ledger: home}, noon), zkbench.ErrParams, "size 0")
	must.Fail(t, head.CreateSigner(path, signerOf(t, "v"), first, time.Time{}), zkbench.ErrParams, "the zero time")
	must.Fail(t, head.CreateSigner(path, faulty{signerOf(t, "v")}, first, noon), zkbench.ErrSignature, "a faulty key")
	for _, id := range []identity.Identity{nil, append(identity.Identity{byte(identity.TypeX509)}, make([]byte, 32)...), {byte(identity.TypeEd25519), 1}} {
		must.Fail(t, head.CreateSigner(path, otherKind{id: id}, first, noon), zkbench.ErrParams, "identity %x", id)
		must.FailGet(head.OpenSigner(path, otherKind{id: id}, home))(t, zkbench.ErrParams, "identity %x", id)
	}
	must.FailGet(os.Stat(path))(t, fs.ErrNotExist, "the file")

	must.Do(t, head.CreateSigner(path, signerOf(t, "v"), first, noon))
	written := must.Get(os.ReadFile(path))(t)
	must.Fail(t, head.CreateSigner(path, signerOf(t, "v"), logOf(t, "abX").head(t, 0), noon), fs.ErrExist, "a second one")
	golden.Equal(t, "the file", string(written), string(must.Get(os.ReadFile(path))(t)))
	golden.Equal(t, "as we would write it", string(signedBy(first.Checkpoint(), validator("v", noon))), string(written))
}

// faulty is a signer whose signatures do not verify.
type faulty struct{ identity.Signer }

func (faulty) Sign([]byte, io.Reader) ([]byte, error) { return make([]byte, 64), nil }

// otherKind is a signer with an identity that is not an Ed25519 key.
type otherKind struct {
	identity.Signer
	id identity.Identity
}

func (s otherKind) Identity() identity.Identity { return s.id }

// TestStateFile: a state file of another key or ledger, and a damaged one, is refused for its own reason.
func TestStateFile(t *testing.T) {
	t.Parallel()
	l := logOf(t, "abcde")
	s, path := newSigner(t, l.head(t, 0))
	must.Do(t, s.Close())
	good := must.Get(os.ReadFile(path))(t)
	elsewhere := l.head(t, 0)
	elsewhere.Ledger[0]++
	open := func(data []byte) error {
		must.Do(t, os.WriteFile(path, data, 0o600))
		s, err := head.OpenSigner(path, signerOf(t, "v"), home)
		if err == nil {
			_ = s.Close()
		}
		return err
	}
	must.Do(t, open(good))
	for n := range good {
		must.Fail(t, open(good[:n]), zkbench.ErrMalformed, "the first %d bytes", n)
	}
	for i := range good {
		changed := bytes.Clone(good)
		changed[i] ^= 1
		if err := open(changed); err == nil {
			t.Errorf("byte %d does not matter", i)
		}
	}
	must.Fail(t, open(bytes.Repeat(good, 1000)), zkbench.ErrLimit, "a long file")
	must.Fail(t, open(signedBy(l.head(t, 4).Checkpoint()+"more\n", validator("v", noon))), zkbench.ErrMalformed, "an extension line")

	err := open(signedBy(l.head(t, 0).Checkpoint(), validator("w", noon)))
	k, ok := errors.AsType[*head.KeyError](err)
	if !ok || !strings.HasPrefix(k.Got, validator("w", noon).name+"+") || !strings.HasPrefix(k.Want, validator("v", noon).name+"+") || !errors.Is(err, zkbench.ErrParams) {
		t.Errorf("another key: %v", err)
	}
	err = open(signedBy(elsewhere.Checkpoint(), validator("v", noon)))
	e, ok := errors.AsType[*head.LedgerError](err)
	if !ok || e.Got != elsewhere.Ledger || e.Want != home {
		t.Errorf("another ledger: %v", err)
	}
	must.Do(t, open(good), "a refused file stays unlocked")
}

// FuzzState: a state file of any bytes is refused with a typed error, or is a head of the key, which stays the last one.
func FuzzState(f *testing.F) {
	h := head.Head{Ledger: home, Size: 5, Root: [32]byte{1}}
	f.Add(signedBy(h.Checkpoint(), validator("v", noon)))
	f.Add(signedBy(h.Checkpoint(), validator("w", noon)))
	f.Add(signedBy(h.Checkpoint(), validator("v", noon))[:100])
	f.Add([]byte{})
	path := filepath.Join(f.TempDir(), "heads")
	f.Fuzz(func(t *testing.T, state []byte) {
		must.Do(t, os.WriteFile(path, state, 0o600))
		s, err := head.OpenSigner(path, signerOf(t, "v"), home)
		if err != nil {
			typed := false
			for _, cause := range []error{zkbench.ErrMalformed, zkbench.ErrSignature, zkbench.ErrPolicy, zkbench.ErrParams, zkbench.ErrLimit} {
				typed = typed || errors.Is(err, cause)
			}
			if !typed {
				t.Fatalf("untyped error: %v", err)
			}
			return
		}
		defer s.Close()
		o := opened(t, s.Last())
		forked := o.Head
		forked.Root[0] ^= 1
		must.FailGet(s.Sign(t.Context(), forked, noon, unproved(t)))(t, head.ErrForked, "another root")
	})
}

// TestNeverTwoRoots: in random histories of ledgers that grow, go back and branch off, of processes that end, and of
// writes that fail, a key signs no two roots of one size, no head that does not extend the one before, and no time
// before an earlier one.
func TestNeverTwoRoots(t *testing.T) {
	t.Parallel()
	for seed := range uint64(10) {
		rng := mathrand.New(mathrand.NewPCG(seed, 1))
		leaves := "ab"
		first := logOf(t, leaves).head(t, 0)
		s, path := newSigner(t, first)
		logs := map[[32]byte]string{first.Root: leaves}
		roots := map[uint64][32]byte{}
		var last head.Opened
		refused := 0
		for step := range 60 {
			switch rng.IntN(6) {
			case 0:
				leaves = leaves[:1+rng.IntN(len(leaves))]
			case 1:
				must.Do(t, s.Close())
				s = openSigner(t, path)
			case 2:
				written := rng.IntN(2) == 0
				s.StoreWith(func(path string, signed []byte, store func(string, []byte) error) error {
					if written {
						must.Do(t, store(path, signed))
					}
					return errors.New("broken by the test")
				})
			default:
				leaves += string(rune('a' + rng.IntN(3)))
			}
			l := logOf(t, leaves)
			h := l.head(t, 0)
			logs[h.Root] = leaves
			signed, err := s.Sign(t.Context(), h, noon.Add(time.Duration(rng.IntN(100))*time.Second), l.prove)
			if errors.Is(err, head.ErrStopped) {
				must.Do(t, s.Close())
				s = openSigner(t, path)
				continue
			}
			if err != nil {
				refused++
				leaves = logs[opened(t, s.Last()).Root] // the operator brings back the log that was signed
				continue
			}
			o := opened(t, signed)
			if root, ok := roots[o.Size]; ok && root != o.Root {
				t.Fatalf("seed %d, step %d: two roots of size %d", seed, step, o.Size)
			}
			if o.Head != h || o.Time.Before(last.Time) || !strings.HasPrefix(leaves, logs[last.Root]) {
				t.Fatalf("seed %d, step %d: signed %v after %v", seed, step, o, last)
			}
			roots[o.Size], last = o.Root, o
		}
		if refused == 0 || len(roots) < 5 {
			t.Errorf("seed %d: %d refused, %d sizes signed", seed, refused, len(roots))
		}
		must.Do(t, s.Close())
	}
}

// TestKeyIsNotPrinted: no way of printing a Signer shows its secret.
func TestKeyIsNotPrinted(t *testing.T) {
	t.Parallel()
	s, _ := newSigner(t, logOf(t, "a").head(t, 0))
	seed := privateKey("v").Seed()
	for _, format := range []string{"%v", "%+v", "%#v", "%s", "%x"} {
		text := fmt.Sprintf(format, s)
		for _, secret := range []string{hex.EncodeToString(seed), fmt.Sprint(seed), string(seed), strings.Trim(fmt.Sprintf("%#v", seed), "[]byte{}")} {
			if strings.Contains(text, secret) {
				t.Errorf("%s prints the key", format)
			}
		}
	}
}

// TestSignerOfLink: a state file has one lock, by whatever name it is opened.
func TestSignerOfLink(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "state"), filepath.Join(dir, "link")
	key := signerOf(t, "anna")
	must.Do(t, head.CreateSigner(path, key, head.Head{Ledger: home, Size: 1}, noon))
	if err := os.Symlink(path, link); err != nil {
		t.Skip(err)
	}
	s := must.Get(head.OpenSigner(path, key, home))(t)
	defer s.Close()
	must.FailGet(head.OpenSigner(link, key, home))(t, head.ErrLocked, "by a link")
}

// TestLockRemoved: a Signer whose lock's file was removed signs no more, since another one may have opened the state file.
func TestLockRemoved(t *testing.T) {
	a, b := logOf(t, "abc"), logOf(t, "abd")
	first, path := newSigner(t, a.head(t, 2))
	must.Do(t, os.Remove(path+".lock"))
	second := openSigner(t, path)
	_, err := first.Sign(t.Context(), a.head(t, 3), noon, a.prove)
	must.Fail(t, err, head.ErrStopped, "without its lock")
	must.Get(second.Sign(t.Context(), b.head(t, 3), noon, b.prove))(t)
}
