package zkbench

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"go.etcd.io/bbolt"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/zkbench/zkbench/internal/cli"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/pgtest"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/bolt"
	"github.com/zkbench/zkbench/token/ledger/postgres"
	"github.com/zkbench/zkbench/token/ledger/replay"
)

// smallLedger writes a ledger of two batches: three requests that create two tokens
// each, and one that spends the first two of them.
func smallLedger(t *testing.T, path string) {
	t.Helper()
	l := must.Get(bolt.Create(path, ledger.Genesis{}))(t)
	var issues []ledger.Entry
	for i := range 3 {
		e := ledger.Entry{Anchor: fmt.Appendf(nil, "tx%d", i), Digest: [32]byte{byte(i)}, Time: time.Unix(1e9, 0), Request: []byte("request")}
		for j := range 2 {
			e.Creates = append(e.Creates, ledger.Created{ID: fmt.Appendf(nil, "id%d%d", i, j), Token: []byte("token")})
		}
		issues = append(issues, e)
	}
	spend := ledger.Entry{Anchor: []byte("tx3"), Time: time.Unix(1e9, 1), Spends: []token.ID{token.ID("id00"), token.ID("id01")}}
	must.Do(t, errors.Join(l.Apply(t.Context(), issues), l.Apply(t.Context(), []ledger.Entry{spend}), l.Close()))
}

// seal makes a value of a ledger's bucket valid at its place, as the store does.
func seal(bucket string, key, body []byte) []byte {
	table := crc32.MakeTable(crc32.Castagnoli)
	sum := crc32.Update(crc32.Update(crc32.Update(0, table, []byte(bucket)), table, key), table, body)
	return binary.BigEndian.AppendUint32(bytes.Clone(body), sum)
}

// unsealed does what seal does, with a wrong checksum.
func unsealed(_ string, _, body []byte) []byte { return append(body, 0, 0, 0, 0) }

// verified runs ledger verify and returns exit code and outputs. It fails the test if the file has
// changed.
func verified(t *testing.T, path string, flags ...string) (code int, stdout, stderr string) {
	t.Helper()
	before := must.Get(os.ReadFile(path))(t)
	code, stdout, stderr = call(append([]string{"ledger", "verify", path}, flags...)...)
	if !bytes.Equal(before, must.Get(os.ReadFile(path))(t)) {
		t.Errorf("%s was written to", path)
	}
	if code != cli.ExitOK && (stdout != "" || strings.Count(stderr, "\n") != 1) {
		t.Errorf("output %q, messages %q; want one line of a message alone", stdout, stderr)
	}
	return code, stdout, stderr
}

func TestLedgerVerify(t *testing.T) {
	path := filepath.Join(t.TempDir(), replay.FileName)
	smallLedger(t, path)
	code, stdout, stderr := verified(t, path)
	const want = "ok: 4 requests, no proof, signature or policy checked; 6 tokens: 4 unspent, 2 spent; " +
		"times, by the operator: 2001-09-09T01:46:40Z to 2001-09-09T01:46:40Z; ledger bd67fb42c37480b56bbf61a9a2090e23a925043e32f7726ef4753a0b56c56cf1, root "
	if code != cli.ExitOK || !strings.HasPrefix(stdout, want) || stderr != "" {
		t.Fatalf("exit code %d, output %q, %q", code, stdout, stderr)
	}
	hash, notChecked, _ := strings.Cut(strings.TrimPrefix(stdout, want), "\n")
	golden.Contains(t, notChecked, "not checked: proofs, signatures and the policy", "--params FILE")
	golden.Equal(t, "root, the store's", rootOf(t, path), hash)
	if code, out, stderr := call("ledger", "verify", filepath.Dir(path)); code != cli.ExitOK || out != stdout {
		t.Errorf("of the directory: exit code %d, %q, %q", code, out, stderr)
	}
}

