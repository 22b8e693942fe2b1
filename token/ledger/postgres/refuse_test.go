package postgres

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/pgtest"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/ledgertest"
)

// withParameter returns the url with one more parameter.
func withParameter(t *testing.T, address, key, value string) string {
	t.Helper()
	u := must.Get(url.Parse(address))(t)
	q := u.Query()
	q.Set(key, value)
	u.RawQuery = q.Encode()
	return u.String()
}

// TestRefused: what is not a ledger in order is refused, with its own error.
func TestRefused(t *testing.T) {
	ctx := context.Background()
	for name, c := range map[string]struct {
		edit  string // of a sound ledger
		want  error
		place string // of a *ledger.CorruptError
	}{
		"nothing":          {"SELECT", nil, ""},
		"schema missing":   {"DROP SCHEMA {s} CASCADE", fs.ErrNotExist, ""},
		"schema empty":     {"DROP SCHEMA {s} CASCADE; CREATE SCHEMA {s}", zkbench.ErrMalformed, "table head"},
		"table missing":    {"DROP TABLE spent", zkbench.ErrMalformed, "table spent"},
		"table a view":     {"ALTER TABLE anchors RENAME TO c; CREATE VIEW anchors AS SELECT * FROM c", zkbench.ErrMalformed, "table anchors"},
		"table not logged": {"ALTER TABLE log SET UNLOGGED", zkbench.ErrMalformed, "table log"},
		"no primary key":   {"ALTER TABLE tokens DROP CONSTRAINT tokens_pkey", zkbench.ErrMalformed, "table tokens"},
		"column missing":   {"ALTER TABLE log DROP COLUMN after", zkbench.ErrMalformed, "database"},
		"version 1":        {"UPDATE head SET format = 1; DROP TABLE genesis", zkbench.ErrMalformed, ""},
		"version 2":        {"UPDATE head SET format = 2; ALTER TABLE head DROP COLUMN edge", zkbench.ErrMalformed, ""},
		"version 3":        {"UPDATE head SET format = 3; DROP TABLE state", zkbench.ErrMalformed, ""},
		"version 4":        {"UPDATE head SET format = 4; ALTER TABLE head DROP COLUMN edge; ALTER TABLE log DROP COLUMN after; DROP TABLE heads", zkbench.ErrMalformed, ""}, // without a tree
		"no genesis":       {"DELETE FROM genesis", zkbench.ErrMalformed, "genesis"},
		"no head":          {"DELETE FROM head", zkbench.ErrMalformed, "head"},
	} {
		t.Run(name, func(t *testing.T) {
			l, schema := newLedger(t)
			ledgertest.Apply(t, l, ledgertest.Issue("a", 1))
			conn := connect(t, schema)
			execute(t, conn, strings.ReplaceAll(c.edit, "{s}", pgx.Identifier{schema}.Sanitize()))
			_, err := Open(ctx, server.URL(t), Schema(schema))
			if !errors.Is(err, c.want) || (c.want == nil && err != nil) {
				t.Fatalf("%v, want %v", err, c.want)
			}
			var version *zkbench.DecodeError
			switch {
			case c.place != "":
				ledgertest.Corrupt(t, err, c.place, "open")
				if name == "no head" || name == "table missing" {
					ledgertest.Corrupt(t, l.Apply(ctx, []ledger.Entry{ledgertest.Issue("b", 1)}), "", "apply")
				}
			case strings.HasPrefix(name, "version "):
				if !errors.As(err, &version) || !strings.Contains(err.Error(), name+", only 5 is known") {
					t.Errorf("%v", err)
				}
				if name != "version 1" {
					break
				}
				// A ledger that was open when the version changed stops too.
				if err := l.Apply(ctx, []ledger.Entry{ledgertest.Issue("b", 1)}); !errors.As(err, &version) {
					t.Errorf("%v", err)
				}
			}
		})
	}
}

