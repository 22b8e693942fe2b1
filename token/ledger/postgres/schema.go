package postgres

import (
	"encoding/binary"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/zkbench/zkbench/token/ledger/store"
)

// The tables are those of package store, and three with a single row. A writer locks the row of head:
//
//	head     format, and the ledger.Edge of the log
//	genesis  the encoding of a ledger.Genesis
//	state    ledger.State.Bytes
//
// Every row ends in its checksum, taken over the bodies that package store names, as a
// signed integer. spent and token are null if there is none.
const (
	tableHead    = "head"
	tableGenesis = "genesis"
	tableState   = "state"
	format       = 5

	// Entries are not compressed, because proofs do not compress, and a request of a few
	// kilobytes is stored in its row. An edge has at most 4 kB, which change with every batch.
	create = `
CREATE SCHEMA {s};
CREATE TABLE {s}.head (one boolean PRIMARY KEY DEFAULT true CHECK (one), format integer NOT NULL,
	last bigint NOT NULL, edge bytea NOT NULL, sum integer NOT NULL);
CREATE TABLE {s}.genesis (one boolean PRIMARY KEY DEFAULT true CHECK (one), encoding bytea NOT NULL, sum integer NOT NULL);
CREATE TABLE {s}.state (one boolean PRIMARY KEY DEFAULT true CHECK (one), bytes bytea NOT NULL, sum integer NOT NULL);
CREATE TABLE {s}.tokens (id bytea PRIMARY KEY, created bigint NOT NULL, spent bigint, token bytea, sum integer NOT NULL);
CREATE TABLE {s}.spent (id bytea PRIMARY KEY, seq bigint NOT NULL, sum integer NOT NULL);
CREATE TABLE {s}.anchors (anchor bytea PRIMARY KEY, seq bigint NOT NULL, digest bytea NOT NULL, sum integer NOT NULL);
CREATE TABLE {s}.log (seq bigint PRIMARY KEY, entry bytea NOT NULL, after bytea NOT NULL, sum integer NOT NULL) WITH (toast_tuple_target = 8160);
CREATE TABLE {s}.heads (key text PRIMARY KEY, leaves bigint NOT NULL, signed bytea NOT NULL, sum integer NOT NULL);
ALTER TABLE {s}.head ALTER COLUMN edge SET STORAGE PLAIN;
ALTER TABLE {s}.log ALTER COLUMN entry SET STORAGE EXTERNAL;
ALTER TABLE {s}.tokens ALTER COLUMN token SET STORAGE EXTERNAL`

	// soundTables selects the permanent tables of a schema that have a primary key.
	soundTables = `
SELECT array_agg(c.relname::text) FILTER (WHERE c.relkind = 'r' AND c.relpersistence = 'p' AND
	EXISTS (SELECT FROM pg_index i WHERE i.indrelid = c.oid AND i.indisprimary AND i.indisvalid))
FROM pg_namespace n LEFT JOIN pg_class c ON c.relnamespace = n.oid WHERE n.nspname = $1 GROUP BY n.oid`
)

func tableNames() []string {
	return []string{tableHead, tableGenesis, tableState, store.TableTokens, store.TableSpent, store.TableAnchors, store.TableLog, store.TableHeads}
}

// statements contains the SQL of a ledger's statements, with its schema filled in.
type statements struct {
	create, insertHead, insertGenesis, genesis, insertState, caller, updateState            string
	begin, look, lock, peak, wait, states, anchors, numbers                                 string
	insertTokens, spendTokens, insertSpent, insertAnchors                                   string
	insertLog, updateHead, format, head, ends, last, entries, some, count, getHead, putHead string
}

// lookupTexts returns the statements of keys.query.
func (s *statements) lookupTexts() []string { return []string{s.states, s.anchors} }

// applyTexts returns the statements of a transaction that writes.
func (s *statements) applyTexts() []string {
	return append(
		s.lookupTexts(), s.begin, s.lock, s.peak, s.numbers, s.insertTokens, s.spendTokens, s.insertSpent, s.insertAnchors,
		s.insertLog, s.updateHead, s.updateState,
	)
}

