package service_test

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/tlog"
	"pgregory.net/rapid"

	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token/identity"
	ledgers "github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/bolt"
	"github.com/zkbench/zkbench/token/ledger/head"
	"github.com/zkbench/zkbench/token/service"
)

// beginning is what the histories of TestHistories under one policy share.
type beginning struct {
	*world
	entries []ledgers.Entry
	letters map[string]string // of the entries, by anchor
	names   []string          // of the validators
	keys    map[string]identity.Signer
	alice   *service.Keys     // each entry pays 1 to her
	files   map[string][]byte // by name: an empty ledger with its head, her vault, and a state file for each validator
	dir     string            // of the files of histories
}

// The names of files, besides those of validators.
const (
	ledgerFile = "ledger"
	vaultFile  = "vault"
)

func newBeginning(t *testing.T, dir string, threshold int, names ...string) *beginning {
	w := governed(t, validators(threshold, names...))
	b := &beginning{world: w, letters: map[string]string{}, names: names, keys: map[string]identity.Signer{}, alice: w.key(t, "alice"), files: map[string][]byte{}, dir: dir}
	to := must.Get(b.alice.Address(&w.params.Policy, nil))(t)
	for _, letter := range "abcdefghijkl" {
		w.land(t, must.Get(w.issuer.Issue(t.Context(), paying(to, 1)))(t))
		e := w.ledger.log[len(b.entries)].Entry
		b.entries, b.letters[string(e.Anchor)] = append(b.entries, e), string(letter)
	}
	edge := ledgers.NewEdge(w.genesis)
	first := head.Head{Ledger: w.genesis.ID(), Size: 1, Root: edge.Root()}
	path := func(name string) string { return filepath.Join(w.dir, name) }
	l := must.Get(bolt.Create(path(ledgerFile), w.genesis))(t)
	must.Do(t, l.PutHead(t.Context(), first.Size, signedHead(first, blockTime, names...), true))
	must.Do(t, l.Close())
	v := must.Get(service.CreateVault(path(vaultFile), w.genesis))(t)
	must.Get(w.wallet.With(v, b.alice))(t)
	must.Do(t, v.Close())
	for _, name := range names {
		b.keys[name] = key(t, name) // headKey has the same seed
		must.Do(t, head.CreateSigner(path(name), b.keys[name], first, blockTime))
	}
	for _, name := range append([]string{ledgerFile, vaultFile}, names...) {
		b.files[name] = must.Get(os.ReadFile(path(name)))(t)
	}
	return b
}

// memoryDir returns a new folder, in memory if the system has a folder for that. There, flushes take no time.
func memoryDir(t testing.TB) (dir string, inMemory bool) {
	dir, err := os.MkdirTemp("/dev/shm", "zkbench")
	if err != nil {
		return t.TempDir(), false
	}
	t.Cleanup(func() { must.Do(t, os.RemoveAll(dir)) })
	return dir, true
}

// story is a history of ledgers with its model.
type story struct {
	*beginning
	past
	outcomes  map[string]int
	dir       string
	paths     int // that were given to files
	now       time.Time
	sites     []*site
	seats     []*seat
	followers []*observer
	backups   []saved
}

// site is a process that has a ledger open.
type site struct {
	*bolt.Ledger
	path string
	log  string // what it must have
}

// seat is a validator in the process of a site.
type seat struct {
	name, path string // of the state file
	at         *site
	signer     *head.Signer
	keeper     *head.Keeper
}

// observer is a follower: Alice's wallet, or a program that keeps only the last head.
type observer struct {
	log    string // what it must have accepted
	path   string // of Alice's vault, or ""
	wallet *service.Wallet
	kept   head.Head
}

// saved is a copy of a ledger's file.
type saved struct {
	file []byte
	log  string
}

func (b *beginning) story(t *rapid.T, outcomes map[string]int) *story {
	h := &story{
		beginning: b, past: past{map[[32]byte]string{}, map[[ed25519.PublicKeySize]byte]string{}}, outcomes: outcomes,
		dir: must.Get(os.MkdirTemp(b.dir, "history"))(t), now: blockTime, backups: []saved{{b.files[ledgerFile], ""}},
	}
	h.openSite(t, h.backups[0])
	for _, name := range b.names {
		v := &seat{name: name, path: h.file(t, b.files[name]), at: h.sites[0]}
		h.seats = append(h.seats, v)
		h.sit(t, v)
	}
	first := head.Head{Ledger: b.genesis.ID(), Size: 1, Root: h.sites[0].root(t)}
	for _, path := range []string{"", h.file(t, b.files[vaultFile])} {
		o := &observer{path: path, kept: first}
		h.followers = append(h.followers, o)
		o.open(t, h)
	}
	return h
}

