// Package postgres implements ledger.Store in a schema of a PostgreSQL database, for ledgers with
// several validators. Any number of processes may open the ledger. A batch is one transaction,
// which is durable when Apply returns nil.
//
// Every transaction first locks the row that names the end of the log, so all processes together
// have one writer at a time. Calls of Apply that arrive while the process is writing another batch
// share the next transaction. A call waits for a transaction no longer than its context allows, and
// at most TransactionTime.
//
// A Ledger notices if the rows go back to an earlier state, for example because a backup of the database is
// restored under it. It then returns a *ledger.RolledBackError and refuses all later calls, because payments that
// it has acknowledged are lost.
//
// docs/ledger.md says what the database is trusted with, and which changes to its rows are
// detected.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/store"
)

// TransactionTime is the maximum duration of a transaction of Apply, including the wait for other processes.
// After that time Apply stops waiting for the server. TransactionTime is longer than the 15 s after which the
// server or a waiting process ends a session that sends nothing. So a process that has stopped cannot make
// the transactions of other processes fail.
const TransactionTime = time.Minute

// silence is how long a transaction that blocks others may send nothing. After that the server ends
// its session. If the server does not, a waiting process does; it notices at most three quarters of
// this time later.
const silence = 15 * time.Second

// DefaultSchema is the schema of a ledger if no option names another.
const DefaultSchema = "zkbench"

// Option configures Create and Open. Schema makes one.
type Option struct{ set func(*options) }

type options struct {
	schema  string
	silence time.Duration
}

// Schema sets the name of the ledger's schema: 1 to 63 bytes of UTF-8 without NUL, not beginning
// with "pg_".
func Schema(name string) Option { return Option{func(o *options) { o.schema = name }} }

// maxSchema is the length at which PostgreSQL truncates a name.
const maxSchema = 63

func (o *options) check() error {
	s := o.schema
	if len(s) < 1 || len(s) > maxSchema || !utf8.ValidString(s) || strings.ContainsRune(s, 0) || strings.HasPrefix(s, "pg_") {
		return fmt.Errorf("%w: schema %q: accepted are 1 to %d bytes of UTF-8 without zeros that do not begin with \"pg_\"",
			zkbench.ErrParams, s, maxSchema)
	}
	return nil
}

// Ledger implements ledger.Store.
type Ledger struct {
	pool    *pgxpool.Pool
	sql     statements
	queue   *store.Queue
	genesis ledger.Genesis
	seen    ledger.Edge   // of the log as this process has seen it last; only the queue's writer uses it
	limit   time.Duration // TransactionTime
	silence time.Duration

	snapshotTime time.Duration // store.SnapshotTime

	// readers has room for all connections except one. A call that holds a snapshot has put a token
	// there, and the remaining connection serves other calls meanwhile.
	readers chan struct{}

	// closing ends when Close has waited long enough, and ends all running calls.
	closing context.Context
	cancel  context.CancelFunc

	// keeps is set when a pooler was found to keep a session for each connection. It is reset when a connection is lost,
	// because a pooler that was restarted may have another mode.
	keeps atomic.Bool

	// unsettled is set while the outcome of a transaction is unknown to a caller:
	// the server may still be about to commit it.
	unsettled atomic.Bool

	mu     sync.Mutex
	failed error // why the ledger refuses all calls; nil while it works
}

var _ ledger.Store = (*Ledger)(nil)

// Create creates an empty ledger with the given genesis in the database at url, and opens it. The parameter
// url is a PostgreSQL connection URL or a keyword string (host=... user=...). If the genesis is a fork's, the
// caller must first apply the parent's batches, unchanged; until then Open refuses the ledger.
//
// The schema appears complete or not at all. Create returns fs.ErrExist if a schema of this name
// exists, and zkbench.ErrOutcomeUnknown if the connection is lost at the end. Other errors are as
// for Open.
func Create(ctx context.Context, url string, genesis ledger.Genesis, opts ...Option) (*Ledger, error) {
	return start(ctx, url, opts, func(l *Ledger, schema string) error {
		if err := l.initialize(ctx, schema, genesis); err != nil {
			return err
		}
		return l.inspect(ctx, schema, store.CheckEdge)
	})
}