// TestAddress: a URL or a keyword string is one, and nothing else is taken for a server
// that somebody has not named.
func TestAddress(t *testing.T) {
	_, schema := newLedger(t)
	address, folder := server.URL(t), filepath.Dir(server.Socket(t))
	for _, url := range []string{
		address,
		strings.Replace(address, "postgres:", "PostgreSQL:", 1),
		"host=" + folder + " user=zkbench dbname=postgres",
		" dbname = postgres host = '" + folder + "' user=zkbench application_name=a://b",
	} {
		open(t, url, schema)
	}
	for _, url := range []string{"", "ledger.db", "dir=ledger.db", "/none/x=y", "HOST=" + folder, "host", "mysql://host/database", "://"} {
		must.FailGet(Open(context.Background(), url, Schema(schema)))(t, zkbench.ErrParams, "%q", url)
	}
}

// TestStandby: a standby, which may not have the last batches, is not asked, whatever
// the url says of it; of several hosts the primary is.
func TestStandby(t *testing.T) {
	ctx := context.Background()
	l, schema := newLedger(t)
	ledgertest.Apply(t, l, ledgertest.Issue("a", 1))
	address := server.URL(t)

	var other pgtest.Server
	defer other.Stop()
	other.Standby(t)
	folder := func(s *pgtest.Server) string { return filepath.Dir(s.Socket(t)) }
	hosts := withParameter(t, address, "host", folder(&other)+","+folder(&server))
	for _, attrs := range []string{"any", "prefer-standby", "standby", "read-only"} {
		l := open(t, withParameter(t, hosts, "target_session_attrs", attrs), schema)
		if _, err := l.Token(ctx, token.ID("a/0")); err != nil {
			t.Errorf("%s: %v", attrs, err)
		}
	}

	server.Standby(t)
	defer server.Restart(t)
	refused := func(what string, err error) {
		t.Helper()
		if !errors.Is(err, zkbench.ErrEnv) || !strings.Contains(err.Error(), "standby") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", what, err)
		}
	}
	for _, url := range []string{address, hosts, withParameter(t, address, "target_session_attrs", "standby")} {
		_, err := Open(ctx, url, Schema(schema))
		refused("open", err)
		_, err = Create(ctx, url, ledger.Genesis{}, Schema(schemaName()))
		refused("create", err)
	}
	_, _ = l.Token(ctx, token.ID("a/0")) // finds its connection dead
	_, err := l.Token(ctx, token.ID("a/0"))
	refused("token", err)
	_, _, err = l.Record(ctx, []byte("a"))
	refused("digest", err)
	refused("apply", l.Apply(ctx, []ledger.Entry{ledgertest.Issue("b", 1)}))
	refused("verify", func() error { _, err := l.Verify(ctx, nil); return err }())
}

// TestReadOnlyDefault: a server whose transactions are read-only by default makes a
// ledger, writes to it, and is asked for the last word.
func TestReadOnlyDefault(t *testing.T) {
	ctx := context.Background()
	schema := schemaName()
	l := must.Get(Create(ctx, withParameter(t, server.URL(t), "options", "-c default_transaction_read_only=on"), ledger.Genesis{}, Schema(schema)))(t)
	defer l.Close()
	ledgertest.Apply(t, l, ledgertest.Issue("a", 1))
	l.unsettled.Store(true)
	if _, found, err := l.Record(ctx, []byte("a")); !found || err != nil {
		t.Errorf("%v, %v", found, err)
	}
	ledgertest.Verify(t, l)
}