// rootOf returns the root of a ledger's log.
func rootOf(t *testing.T, path string) string {
	t.Helper()
	l := must.Get(bolt.Open(path))(t)
	defer l.Close()
	return tlog.Hash(must.Get(l.State(t.Context()))(t).Root).String()
}

// edit changes the records of a ledger's file.
func edit(t *testing.T, path string, change func(tx *bbolt.Tx) error) {
	t.Helper()
	db := must.Get(bbolt.Open(path, 0o600, nil))(t)
	must.Do(t, errors.Join(db.Update(change), db.Close()))
}

// TestLedgerVerifyEdited: records that were changed with good checksums, each in one
// bucket, and what is said of them.
func TestLedgerVerifyEdited(t *testing.T) {
	seq := func(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }
	for name, test := range map[string]struct {
		bucket string
		key    []byte
		change func(body []byte) []byte // nil: the record is taken out
		seal   func(bucket string, key, body []byte) []byte
		code   int
		says   string
	}{
		"tokens=wrong checksum": {"tokens", []byte("id20"), bytes.Clone, unsealed, cli.ExitFailed, "request 3: create 0: corrupt ledger: tokens 69643230: wrong checksum"},
		"log=another request":   {"log", seq(1), func(b []byte) []byte { return bytes.Replace(b, []byte("request"), []byte("REQUEST"), 1) }, seal, cli.ExitFailed, "request 1: not what the log's tree or its state commitment holds"},
		"log=undecodable":       {"log", seq(2), func(b []byte) []byte { return b[:len(b)-1] }, seal, cli.ExitFailed, "request 2: "},
		"log=missing":           {"log", seq(2), nil, seal, cli.ExitFailed, "request 2: missing"},
		"log=last missing":      {"log", seq(4), nil, seal, cli.ExitFailed, "log: ends with request 3, its edge is after request 4"},
		"tokens=unspent": {"tokens", []byte("id00"), func(b []byte) []byte {
			return append(append([]byte{1}, b[1:9]...), append(seq(0), "token"...)...)
		}, seal, cli.ExitFailed, "request 1: create 0: "},
		"tokens=other bytes": {"tokens", []byte("id10"), func(b []byte) []byte { return append(b[:17], "other"...) }, seal, cli.ExitFailed, "request 2: create 0: token 69643130 is not the one it creates"},
		"tokens=missing":     {"tokens", []byte("id11"), nil, seal, cli.ExitFailed, "request 2: create 1: "},
		"spent=missing":      {"spent", []byte("id01"), nil, seal, cli.ExitFailed, "request 1: create 1: "},
		"anchors=missing":    {"anchors", []byte("tx2"), nil, seal, cli.ExitFailed, "request 3: anchor: not in "},
		"anchors=digest":     {"anchors", []byte("tx2"), func(b []byte) []byte { b[39] ^= 1; return b }, seal, cli.ExitFailed, "request 3: anchor: "},
		"meta=version 1":     {"meta", []byte("format"), func([]byte) []byte { return []byte{0, 0, 0, 1} }, seal, cli.ExitUsage, "ledger format at byte 0: version 1, only 6 is known"},
		"meta=genesis":       {"meta", []byte("format"), func(b []byte) []byte { b[70] ^= 1; return b }, seal, cli.ExitFailed, "genesis: not that of the log's tree"},
		"meta=short genesis": {"meta", []byte("format"), func(b []byte) []byte { return b[:99] }, seal, cli.ExitUsage, "genesis at byte 0: 95 bytes, accepted are 160"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), replay.FileName)
			smallLedger(t, path)
			edit(t, path, func(tx *bbolt.Tx) error {
				b := tx.Bucket([]byte(test.bucket))
				if test.change == nil {
					return b.Delete(test.key)
				}
				value := b.Get(test.key)
				return b.Put(test.key, test.seal(test.bucket, test.key, test.change(bytes.Clone(value[:len(value)-4]))))
			})
			code, _, stderr := verified(t, path)
			if code != test.code || !strings.HasPrefix(stderr, "zkbench: "+path+": ") || !strings.Contains(stderr, test.says) {
				t.Errorf("exit code %d, %q; want %d, ...%s", code, stderr, test.code, test.says)
			}
		})
	}
}

