// Package serving runs the servers of a token system as processes: it listens, counts, logs and stops. It keeps the
// certificates of their parties in directories.
package serving

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/zkbench/zkbench/internal/cli/keyfile"
	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/token/peer"
)

// The files of a directory of certificates.
const (
	AuthorityFile   = "ca.pem"   // certificates of the authorities that the party accepts
	CertificateFile = "cert.pem" // the party's own certificate
	KeyFile         = "key.pem"  // its secret key, of mode 0600
)

// AuthorityKeyFile is the secret key of an authority, beside its AuthorityFile.
const AuthorityKeyFile = "ca-key.pem"

// AcceptedDir says what a directory of certificates is.
const AcceptedDir = "a directory with " + AuthorityFile + ", " + CertificateFile + " and " + KeyFile + ", as zkbench cert issue makes it"

// Certificates are the contents of a directory of certificates.
type Certificates struct {
	Own         tls.Certificate
	Authorities *x509.CertPool
}

// LoadCertificates reads a directory of certificates. field is the name of the flag that names it.
func LoadCertificates(field, dir string) (c Certificates, err error) {
	refuse := func(why string) error {
		return &argument.ValueError{Field: field, Value: dir + ": " + why, Accepted: AcceptedDir}
	}
	data := make(map[string][]byte)
	for _, name := range []string{AuthorityFile, CertificateFile} {
		if data[name], err = os.ReadFile(filepath.Join(dir, name)); errors.Is(err, fs.ErrNotExist) {
			return c, refuse("no " + name)
		} else if err != nil {
			return c, fmt.Errorf("%s: %w", field, err)
		}
	}
	key, err := keyfile.ReadSecret(field, filepath.Join(dir, KeyFile))
	if errors.Is(err, fs.ErrNotExist) {
		return c, refuse("no " + KeyFile)
	}
	if err != nil {
		return c, err
	}
	c.Authorities = x509.NewCertPool()
	if !c.Authorities.AppendCertsFromPEM(data[AuthorityFile]) {
		return c, refuse("no certificate in " + AuthorityFile)
	}
	if c.Own, err = tls.X509KeyPair(data[CertificateFile], key); err != nil {
		return c, refuse("the certificate and the key do not belong together, or are not PEM blocks")
	}
	return c, nil
}

// WriteCertificates writes a party's directory of certificates, which must not have one yet. Only its owner can read it.
func WriteCertificates(dir string, own tls.Certificate, authority []byte) error {
	cert, key, err := peer.EncodePair(own)
	if err != nil {
		return err
	}
	return writeAll(dir, file{AuthorityFile, authority}, file{KeyFile, key}, file{CertificateFile, cert})
}

// WriteAuthority writes an authority into a directory, which must not have one yet.
func WriteAuthority(dir string, a *peer.Authority) error {
	key, err := a.Key()
	if err != nil {
		return err
	}
	return writeAll(dir, file{AuthorityKeyFile, key}, file{AuthorityFile, a.Certificate()})
}

// LoadAuthority reads an authority that WriteAuthority wrote.
func LoadAuthority(field, dir string) (*peer.Authority, error) {
	cert, err := os.ReadFile(filepath.Join(dir, AuthorityFile))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", field, err)
	}
	key, err := keyfile.ReadSecret(field, filepath.Join(dir, AuthorityKeyFile))
	if err != nil {
		return nil, err
	}
	a, err := peer.LoadAuthority(cert, key)
	if err != nil {
		return nil, fmt.Errorf("%s: %s: %w", field, dir, err)
	}
	return a, nil
}

// file is a file of a directory.
type file struct {
	name string
	data []byte
}

// writeAll writes new files of mode 0600 into a directory, in their order: if the last one is there, all are. If one is there
// already, it writes none.
func writeAll(dir string, files ...file) (err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for _, f := range files {
		path := filepath.Join(dir, f.name)
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			return &fs.PathError{Op: "create", Path: path, Err: fs.ErrExist}
		}
	}
	for _, f := range files {
		if err := keyfile.WriteSecret(filepath.Join(dir, f.name), f.data); err != nil {
			return err
		}
	}
	return nil
}
