package client

import (
	"context"
	"fmt"
	"iter"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/internal/rpc"
	"github.com/zkbench/zkbench/token/internal/rpc/tokenv1"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/head"
)

// Genesis implements ledger.Reader. Dial has checked that it is the expected ledger's.
func (c *Client) Genesis() ledger.Genesis { return c.genesis }

// Token implements ledger.Reader.
func (c *Client) Token(ctx context.Context, id token.ID) ([]byte, error) {
	found, err := c.Tokens(ctx, []token.ID{id})
	if err != nil {
		return nil, err
	}
	return found[0].Token, found[0].Err
}

// Tokens implements ledger.Reader, in calls of up to 256 ids. The answers of one call are from the same
// moment.
func (c *Client) Tokens(ctx context.Context, ids []token.ID) ([]ledger.Found, error) {
	all := make([]ledger.Found, 0, len(ids))
	for first := true; first || len(ids) > 0; first = false {
		n := min(len(ids), rpc.MaxIDs)
		r := &tokenv1.GetTokensRequest{Ids: make([][]byte, n)}
		for i, id := range ids[:n] {
			r.Ids[i] = []byte(id)
		}
		ids = ids[n:]
		answer, err := retry(ctx, c.link, "GetTokens", func(ctx context.Context) (*tokenv1.GetTokensResponse, error) { return c.calls.GetTokens(ctx, r) })
		if err != nil {
			return nil, err
		}
		if len(answer.GetFound()) != n {
			return nil, c.lied(malformed("tokens", "%d answers on %d ids", len(answer.GetFound()), n))
		}
		for _, m := range answer.GetFound() {
			f := ledger.Found{Token: m.GetToken()}
			switch {
			case m.GetProblem() != nil:
				f = ledger.Found{Err: rpc.GetProblem(m.GetProblem())}
			case len(f.Token) == 0 || len(f.Token) > ledger.MaxToken:
				return nil, c.lied(malformed("token", "%d bytes, accepted are 1 to %d", len(f.Token), ledger.MaxToken))
			}
			all = append(all, f)
		}
	}
	return all, nil
}

// Record implements ledger.Reader.
func (c *Client) Record(ctx context.Context, anchor []byte) (ledger.Record, bool, error) {
	return c.WaitRecord(ctx, anchor, 0)
}

// WaitRecord returns the record with an anchor like Record. If it is not there, WaitRecord waits for it for a time.
func (c *Client) WaitRecord(ctx context.Context, anchor []byte, wait time.Duration) (r ledger.Record, found bool, err error) {
	end := time.Now().Add(wait)
	for {
		m := &tokenv1.GetRecordRequest{Anchor: anchor, WaitMs: waitFor(end)}
		answer, err := retry(ctx, c.link, "GetRecord", func(ctx context.Context) (*tokenv1.GetRecordResponse, error) { return c.calls.GetRecord(ctx, m) })
		if err != nil {
			return r, false, err
		}
		if answer.GetRecord() == nil {
			if m.WaitMs == 0 {
				return r, false, nil
			}
			if err := settle(ctx); err != nil {
				return r, false, err
			}
			continue
		}
		if r, err = rpc.GetRecord(answer.GetRecord(), anchor); err != nil {
			return r, false, c.lied(err)
		}
		c.saw(&c.last, r.Seq)
		return r, true, nil
	}
}

// settle waits a moment, so that a server which answers at once where it should wait is not asked again and again.
func settle(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(firstPause):
		return nil
	}
}

// waitFor returns how long one call waits until end, in milliseconds.
func waitFor(end time.Time) uint32 {
	return uint32(max(0, min(time.Until(end).Milliseconds(), rpc.MaxWait)))
}

// Head implements ledger.Reader. It returns a *LagError if the server goes on telling a head with fewer leaves than
// before.
func (c *Client) Head(ctx context.Context) ([]byte, error) { return c.WaitHead(ctx, 0, 0) }

// WaitHead returns the newest head like Head. If that has fewer than the given number of leaves, WaitHead waits for a larger
// one for a time.
func (c *Client) WaitHead(ctx context.Context, leaves uint64, wait time.Duration) ([]byte, error) {
	end := time.Now().Add(wait)
	for {
		m := &tokenv1.GetHeadRequest{Leaves: leaves, WaitMs: waitFor(end)}
		var size uint64
		signed, err := retry(ctx, c.link, "GetHead", func(ctx context.Context) ([]byte, error) {
			answer, err := c.calls.GetHead(ctx, m)
			if err != nil {
				return nil, err
			}
			size = 0
			if signed := answer.GetSigned(); len(signed) > 0 {
				h, err := head.ParseSigned(signed)
				if err != nil {
					return nil, c.lied(err)
				}
				size = h.Size
			}
			if seen := c.head.Load(); size < seen {
				return nil, &LagError{URL: c.url, What: "leaves of a signed head", Told: size, Seen: seen}
			}
			return answer.GetSigned(), nil
		})
		if err != nil {
			c.accept(err, &c.head)
			return nil, err
		}
		c.saw(&c.head, size)
		if m.WaitMs > 0 && size < leaves {
			if err := settle(ctx); err != nil {
				return nil, err
			}
			continue
		}
		if len(signed) == 0 {
			return nil, nil
		}
		return signed, nil
	}
}

