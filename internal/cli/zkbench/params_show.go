package zkbench

import (
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/identity"
)

// paramsView is what is shown of public parameters. Digests and fingerprints are in hex.
type paramsView struct {
	Digest  string       `json:"digest"`
	Version int          `json:"version"`
	Curve   string       `json:"curve"`
	Bits    int          `json:"bits"`
	Systems []systemView `json:"systems"`
	Policy  policyView   `json:"policy"`
}

// policyView is what is shown of a policy.
type policyView struct {
	Digest         string          `json:"digest"`
	Version        uint64          `json:"version"`
	Issuers        []issuerView    `json:"issuers"`
	Auditors       []auditorView   `json:"auditors"`
	Administrators []identityView  `json:"administrators"`
	Threshold      int             `json:"threshold"`
	Validators     []validatorView `json:"validators"`
	HeadThreshold  int             `json:"head_threshold"`
	Owners         []string        `json:"owners"`
	Limits         limitsView      `json:"limits"`
	Redeem         string          `json:"redeem"`
	Notes          string          `json:"notes"`
}

type issuerView struct {
	identityView
	Types []string `json:"types,omitempty"` // none: all
}

type auditorView struct {
	identityView
	KEM string `json:"kem"`
	Key string `json:"key"` // SHA-256
}

type validatorView struct {
	identityView        // of the head key
	Consensus    string `json:"consensus,omitempty"` // SHA-256 of the key
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
	Ahead    int `json:"ahead"`    // seconds
}

func newParamsView(p *token.PublicParams) (*paramsView, error) {
	digest, err := p.Digest()
	if err != nil {
		return nil, err
	}
	v := &paramsView{Digest: hex.EncodeToString(digest[:]), Version: token.PublicParamsVersion, Curve: p.Curve, Bits: p.Bits}
	for _, s := range p.RangeProofs {
		v.Systems = append(v.Systems, systemView{s.ProofType, s.Aggregation, s.Stop, hex.EncodeToString(s.Digest[:])})
	}
	v.Policy, err = newPolicyView(&p.Policy)
	return v, err
}

func newPolicyView(p *token.Policy) (v policyView, err error) {
	digest, err := p.Digest()
	if err != nil {
		return v, err
	}
	v = policyView{
		Digest: hex.EncodeToString(digest[:]), Version: p.Version, Redeem: p.Redeem.String(), Notes: kemName(p.Notes),
		Owners: p.Owners.Names(), Threshold: p.Administrators.Threshold,
		Issuers: make([]issuerView, len(p.Issuers)), Auditors: make([]auditorView, len(p.Auditors)),
		Limits:         limitsView{p.Limits.Inputs, p.Limits.Outputs, p.Limits.Metadata, int(p.Limits.Ahead / time.Second)},
		Administrators: identityViews(p.Administrators.Identities),
		Validators:     make([]validatorView, len(p.Validators)), HeadThreshold: p.HeadThreshold,
	}
	for i, id := range identityViews(p.IssuerIdentities()) {
		v.Issuers[i] = issuerView{id, p.Issuers[i].Types}
	}
	for i, id := range identityViews(p.AuditorIdentities()) {
		sum := sha256.Sum256(p.Auditors[i].Key)
		v.Auditors[i] = auditorView{id, kemName(p.Auditors[i].KEM), hex.EncodeToString(sum[:])}
	}
	for i, one := range p.Validators {
		v.Validators[i].identityView = identityViews([][]byte{validatorIdentity(one)})[0]
		if len(one.ConsensusKey) > 0 {
			v.Validators[i].Consensus = identityViews([][]byte{ed25519Identity(one.ConsensusKey)})[0].Fingerprint
		}
	}
	return v, nil
}

func identityViews(ids [][]byte) []identityView {
	views := make([]identityView, len(ids))
	for i, bytes := range ids {
		id := identity.Identity(bytes)
		payload := id[1:]
		sum := sha256.Sum256(payload)
		views[i] = identityView{Type: id.Type().String(), Fingerprint: hex.EncodeToString(sum[:])}
		if id.Type() == identity.TypeX509 {
			// crypto/x509 also parses extensions, which identities need not have right.
			if cert, err := x509.ParseCertificate(payload); err == nil {
				views[i].Subject = cert.Subject.String()
			}
		}
	}
	return views
}

