package peer_test

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log"
	"net/url"
	"testing"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token/peer"
)

// An authority makes the certificate of an auditor, who may not act as a validator.
func Example() {
	authority, err := peer.NewAuthority("operator")
	if err != nil {
		log.Fatal(err)
	}
	c, err := authority.Issue("south auditors", peer.Auditor, "auditor.example")
	if err != nil {
		log.Fatal(err)
	}
	p := peer.FromCertificate(c.Leaf)
	fmt.Println(p.Name, p.Role)
	fmt.Println(p.Check(peer.Validator))
	// Output:
	// south auditors auditor
	// invalid parameters: the certificate of "south auditors" has the role "auditor"; accepted: validator
}

// TestOneRole: a certificate with several roles, or none, has none.
func TestOneRole(t *testing.T) {
	t.Parallel()
	uri := func(text string) *url.URL { return must.Get(url.Parse(text))(t) }
	for what, uris := range map[string][]*url.URL{
		"none":            nil,
		"two":             {uri("zkbench://role/auditor"), uri("zkbench://role/validator")},
		"the same twice":  {uri("zkbench://role/auditor"), uri("zkbench://role/auditor")},
		"another scheme":  {uri("spiffe://role/auditor")},
		"another host":    {uri("zkbench://rolle/auditor")},
		"without a name":  {uri("zkbench://role/")},
		"within a folder": {uri("zkbench://role/a/auditor")},
	} {
		p := peer.FromCertificate(&x509.Certificate{URIs: uris})
		for _, r := range peer.Roles() {
			if err := p.Check(r); err == nil {
				t.Errorf("%s: has the role %s", what, r)
			} else if _, ok := errors.AsType[*peer.RoleError](err); !ok || !errors.Is(err, zkbench.ErrParams) {
				t.Errorf("%s: %v", what, err)
			}
		}
	}
	golden.Equal(t, "nobody", peer.Peer{}, peer.FromState(nil))
	golden.Equal(t, "not verified", peer.Peer{}, peer.FromState(&tls.ConnectionState{PeerCertificates: []*x509.Certificate{{URIs: []*url.URL{uri("zkbench://role/auditor")}}}}))
}

// TestAuthority: what an authority makes is what its pool verifies, for its host, its time and its use.
func TestAuthority(t *testing.T) {
	t.Parallel()
	a := must.Get(peer.NewAuthority("ours"))(t)
	again := must.Get(peer.LoadAuthority(a.Certificate(), must.Get(a.Key())(t)))(t)
	server := must.Get(again.Issue("bank", peer.Validator, "127.0.0.1", "bank.example"))(t)
	verify := func(c *x509.Certificate, pool *x509.CertPool, host string, use x509.ExtKeyUsage) error {
		_, err := c.Verify(x509.VerifyOptions{Roots: pool, DNSName: host, KeyUsages: []x509.ExtKeyUsage{use}})
		return err
	}
	must.Do(t, verify(server.Leaf, a.Pool(), "bank.example", x509.ExtKeyUsageServerAuth))
	must.Do(t, verify(server.Leaf, a.Pool(), "127.0.0.1", x509.ExtKeyUsageClientAuth))
	wallet := must.Get(a.Issue("me", peer.Wallet))(t)
	must.Do(t, verify(wallet.Leaf, a.Pool(), "", x509.ExtKeyUsageClientAuth))
	must.Fail(t, verify(wallet.Leaf, a.Pool(), "", x509.ExtKeyUsageServerAuth), must.ErrAny, "a client as a server")
	must.Fail(t, verify(server.Leaf, must.Get(peer.NewAuthority("ours"))(t).Pool(), "", x509.ExtKeyUsageServerAuth), must.ErrAny, "another authority")
	must.Fail(t, verify(server.Leaf, a.Pool(), "other.example", x509.ExtKeyUsageServerAuth), must.ErrAny, "another host")
	must.Fail(t, verify(must.Get(a.IssueFor(-time.Hour, "me", peer.Wallet))(t).Leaf, a.Pool(), "", x509.ExtKeyUsageClientAuth), must.ErrAny, "an expired one")
	cert, key, err := peer.EncodePair(wallet)
	must.Do(t, err)
	must.Get(tls.X509KeyPair(cert, key))(t)
	must.FailGet(peer.LoadAuthority(cert, key))(t, zkbench.ErrParams, "a party as an authority")
	must.FailGet(peer.LoadAuthority(a.Certificate(), key))(t, zkbench.ErrParams, "another key")
	must.FailGet(a.Issue("", peer.Wallet))(t, zkbench.ErrParams, "no name")
	must.FailGet(a.Issue("me", "king"))(t, zkbench.ErrParams, "no such role")
}
