// Package peer says who is at the other end of a connection between the parties of a token system. Each party has a
// certificate of one authority, which names the party and its role. The package makes such certificates, and the
// settings of package crypto/tls that require them.
package peer

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/zkbench/zkbench"
)

// Role is what a party does in a token system.
type Role string

// The roles.
const (
	Validator Role = "validator" // serves the ledger
	Auditor   Role = "auditor"
	Issuer    Role = "issuer"
	Wallet    Role = "wallet"  // pays, and serves the programs of its owner
	Program   Role = "program" // uses a wallet's server
)

// Roles returns all roles.
func Roles() []Role { return []Role{Validator, Auditor, Issuer, Wallet, Program} }

// scheme is the scheme of the URI in a certificate that names a role: zkbench://role/auditor.
const (
	scheme = "zkbench"
	host   = "role"
)

// uri returns the URI of a role.
func (r Role) uri() *url.URL { return &url.URL{Scheme: scheme, Host: host, Path: "/" + string(r)} }

// Peer is a party at the other end of a connection.
type Peer struct {
	Name string   // of its certificate, for people; empty without TLS
	Role Role     // empty without TLS
	Key  [32]byte // SHA-256 of its public key (DER of SubjectPublicKeyInfo); zero without TLS
}

// RoleError reports a certificate that does not name an accepted role. It wraps zkbench.ErrParams.
type RoleError struct {
	Name string
	Role Role // empty if it names none, or several
	Want []Role
}

func (e *RoleError) Error() string {
	want := make([]string, len(e.Want))
	for i, r := range e.Want {
		want[i] = string(r)
	}
	has := "no role"
	if e.Role != "" {
		has = fmt.Sprintf("the role %q", e.Role)
	}
	return fmt.Sprintf("%v: the certificate of %q has %s; accepted: %s", zkbench.ErrParams, e.Name, has, strings.Join(want, ", "))
}

func (e *RoleError) Unwrap() error { return zkbench.ErrParams }

// FromState returns the party at the other end of a connection, whose certificate package crypto/tls has verified. If there is
// no certificate, Of returns the zero Peer.
func FromState(state *tls.ConnectionState) Peer {
	if state == nil || len(state.VerifiedChains) == 0 {
		return Peer{}
	}
	return FromCertificate(state.PeerCertificates[0])
}

// FromCertificate returns the party that a certificate names. The caller has verified the certificate, or it is its own.
func FromCertificate(c *x509.Certificate) Peer {
	p := Peer{Name: c.Subject.CommonName, Key: sha256.Sum256(c.RawSubjectPublicKeyInfo)}
	for _, u := range c.URIs {
		if u.Scheme != scheme || u.Host != host {
			continue
		}
		if p.Role != "" { // a certificate has one role: whoever signs for a validator does not audit
			p.Role = ""
			return p
		}
		p.Role = Role(strings.TrimPrefix(u.Path, "/"))
	}
	return p
}

// Check returns a *RoleError unless the party has one of the roles.
func (p Peer) Check(accepted ...Role) error {
	if p.Role != "" && slices.Contains(accepted, p.Role) {
		return nil
	}
	return &RoleError{Name: p.Name, Role: p.Role, Want: accepted}
}

// Server returns the settings of a server, which asks each client for a certificate of an authority. Which role it must
// have depends on the service.
func Server(own tls.Certificate, authorities *x509.CertPool) *tls.Config {
	return &tls.Config{
		Certificates: []tls.Certificate{own}, MinVersion: tls.VersionTLS13,
		ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: authorities, NextProtos: []string{"h2", "http/1.1"},
	}
}

// Client returns the settings of a client: the server must have a certificate of an authority, for its host and with the
// given role. The client shows its own certificate, if it has one.
func Client(own *tls.Certificate, authorities *x509.CertPool, server Role) *tls.Config {
	c := &tls.Config{
		MinVersion: tls.VersionTLS13, RootCAs: authorities,
		VerifyConnection: func(state tls.ConnectionState) error { return FromCertificate(state.PeerCertificates[0]).Check(server) },
	}
	if own != nil {
		c.Certificates = []tls.Certificate{*own}
	}
	return c
}
