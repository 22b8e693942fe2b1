package server

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"net/http"
	"time"

	"connectrpc.com/connect"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/internal/rpc"
	"github.com/zkbench/zkbench/token/internal/rpc/tokenv1"
	"github.com/zkbench/zkbench/token/internal/rpc/tokenv1/tokenv1connect"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/head"
	"github.com/zkbench/zkbench/token/peer"
)

// pollInterval is how often a ledger is asked for what other processes wrote, while a call waits for it.
const pollInterval = 100 * time.Millisecond

// Ledger configures the service of a ledger: zkbench.token.v1.LedgerService. All fields are needed.
type Ledger struct {
	Store     ledger.Store
	Submitter ledger.Submitter     // of the store, for example a validator.Submitter
	Params    *token.PublicParams  // of the ledger
	Policy    func() *token.Policy // the current one, for example validator.Validator.Policy
}

// NewLedger returns the service. It returns ErrParams if a field is missing, or the parameters are not the ledger's.
func NewLedger(l Ledger) (Service, error) {
	if l.Store == nil || l.Submitter == nil || l.Params == nil || l.Policy == nil {
		return Service{}, refused("a service of a ledger needs a store, a submitter, parameters and a policy")
	}
	digest, err := l.Params.Digest()
	if err != nil {
		return Service{}, err
	}
	genesis := l.Store.Genesis()
	if err := genesis.CheckParams(digest); err != nil {
		return Service{}, err
	}
	s := &ledgerService{Ledger: l, genesis: genesis.Append(nil)}
	if s.params, err = l.Params.Encode(); err != nil {
		return Service{}, err
	}
	s.watch = newWatch(pollInterval, s.looks)
	s.batcher = &batcher{submitter: l.Submitter}
	return Service{
		name:    tokenv1connect.LedgerServiceName,
		clients: []peer.Role{peer.Validator, peer.Auditor, peer.Issuer, peer.Wallet},
		handler: func(opts ...connect.HandlerOption) (string, http.Handler) {
			return tokenv1connect.NewLedgerServiceHandler(s, opts...)
		},
		header: ledgerHeader(genesis.ID()),
		attach: func(server *Server) error {
			s.server = server
			s.batcher.sizes = func(n int) { server.metrics.batches.Observe(float64(n)) }
			s.batcher.tracer = server.tracer
			return nil
		},
	}, nil
}

// ledgerHeader returns a function that sets the header of the ledger.
func ledgerHeader(id token.LedgerID) func(http.Header) {
	name := []string{hex.EncodeToString(id[:])}
	return func(h http.Header) { h[rpc.LedgerHeader] = name }
}

// ledgerService implements LedgerService.
type ledgerService struct {
	Ledger
	genesis, params []byte // encodings
	server          *Server
	batcher         *batcher
	watch           *watch
}

var _ tokenv1connect.LedgerServiceHandler = (*ledgerService)(nil)

// The topics of a ledger's watch: the log, its signed head, and each record by its anchor.
const (
	logTopic  = "log"
	headTopic = "head"
)

func anchorTopic(anchor []byte) string { return "anchor " + string(anchor) }

// mostLooked is the number of new records whose anchors a look reads. It wakes all if there are more.
const mostLooked = 256

// looks begins to look at the log and its signed head.
func (s *ledgerService) looks() looker {
	var last uint64
	var signed []byte
	begun := false
	return func(ctx context.Context) (topics []string, err error) {
		state, err := s.Store.State(ctx)
		if err != nil {
			return nil, err
		}
		newest, err := s.Store.Head(ctx)
		if err != nil {
			return nil, err
		}
		switch {
		case !begun || state.Last < last || state.Last-last > mostLooked:
			topics = append(topics, everything)
		case state.Last > last:
			topics = append(topics, logTopic)
			for record, err := range s.Store.Log(ctx, last+1) {
				if err != nil {
					return nil, err
				}
				if record.Seq > state.Last {
					break // the next look has it
				}
				topics = append(topics, anchorTopic(record.Anchor))
			}
		}
		if !bytes.Equal(newest, signed) {
			topics = append(topics, headTopic)
		}
		begun, last, signed = true, state.Last, newest
		return topics, nil
	}
}

func (s *ledgerService) GetLedger(ctx context.Context, _ *tokenv1.GetLedgerRequest) (*tokenv1.GetLedgerResponse, error) {
	state, err := s.Store.State(ctx)
	if err == nil {
		err = callOf(ctx).answers(len(s.genesis) + len(s.params))
	}
	if err != nil {
		return nil, err
	}
	return &tokenv1.GetLedgerResponse{Protocol: rpc.Protocol, Genesis: s.genesis, Params: s.params, Last: state.Last}, nil
}

