package postgres

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/zkbench/zkbench/token/ledger"
)

// exchange sends statements in PostgreSQL's extended protocol and reads their answers. Unlike a
// pgx.Batch, it can send a statement's arguments before a lock is taken, and have the statement
// executed later in the transaction: the server keeps the arguments in a portal.
//
// If a server waits for the rest of a message, it ends a silent session only while
// idle_in_transaction_session_timeout runs: from a Sync until the first message after it is
// complete. So, once a lock is held, a long message must be the first after a Sync. Short messages
// fit in the socket's buffer, so they reach the server once they are sent, even if the process
// stops.
type exchange struct {
	ctx     context.Context
	conn    *pgx.Conn
	params  pgx.ExtendedQueryBuilder
	answers []answer // to come, in order
	size    int      // bytes since the last Sync
	long    bool     // the answers include rows, one for each key of a query
}

// answer handles what the server returns for one statement or Sync.
type answer struct {
	sync  bool
	dest  []any // one for each column; nil skips the column
	plans []pgtype.ScanPlan
	row   func() error // called after each row has been scanned into dest
	end   func(tag pgconn.CommandTag) error
}

const (
	short       = 32 << 10         // bytes; half of the first window of a TCP receiver
	messageHead = 128              // maximum length of a message without its arguments
	cancelTime  = 15 * time.Second // to tell the server that a session is abandoned
	poolerTime  = time.Second      // to tell a pooler
)

// newExchange begins an exchange, which close must end. It first prepares the statements that the
// session does not know yet, because that is not possible within an exchange.
func newExchange(ctx context.Context, conn *pgx.Conn, texts ...string) (*exchange, error) {
	for _, text := range texts {
		if _, err := conn.Prepare(ctx, text, text); err != nil {
			return nil, err
		}
	}
	return &exchange{ctx: ctx, conn: conn}, nil
}

func (x *exchange) frontend() *pgproto3.Frontend { return x.conn.PgConn().Frontend() }

// encode encodes the arguments into params, and returns the statement and the length of its
// message.
func (x *exchange) encode(text string, args []any) (*pgconn.StatementDescription, int, error) {
	d, err := x.conn.Prepare(x.ctx, text, text)
	if err == nil {
		err = x.params.Build(x.conn.TypeMap(), d, args)
	}
	n := messageHead
	for _, v := range x.params.ParamValues {
		n += len(v)
	}
	return d, n, err
}

func (x *exchange) sendBind(portal string, d *pgconn.StatementDescription, size int) {
	x.frontend().SendBind(&pgproto3.Bind{
		DestinationPortal: portal, PreparedStatement: d.Name,
		ParameterFormatCodes: x.params.ParamFormats, Parameters: x.params.ParamValues, ResultFormatCodes: x.params.ResultFormats,
	})
	x.size += size
}

func (x *exchange) sendExecute(portal string, a answer) {
	x.frontend().SendExecute(&pgproto3.Execute{Portal: portal})
	x.size += messageHead
	x.answers = append(x.answers, a)
}

func (x *exchange) sync() {
	x.frontend().SendSync(&pgproto3.Sync{})
	x.answers = append(x.answers, answer{sync: true})
	x.size = 0
}

// bind binds a statement and its arguments, of any length, to a portal. It must come before the
// lock.
func (x *exchange) bind(portal, text string, args ...any) error {
	d, size, err := x.encode(text, args)
	if err == nil {
		x.sendBind(portal, d, size)
	}
	return err
}

// execute executes a portal's statement, which must change the given number of rows. It does
// nothing if rows is 0.
func (x *exchange) execute(rows int, portal, text string) {
	if rows > 0 {
		x.sendExecute(portal, changed(rows, text))
	}
}

// changed returns an answer that checks that a statement changed the given number of rows.
func changed(rows int, text string) answer {
	return answer{end: func(tag pgconn.CommandTag) error {
		if n := tag.RowsAffected(); n != int64(rows) {
			return ledger.Corruptf("database", "%d rows changed, want %d: %s", n, rows, text)
		}
		return nil
	}}
}

