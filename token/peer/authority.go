package peer

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/url"
	"time"

	"github.com/zkbench/zkbench"
)

// DefaultValidity is how long the certificates of an Authority are valid.
const DefaultValidity = 365 * 24 * time.Hour

// Authority makes the certificates of a token system's parties. It is enough for one operator, or for a trial. A system
// of several operators can use any other authority whose certificates name the roles.
type Authority struct {
	cert *x509.Certificate
	key  crypto.Signer
}

// NewAuthority makes an authority with a new P-256 key, valid ten times as long as its certificates.
func NewAuthority(name string) (*Authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template, err := blank(name, 10*DefaultValidity)
	if err != nil {
		return nil, err
	}
	template.IsCA, template.BasicConstraintsValid, template.MaxPathLenZero = true, true, true
	template.KeyUsage = x509.KeyUsageCertSign
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	return &Authority{cert, key}, nil
}

// blank returns a template with a random serial number. It is valid since ten minutes ago: clocks differ.
func blank(name string, validity time.Duration) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, err
	}
	now := time.Now()
	return &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: name}, NotBefore: now.Add(-10 * time.Minute), NotAfter: now.Add(validity),
	}, nil
}

// Issue makes a certificate with a new P-256 key for a party with a name and a role. hosts are the names and the
// addresses at which it serves; a party that is only a client needs none. It returns ErrParams if the name is empty or the
// role is none of Roles.
func (a *Authority) Issue(name string, role Role, hosts ...string) (tls.Certificate, error) {
	return a.IssueFor(DefaultValidity, name, role, hosts...)
}

// IssueFor makes a certificate like Issue, valid for a given time from now. For tests, the time may have passed.
func (a *Authority) IssueFor(validity time.Duration, name string, role Role, hosts ...string) (c tls.Certificate, err error) {
	known := false
	for _, r := range Roles() {
		known = known || r == role
	}
	if name == "" || !known {
		return c, fmt.Errorf("%w: a certificate for %q with the role %q; accepted: a name, and one of %v", zkbench.ErrParams, name, role, Roles())
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return c, err
	}
	template, err := blank(name, validity)
	if err != nil {
		return c, err
	}
	template.NotBefore = minTime(template.NotBefore, template.NotAfter.Add(-time.Minute))
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	template.URIs = []*url.URL{role.uri()}
	for _, h := range hosts {
		if ip := net.ParseIP(h); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, h)
		}
	}
	if len(hosts) > 0 {
		template.ExtKeyUsage = append(template.ExtKeyUsage, x509.ExtKeyUsageServerAuth)
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	if err != nil {
		return c, err
	}
	leaf, err := x509.ParseCertificate(der)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}, err
}

func minTime(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// Pool returns a pool with the authority's certificate.
func (a *Authority) Pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.cert)
	return pool
}

// Certificate returns the authority's certificate as a PEM block, for those who verify its certificates.
func (a *Authority) Certificate() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.cert.Raw})
}

// Key returns the authority's secret key as a PEM block.
func (a *Authority) Key() ([]byte, error) { return encodeKey(a.key) }

func encodeKey(key any) ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), nil
}

// LoadAuthority returns the authority with the given certificate and secret key, as Certificate and Key returned them.
// It returns ErrParams if they are not those of one authority.
func LoadAuthority(cert, key []byte) (*Authority, error) {
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("%w: not the certificate and the key of an authority", zkbench.ErrParams)
	}
	signer, ok := pair.PrivateKey.(crypto.Signer)
	if !ok || !pair.Leaf.IsCA {
		return nil, fmt.Errorf("%w: the certificate of %q is not an authority's", zkbench.ErrParams, pair.Leaf.Subject.CommonName)
	}
	return &Authority{pair.Leaf, signer}, nil
}

// EncodePair returns a certificate and its secret key as PEM blocks, as tls.X509KeyPair reads them.
func EncodePair(c tls.Certificate) (cert, key []byte, err error) {
	for _, der := range c.Certificate {
		cert = append(cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})...)
	}
	key, err = encodeKey(c.PrivateKey)
	return cert, key, err
}
