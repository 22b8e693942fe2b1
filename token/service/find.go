package service

import (
	"bytes"
	"context"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/identity"
	"github.com/zkbench/zkbench/token/note"
	"github.com/zkbench/zkbench/token/request"
	"github.com/zkbench/zkbench/token/script"
)

// find returns the tokens of each record that are the wallet's. The encrypted opening is only what its author
// claims. So a token is not the wallet's if the opening cannot be decrypted with the key of its tag, or opens
// another commitment than the token's. Nor is it if the index among the shares is not that of the wallet's
// identity in the token's owner.
func (w *Wallet) find(ctx context.Context, steps []*step) ([][]*tokenRecord, error) {
	var all []*candidate
	places := make([]int, 0, len(steps)) // index of the first candidate after each record
	for _, s := range steps {
		all = append(all, w.candidates(s)...)
		places = append(places, len(all))
	}
	if err := w.openAll(ctx, all); err != nil {
		return nil, err
	}
	found := make([][]*tokenRecord, len(steps))
	for i, first := 0, 0; i < len(steps); i, first = i+1, places[i] {
		found[i] = w.found(all[first:places[i]])
		for _, h := range found[i] {
			h.created = steps[i].Seq
		}
	}
	return found, nil
}

// candidate is a share with a tag of the wallet, at the index of an identity of the token's owner.
type candidate struct {
	id      token.ID
	token   *token.Token
	owner   identity.Identity
	share   *note.Share
	reader  *note.Reader // the reader whose tag it is
	nonce   note.Nonce
	opening *token.Opening // set if the share is the wallet's, else nil
}

// candidates returns the candidates of a record. An update of the policy has none.
func (w *Wallet) candidates(s *step) (all []*candidate) {
	for i, a := range s.parsed.Actions {
		for j := range a.Outputs {
			if len(a.Outputs[j].Owner) > 0 {
				all = append(all, w.shares(request.OutputID(s.Anchor, i, j), &a.Outputs[j], a.Notes[j], w.keys.readerOf(w.genesis.ForRecord(s.Seq)))...)
			}
		}
	}
	return all
}

// shares returns the candidates of a token's encrypted opening.
func (w *Wallet) shares(id token.ID, t *token.Token, raw []byte, reader *note.Reader) (all []*candidate) {
	shares, err := note.Decode(raw)
	if err != nil {
		return nil
	}
	// There must be one share for each identity. If not, anyone who knows an address could make its wallet try
	// the same key sixteen times for an output.
	owners, err := script.Identities(t.Owner)
	if err != nil || len(owners) != len(shares) {
		return nil
	}
	for i := range shares {
		if nonce, mine := reader.Mine(&shares[i].Tag); mine {
			all = append(all, &candidate{id: id, token: t, owner: owners[i], share: &shares[i], reader: reader, nonce: nonce})
		}
	}
	return all
}

// openAll opens candidates together, because the signers and commitments of many take a fraction of the time.
func (w *Wallet) openAll(ctx context.Context, all []*candidate) error {
	if len(all) == 0 {
		return nil
	}
	ctx = context.WithoutCancel(ctx) // outputs that are not tried would be skipped
	nonces := make([]note.Nonce, len(all))
	for i := range all {
		nonces[i] = all[i].nonce
	}
	signers, err := w.keys.signers(nonces...)
	if err != nil {
		return err
	}
	var opened []*candidate
	var openings []token.Opening
	for i, c := range all {
		if !w.keys.serves(signers[i], c.owner) {
			continue
		}
		o, err := c.reader.Open(note.Place{ID: c.id, Owner: c.token.Owner}, c.share, c.nonce)
		if err == nil {
			opened, openings = append(opened, c), append(openings, o)
		}
	}
	commitments, err := w.pp.Commit(ctx, executor.Serial(), openings)
	for i, c := range opened {
		var commitment []byte
		if err == nil {
			commitment = commitments[i]
		} else if one, alone := w.pp.Commit(ctx, executor.Serial(), openings[i:i+1]); alone == nil { // another opening caused the error
			commitment = one[0]
		}
		if bytes.Equal(commitment, c.token.Commitment) {
			c.opening = &openings[i]
		}
	}
	return nil
}

// found returns the tokens of those candidates that are the wallet's. The candidates of one token must be
// adjacent.
func (w *Wallet) found(all []*candidate) (tokens []*tokenRecord) {
	var last *tokenRecord
	for _, c := range all {
		switch {
		case c.opening == nil:
			continue
		case last == nil || !bytes.Equal(last.ID, c.id):
			last = &tokenRecord{state: unspent, ID: c.id, Token: *c.token}
			tokens = append(tokens, last)
		}
		last.Opening, last.nonces = *c.opening, append(last.nonces, c.nonce)
		if !script.IsScript(c.token.Owner) {
			last.proof = w.keys.proof(c.nonce)
		}
	}
	return tokens
}

// openNote returns the token's record if its encrypted opening is for the wallet, else nil.
func (w *Wallet) openNote(ctx context.Context, id token.ID, t *token.Token, raw []byte) (*tokenRecord, error) {
	all := w.shares(id, t, raw, w.keys.reader)
	if err := w.openAll(ctx, all); err != nil {
		return nil, err
	}
	for _, h := range w.found(all) {
		return h, nil
	}
	return nil, nil
}