// Open opens a ledger that Create created, and changes nothing. It checks the format, the tables,
// and the end of the log; Verify checks everything. Open returns
//
//   - fs.ErrNotExist if there is no such schema,
//   - a *ledger.CorruptError if the ledger contradicts itself,
//   - a *zkbench.DecodeError if the ledger has another format version,
//   - zkbench.ErrParams if the url or the schema's name is malformed,
//   - zkbench.ErrEnv if the server cannot be reached, refuses the connection, or is configured in a way
//     that can lose committed transactions, or if a connection pooler before it is not in session mode.
//
// No error contains the url's password.
func Open(ctx context.Context, url string, opts ...Option) (*Ledger, error) {
	return start(ctx, url, opts, func(l *Ledger, schema string) error {
		return l.inspect(ctx, schema, store.CheckOpened)
	})
}

// start connects to the server and prepares the ledger for use.
func start(ctx context.Context, url string, opts []Option, prepare func(l *Ledger, schema string) error) (*Ledger, error) {
	o := options{schema: DefaultSchema, silence: silence}
	for _, opt := range opts {
		if opt.set != nil {
			opt.set(&o)
		}
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	config, err := parse(url)
	if err != nil {
		return nil, err
	}
	config.MaxConns = max(config.MaxConns, 2)
	// A standby may lag behind, and report spent tokens as unspent.
	config.ConnConfig.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsPrimary
	dialer := net.Dialer{Timeout: config.ConnConfig.ConnectTimeout, KeepAliveConfig: keepAlive(o.silence)}
	config.ConnConfig.DialFunc = dialer.DialContext
	l := &Ledger{
		sql: newStatements(o.schema), limit: TransactionTime, silence: o.silence, snapshotTime: store.SnapshotTime,
		readers: make(chan struct{}, config.MaxConns-1),
	}
	config.AfterConnect = l.settle
	l.queue = store.NewLeavingQueue(l.apply)
	l.closing, l.cancel = context.WithCancel(context.Background())
	if l.pool, err = pgxpool.NewWithConfig(context.WithoutCancel(ctx), config); err != nil {
		return nil, l.failure(ctx, err)
	}
	if err := prepare(l, o.schema); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// initialize creates the schema and its tables.
func (l *Ledger) initialize(ctx context.Context, schema string, genesis ledger.Genesis) error {
	exists := false
	err := l.withConn(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, "BEGIN READ WRITE; "+l.sql.create)
		var server *pgconn.PgError
		// A concurrent Create is detected by the catalog's own index.
		exists = errors.As(err, &server) && (server.Code == duplicateSchema || server.Code == uniqueViolation)
		if err != nil {
			return err
		}
		edge, encoding := ledger.NewEdge(genesis), genesis.Append(nil)
		encoded := edge.AppendTo(nil)
		if _, err := conn.Exec(ctx, l.sql.insertHead, format, 0, encoded, headSum(encoded)); err != nil {
			return err
		}
		if _, err := conn.Exec(ctx, l.sql.insertGenesis, encoding, sum(tableGenesis, nil, encoding)); err != nil {
			return err
		}
		if _, err := conn.Exec(ctx, l.sql.insertState, []byte{}, stateSum(nil)); err != nil {
			return err
		}
		return commit(ctx, conn)
	})
	if exists {
		return fmt.Errorf("ledger: schema %q: %w", schema, fs.ErrExist)
	}
	return err
}

