package service_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token/service"
)

// TestKeyed: a vault finds the payment of a key as soon as it is durable, and also after the vault was lost and rebuilt. It is
// not deceived by others who copy the half of an anchor that they see.
func TestKeyed(t *testing.T) {
	w := newWorld(t, nil)
	ctx := context.Background()
	alice, bob := w.funded(t, "alice", 100, 50), w.party(t, w.key(t, "bob"))
	name, order := []byte("rent"), []byte("30 to bob")
	anchor := alice.KeyedAnchor(name, order)
	golden.Equal(t, "length", service.AnchorLen, len(anchor))
	golden.Equal(t, "the same again", anchor, alice.KeyedAnchor(name, order))
	for what, other := range map[string][]byte{
		"another key":           alice.KeyedAnchor([]byte("ren"), slices.Concat([]byte("t"), order)),
		"another wallet's keys": bob.KeyedAnchor(name, order),
	} {
		if string(other[:16]) == string(anchor[:16]) || string(other[16:]) == string(anchor[16:]) {
			t.Errorf("%s gives half of the same anchor", what)
		}
	}
	another := alice.KeyedAnchor(name, []byte("31 to bob"))
	golden.Equal(t, "the half of the key", anchor[:16], another[:16])
	if string(another[16:]) == string(anchor[16:]) {
		t.Error("another order has the same anchor")
	}

	none := func(p *party, key, why string) {
		t.Helper()
		if m := must.Get(p.Keyed([]byte(key)))(t); m != nil {
			t.Errorf("%s: found the payment %x", why, m.Anchor)
		}
	}
	none(alice, "rent", "before it")
	o := paying(bob.address(t), 30)
	o.Anchor = anchor
	sub := must.Get(alice.pay.Transfer(ctx, o))(t)
	alice.crash(t, w)
	m := must.Get(alice.Keyed(name))(t)
	golden.Equal(t, "status", service.Pending, m.Status)
	golden.Equal(t, "anchor", anchor, m.Anchor)
	none(alice, "other", "another key")
	none(bob, "rent", "another wallet")

	copied := paying(alice.address(t), 5)
	copied.Anchor = slices.Concat(anchor[:16], make([]byte, 16))
	w.land(t, must.Get(w.issuer.Issue(ctx, copied))(t))
	w.land(t, sub)
	must.Do(t, alice.Sync(ctx, w.ledger))
	golden.Equal(t, "status", service.Landed, must.Get(alice.Keyed(name))(t).Status)
	alice.lose(t, w)
	none(alice, "rent", "before Sync")
	must.Do(t, alice.Sync(ctx, w.ledger))
	m = must.Get(alice.Keyed(name))(t)
	golden.Equal(t, "anchor", anchor, m.Anchor)
	golden.Equal(t, "status", service.Landed, m.Status)
	golden.Equal(t, "made", false, m.Made)
	golden.Equal(t, "by anchor", m, must.Get(alice.Movement(anchor))(t))
	if m := must.Get(alice.Movement([]byte("none")))(t); m != nil {
		t.Error("a movement that is not there")
	}
}

// TestHistoryAfter: places page through the history.
func TestHistoryAfter(t *testing.T) {
	w := newWorld(t, nil)
	alice := w.funded(t, "alice", slices.Repeat([]uint64{1}, 3*w.params.Policy.Limits.Outputs)...)
	_, all := history(t, alice.Vault)
	golden.Equal(t, "movements", 3, len(all))
	var places []uint64
	for i, m := range all {
		places = append(places, m.Place)
		after := []service.Movement{}
		for m, err := range alice.HistoryAfter(m.Place) {
			must.Do(t, err)
			after = append(after, m)
		}
		golden.Equal(t, "after it", all[i+1:], after)
	}
	golden.Equal(t, "places", []uint64{1, 2, 3}, places)
	for range alice.HistoryAfter(math.MaxUint64) {
		t.Error("a movement after all places")
	}
}