func (s *ledgerService) Submit(ctx context.Context, r *tokenv1.SubmitRequest) (*tokenv1.SubmitResponse, error) {
	if n := len(r.GetRequests()); n > rpc.MaxRequests {
		return nil, &zkbench.LimitError{What: "requests of one call", Estimate: int64(n), Max: rpc.MaxRequests}
	}
	c := callOf(ctx)
	if err := c.proofs(r.GetRequests()...); err != nil {
		return nil, err
	}
	answer := &tokenv1.SubmitResponse{Verdicts: make([]*tokenv1.Verdict, len(r.GetRequests()))}
	if len(answer.Verdicts) == 0 {
		return answer, nil
	}
	select {
	case <-s.server.stopping: // what has begun is answered
		return nil, errStopping
	default:
	}
	verdicts, err := s.batcher.submit(ctx, c.allowance, r.GetRequests())
	if err != nil {
		return nil, err
	}
	var landed []string // topics
	for i, v := range verdicts {
		m := &tokenv1.Verdict{Anchor: v.Anchor}
		if v.Record != nil {
			_ = c.answers(rpc.LeafSize(v.Record)) // it counts, and is sent: the record is on the ledger
			landed, m.Record = append(landed, anchorTopic(v.Anchor)), rpc.PutRecord(v.Record)
		} else {
			m.Problem = rpc.PutProblem(v.Err)
			s.report(ctx, v)
		}
		s.server.metrics.verdict(v.Err, "landed")
		answer.Verdicts[i] = m
	}
	if len(landed) > 0 {
		s.watch.tell(append(landed, logTopic)...)
	}
	return answer, nil
}

// report logs a verdict that is not about the request.
func (s *ledgerService) report(ctx context.Context, v ledger.Verdict) {
	if _, refused := errors.AsType[*zkbench.CheckError](v.Err); !refused {
		s.server.log.ErrorContext(ctx, "request not decided", "anchor", hex.EncodeToString(v.Anchor), "error", v.Err)
	}
}

// wait is Server.wait for changes of the ledger.
func (s *ledgerService) wait(ctx context.Context, topic string, ms uint32, try func(ctx context.Context) (bool, error)) error {
	return s.server.wait(ctx, s.watch, topic, ms, try)
}

func (s *ledgerService) GetRecord(ctx context.Context, r *tokenv1.GetRecordRequest) (*tokenv1.GetRecordResponse, error) {
	answer := &tokenv1.GetRecordResponse{}
	err := s.wait(ctx, anchorTopic(r.GetAnchor()), r.GetWaitMs(), func(ctx context.Context) (bool, error) {
		var found bool
		err := s.server.limits.read(ctx, func() error {
			record, ok, err := s.Store.Record(ctx, r.GetAnchor())
			if err != nil || !ok {
				return err
			}
			if err := callOf(ctx).answers(rpc.LeafSize(&record)); err != nil {
				return err
			}
			found, answer.Record = true, rpc.PutRecord(&record)
			return nil
		})
		return found, err
	})
	return answer, err
}

func (s *ledgerService) GetTokens(ctx context.Context, r *tokenv1.GetTokensRequest) (*tokenv1.GetTokensResponse, error) {
	if n := len(r.GetIds()); n > rpc.MaxIDs {
		return nil, &zkbench.LimitError{What: "ids of one call", Estimate: int64(n), Max: rpc.MaxIDs}
	}
	ids := make([]token.ID, len(r.GetIds()))
	for i, id := range r.GetIds() {
		if len(id) > token.MaxID {
			return nil, &zkbench.LimitError{What: "bytes of token id", Estimate: int64(len(id)), Max: token.MaxID}
		}
		ids[i] = token.ID(id)
	}
	var found []ledger.Found
	err := s.server.limits.read(ctx, func() (err error) {
		if found, err = s.Store.Tokens(ctx, ids); err != nil {
			return err
		}
		size := 0
		for _, f := range found {
			size += len(f.Token)
		}
		return callOf(ctx).answers(size)
	})
	if err != nil {
		return nil, err
	}
	answer := &tokenv1.GetTokensResponse{Found: make([]*tokenv1.Found, len(found))}
	for i, f := range found {
		answer.Found[i] = &tokenv1.Found{Token: f.Token}
		if f.Err != nil {
			answer.Found[i] = &tokenv1.Found{Problem: rpc.PutProblem(f.Err)}
		}
	}
	return answer, nil
}

func (s *ledgerService) GetHashes(ctx context.Context, r *tokenv1.GetHashesRequest) (*tokenv1.GetHashesResponse, error) {
	hashes, err := s.Store.Hashes(ctx, r.GetIndexes())
	if err != nil {
		return nil, err
	}
	answer := &tokenv1.GetHashesResponse{Hashes: make([]byte, 0, len(hashes)*tlog.HashSize)}
	for _, h := range hashes {
		answer.Hashes = append(answer.Hashes, h[:]...)
	}
	return answer, nil
}

