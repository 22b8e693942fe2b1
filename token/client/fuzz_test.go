package client_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"

	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token/internal/rpc/tokenv1"
	"github.com/zkbench/zkbench/token/internal/rpc/tokenv1/tokenv1connect"
	"github.com/zkbench/zkbench/token/peer"
	"github.com/zkbench/zkbench/token/service"
)

// asked makes a call at a handler. It fails the test if the server answers that the call is its own fault, as it does
// after a panic.
func (s *system) asked(t testing.TB, role peer.Role, procedure string, m proto.Message) (code int) {
	t.Helper()
	r := httptest.NewRequest(http.MethodPost, procedure, bytes.NewReader(must.Get(proto.Marshal(m))(t)))
	r.Host = "localhost"
	r.Header.Set("Content-Type", "application/proto")
	w := httptest.NewRecorder()
	s.handlers[role].ServeHTTP(w, r)
	if body := w.Body.String(); w.Code != http.StatusOK && (strings.Contains(body, `"code":"internal"`) || strings.Contains(body, `"code":"unknown"`)) {
		t.Errorf("%s: %s", procedure, body)
	}
	return w.Code
}

// FuzzAuditor gives an auditor's server any request and any information.
func FuzzAuditor(f *testing.F) {
	s := newSystem(f, false, nil)
	alice := s.wallet("alice")
	_, _, err := s.issuerFor(peer.Issuer).Issue(f.Context(), "a key", usd, service.Payment{To: alice.address(), Value: 10})
	must.Do(f, err)
	alice.holds("10")
	sub := must.Get(alice.transfer.Transfer(f.Context(), service.Order{Type: usd, Payments: []service.Payment{{To: alice.address(), Value: 3}}}))(f)
	request, information, err := sub.ForAuditors()
	must.Do(f, err)
	if code := s.asked(f, peer.Auditor, tokenv1connect.AuditorServiceSignProcedure, &tokenv1.SignRequest{Request: request, Information: information}); code != http.StatusOK {
		f.Fatalf("a request that is in order: %d", code)
	}
	f.Add(request, information, uint64(0))
	f.Add(request, information[:40], uint64(1))
	f.Add([]byte{}, []byte{}, uint64(1<<63))
	f.Fuzz(func(t *testing.T, request, information []byte, policy uint64) {
		m := &tokenv1.SignRequest{Request: request, Information: information}
		if policy != 0 {
			m.Policy = &policy
		}
		s.asked(t, peer.Auditor, tokenv1connect.AuditorServiceSignProcedure, m)
	})
}

// FuzzIssuer gives an issuer's server any address to pay, and any redemption to approve.
func FuzzIssuer(f *testing.F) {
	s := newSystem(f, false, nil)
	alice := s.wallet("alice")
	address := must.Get(service.FormatAddress(s.store.Genesis().ID(), alice.address()))(f)
	_, _, err := s.issuerFor(peer.Issuer).Issue(f.Context(), "a key", usd, service.Payment{To: alice.address(), Value: 10})
	must.Do(f, err)
	alice.holds("10")
	sub := must.Get(alice.transfer.Transfer(f.Context(), service.Order{Type: usd, Payments: []service.Payment{{Value: 3}}}))(f)
	redeemed := must.Get(sub.Redeemed(0))(f)
	raw := must.Get(sub.Request.Encode())(f)
	approve := func(t testing.TB, request, typ, blinding []byte, value uint64, action uint32) int {
		return s.asked(t, peer.Issuer, tokenv1connect.IssuerServiceApproveProcedure, &tokenv1.ApproveRequest{
			Request: request, Action: action, Redeemed: []*tokenv1.Opening{{Type: typ, Value: value, Blinding: blinding}},
		})
	}
	if code := approve(f, raw, []byte(usd), redeemed[0].Blinding, 3, 0); code != http.StatusOK {
		f.Fatalf("a redemption that is in order: %d", code)
	}
	f.Add(address, raw, redeemed[0].Blinding, usd, uint64(3), uint32(0), "key")
	f.Add("", raw[:50], []byte{}, "", uint64(1<<63), uint32(1<<31), "")
	f.Fuzz(func(t *testing.T, address string, request, blinding []byte, typ string, value uint64, action uint32, key string) {
		if !utf8.ValidString(address) || !utf8.ValidString(key) || !utf8.ValidString(typ) {
			return // no message of protobuf
		}
		approve(t, request, []byte(typ), blinding, value, action)
		s.asked(t, peer.Issuer, tokenv1connect.IssuerServiceIssueProcedure, &tokenv1.IssueRequest{
			Key: key, Type: typ, Payments: []*tokenv1.Payment{{To: address, Value: value}},
		})
	})
}