// TestLedgerVerifyBytes: files that are no ledgers, or lost their end, or a bit.
func TestLedgerVerifyBytes(t *testing.T) {
	path := filepath.Join(t.TempDir(), replay.FileName)
	smallLedger(t, path)
	good := must.Get(os.ReadFile(path))(t)
	flipped := func(at int) []byte {
		data := bytes.Clone(good)
		data[at] ^= 1
		return data
	}
	for name, test := range map[string]struct {
		data []byte
		says string
	}{
		"empty":       {nil, "corrupt ledger: file: truncated: 0 bytes"},
		"text":        {bytes.Repeat([]byte("not a ledger\n"), 4096), "corrupt ledger: "},
		"half":        {good[:len(good)/2], "corrupt ledger: "},
		"first page":  {good[:os.Getpagesize()], "corrupt ledger: "},
		"meta page 0": {flipped(16 + 48), "corrupt ledger: page 0: "},
		"meta page 1": {flipped(os.Getpagesize() + 16 + 48), "corrupt ledger: page 1: "},
	} {
		t.Run(name, func(t *testing.T) {
			must.Do(t, os.WriteFile(path, test.data, 0o600))
			code, _, stderr := verified(t, path)
			if code != cli.ExitFailed || !strings.Contains(stderr, test.says) {
				t.Errorf("exit code %d, %q; want %d, ...%s", code, stderr, cli.ExitFailed, test.says)
			}
		})
	}
}

// TestLedgerVerifyPages damages a bit of each page in turn. What is not reported, of
// a free page, makes no difference.
func TestLedgerVerifyPages(t *testing.T) {
	path := filepath.Join(t.TempDir(), replay.FileName)
	smallLedger(t, path)
	good := must.Get(os.ReadFile(path))(t)
	_, want, _ := verified(t, path)
	reported := 0
	for at := 0; at < len(good); at += os.Getpagesize() {
		data := bytes.Clone(good)
		data[at+16+3] ^= 1 // behind the header
		must.Do(t, os.WriteFile(path, data, 0o600))
		switch code, stdout, stderr := verified(t, path); {
		case code == cli.ExitFailed && strings.Contains(stderr, "corrupt ledger: "):
			reported++
		case code != cli.ExitOK || stdout != want:
			t.Errorf("byte %d: exit code %d, %q, %q", at+16+3, code, stdout, stderr)
		}
	}
	if reported < 4 { // two meta pages, the root, the list of free pages
		t.Errorf("%d pages reported", reported)
	}
}

func TestLedgerVerifyUsage(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, replay.FileName)
	empty := filepath.Join(dir, "empty")
	must.Do(t, os.Mkdir(empty, 0o777))
	smallLedger(t, path)
	held := must.Get(bolt.Open(path))(t)
	defer held.Close()
	for name, test := range map[string]struct {
		args []string
		says string
	}{
		"locked":         {[]string{path}, "ledger is open elsewhere"},
		"missing":        {[]string{filepath.Join(dir, "none")}, "no such file"},
		"no ledger":      {[]string{empty}, "no such file"},
		"no path":        {nil, "accepted: the path of one ledger"},
		"two":            {[]string{path, path}, "accepted: the path of one ledger"},
		"no parameters":  {[]string{path, "--params", filepath.Join(dir, "none")}, "no such file"},
		"not parameters": {[]string{path, "--params", path}, "malformed encoding"},
	} {
		t.Run(name, func(t *testing.T) { refuses(t, test.says, append([]string{"ledger", "verify"}, test.args...)...) })
	}
	golden.Equal(t, "files in an empty directory", 0, len(must.Get(os.ReadDir(empty))(t)))
}