// inspect checks the tables and the format, and runs check on the end of the log.
func (l *Ledger) inspect(ctx context.Context, schema string, check func(context.Context, store.Snapshot) error) error {
	missing := false
	err := l.snapshot(ctx, func(ctx context.Context, s *snapshot) error {
		var sound []string
		err := s.conn.QueryRow(ctx, soundTables, schema).Scan(&sound)
		if missing = errors.Is(err, pgx.ErrNoRows); missing {
			return nil
		}
		if err != nil {
			return err
		}
		if slices.Contains(sound, tableHead) { // another version may have other tables and columns
			if err := s.format(ctx); err != nil {
				return err
			}
		}
		for _, name := range tableNames() {
			if !slices.Contains(sound, name) {
				return ledger.Corruptf("table "+name, "missing, not logged, or without its primary key")
			}
		}
		if err := s.begin(ctx); err != nil {
			return err
		}
		l.genesis = s.genesis
		if err := s.caller(ctx); err != nil {
			return err
		}
		if l.seen, err = s.Edge(ctx); err != nil {
			return err
		}
		return check(ctx, s)
	})
	if missing {
		return fmt.Errorf("ledger: schema %q: %w", schema, fs.ErrNotExist)
	}
	return err
}

// fail makes the ledger refuse all later calls with err.
func (l *Ledger) fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failed = err
}

// stopped returns why the ledger refuses calls, or nil if it does not.
func (l *Ledger) stopped() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.failed
}

// Close implements ledger.Store. If calls still run after TransactionTime, or wait for a server that
// does not answer, Close cancels them.
func (l *Ledger) Close() (err error) {
	defer l.cancel()
	late := time.AfterFunc(l.limit, l.cancel)
	defer late.Stop()
	l.queue.Exclusive(func() {
		if err = l.stopped(); errors.Is(err, fs.ErrClosed) {
			return
		}
		err = nil
		l.fail(ledger.ErrClosed)
		l.pool.Close()
	})
	return err
}

// parse parses a connection URL, whose scheme may be in capitals, or a keyword string. A keyword
// string must begin with one of firstKeys: pgx would take any other word for a setting, and connect
// to the server that the environment names. No error contains any part of url, which may hold a
// password, and in a malformed url nobody can say which part that is.
func parse(url string) (*pgxpool.Config, error) {
	if scheme, rest, ok := strings.Cut(url, "://"); ok && !strings.ContainsAny(scheme, "= ") {
		if scheme = strings.ToLower(scheme); scheme != "postgres" && scheme != "postgresql" {
			return nil, malformed("want the scheme postgres")
		}
		// pgx would take a password that contains one of these for another part of the url, and
		// show that part in errors.
		if end := strings.IndexAny(rest, "/?#"); end >= 0 && strings.Contains(rest[end:], "@") {
			return nil, malformed("/, ?, # and @ of a user, password or database are written %2F, %3F, %23 and %40")
		}
		url = scheme + "://" + rest
	} else if key, _, _ := strings.Cut(url, "="); !slices.Contains(firstKeys(), strings.TrimSpace(key)) {
		return nil, malformed(wanted)
	}
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, malformed(wanted)
	}
	return config, nil
}

const wanted = "want postgres://user@host:port/database or host=... user=... dbname=..."

// firstKeys returns the keywords with which a keyword string may begin.
func firstKeys() []string {
	return []string{"host", "port", "user", "password", "dbname", "database", "service"}
}

// IsURL reports whether text is meant as a url of Open, which may be damaged, and not as the path of a file. Capitals
// make no difference. Text is meant as a url if it
//
//   - begins with "postgres:" or "postgresql:", or contains "://";
//   - contains one of the keywords host, port, user, password, dbname, database and service as a word before "=";
//   - begins with user:password@.
//
// An absolute path and one that begins with a dot are never meant as a url.
func IsURL(text string) bool {
	if filepath.IsAbs(text) || strings.HasPrefix(text, ".") {
		return false
	}
	keyword := `(^|\s)(` + strings.Join(firstKeys(), "|") + `)\s*=`
	return regexp.MustCompile(`(?i)^postgres(ql)?:|://|^[^/@]+:.*@|` + keyword).MatchString(text)
}

func malformed(reason string) error {
	return fmt.Errorf("%w: database url: %s", zkbench.ErrParams, reason)
}
