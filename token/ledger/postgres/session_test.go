package postgres

import (
	"context"
	"fmt"
	"net"
	"testing"

	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/pgtest"
	"github.com/zkbench/zkbench/token/ledger"
)

// TestSession: over TCP, what ends a silent session is set, and what ends a long transaction
// where the server has it.
func TestSession(t *testing.T) {
	ctx := context.Background()
	free := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	address := free.Addr().String()
	must.Do(t, free.Close())
	_, port, _ := net.SplitHostPort(address)
	var tcp pgtest.Server
	defer tcp.Stop()
	tcp.Restart(t, "listen_addresses=127.0.0.1", "port="+port)
	l := must.Get(Create(ctx, "postgres://zkbench@"+address+"/postgres?sslmode=disable", ledger.Genesis{}))(t)
	defer l.Close()
	conn := must.Get(l.pool.Acquire(ctx))(t)
	defer conn.Release()
	var got string
	must.Do(t, conn.QueryRow(ctx, `SELECT string_agg(coalesce(current_setting(name, true), '1min'), ' ' ORDER BY n) FROM unnest(ARRAY[
		'idle_in_transaction_session_timeout', 'tcp_user_timeout', 'tcp_keepalives_idle', 'tcp_keepalives_interval',
		'tcp_keepalives_count', 'transaction_timeout']) WITH ORDINALITY AS names(name, n)`).Scan(&got))
	golden.Equal(t, "settings", fmt.Sprintf("15s %d 5 5 2 1min", silence.Milliseconds()), got)
}