func TestLedgerNew(t *testing.T) {
	dir := t.TempDir()
	params := filepath.Join(dir, "params")
	if code, _, stderr := call("params", "new", "--out", params, "--bits", "8", "--proof-type", "csp"); code != cli.ExitOK {
		t.Fatal(stderr)
	}
	code, stdout, stderr := call("ledger", "new", dir, "--params", params)
	if code != cli.ExitOK || stderr != "" || !regexp.MustCompile(`^ledger [0-9a-f]{64}\n$`).MatchString(stdout) {
		t.Fatalf("exit code %d, %q, %q", code, stdout, stderr)
	}
	if code, verified, _ := call("ledger", "verify", dir, "--params", params); code != cli.ExitOK || !strings.Contains(verified, strings.TrimSpace(stdout)) {
		t.Errorf("exit code %d, %q", code, verified)
	}
	for says, args := range map[string][]string{
		"exists": {dir, "--params", params}, "params: ": {filepath.Join(dir, "x")}, "accepted: the path of one ledger": {"--params", params},
		"no such file": {filepath.Join(dir, "none", "x"), "--params", params}, "database": {"postgres://user:hunter2@127.0.0.1:1/ledger", "--params", params},
	} {
		refuses(t, says, append([]string{"ledger", "new"}, args...)...)
		if _, _, stderr := call(append([]string{"ledger", "new"}, args...)...); strings.Contains(stderr, "hunter2") {
			t.Errorf("a password in %q", stderr)
		}
	}
}

// TestLedgerFork: a fork has an id of its own, and the original stays as it is.
func TestLedgerFork(t *testing.T) {
	dir := t.TempDir()
	from, to := filepath.Join(dir, replay.FileName), filepath.Join(dir, "fork")
	smallLedger(t, from)
	before := must.Get(os.ReadFile(from))(t)
	for n, args := range map[int][]string{4: nil, 3: {"--last", "3"}, 0: {"--last", "0"}} {
		path := fmt.Sprint(to, n)
		code, stdout, stderr := call(append([]string{"ledger", "fork", dir, path}, args...)...)
		line := regexp.MustCompile(`^ledger ([0-9a-f]{64}), a fork of ([0-9a-f]{64}) after request ` + fmt.Sprint(n) + `\n$`).FindStringSubmatch(stdout)
		original := ledger.Genesis{}.ID()
		if code != cli.ExitOK || len(line) != 3 || line[1] == line[2] || line[2] != fmt.Sprintf("%x", original) {
			t.Fatalf("exit code %d, %q, %q", code, stdout, stderr)
		}
		code, shown, _ := verified(t, path)
		if code != cli.ExitOK || !strings.Contains(shown, fmt.Sprintf("ok: %d requests", n)) || !strings.Contains(shown, strings.TrimSpace(stdout)) {
			t.Errorf("exit code %d, %q", code, shown)
		}
		code, again, _ := call("ledger", "fork", path, path+" again")
		if parent := "a fork of " + line[1] + " after"; code != cli.ExitOK || !strings.Contains(again, parent) {
			t.Errorf("a fork of a fork: exit code %d, %q, want %s", code, again, parent)
		}
	}
	for says, args := range map[string][]string{
		`last: "5" is not accepted`:  {from, to, "--last", "5"},
		`last: "-1" is not accepted`: {from, to, "--last", "-1"},
		"exists":                     {from, to + "4"},
		"none: no such file":         {filepath.Join(dir, "none"), to},
		"the paths of 2 ledgers":     {from},
	} {
		refuses(t, says, append([]string{"ledger", "fork"}, args...)...)
	}
	if after := must.Get(os.ReadFile(from))(t); !bytes.Equal(before, after) {
		t.Error("the original was written to")
	}
	if _, err := os.Stat(to); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a fork that was refused is there: %v", err)
	}
}

