package postgres

import (
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/zkbench/zkbench"
)

// parse parses a connection URL, whose scheme may be in capitals, or a keyword
// string. No error has any of it: it may hold a password, and where it is malformed
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
	}
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, malformed("want postgres://user@host:port/database or key=value ...")
	}
	return config, nil
}

func malformed(reason string) error {
	return fmt.Errorf("%w: database url: %s", zkbench.ErrParams, reason)
}
