package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/audit"
	"github.com/zkbench/zkbench/token/identity"
	"github.com/zkbench/zkbench/token/internal/rpc/tokenv1"
	"github.com/zkbench/zkbench/token/internal/rpc/tokenv1/tokenv1connect"
	"github.com/zkbench/zkbench/token/request"
	"github.com/zkbench/zkbench/token/service"
)

// Auditor is a connection to the server of one auditor. It is safe for concurrent use.
type Auditor struct {
	*link
	calls tokenv1connect.AuditorServiceClient
	ids   *identity.Set

	mu  sync.Mutex
	who identity.Identity // as the server last said
}

var _ service.AuditSigner = (*Auditor)(nil)

// DialAuditor reaches an auditor's server. URLs and errors are as for Dial; Options.Params has no effect.
func DialAuditor(ctx context.Context, address string, o Options) (*Auditor, error) {
	l, err := newLink(address, o)
	if err != nil {
		return nil, err
	}
	a := &Auditor{link: l, calls: tokenv1connect.NewAuditorServiceClient(l.http, l.url, l.connect()...)}
	if a.ids, err = identity.NewSet(1, nil); err != nil {
		return nil, err
	}
	if err := a.meet(ctx); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return a, nil
}

// meet asks the server who it is.
func (a *Auditor) meet(ctx context.Context) error {
	answer, err := retry(ctx, a.link, "GetAuditor", func(ctx context.Context) (*tokenv1.GetAuditorResponse, error) {
		return a.calls.GetAuditor(ctx, &tokenv1.GetAuditorRequest{})
	})
	if err != nil {
		return err
	}
	if err := a.expectBytes(answer.GetProtocol(), answer.GetLedger()); err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.who = answer.GetIdentity()
	return nil
}

// Identity returns the identity that the server last said it signs for. Sign does not rely on it.
func (a *Auditor) Identity() identity.Identity {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.who
}

// Place returns the auditor's index in a policy. If the policy does not name the identity that the server said it has, the
// server is asked again. If it still does not, Place returns a *ServerError.
func (a *Auditor) Place(ctx context.Context, rules *token.Policy) (int, error) {
	index := func() int {
		who := a.Identity()
		return slices.IndexFunc(rules.Auditors, func(known token.Auditor) bool { return bytes.Equal(known.Identity, who) })
	}
	at := index()
	if at < 0 {
		if err := a.meet(ctx); err != nil {
			return 0, err
		}
		at = index()
	}
	if at < 0 {
		return 0, &ServerError{URL: a.url, What: "auditor", Got: fmt.Sprintf("%.16x...", []byte(a.Identity())), Want: fmt.Sprintf("one of the %d of policy %d", len(rules.Auditors), rules.Version)}
	}
	return at, nil
}

// Sign implements service.AuditSigner. It seals the information to the key that the policy names for this auditor, so
// nobody else can read it, whoever is at the URL. It verifies the signature that the server returns: it is this auditor's,
// of this request, and counts under the policy.
//
// Sign tries again what may succeed later: the auditor signs the same request again. It returns ErrParams if the policy
// does not name the auditor, the auditor's error if the auditor refuses, a *ledger.PolicyError if a newer policy is in
// force, and zkbench.ErrEnv if it gives up. After an error the server may have the request.
func (a *Auditor) Sign(ctx context.Context, rules *token.Policy, rawRequest, rawInformation []byte) ([]byte, error) {
	at, err := a.Place(ctx, rules)
	if err != nil {
		return nil, err
	}
	r, err := request.Decode(rawRequest)
	if err != nil {
		return nil, err
	}
	sealed, err := a.seal(rules, at, r, rawInformation)
	if err != nil {
		return nil, err
	}
	m := &tokenv1.SignRequest{Request: rawRequest, Information: sealed, Policy: &rules.Version}
	answer, err := retry(ctx, a.link, "Sign", func(ctx context.Context) (*tokenv1.SignResponse, error) { return a.calls.Sign(ctx, m) })
	if err != nil {
		return nil, err
	}
	id := rules.Auditors[at].Identity
	key, err := a.ids.Verifier(id)
	if err != nil {
		return nil, err
	}
	signed := request.ToSign(r.AuditMessage(r.Message(a.options.Ledger)), request.Auditor, rules.Version, id)
	if err := key.Verify(signed[:], answer.GetSignature()); err != nil {
		return nil, a.lied(fmt.Errorf("the signature of auditor %d under policy %d: %w", at, rules.Version, err))
	}
	return answer.GetSignature(), nil
}

// seal returns the information on a request, sealed to one auditor of a policy.
func (a *Auditor) seal(rules *token.Policy, at int, r *request.Request, rawInformation []byte) ([]byte, error) {
	info, err := audit.Decode(rawInformation)
	if err != nil {
		return nil, err
	}
	if len(info.Actions) != len(r.Actions) {
		return nil, fmt.Errorf("%w: information on %d actions, the request has %d", zkbench.ErrParams, len(info.Actions), len(r.Actions))
	}
	only := *rules
	only.Auditors = rules.Auditors[at : at+1]
	for i := range info.Actions {
		if info.Actions[i], err = info.Actions[i].Seal(&only, a.options.Ledger, r.Anchor, i); err != nil {
			return nil, err
		}
	}
	return info.Encode()
}
