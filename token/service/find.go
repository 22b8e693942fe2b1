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

// find returns the tokens of each record that are the wallet's. A note is what its author says: one that does not open with the
// key of its tag, or opens another commitment than the token's, or whose place among the shares is not that of the wallet's identity in the token's
// owner, is none of the wallet's.
func (w *Wallet) find(ctx context.Context, steps []*step) ([][]*held, error) {
	var all []*candidate
	places := make([]int, 0, len(steps)) // of the first candidate behind each record
	for _, s := range steps {
		all = append(all, w.candidates(s)...)
		places = append(places, len(all))
	}
	if err := w.try(ctx, all); err != nil {
		return nil, err
	}
	found := make([][]*held, len(steps))
	for i, first := 0, 0; i < len(steps); i, first = i+1, places[i] {
		found[i] = w.won(all[first:places[i]])
		for _, h := range found[i] {
			h.created = steps[i].Seq
		}
	}
	return found, nil
}

// candidate is a share with a tag of the wallet's, at the place of one of the identities of a token's owner.
type candidate struct {
	id      token.ID
	token   *token.Token
	owner   identity.Identity
	share   *note.Share
	reader  *note.Reader // whose tag it is
	nonce   note.Nonce
	opening *token.Opening // of the token, if the share is the wallet's; else nil
}

// candidates are those of a record: an update of the policy has none.
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

// shares are the candidates of a token's note.
func (w *Wallet) shares(id token.ID, t *token.Token, raw []byte, reader *note.Reader) (all []*candidate) {
	shares, err := note.Decode(raw)
	if err != nil {
		return nil
	}
	// One share for each identity, or whoever knows an address makes its wallet try the same key sixteen times for an output.
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

// try opens candidates, all together: signers and commitments of many are computed in a fraction of the time.
func (w *Wallet) try(ctx context.Context, all []*candidate) error {
	if len(all) == 0 {
		return nil
	}
	ctx = context.WithoutCancel(ctx) // what is not tried would be passed over
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
		} else if one, alone := w.pp.Commit(ctx, executor.Serial(), openings[i:i+1]); alone == nil { // the error is of another one
			commitment = one[0]
		}
		if bytes.Equal(commitment, c.token.Commitment) {
			c.opening = &openings[i]
		}
	}
	return nil
}

// won are the tokens of candidates that are the wallet's: those of one token stand together.
func (w *Wallet) won(all []*candidate) (tokens []*held) {
	var last *held
	for _, c := range all {
		switch {
		case c.opening == nil:
			continue
		case last == nil || !bytes.Equal(last.ID, c.id):
			last = &held{state: unspent, ID: c.id, Token: *c.token}
			tokens = append(tokens, last)
		}
		last.Opening, last.nonces = *c.opening, append(last.nonces, c.nonce)
		if !script.IsScript(c.token.Owner) {
			last.proof = w.keys.proof(c.nonce)
		}
	}
	return tokens
}

// openNote returns the token if its note is for the wallet, else nil.
func (w *Wallet) openNote(ctx context.Context, id token.ID, t *token.Token, raw []byte) (*held, error) {
	all := w.shares(id, t, raw, w.keys.reader)
	if err := w.try(ctx, all); err != nil {
		return nil, err
	}
	for _, h := range w.won(all) {
		return h, nil
	}
	return nil, nil
}