func newStatements(schema string) statements {
	s := func(text string) string { return strings.ReplaceAll(text, "{s}", pgx.Identifier{schema}.Sanitize()) }
	return statements{
		create:     s(create),
		insertHead: s(`INSERT INTO {s}.head (format, last, edge, sum) VALUES ($1, $2, $3, $4)`),

		insertGenesis: s(`INSERT INTO {s}.genesis (encoding, sum) VALUES ($1, $2)`),
		genesis:       s(`SELECT encoding, sum FROM {s}.genesis WHERE one`),

		insertState: s(`INSERT INTO {s}.state (bytes, sum) VALUES ($1, $2)`),
		caller:      s(`SELECT bytes, sum FROM {s}.state WHERE one`),
		updateState: s(`UPDATE {s}.state SET bytes = $1, sum = $2 WHERE one`),

		look:  `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY`,
		begin: `BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE`, // a lock is a write
		lock: s(`SELECT format, last, edge, sum, set_config('synchronous_commit', 'on', true),
			coalesce(current_setting('` + markSetting + `', true), '') FROM {s}.head WHERE one FOR UPDATE`),
		peak: s(`SELECT substring(after FROM octet_length(after) - 31) FROM {s}.log WHERE seq = $1`), // ledger.Edge.Peak
		wait: s(`SELECT FROM {s}.head WHERE one FOR SHARE`),
		states: s(`SELECT q.id, t.created, t.spent, t.token, t.sum, s.seq, s.sum FROM unnest($1::bytea[]) AS q(id)
			LEFT JOIN {s}.tokens t USING (id) LEFT JOIN {s}.spent s USING (id)`),
		anchors: s(`SELECT a.anchor, a.seq, a.digest, a.sum FROM unnest($1::bytea[]) AS q(anchor) JOIN {s}.anchors a USING (anchor)`),

		insertTokens: s(`INSERT INTO {s}.tokens (id, created, spent, token, sum)
			SELECT id, created, nullif(spent, 0), CASE spent WHEN 0 THEN token END, sum
			FROM unnest($1::bytea[], $2::bytea[], ` + array(createSeq) + `, ` + array(createSpent) + `, ` + array(createSum) + `)
				AS q(id, token, created, spent, sum) WHERE created > 0`),
		spendTokens: s(`UPDATE {s}.tokens t SET spent = q.spent, token = NULL, sum = q.sum
			FROM unnest($1::bytea[], ` + array(spendSeq) + `, ` + array(spendTokenSum) + `) AS q(id, spent, sum)
			WHERE q.spent > 0 AND t.id = q.id AND t.spent IS NULL`),
		insertSpent: s(`INSERT INTO {s}.spent (id, seq, sum) SELECT id, seq, sum
			FROM unnest($1::bytea[], ` + array(spendSeq) + `, ` + array(spendSum) + `) AS q(id, seq, sum) WHERE seq > 0`),
		insertAnchors: s(`INSERT INTO {s}.anchors (anchor, seq, digest, sum) SELECT anchor, seq, digest, sum
			FROM unnest($1::bytea[], $2::bytea[], ` + array(anchorSeq) + `, ` + array(anchorSum) + `) AS q(anchor, digest, seq, sum) WHERE seq > 0`),
		insertLog: s(`INSERT INTO {s}.log (seq, entry, after, sum) SELECT seq, entry, after, sum
			FROM unnest($1::bytea[], ` + array(logSeq) + `, ` + bytesArray(logAfter) + `, ` + array(logSum) + `) AS q(entry, seq, after, sum) WHERE seq > 0`),
		numbers:    `SELECT count(set_config(name, list, true)) FROM unnest($1::text[], $2::text[]) AS q(name, list)`,
		updateHead: s(`UPDATE {s}.head SET last = $1, edge = $2, sum = $3 WHERE one AND last = $4`),

		format: s(`SELECT format FROM {s}.head WHERE one`),
		head:   s(`SELECT format, last, edge, sum FROM {s}.head WHERE one`),
		ends:   s(`SELECT format, last, edge, h.sum, bytes, s.sum FROM {s}.head h JOIN {s}.state s USING (one) WHERE one`),
		last:   s(`SELECT max(seq) FROM {s}.log`),
		entries: s(`SELECT seq, entry, after, sum FROM
			(SELECT seq, entry, after, sum, sum(octet_length(entry)) OVER (ORDER BY seq) - octet_length(entry) AS before
				FROM (SELECT seq, entry, after, sum FROM {s}.log WHERE seq >= $1 ORDER BY seq LIMIT $2) l) l
			WHERE before < $3 ORDER BY seq`),
		some:    s(`SELECT seq, entry, after, sum FROM {s}.log WHERE seq = ANY($1::bigint[])`),
		getHead: s(`SELECT leaves, signed, sum FROM {s}.heads WHERE key = $1`),
		putHead: s(`WITH log AS (SELECT FROM {s}.head WHERE one AND $1 <= last + 1 AND set_config('synchronous_commit', 'on', true) = 'on'),
			put AS (INSERT INTO {s}.heads AS h (key, leaves, signed, sum)
				SELECT q.key, $1, $2, q.sum FROM log, unnest($3::text[], $4::integer[]) AS q(key, sum)
				ON CONFLICT (key) DO UPDATE SET leaves = excluded.leaves, signed = excluded.signed, sum = excluded.sum WHERE h.leaves <= excluded.leaves)
			SELECT EXISTS (SELECT FROM log)`),
		count: s(`SELECT count(*) FROM {s}.`),
	}
}

// headSum returns the checksum of the row of the table head with an encoded edge.
func headSum(edge []byte) int32 {
	return sum(tableHead, binary.BigEndian.AppendUint32(nil, format), edge)
}

// sum returns the checksum of a record, as a column stores it.
func sum(table string, key, body []byte) int32 { return int32(store.Checksum(table, key, body)) }