func (v *paramsView) json(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

func (v *paramsView) text(w io.Writer) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(tw, "digest\t%s\nversion\t%d\ncurve\t%s\nbits\t%d\n", v.Digest, v.Version, v.Curve, v.Bits)
	fmt.Fprintln(tw, "\nsystem\taggregation\tearly stop\tdigest")
	for _, s := range v.Systems {
		aggregation := "none"
		if s.Aggregation > 0 {
			aggregation = strconv.Itoa(s.Aggregation)
		}
		fmt.Fprintf(tw, "%s\t%s\t%d\t%s\n", s.ProofType, aggregation, s.Stop, short(s.Digest))
	}

	fmt.Fprintln(tw)
	v.Policy.text(tw)
	return tw.Flush()
}

// text writes a policy in columns.
func (v *policyView) text(w io.Writer) {
	fmt.Fprintf(w, "policy\t%s\nversion\t%d\n", v.Digest, v.Version)
	fmt.Fprintf(w, "inputs\tup to %d\noutputs\tup to %d\nmetadata\tup to %d B\nahead\tup to %v\n", v.Limits.Inputs, v.Limits.Outputs, v.Limits.Metadata, v.Limits.ahead())
	fmt.Fprintf(w, "redeem\t%s\nowners\t%s\nnotes\t%s\n", v.Redeem, strings.Join(v.Owners, ", "), v.Notes)
	some := func(threshold, all int, who string) string {
		if all == 0 {
			return "none"
		}
		return fmt.Sprintf("%d of %d %s", threshold, all, who)
	}
	fmt.Fprintf(w, "heads by\t%s\n", some(v.HeadThreshold, len(v.Validators), "validators"))
	fmt.Fprintf(w, "changed by\t%s\n\n", some(v.Threshold, len(v.Administrators), "administrators"))
	for _, list := range v.lists(short) {
		if len(list.lines) == 0 {
			list.lines = []string{"none"}
		}
		for _, line := range list.lines {
			fmt.Fprintf(w, "%s\t%s\n", list.role, line)
		}
	}
}

// roleLines lists the identities with a role, one line each, in columns.
type roleLines struct {
	role  string
	lines []string
}

// digestForm shortens a digest for display: short or whole.
type digestForm func(digest string) string

// lists returns the identities of a policy by role.
func (v *policyView) lists(form digestForm) []roleLines {
	return []roleLines{
		{"issuer", lines(v.Issuers, form)},
		{"auditor", lines(v.Auditors, form)},
		{"administrator", lines(v.Administrators, form)},
		{"validator", lines(v.Validators, form)},
	}
}

func lines[V interface{ line(digestForm) string }](views []V, form digestForm) (all []string) {
	for _, v := range views {
		all = append(all, v.line(form))
	}
	return all
}

// line formats an identity in columns.
func (v identityView) line(form digestForm) string {
	line := v.Type + "\t" + form(v.Fingerprint)
	if v.Subject != "" {
		// Quoted, because the certificate's maker chose every byte of it.
		line += fmt.Sprintf("\t%q", v.Subject)
	}
	return line
}

func (v issuerView) line(form digestForm) string {
	if len(v.Types) == 0 {
		return v.identityView.line(form)
	}
	return fmt.Sprintf("%s\tof %q", v.identityView.line(form), v.Types)
}

func (v auditorView) line(form digestForm) string {
	return fmt.Sprintf("%s\t%s %s", v.identityView.line(form), v.KEM, form(v.Key))
}

func (v validatorView) line(form digestForm) string {
	if v.Consensus == "" {
		return v.identityView.line(form)
	}
	return fmt.Sprintf("%s\tconsensus %s", v.identityView.line(form), form(v.Consensus))
}

func (v limitsView) ahead() time.Duration { return time.Duration(v.Ahead) * time.Second }

// short returns the beginning of a digest in hex. It is enough to distinguish digests, unless
// somebody made them to look alike.
func short(digest string) string { return digest[:16] }

// whole returns the whole digest in hex. Two keys whose digests begin with the same 16 digits are
// cheap to make.
func whole(digest string) string { return digest }