// Hashes implements ledger.Reader.
func (c *Client) Hashes(ctx context.Context, indexes []int64) ([]tlog.Hash, error) {
	m := &tokenv1.GetHashesRequest{Indexes: indexes}
	answer, err := retry(ctx, c.link, "GetHashes", func(ctx context.Context) (*tokenv1.GetHashesResponse, error) { return c.calls.GetHashes(ctx, m) })
	if err != nil {
		return nil, err
	}
	data := answer.GetHashes()
	if len(data) != len(indexes)*tlog.HashSize {
		return nil, c.lied(malformed("hashes", "%d bytes for %d hashes", len(data), len(indexes)))
	}
	hashes := make([]tlog.Hash, len(indexes))
	for i := range hashes {
		copy(hashes[i][:], data[i*tlog.HashSize:])
	}
	return hashes, nil
}

// Log implements ledger.Reader. If the connection breaks, it goes on after the last record that it has yielded. It ends
// with a *LagError, once, if the server's log goes on ending before a record that the server told before.
func (c *Client) Log(ctx context.Context, from uint64) iter.Seq2[ledger.Record, error] {
	return c.read(ctx, from, false)
}

// Follow yields the records like Log, and goes on with new ones as they are recorded, until ctx ends. A server sends
// something every 30 seconds, so Follow takes one that is silent for two minutes for a broken connection.
func (c *Client) Follow(ctx context.Context, from uint64) iter.Seq2[ledger.Record, error] {
	return c.read(ctx, from, true)
}

func (c *Client) read(ctx context.Context, from uint64, follow bool) iter.Seq2[ledger.Record, error] {
	return func(yield func(ledger.Record, error) bool) {
		next := max(from, 1)
		w := c.begin("ReadLog")
		for {
			before := next
			stopped, heard, err := c.stream(ctx, &next, follow, yield)
			if stopped {
				return
			}
			if seen := c.last.Load(); err == nil && next <= seen && before <= seen {
				err = &LagError{URL: c.url, What: "records", Told: next - 1, Seen: seen}
			}
			if err == nil {
				if !follow {
					return
				}
				err = errEnded
			}
			if heard { // the server is there again
				w = c.begin("ReadLog")
			}
			if err := w.failed(ctx, err); err != nil {
				c.accept(err, &c.last)
				yield(ledger.Record{}, err)
				return
			}
		}
	}
}

// stream reads the log in one call, and moves next past the records that it has yielded. It reports whether the caller
// wants no more, and whether the server has sent anything.
func (c *Client) stream(ctx context.Context, next *uint64, follow bool, yield func(ledger.Record, error) bool) (stopped, heard bool, err error) {
	silence := fmt.Errorf("%w: the server has sent nothing for %v", errEnded, c.silence)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	silent := time.AfterFunc(c.silence, func() { cancel(silence) })
	defer silent.Stop()
	defer func() {
		if err != nil && context.Cause(ctx) == silence {
			err = silence
		}
	}()
	s, err := c.calls.ReadLog(ctx, &tokenv1.ReadLogRequest{From: *next, Follow: follow})
	if err != nil {
		return false, false, err
	}
	defer s.Close()
	for {
		silent.Reset(c.silence)
		if !s.Receive() {
			return false, heard, s.Err()
		}
		silent.Stop() // the caller may take long
		m := s.Msg()
		if m.GetFirst() != *next || len(m.GetLeaves()) == 0 && !follow {
			return false, heard, c.lied(ledger.Corruptf(fmt.Sprintf("request %d", *next), "the answer has %d requests from number %d on", len(m.GetLeaves()), m.GetFirst()))
		}
		heard = true
		for _, leaf := range m.GetLeaves() {
			r, err := rpc.Record(*next, leaf)
			if err != nil {
				return false, heard, c.lied(ledger.Corruptf(fmt.Sprintf("request %d", *next), "%v", err))
			}
			*next++
			c.saw(&c.last, r.Seq)
			if !yield(r, nil) {
				return true, heard, nil
			}
		}
	}
}

func malformed(path, format string, args ...any) error {
	return &zkbench.DecodeError{Path: path, Reason: fmt.Sprintf(format, args...)}
}
