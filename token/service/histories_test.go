package service_test

import (
	"context"
	"crypto/ed25519"
	"errors"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/zkbench/zkbench/internal/testing/must"
	ledgers "github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/head"
)

// past is the model of a history. A log is a word with one letter for each record, so a log extends another one if its
// word begins with the other's.
type past struct {
	logs   map[[32]byte]string                    // all that were ever durable, by root
	signed map[[ed25519.PublicKeySize]byte]string // the longest log whose signed head has left a validator, by key
}

// durable notes the root of a log.
func (p *past) durable(t *rapid.T, root [32]byte, log string) {
	if known, ok := p.logs[root]; ok && known != log {
		t.Fatalf("%q and %q have one root", known, log)
	}
	p.logs[root] = log
}

// leaves notes a signed head that leaves validators while log is what is durable.
func (p *past) leaves(t *rapid.T, o head.Opened, log string) {
	signed, known := p.logs[o.Root]
	if !known || o.Size != uint64(len(signed)+1) || !strings.HasPrefix(log, signed) {
		t.Fatalf("signed is size %d of %q, durable is %q", o.Size, signed, log)
	}
	for _, v := range o.Validators {
		if before := p.signed[v.Key]; !related(before, signed) {
			t.Fatalf("one key has signed %q and %q", before, signed)
		}
		p.signed[v.Key] = max(p.signed[v.Key], signed) // the longer of two that are related
	}
}

// related reports whether one of two logs extends the other.
func related(a, b string) bool { return strings.HasPrefix(a, b) || strings.HasPrefix(b, a) }

// TestHistories compares random histories with the model. In a history, ledgers get batches, are copied, go back to
// backups and continue differently. Validators sign heads, and move from one copy of the ledger to another. Each
// process may be killed before or after any call of the ledger. The test checks:
//
//   - A validator signs only what is durable, and never two roots of one size. It refuses a log if and only if the log
//     does not extend the last one that it has signed. Its state file has every head that has left it.
//   - A ledger shows a head if enough validators have signed it. A follower accepts that head if and only if its log
//     extends the one that the follower accepted before. So a record that a follower has seen is never missing. All
//     followers accept logs of one history.
//   - A ledger has every acknowledged batch, until it goes back to a backup.
//
// To run ten thousand histories, which takes two minutes of a processor:
//
//	go test ./token/service -run '^TestHistories$' -rapid.checks=10000 -timeout 60m -v
func TestHistories(t *testing.T) {
	dir, inMemory := memoryDir(t)
	checks := flag.Lookup("rapid.checks")
	if inMemory && checks.Value.String() == checks.DefValue { // a history takes milliseconds
		must.Do(t, checks.Value.Set("1000"))
		defer func() { must.Do(t, checks.Value.Set(checks.DefValue)) }()
	}
	beginnings := []*beginning{newBeginning(t, dir, 1, "v1"), newBeginning(t, dir, 2, "v1", "v2", "v3")}
	n, outcomes := 0, map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		h := rapid.SampledFrom(beginnings).Draw(t, "policy").story(t, outcomes)
		defer h.end()
		t.Repeat(map[string]func(*rapid.T){
			"apply": h.apply, "sign": h.sign, "settle": h.settle, "follow": h.follow,
			"back up": h.backUp, "restore": h.restore, "copy": h.copy, "move": h.move,
		})
		n++
	})
	t.Log(n, "histories:", outcomes)
	if n < 1000 {
		return
	}
	for _, o := range []string{
		"applied", "killed as it applies", "signed", "refused", "killed as it signs", "settled", "accepted", "not accepted", "killed as it follows",
	} {
		if outcomes[o] == 0 {
			t.Errorf("no history has the outcome %q", o)
		}
	}
}

func drawSite(h *story, t *rapid.T) *site { return rapid.SampledFrom(h.sites).Draw(t, "site") }

// drawLife draws the number of durable points that a process lives to see. There may be fewer.
func drawLife(t *rapid.T) int { return rapid.IntRange(0, 9).Draw(t, "life") }

// apply applies a batch. The ledger may have some of its entries already.
func (h *story) apply(t *rapid.T) {
	s, p := drawSite(h, t), &mortal{life: drawLife(t)}
	var batch []ledgers.Entry
	after := s.log
	for _, i := range rapid.SliceOfN(rapid.IntRange(0, len(h.entries)-1), 1, 3).Draw(t, "batch") {
		e := h.entries[i]
		if batch = append(batch, e); !strings.Contains(after, h.letters[string(e.Anchor)]) {
			after += h.letters[string(e.Anchor)]
		}
	}
	err := p.at(s, h.filesAt(s)...).Apply(context.Background(), batch)
	if p.killed() {
		h.outcomes["killed as it applies"]++
		h.restart(t, s, p.files, s.log, after)
		return
	}
	must.Do(t, err, "batch")
	h.outcomes["applied"]++
	s.log = after
	h.durable(t, s.root(t), s.log)
}