func TestLedgerVerifyInterrupted(t *testing.T) {
	path := filepath.Join(t.TempDir(), replay.FileName)
	smallLedger(t, path)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var stdout, stderr strings.Builder
	err := verifyLedger(ctx, &stdout, &stderr, path, nil)
	if cli.CodeOf(err) != cli.ExitPartial || stdout.Len() > 0 {
		t.Errorf("%v, output %q; want exit code %d", err, &stdout, cli.ExitPartial)
	}
}

// TestLedgerVerifyPassword: what is wrong with a database is said without its password,
// however it is given.
func TestLedgerVerifyPassword(t *testing.T) {
	const secret = "hunter2"
	for _, args := range [][]string{
		{"verify", "postgres://user:" + secret + "@127.0.0.1:1/ledger"},
		{"verify", "postgres://user:" + secret + "@127.0.0.1:port/ledger"},
		{"verify", "POSTGRES://user:" + secret + "@127.0.0.1:1/ledger"},
		{"verify", "PostgreSQL://user:" + secret + "%@127.0.0.1:1/ledger"},
		{"verify", "postgres://user:12/" + secret + "@127.0.0.1:1/ledger"},
		{"verify", "postgres://user:pa#" + secret + "@127.0.0.1:1/ledger"},
		{"verify", "postgres:/user:" + secret + "@127.0.0.1:1/ledger"},
		{"verify", "mysql://user:" + secret + "@127.0.0.1:1/ledger?a=b"},
		{"verify", "user:" + secret + "@127.0.0.1/ledger"},
		{"verify", "host=127.0.0.1 port=1 password=" + secret},
		{"verify", "host=127.0.0.1 port=1 password = '" + secret + "' dbname=ledger"},
		{"verify", "HOST=127.0.0.1 port=1 Password=" + secret + " connect_timeout=1"},
		{"verify", "host=127.0.0.1", "port=1", "password=" + secret},
		{"postgres://user:" + secret + "@127.0.0.1:1/ledger"},
	} {
		args = append([]string{"ledger"}, args...)
		refuses(t, "database", args...)
		if _, _, stderr := call(args...); strings.Contains(stderr, secret) {
			t.Errorf("%q: %q", args, stderr)
		}
	}
	t.Run("file", func(t *testing.T) { // a file may have any name
		path := filepath.Join(t.TempDir(), "host=a@b")
		smallLedger(t, path)
		if code, _, stderr := verified(t, path); code != cli.ExitOK {
			t.Errorf("exit code %d, %q", code, stderr)
		}
	})
}

// TestLedgerVerifyDatabase: a ledger in PostgreSQL is verified as a file is, with the
// same chain, over one connection or more, named by a URL or a keyword string.
func TestLedgerVerifyDatabase(t *testing.T) {
	var server pgtest.Server
	url := server.URL(t)
	t.Cleanup(server.Stop)
	refuses(t, "does not exist", "ledger", "verify", url)
	path := filepath.Join(t.TempDir(), replay.FileName)
	smallLedger(t, path)
	l := must.Get(postgres.Create(t.Context(), url, ledger.Genesis{}))(t)
	_, all := entries(t, path)
	must.Do(t, errors.Join(l.Apply(t.Context(), all[:3]), l.Apply(t.Context(), all[3:]), l.Close()))
	_, want, _ := verified(t, path)
	keywords := "host='" + filepath.Dir(server.Socket(t)) + "' user=zkbench dbname=postgres"
	for _, url = range []string{url, strings.Replace(url, "postgres", "POSTGRESQL", 1) + "&pool_max_conns=1", keywords} {
		if code, stdout, stderr := call("ledger", "verify", url); code != cli.ExitOK || stdout != want {
			t.Errorf("%s: exit code %d, %q, %q, of a file with the same batches %q", url, code, stdout, stderr, want)
		}
	}
}