// TestEnvironment: a server that is away, unsafe, locked, or does not let the
// user in.
func TestEnvironment(t *testing.T) {
	ctx := context.Background()
	l, schema := newLedger(t)
	address := server.URL(t)
	batch := []ledger.Entry{ledgertest.Issue("a", 1)}

	for _, away := range []string{"postgres://127.0.0.1:1/postgres", withParameter(t, address, "host", t.TempDir())} {
		_, created := Create(ctx, away, ledger.Genesis{})
		_, opened := Open(ctx, away)
		for _, err := range []error{created, opened} {
			if !errors.Is(err, zkbench.ErrEnv) || errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s: %v", away, err)
			}
		}
	}

	conn := connect(t, schema)
	role := func(privileges string) (name string) {
		name = fmt.Sprintf("role_%x", rand.Uint64())
		execute(t, conn, "CREATE ROLE "+name+" LOGIN")
		if privileges != "" {
			in := pgx.Identifier{schema}.Sanitize()
			execute(t, conn, "GRANT USAGE ON SCHEMA "+in+" TO "+name+"; GRANT "+privileges+" ON ALL TABLES IN SCHEMA "+in+" TO "+name)
		}
		return name
	}
	stranger := role("")
	addressOf := func(user string) string { return strings.Replace(address, "//zkbench@", "//"+user+"@", 1) }
	must.FailGet(Open(ctx, addressOf(stranger), Schema(schema)))(t, zkbench.ErrEnv, "opened by a stranger")
	must.FailGet(Create(ctx, addressOf(stranger), ledger.Genesis{}, Schema(schemaName())))(t, zkbench.ErrEnv, "created by a stranger")
	reader := open(t, addressOf(role("SELECT")), schema)
	must.Fail(t, reader.Apply(ctx, batch), zkbench.ErrEnv, "written by a reader")
	ledgertest.Verify(t, reader)
	writer := open(t, addressOf(role("SELECT, INSERT, UPDATE")), schema)
	ledgertest.Apply(t, writer, ledgertest.Issue("w", 1))
	ledgertest.Apply(t, writer, ledgertest.Spend("v", token.ID("w/0")))
	ledgertest.Verify(t, writer)

	impatient := open(t, withParameter(t, address, "options", "-c lock_timeout=1"), schema)
	execute(t, conn, "BEGIN; SELECT FROM head FOR UPDATE")
	must.Fail(t, impatient.Apply(ctx, batch), ledger.ErrLocked, "a lock that another has")
	execute(t, conn, "ROLLBACK")
	ledgertest.Apply(t, impatient, batch...)

	// What a role or a url says of a session does not count.
	const settings = "synchronous_commit=on transaction_isolation=read committed enable_seqscan=off idle_in_transaction_session_timeout=15s"
	hasty := open(t, withParameter(t, address, "options", "-c synchronous_commit=off -c default_transaction_isolation=serializable"), schema)
	execute(t, conn, "CREATE TABLE seen (settings text)")
	execute(t, conn, `CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$ BEGIN
		INSERT INTO seen SELECT string_agg(name || '=' || current_setting(name), ' ' ORDER BY n) FROM unnest(ARRAY[
			'synchronous_commit', 'transaction_isolation', 'enable_seqscan', 'idle_in_transaction_session_timeout']) WITH ORDINALITY AS names(name, n);
		RETURN NULL; END $$`)
	execute(t, conn, "CREATE TRIGGER see AFTER INSERT ON log EXECUTE FUNCTION see()")
	ledgertest.Apply(t, hasty, ledgertest.Issue("b", 1))
	var seen string
	if err := conn.QueryRow(ctx, "SELECT settings FROM seen").Scan(&seen); err != nil || seen != settings {
		t.Errorf("%s, %v", seen, err)
	}

	for _, setting := range []string{"fsync=off", "full_page_writes=off"} {
		server.Restart(t, setting)
		name, _, _ := strings.Cut(setting, "=")
		for what, err := range map[string]error{
			"open":  func() error { _, err := Open(ctx, address, Schema(schema)); return err }(),
			"apply": func() error { _ = l.Apply(ctx, batch); return l.Apply(ctx, batch) }(),
		} {
			if !errors.Is(err, zkbench.ErrEnv) || !strings.Contains(err.Error(), name) {
				t.Errorf("%s, %s: %v", setting, what, err)
			}
		}
	}
	server.Restart(t)
	ledgertest.Verify(t, open(t, address, schema))
}