// sign lets a validator sign. The clock may go back before that, and stays far below head.MaxClockStep.
func (h *story) sign(t *rapid.T) {
	h.now = h.now.Add(time.Duration(rapid.IntRange(-30, 60).Draw(t, "seconds")) * time.Second)
	h.signAt(t, rapid.SampledFrom(h.seats).Draw(t, "validator"), drawLife(t))
}

// signAt lets a validator sign, in a process that lives to see a number of durable points.
func (h *story) signAt(t *rapid.T, v *seat, life int) {
	before := h.last(t, v)
	p := &mortal{life: life, leaves: func(signed []byte) { h.leaves(t, h.opened(t, signed, 1), v.at.log) }}
	v.keeper.Store = p.at(v.at, h.filesAt(v.at)...)
	due, err := v.keeper.Sign(context.Background())
	switch extends := strings.HasPrefix(v.at.log, before); {
	case p.killed():
		h.outcomes["killed as it signs"]++
		h.restart(t, v.at, p.files, v.at.log)
	case extends && err == nil:
		h.outcomes["signed"]++
	case !extends && errors.As(err, new(*head.ExtendError)):
		h.outcomes["refused"]++
	case !extends && !due && err == nil && h.params.Policy.HeadThreshold > 1: // it waits for other validators to sign
	default:
		t.Fatalf("%q after %q: due %v, %v", v.at.log, before, due, err)
	}
	if h.last(t, v) != before {
		h.leaves(t, h.opened(t, v.signer.Last(), 1), v.at.log)
	}
}

// settle lets all validators at a site sign until nothing changes. If enough of them can sign its log, the head that
// counts is that of the whole log.
func (h *story) settle(t *rapid.T) {
	s, able := drawSite(h, t), 0
	for _, v := range h.seats {
		if v.at == s && strings.HasPrefix(s.log, h.last(t, v)) {
			able++
		}
	}
	for range 3 { // they may wait for signatures of an earlier head first
		for _, v := range h.seats {
			if v.at == s {
				h.signAt(t, v, immortal)
			}
		}
		h.now = h.now.Add(time.Second)
	}
	if able < h.params.Policy.HeadThreshold {
		return
	}
	h.outcomes["settled"]++
	if log := h.counted(t, s); log != s.log {
		t.Fatalf("the head is that of %q, the log is %q", log, s.log)
	}
}

// follow shows all ledgers to a follower.
func (h *story) follow(t *rapid.T) {
	o := rapid.SampledFrom(h.followers).Draw(t, "follower")
	for _, s := range h.sites {
		h.followAt(t, s, o, drawLife(t))
	}
}

// followAt shows a ledger to a follower, in a process that lives to see a number of durable points.
func (h *story) followAt(t *rapid.T, s *site, o *observer, life int) {
	p := &mortal{life: life}
	log := h.counted(t, s)
	extends := strings.HasPrefix(log, o.log)
	err := o.follow(h, p.at(s, o.files()...))
	possible := []string{o.log}
	switch {
	case p.killed():
		h.outcomes["killed as it follows"]++
		o.close()
		h.write(t, p.files)
		o.open(t, h)
		if extends {
			possible = append(possible, log)
		}
	case extends != (err == nil):
		t.Fatalf("%q after %q: %v", log, o.log, err)
	case extends:
		h.outcomes["accepted"]++
		possible = []string{log}
	default:
		h.outcomes["not accepted"]++
	}
	i := slices.IndexFunc(possible, func(log string) bool { return o.has(t) == len(log) })
	if i < 0 {
		t.Fatalf("%d records are accepted, want one of %q", o.has(t), possible)
	}
	o.log = possible[i]
	for _, other := range h.followers {
		if !related(o.log, other.log) {
			t.Fatalf("%q and %q are accepted", o.log, other.log)
		}
	}
}

func (h *story) backUp(t *rapid.T) {
	s := drawSite(h, t)
	h.backups = append(h.backups, saved{must.Get(os.ReadFile(s.path))(t), s.log})
}

// restore puts a ledger back to a backup. The state files of its validators stay.
func (h *story) restore(t *rapid.T) {
	s, b := drawSite(h, t), rapid.SampledFrom(h.backups).Draw(t, "backup")
	h.restart(t, s, map[string][]byte{s.path: b.file}, b.log)
}

// copy opens a copy of a ledger at a new site, to which validators can move.
func (h *story) copy(t *rapid.T) {
	if len(h.sites) < 3 {
		s := drawSite(h, t)
		h.openSite(t, saved{must.Get(os.ReadFile(s.path))(t), s.log})
	}
}

// move lets a validator continue at another site. It cannot be at both.
func (h *story) move(t *rapid.T) {
	v := rapid.SampledFrom(h.seats).Draw(t, "validator")
	must.FailGet(head.OpenSigner(v.path, h.keys[v.name], h.genesis.ID()))(t, head.ErrLocked, "open twice")
	must.Do(t, v.signer.Close())
	v.at = drawSite(h, t)
	h.sit(t, v)
}