func (s *ledgerService) GetInclusion(ctx context.Context, r *tokenv1.GetInclusionRequest) (*tokenv1.GetInclusionResponse, error) {
	proof, err := ledger.Inclusion(ctx, s.Store, r.GetLeaves(), r.GetLeaf())
	return &tokenv1.GetInclusionResponse{Hashes: listed(proof)}, err
}

func (s *ledgerService) GetConsistency(ctx context.Context, r *tokenv1.GetConsistencyRequest) (*tokenv1.GetConsistencyResponse, error) {
	proof, err := ledger.Consistency(ctx, s.Store, r.GetBefore(), r.GetAfter())
	return &tokenv1.GetConsistencyResponse{Hashes: listed(proof)}, err
}

func listed(proof []tlog.Hash) [][]byte {
	list := make([][]byte, len(proof))
	for i := range proof {
		list[i] = proof[i][:]
	}
	return list
}

func (s *ledgerService) GetHead(ctx context.Context, r *tokenv1.GetHeadRequest) (*tokenv1.GetHeadResponse, error) {
	answer := &tokenv1.GetHeadResponse{}
	err := s.wait(ctx, headTopic, r.GetWaitMs(), func(ctx context.Context) (bool, error) {
		signed, err := s.Store.Head(ctx)
		if err != nil {
			return false, err
		}
		if answer.Signed = signed; signed == nil {
			return r.GetLeaves() == 0, nil
		}
		h, err := head.ParseSigned(signed)
		if err != nil || h.Size < r.GetLeaves() {
			return false, err
		}
		return true, callOf(ctx).answers(len(signed))
	})
	return answer, err
}

func (s *ledgerService) GetPolicy(ctx context.Context, _ *tokenv1.GetPolicyRequest) (*tokenv1.GetPolicyResponse, error) {
	p := s.Policy()
	encoded, err := p.Encode()
	if err == nil {
		err = callOf(ctx).answers(len(encoded))
	}
	return &tokenv1.GetPolicyResponse{Version: p.Version, Policy: encoded}, err
}

// errQuiet ends a wait for new records, so that something is sent.
var errQuiet = errors.New("no heartbeat yet")

// ReadLog sends records. It waits where the client reads slowly, and holds one message at a time.
func (s *ledgerService) ReadLog(ctx context.Context, r *tokenv1.ReadLogRequest, stream *connect.ServerStream[tokenv1.ReadLogResponse]) error {
	ctx, stop := s.server.until(ctx)
	defer stop()
	next := max(r.GetFrom(), 1)
	send := func() (more bool, err error) {
		begun := next
		m := &tokenv1.ReadLogResponse{First: next}
		var leaves []byte // those of m, one after the other
		flush := func() error {
			if len(m.Leaves) == 0 {
				return nil
			}
			err := stream.Send(m) // which copies them
			clear(m.Leaves)
			m.First, m.Leaves, leaves = next, m.Leaves[:0], leaves[:0]
			return err
		}
		for record, err := range s.Store.Log(ctx, next) {
			if err != nil {
				return false, errors.Join(err, ctx.Err())
			}
			n := rpc.LeafSize(&record)
			if len(leaves)+n > rpc.ChunkBytes {
				if err := flush(); err != nil {
					return false, err
				}
			}
			if n > rpc.ChunkBytes { // the stream holds one message, which is small otherwise
				own := callOf(ctx).allowance
				if err := s.server.limits.hold(own, int64(n)); err != nil {
					s.server.limits.release(own, int64(n))
					return false, err
				}
				m.Leaves, next = append(m.Leaves, rpc.AppendLeaf(make([]byte, 0, n), &record)), record.Seq+1
				err := flush()
				s.server.limits.release(own, int64(n))
				if err != nil {
					return false, err
				}
				continue
			}
			start := len(leaves)
			leaves = rpc.AppendLeaf(leaves, &record) // leaves before it stay where they are if it does not fit
			m.Leaves, next = append(m.Leaves, leaves[start:]), record.Seq+1
		}
		return next > begun, flush()
	}
	if !r.GetFollow() {
		_, err := send()
		return err
	}
	for {
		quiet, cancel := context.WithTimeoutCause(ctx, s.server.beat, errQuiet)
		err := s.watch.until(quiet, logTopic, func() (bool, error) {
			for {
				if more, err := send(); !more || err != nil {
					return false, err
				}
			}
		})
		cancel()
		if err == errQuiet {
			err = stream.Send(&tokenv1.ReadLogResponse{First: next})
		}
		if err != nil {
			return err
		}
	}
}
