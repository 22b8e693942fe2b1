package client

import (
	"bytes"
	"context"
	"fmt"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/entry"
	"github.com/zkbench/zkbench/token/internal/rpc"
	"github.com/zkbench/zkbench/token/internal/rpc/tokenv1"
	"github.com/zkbench/zkbench/token/ledger"
)

// MaxRequests is the maximum number of requests that Submit submits in one call to the server.
const MaxRequests = rpc.MaxRequests

// Submit implements ledger.Submitter, in calls of up to MaxRequests requests or some 16 MB. It submits again what the server has
// not answered, which records nothing twice. If it gives up, the error wraps zkbench.ErrOutcomeUnknown, unless none of the
// requests can have reached the server. It checks that the record of each verdict is of the request that was submitted.
func (c *Client) Submit(ctx context.Context, requests [][]byte) ([]ledger.Verdict, error) {
	for i, r := range requests {
		if len(r) > token.MaxRequest { // the server would not read it
			return nil, &zkbench.LimitError{What: fmt.Sprintf("bytes of request %d", i), Estimate: int64(len(r)), Max: token.MaxRequest}
		}
	}
	verdicts := make([]ledger.Verdict, 0, len(requests))
	for len(requests) > 0 {
		n := fit(requests)
		some, err := c.submit(ctx, requests[:n])
		if err != nil && len(verdicts) > 0 { // the caller gets no verdicts on those before
			err = unknown(err)
		}
		if err != nil {
			return nil, err
		}
		verdicts, requests = append(verdicts, some...), requests[n:]
	}
	return verdicts, nil
}

// fit returns how many requests, from the first, one call submits. It returns at least 1.
func fit(requests [][]byte) int {
	size := 0
	for n, r := range requests {
		if size += len(r) + 8; n > 0 && (n == rpc.MaxRequests || size > token.MaxRequest) {
			return n
		}
	}
	return len(requests)
}

func (c *Client) submit(ctx context.Context, requests [][]byte) ([]ledger.Verdict, error) {
	m := &tokenv1.SubmitRequest{Requests: requests}
	sent := false
	verdicts, err := retry(ctx, c.link, "Submit", func(ctx context.Context) ([]ledger.Verdict, error) {
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		answer, err := c.calls.Submit(ctx, m)
		if err != nil {
			sent = sent || mayHaveActed(err)
			return nil, err
		}
		sent = true
		if len(answer.GetVerdicts()) != len(requests) {
			return nil, c.lied(malformed("verdicts", "%d on %d requests", len(answer.GetVerdicts()), len(requests)))
		}
		verdicts := make([]ledger.Verdict, len(requests))
		for i, v := range answer.GetVerdicts() {
			if verdicts[i], err = c.verdict(requests[i], v); err != nil {
				return nil, c.lied(err)
			}
		}
		return verdicts, nil
	})
	if err != nil && sent {
		err = unknown(err)
	}
	return verdicts, err
}

// verdict checks that a verdict is on the request.
func (c *Client) verdict(raw []byte, m *tokenv1.Verdict) (v ledger.Verdict, err error) {
	id, decoding := entry.KeyOf(raw)
	if !bytes.Equal(id.Anchor, m.GetAnchor()) {
		return v, malformed("verdict's anchor", "%x, the request's is %x", m.GetAnchor()[:min(32, len(m.GetAnchor()))], id.Anchor)
	}
	v.Anchor = id.Anchor
	if m.GetRecord() == nil {
		v.Err = rpc.GetProblem(m.GetProblem())
		return v, nil
	}
	if decoding != nil {
		return v, malformed("verdict", "a record of a request that does not decode: %v", decoding)
	}
	r, err := rpc.GetRecord(m.GetRecord(), id.Anchor)
	if err != nil {
		return v, err
	}
	digest, err := id.Digest(c.genesis.ForRecord(r.Seq).ID())
	if err != nil {
		return v, err
	}
	if r.Digest != digest {
		return v, malformed("verdict's record", "of another request than the one submitted")
	}
	c.saw(&c.last, r.Seq)
	v.Record = &r
	return v, nil
}
