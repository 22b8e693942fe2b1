package postgres

import (
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/store"
)

// found implements store.Lookup with the records of some tokens and anchors, all read at once.
type found struct {
	states map[string]lookedUp
	known  map[string]store.Anchored
	wrong  map[string]error // by anchor
}

type lookedUp struct {
	state store.State
	err   error
}

// State implements store.Lookup.
func (f *found) State(id token.ID) (store.State, error) {
	s := f.states[string(id)]
	return s.state, s.err
}

// Anchor implements store.Lookup.
func (f *found) Anchor(anchor []byte) (store.Anchored, bool, error) {
	if err := f.wrong[string(anchor)]; err != nil {
		return store.Anchored{}, false, err
	}
	a, ok := f.known[string(anchor)]
	return a, ok, nil
}

// keys lists the ids and anchors to look up.
type keys struct {
	ids, anchors [][]byte
	seen         map[string]bool // ids
}

func newKeys() *keys { return &keys{seen: map[string]bool{}} }

// keysOf returns the keys of all entries in the calls.
func keysOf(calls ...*store.Call) *keys {
	k := newKeys()
	for _, c := range calls {
		for e := range c.Entries() {
			k.add(e)
		}
	}
	return k
}

func (k *keys) add(e *ledger.Entry) {
	k.anchors = append(k.anchors, e.Anchor)
	for _, id := range e.Spends {
		k.id(id)
	}
	for _, c := range e.Creates {
		k.id(c.ID)
	}
}

func (k *keys) id(id []byte) {
	if !k.seen[string(id)] {
		k.seen[string(id)] = true
		k.ids = append(k.ids, id)
	}
}

// query adds the look-up of all keys to an exchange. An error in a record is returned only when
// that record is requested from the result.
func (k *keys) query(x *exchange, sql *statements) (*found, error) {
	f := &found{
		states: make(map[string]lookedUp, len(k.ids)),
		known:  make(map[string]store.Anchored, len(k.anchors)),
		wrong:  map[string]error{},
	}
	if len(k.ids) > 0 {
		var r stateRow
		err := x.query(sql.states, []any{k.ids}, r.columns(), func() error {
			s, err := r.state()
			f.states[string(r.id)] = lookedUp{s, err}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	if len(k.anchors) > 0 {
		var anchor, digest []byte
		var seq int64
		var crc int32
		err := x.query(sql.anchors, []any{k.anchors}, []any{&anchor, &seq, &digest, &crc}, func() error {
			a := store.Anchored{Seq: uint64(seq)}
			if copy(a.Digest[:], digest) != len(digest) || len(digest) != len(a.Digest) ||
				crc != sum(store.TableAnchors, anchor, a.Append(nil)) {
				f.wrong[string(anchor)] = wrongSum(fmt.Sprintf("anchors %x", anchor))
			} else {
				f.known[string(anchor)] = a
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return f, nil
}

func wrongSum(place string) error { return ledger.Corruptf(place, "wrong checksum") }

// stateRow is a row of statements.states. Nil pointers are nulls.
type stateRow struct {
	id             []byte
	created, spent *int64
	token          []byte
	crc            *int32
	spentBy        *int64
	spentCRC       *int32
}

func (r *stateRow) columns() []any {
	return []any{&r.id, &r.created, &r.spent, &r.token, &r.crc, &r.spentBy, &r.spentCRC}
}

// state combines the rows of tokens and spent into one state.
func (r *stateRow) state() (store.State, error) {
	var s store.State
	if r.created != nil {
		s = store.State{Status: store.Unspent, Created: uint64(*r.created), Token: r.token}
		if r.spent != nil {
			s.Status, s.Spent = store.Spent, uint64(*r.spent)
		}
		if *r.crc != sum(store.TableTokens, r.id, s.Append(nil)) {
			return store.State{}, wrongSum(fmt.Sprintf("tokens %x", r.id))
		}
	}
	spentBy := uint64(0)
	if r.spentBy != nil {
		spentBy = uint64(*r.spentBy)
		if spentBy == 0 || *r.spentCRC != sum(store.TableSpent, r.id, store.SeqKey(spentBy)) {
			return store.State{}, wrongSum(fmt.Sprintf("spent %x", r.id))
		}
	}
	if err := s.Check(r.id, spentBy); err != nil {
		return store.State{}, err
	}
	return s, nil
}

// headRow is a row of the table head as it is read.
type headRow struct {
	format int32
	last   int64
	bytes  []byte
	crc    int32
}

func (r *headRow) columns() []any { return []any{&r.format, &r.last, &r.bytes, &r.crc} }

// headFound converts an error of reading a headRow.
func headFound(err error) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return ledger.Corruptf(tableHead, "missing")
	}
	return err
}

// checkFormat returns a *zkbench.DecodeError unless version is the known format version.
func checkFormat(version int32) error {
	if version == format {
		return nil
	}
	return &zkbench.DecodeError{Path: "ledger format", Reason: fmt.Sprintf("version %d, only %d is known", version, format)}
}

// edge returns the edge of the log.
func (r *headRow) edge() (ledger.Edge, error) {
	if err := checkFormat(r.format); err != nil {
		return ledger.Edge{}, err
	}
	if r.crc != headSum(r.bytes) {
		return ledger.Edge{}, wrongSum(tableHead)
	}
	e, err := ledger.DecodeEdge(r.bytes)
	if err != nil {
		return ledger.Edge{}, ledger.Corruptf(tableHead, "%v", err)
	}
	if e.Last() != uint64(r.last) {
		return ledger.Edge{}, ledger.Corruptf(tableHead, "names request %d, its edge request %d", r.last, e.Last())
	}
	return e, nil
}

// callerRow is the row of the table state as it is read.
type callerRow struct {
	bytes []byte
	crc   int32
}

func (r *callerRow) columns() []any { return []any{&r.bytes, &r.crc} }

// body returns the bytes of the last ApplyState.
func (r *callerRow) body() ([]byte, error) {
	if r.crc != stateSum(r.bytes) {
		return nil, wrongSum(tableState)
	}
	return r.bytes, nil
}

func stateSum(state []byte) int32 { return sum(tableState, nil, state) }

// logRow is a row of the table log as it is read.
type logRow struct {
	seq          int64
	entry, after []byte
	crc          int32
}

func (r *logRow) columns() []any { return []any{&r.seq, &r.entry, &r.after, &r.crc} }

// logged decodes the row.
func (r *logRow) logged() (*store.Logged, error) {
	seq := uint64(r.seq)
	body := append(r.entry[:len(r.entry):len(r.entry)], r.after...)
	if r.crc != sum(store.TableLog, store.SeqKey(seq), body) {
		return nil, wrongSum(fmt.Sprintf("request %d", seq))
	}
	return store.DecodeLogged(seq, body)
}
