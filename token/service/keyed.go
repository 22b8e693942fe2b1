package service

import (
	"bytes"
	"slices"

	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/transcript"
)

// keyedLen is the number of the first bytes of a KeyedAnchor that depend only on the key.
const keyedLen = AnchorLen / 2

// KeyedAnchor returns the anchor for the payment that a program names by an idempotency key. The order is an encoding of
// what is to be paid. The first half of the anchor depends on the key, the second half on key and order. So the vault knows
// from the anchor which order it has made under which key, as soon as it has made it, and the ledger records the same order
// of two vaults with the same wallet keys only once.
//
// Both halves depend on a secret of the wallet. If they did not, anybody who guesses a key, for example the number of an
// invoice, could use up the anchor on the ledger, and could see which payment belongs to which key.
func (w *Wallet) KeyedAnchor(key, order []byte) []byte {
	anchor := make([]byte, AnchorLen)
	_, _ = transcript.XOF("zkbench/v1/service/key", w.keys.secret[:], key).Read(anchor[:keyedLen]) // never fails
	_, _ = transcript.XOF("zkbench/v1/service/order", w.keys.secret[:], key, order).Read(anchor[keyedLen:])
	return anchor
}

// Keyed returns the wallet's payment whose anchor is a KeyedAnchor of the key, or nil if there is none. It passes over
// requests of others, who can copy the first half of an anchor that they see. If the keys of the wallet were used in
// several vaults, there may be several payments of one key; Keyed returns the first.
func (w *Wallet) Keyed(key []byte) (*Movement, error) {
	prefix := w.KeyedAnchor(key, nil)[:keyedLen]
	var first *Movement
	end := slices.Concat(prefix, bytes.Repeat([]byte{0xff}, token.MaxAnchor))
	for anchor, err := range w.Vault.keys(bucketMoves, prefix, end) {
		var m *Movement
		if err == nil {
			m, err = w.Movement(anchor)
		}
		if err != nil {
			return nil, err
		}
		own := m != nil && len(anchor) == AnchorLen && (m.Made || len(m.Spent) > 0)
		if own && (first == nil || m.Place < first.Place) {
			first = m
		}
	}
	return first, nil
}