// end closes and removes all files. A failed history may have closed some already.
func (h *story) end() {
	for _, s := range h.sites {
		_ = s.Close()
	}
	for _, v := range h.seats {
		_ = v.signer.Close()
	}
	for _, o := range h.followers {
		o.close()
	}
	_ = os.RemoveAll(h.dir)
}

// file makes a file, and returns its path.
func (h *story) file(t *rapid.T, data []byte) string {
	h.paths++
	path := filepath.Join(h.dir, fmt.Sprint(h.paths))
	h.write(t, map[string][]byte{path: data})
	return path
}

// write writes files at paths.
func (h *story) write(t *rapid.T, files map[string][]byte) {
	for path, data := range files {
		must.Do(t, os.WriteFile(path, data, 0o600))
	}
}

// openSite opens a copy of a ledger.
func (h *story) openSite(t *rapid.T, from saved) {
	s := &site{path: h.file(t, from.file)}
	h.sites = append(h.sites, s)
	h.open(t, s, from.log)
}

// open opens a site's ledger, which must have one of the given logs.
func (h *story) open(t *rapid.T, s *site, possible ...string) {
	s.Ledger, s.log = must.Get(bolt.Open(s.path))(t), ""
	for r, err := range s.Log(context.Background(), 1) {
		must.Do(t, err)
		s.log += h.letters[string(r.Anchor)]
	}
	if !slices.Contains(possible, s.log) {
		t.Fatalf("the ledger has %q, want one of %q", s.log, possible)
	}
	h.durable(t, s.root(t), s.log)
}

func (s *site) root(t must.TB) [32]byte { return must.Get(s.State(context.Background()))(t).Root }

// filesAt returns the paths of the files of the process at a site.
func (h *story) filesAt(s *site) []string {
	paths := []string{s.path}
	for _, v := range h.seats {
		if v.at == s {
			paths = append(paths, v.path)
		}
	}
	return paths
}

// restart ends the process at a site, puts these files back, and starts it again. The ledger must then have one of
// the given logs.
func (h *story) restart(t *rapid.T, s *site, files map[string][]byte, possible ...string) {
	must.Do(t, s.Close())
	for _, v := range h.seats {
		if v.at == s {
			must.Do(t, v.signer.Close())
		}
	}
	h.write(t, files)
	h.open(t, s, possible...)
	for _, v := range h.seats {
		if v.at == s {
			h.sit(t, v)
		}
	}
}

// sit opens the state file of a validator, which must have each head that has left it.
func (h *story) sit(t *rapid.T, v *seat) {
	v.signer = must.Get(head.OpenSigner(v.path, h.keys[v.name], h.genesis.ID()))(t)
	v.keeper = &head.Keeper{Signer: v.signer, Policy: &h.params.Policy, Clock: func() time.Time { return h.now }}
	if left := h.signed[[ed25519.PublicKeySize]byte(h.keys[v.name].Identity()[1:])]; !strings.HasPrefix(h.last(t, v), left) {
		t.Fatalf("%s has signed %q, its state file has %q", v.name, left, h.last(t, v))
	}
}

// last returns the log of the last head that a validator has signed.
func (h *story) last(t *rapid.T, v *seat) string {
	log, known := h.logs[must.Get(head.ParseSigned(v.signer.Last()))(t).Root]
	if !known {
		t.Fatalf("%s has signed what was never durable", v.name)
	}
	return log
}

// opened opens a signed head that at least so many validators have signed.
func (h *story) opened(t *rapid.T, signed []byte, threshold int) head.Opened {
	p := h.params.Policy
	p.HeadThreshold = threshold
	return must.Get(head.Open(signed, h.genesis.ID(), &p))(t)
}

// counted returns the log of the head that a ledger shows.
func (h *story) counted(t *rapid.T, s *site) string {
	return h.logs[h.opened(t, must.Get(s.Head(context.Background()))(t), h.params.Policy.HeadThreshold).Root]
}

// open opens the vault of a wallet.
func (o *observer) open(t *rapid.T, h *story) {
	if o.path != "" {
		o.wallet = must.Get(h.wallet.With(must.Get(service.OpenVault(o.path, h.genesis))(t), h.alice))(t)
	}
}

func (o *observer) close() {
	if o.wallet != nil {
		_ = o.wallet.Close()
	}
}

// files returns the paths of its files.
func (o *observer) files() []string {
	if o.path == "" {
		return nil
	}
	return []string{o.path}
}

