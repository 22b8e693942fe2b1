package postgres

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/zkbench/zkbench"
)

// parse parses a connection URL, whose scheme may be in capitals, or a keyword
// string, which begins with one of firstKeys: pgx would take any other word for a
// setting, and connect to the server that the environment names. No error has any of it: it may hold a password, and where it is malformed
// nobody can say which part is one.
func parse(url string) (*pgxpool.Config, error) {
	if scheme, rest, ok := strings.Cut(url, "://"); ok && !strings.ContainsAny(scheme, "= ") {
		if scheme = strings.ToLower(scheme); scheme != "postgres" && scheme != "postgresql" {
			return nil, malformed("want the scheme postgres")
		}
		// A password with one of these in it would be taken for another part, and
		// that part shown.
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

// firstKeys are keywords with which a keyword string may begin.
func firstKeys() []string {
	return []string{"host", "port", "user", "password", "dbname", "database", "service"}
}

func malformed(reason string) error {
	return fmt.Errorf("%w: database url: %s", zkbench.ErrParams, reason)
}
