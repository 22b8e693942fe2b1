package cli

import (
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"

	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/identity"
)

// paramsView is what is shown of public parameters. Digests and fingerprints are
// in hex.
type paramsView struct {
	Digest   string         `json:"digest"`
	Version  int            `json:"version"`
	Curve    string         `json:"curve"`
	Bits     int            `json:"bits"`
	Systems  []systemView   `json:"systems"`
	Issuers  []identityView `json:"issuers"`
	Auditors []identityView `json:"auditors"`
	Limits   limitsView     `json:"limits"`
	Redeem   string         `json:"redeem"`
}

type systemView struct {
	ProofType   string `json:"proof_type"`
	Aggregation int    `json:"aggregation"` // 0: none
	Stop        int    `json:"early_stop"`
	Digest      string `json:"digest"`
}

type identityView struct {
	Type        string `json:"type"`
	Fingerprint string `json:"fingerprint"` // SHA-256 of the certificate or key
	Subject     string `json:"subject,omitempty"`
}

type limitsView struct {
	Inputs   int `json:"inputs"`
	Outputs  int `json:"outputs"`
	Metadata int `json:"metadata"` // bytes
}

func newParamsView(p *token.PublicParams) (*paramsView, error) {
	digest, err := p.Digest()
	if err != nil {
		return nil, err
	}
	v := &paramsView{
		Digest: hex.EncodeToString(digest[:]), Version: token.PublicParamsVersion, Curve: p.Curve, Bits: p.Bits,
		Limits: limitsView(p.Limits), Redeem: p.Redeem.String(),
	}
	for _, s := range p.Systems {
		v.Systems = append(v.Systems, systemView{s.ProofType, s.Aggregation, s.Stop, hex.EncodeToString(s.Digest[:])})
	}
	if v.Issuers, err = identityViews(p.Issuers); err != nil {
		return nil, err
	}
	v.Auditors, err = identityViews(p.Auditors)
	return v, err
}

func identityViews(ids [][]byte) ([]identityView, error) {
	views := make([]identityView, len(ids))
	for i, bytes := range ids {
		id := identity.Identity(bytes)
		payload := id[1:]
		sum := sha256.Sum256(payload)
		views[i] = identityView{Type: id.Type().String(), Fingerprint: hex.EncodeToString(sum[:])}
		if id.Type() == identity.TypeX509 {
			// crypto/x509 reads extensions, which identities are not held to.
			if cert, err := x509.ParseCertificate(payload); err == nil {
				views[i].Subject = cert.Subject.String()
			}
		}
	}
	return views, nil
}

func (v *paramsView) json(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

func (v *paramsView) text(w io.Writer) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(tw, "digest\t%s\nversion\t%d\ncurve\t%s\nbits\t%d\n", v.Digest, v.Version, v.Curve, v.Bits)
	fmt.Fprintf(tw, "inputs\tup to %d\noutputs\tup to %d\nmetadata\tup to %d B\nredeem\t%s\n", v.Limits.Inputs, v.Limits.Outputs, v.Limits.Metadata, v.Redeem)

	fmt.Fprintln(tw, "\nsystem\taggregation\tearly stop\tdigest")
	for _, s := range v.Systems {
		aggregation := "none"
		if s.Aggregation > 0 {
			aggregation = strconv.Itoa(s.Aggregation)
		}
		fmt.Fprintf(tw, "%s\t%s\t%d\t%s\n", s.ProofType, aggregation, s.Stop, short(s.Digest))
	}

	fmt.Fprintln(tw)
	writeIdentities(tw, "issuer", v.Issuers)
	writeIdentities(tw, "auditor", v.Auditors)
	return tw.Flush()
}

func writeIdentities(w io.Writer, role string, ids []identityView) {
	if len(ids) == 0 {
		fmt.Fprintf(w, "%s\tnone\n", role)
	}
	for _, id := range ids {
		fmt.Fprintf(w, "%s\t%s\t%s", role, id.Type, short(id.Fingerprint))
		if id.Subject != "" {
			// Quoted: whoever made the certificate chose every byte of it.
			fmt.Fprintf(w, "\t%q", id.Subject)
		}
		fmt.Fprintln(w)
	}
}

// short is the start of a digest in hex, enough to tell two apart.
func short(digest string) string { return digest[:16] }