// has returns how many records it has accepted.
func (o *observer) has(t *rapid.T) int {
	if o.wallet == nil {
		return int(o.kept.Size - 1)
	}
	n := int(must.Get(o.wallet.Followed())(t))
	if got := int(must.Get(o.wallet.Holdings(usd))(t).Sum.Int64()); got != n {
		t.Fatalf("%d tokens of 1 after %d payments", got, n)
	}
	return n
}

// follow follows a ledger. A wallet does so by Sync. Without a wallet, the observer verifies the ledger's head, and that
// all records are under the head.
func (o *observer) follow(h *story, l service.Ledger) error {
	ctx := context.Background()
	if o.wallet != nil {
		return o.wallet.Sync(ctx, l)
	}
	signed, err := l.Head(ctx)
	if err != nil {
		return err
	}
	opened, err := head.Open(signed, h.genesis.ID(), &h.params.Policy)
	if err != nil {
		return err
	}
	var proof tlog.TreeProof
	if opened.Size > o.kept.Size {
		if proof, err = ledgers.Consistency(ctx, l, o.kept.Size, opened.Size); err != nil {
			return err
		}
	}
	if err := opened.Extends(o.kept, proof); err != nil {
		return err
	}
	next := o.kept.Size
	for r, err := range l.Log(ctx, next) {
		if err != nil {
			return err
		}
		if r.Seq >= opened.Size {
			break
		}
		proof, err := ledgers.Inclusion(ctx, l, opened.Size, next)
		if err != nil {
			return err
		}
		if err := ledgers.CheckInclusion(proof, opened.Size, opened.Root, next, r.Leaf()); err != nil {
			return err
		}
		next++
	}
	if next < opened.Size {
		return fmt.Errorf("the log ends after record %d of a head of size %d", next-1, opened.Size)
	}
	o.kept = opened.Head
	return nil
}

// mortal is a process that uses a ledger. Its durable points are before and after each call of the ledger. If it is
// killed at one of them, its files are those of that moment, whatever it does afterwards.
type mortal struct {
	*bolt.Ledger
	life   int                 // durable points before the one at which it is killed
	paths  []string            // of its files
	files  map[string][]byte   // when it was killed
	leaves func(signed []byte) // called with each signed head before the ledger gets it; may be nil
}

// immortal is the life of a process that is not killed.
const immortal = 1 << 30

var errKilled = errors.New("the process is killed")

// at lets the process work on the ledger of a site, with the files at these paths.
func (p *mortal) at(s *site, paths ...string) *mortal {
	p.Ledger, p.paths = s.Ledger, paths
	return p
}

func (p *mortal) killed() bool { return p.files != nil }

// point is a durable point.
func (p *mortal) point() error {
	switch {
	case p.killed():
	case p.life > 0:
		p.life--
		return nil
	default:
		p.files = map[string][]byte{}
		for _, path := range p.paths {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			p.files[path] = data
		}
	}
	return errKilled
}

func (p *mortal) Apply(ctx context.Context, batch []ledgers.Entry) error {
	if err := p.point(); err != nil {
		return err
	}
	if err := p.Ledger.Apply(ctx, batch); err != nil {
		return err
	}
	return p.point()
}

func (p *mortal) Head(ctx context.Context) ([]byte, error) {
	if err := p.point(); err != nil {
		return nil, err
	}
	return p.Ledger.Head(ctx)
}

func (p *mortal) Proposed(ctx context.Context) ([]byte, error) {
	if err := p.point(); err != nil {
		return nil, err
	}
	return p.Ledger.Proposed(ctx)
}

func (p *mortal) State(ctx context.Context) (s ledgers.State, err error) {
	if err := p.point(); err != nil {
		return s, err
	}
	return p.Ledger.State(ctx)
}

func (p *mortal) Hashes(ctx context.Context, indexes []int64) ([]tlog.Hash, error) {
	if err := p.point(); err != nil {
		return nil, err
	}
	return p.Ledger.Hashes(ctx, indexes)
}

func (p *mortal) Log(ctx context.Context, from uint64) iter.Seq2[ledgers.Record, error] {
	return func(yield func(ledgers.Record, error) bool) {
		for r, err := range p.Ledger.Log(ctx, from) {
			if err == nil {
				err = p.point()
			}
			if !yield(r, err) || err != nil {
				return
			}
		}
	}
}

// PutHead gets a signed head, which others may have from then on.
func (p *mortal) PutHead(ctx context.Context, leaves uint64, signed []byte, counts bool) error {
	if p.leaves != nil && !p.killed() {
		p.leaves(signed)
	}
	if err := p.point(); err != nil {
		return err
	}
	if err := p.Ledger.PutHead(ctx, leaves, signed, counts); err != nil {
		return err
	}
	return p.point()
}