// change sends a statement that must change the given number of rows.
func (x *exchange) change(rows int, text string, args ...any) error {
	return x.send(text, args, changed(rows, text))
}

// query sends a statement. For each row of the answer it scans the columns into dest and calls row,
// unless row is nil.
func (x *exchange) query(text string, args, dest []any, row func() error) error {
	return x.send(text, args, answer{dest: dest, row: row})
}

func (x *exchange) send(text string, args []any, a answer) error {
	d, size, err := x.encode(text, args)
	if err != nil {
		return err
	}
	if x.size > 0 && x.size+size > short {
		x.sync()
		if x.long { // or each side would write, and wait for the other to read
			if err := x.receive(); err != nil {
				return err
			}
		}
	}
	for i, v := range a.dest {
		var plan pgtype.ScanPlan
		if v != nil {
			plan = x.conn.TypeMap().PlanScan(d.Fields[i].DataTypeOID, x.params.ResultFormats[i], v)
		}
		a.plans = append(a.plans, plan)
	}
	x.sendBind("", d, size)
	x.sendExecute("", a)
	x.long = x.long || (a.row != nil && len(args) > 0)
	return nil
}

// await sends what is left and waits for all answers. It returns the first error.
func (x *exchange) await() error {
	if x.size > 0 {
		x.sync()
	}
	return x.receive()
}

// receive reads all answers. If the connection is lost or the context ends, it closes the
// connection.
func (x *exchange) receive() (err error) {
	stop := context.AfterFunc(x.ctx, func() { _ = x.conn.PgConn().Conn().SetDeadline(time.Unix(1, 0)) })
	defer func() {
		if !stop() {
			x.abandon()
			err = cmp.Or(err, x.ctx.Err())
		}
	}()
	if err := x.frontend().Flush(); err != nil {
		return err
	}
	for len(x.answers) > 0 {
		// A context that ends sets a deadline (above). Watching the context for each message takes longer.
		message, lost := x.conn.PgConn().ReceiveMessage(context.Background())
		if lost != nil {
			return lost
		}
		a := &x.answers[0]
		var failed error
		switch m := message.(type) {
		case *pgproto3.DataRow:
			failed = a.take(m.Values)
		case *pgproto3.CommandComplete:
			if a.end != nil && err == nil {
				failed = a.end(pgconn.NewCommandTag(string(m.CommandTag)))
			}
			x.answers = x.answers[1:]
		case *pgproto3.ErrorResponse:
			failed = pgconn.ErrorResponseToPgError(m)
		case *pgproto3.ReadyForQuery:
			skipped := slices.IndexFunc(x.answers, func(a answer) bool { return a.sync }) // after an error
			x.answers = x.answers[skipped+1:]
		}
		err = cmp.Or(err, failed)
	}
	x.long = false
	return err
}

// take scans a row into dest and calls row.
func (a *answer) take(values [][]byte) error {
	if a.row == nil {
		return nil
	}
	for i, plan := range a.plans {
		if plan == nil {
			continue
		}
		if err := plan.Scan(values[i], a.dest[i]); err != nil {
			return err
		}
	}
	return a.row()
}

// close ends an exchange. If something has not been answered, it also ends the session.
func (x *exchange) close() {
	if x.size > 0 || len(x.answers) > 0 {
		x.abandon()
	}
}

// abandon closes the connection and cancels the session's statement at the server, which may be
// waiting for a lock.
func (x *exchange) abandon() {
	if x.conn.IsClosed() {
		return
	}
	session := x.conn.PgConn()
	tell := func(limit time.Duration) {
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		_ = session.CancelRequest(ctx)
	}
	if pooled(x.conn) { // it forgets the session when the connection is closed
		tell(poolerTime)
	} else {
		go tell(cancelTime)
	}
	closeNow(x.conn)
}

// closeNow closes a connection without waiting.
func closeNow(conn *pgx.Conn) {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	_ = conn.Close(ended)
}
