package wallet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/cli/keyfile"
	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/client"
	"github.com/zkbench/zkbench/token/identity"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/service"
)

// Auditors are all auditors of a ledger's policy, in any order. Each is one of Keys or one of URLs.
type Auditors struct {
	// Keys are the paths of files with the keys of auditors that sign in this process. Beside each of these files is
	// that auditor's vault (its database), a file with the extension .vault. NewPayer creates it if it does not exist.
	Keys []string
	URLs []string       // of auditors' servers
	Dial client.Options // for these servers; the ledger's id is added
}

// The flags that name auditors.
const (
	keyField = "auditor-key"
	urlField = "auditor"
)

// AcceptedAuditor says what a file of an auditor's keys contains.
const AcceptedAuditor = "PEM blocks of an auditor's signing key and of its X25519 or MLKEM768-X25519 key (or lines with the PKCS #11 URIs of the signing key and the X25519 key), and of the identities of authorities whose enrolments count"

// ownAuditor is an auditor that signs in this process. It implements service.AuditSigner.
type ownAuditor struct {
	service *service.AuditorService
	vault   *service.Vault
	follow  func(ctx context.Context) error // the ledger
}

// place returns the index of an identity among the auditors of a policy, or -1.
func place(rules *token.Policy, id identity.Identity) int {
	return slices.IndexFunc(rules.Auditors, func(a token.Auditor) bool { return bytes.Equal(a.Identity, id) })
}

// Place implements service.AuditSigner.
func (a *ownAuditor) Place(_ context.Context, rules *token.Policy) (int, error) {
	at := place(rules, a.service.Identity())
	if at < 0 {
		return 0, fmt.Errorf("%w: policy %d does not name the auditor", zkbench.ErrParams, rules.Version)
	}
	return at, nil
}

// Sign implements service.AuditSigner.
func (a *ownAuditor) Sign(ctx context.Context, rules *token.Policy, rawRequest, rawInformation []byte) ([]byte, error) {
	if a.service.Rules().Version < rules.Version {
		if err := a.follow(ctx); err != nil {
			return nil, err
		}
	}
	signature, report, err := a.service.Sign(ctx, rawRequest, rawInformation)
	if err == nil && report.Policy != rules.Version {
		err = &ledger.PolicyError{Version: report.Policy, Current: rules.Version}
	}
	return signature, err
}

// shown is an auditor at a server. It notes that what it signs has left this process.
type shown struct {
	*client.Auditor
	left *bool
}

func (s shown) Sign(ctx context.Context, rules *token.Policy, rawRequest, rawInformation []byte) ([]byte, error) {
	*s.left = true
	return s.Auditor.Sign(ctx, rules, rawRequest, rawInformation)
}

// signers returns all auditors. Those that sign in this process come first, so that what they refuse is shown to nobody.
// left becomes true when another one is asked.
func (r *Payer) signers(left *bool) (all []service.AuditSigner) {
	for _, a := range r.own {
		all = append(all, a)
	}
	for _, a := range r.others {
		all = append(all, shown{a, left})
	}
	return all
}

// Close closes the auditors' vaults, and ends the connections to their servers.
func (r *Payer) Close() (err error) {
	for _, a := range r.own {
		err = errors.Join(err, a.vault.Close())
	}
	for _, a := range r.others {
		err = errors.Join(err, a.Close())
	}
	return err
}

// open opens the auditors of a policy.
func (r *Payer) open(ctx context.Context, rules *token.Policy, auditors Auditors) error {
	known := make([]bool, len(rules.Auditors))
	for _, path := range auditors.Keys {
		at, err := r.openOwn(ctx, rules, path, known)
		if err != nil {
			return err
		}
		known[at] = true
	}
	auditors.Dial.Ledger = r.ledger.Genesis().ID()
	for _, url := range auditors.URLs {
		at, err := r.dial(ctx, rules, url, auditors.Dial)
		if err != nil {
			return fmt.Errorf("%s: %w", urlField, err)
		}
		if known[at] {
			return &argument.ValueError{Field: urlField, Value: url, Accepted: "each auditor once"}
		}
		known[at] = true
	}
	if missing := slices.Index(known, false); missing >= 0 {
		return &argument.ValueError{
			Field: keyField, Value: strings.Join(auditors.Keys, ","),
			Accepted: fmt.Sprintf("the secret-key files of all %d auditors of policy %d, who must sign every request, or the URLs of their servers (--%s); missing: %s",
				len(known), rules.Version, urlField, Owner(rules.Auditors[missing].Identity)),
		}
	}
	return nil
}

// dial reaches an auditor's server, and returns the auditor's index in the policy.
func (r *Payer) dial(ctx context.Context, rules *token.Policy, url string, o client.Options) (int, error) {
	a, err := client.DialAuditor(ctx, url, o)
	if err != nil {
		return 0, err
	}
	r.others = append(r.others, a)
	return a.Place(ctx, rules)
}

// openOwn opens an auditor that signs in this process, and returns its index in the policy. It must not be one of those
// that are known already.
func (r *Payer) openOwn(ctx context.Context, rules *token.Policy, path string, known []bool) (int, error) {
	keys, err := keyfile.Read(keyField, path, AcceptedAuditor)
	if err != nil {
		return 0, err
	}
	signer := keys.Signer(rules.AuditorIdentities()...)
	if signer == nil || keys.Opening == nil {
		return 0, &argument.ValueError{Field: keyField, Value: path, Accepted: fmt.Sprintf("%s; the auditor must be one of the %d of policy %d", AcceptedAuditor, len(rules.Auditors), rules.Version)}
	}
	at := place(rules, signer.Identity())
	if known[at] {
		return 0, &argument.ValueError{Field: keyField, Value: path, Accepted: "the keys of each auditor once"}
	}
	if !bytes.Equal(keys.Opening.PublicKey().Bytes(), rules.Auditors[at].Key) {
		return 0, &argument.ValueError{Field: keyField, Value: path, Accepted: "a file with the key that policy " + fmt.Sprint(rules.Version) + " names for encrypting to this auditor"}
	}
	if err := r.follow(ctx, path, signer, keys); err != nil {
		return 0, fmt.Errorf("%s: %s: %w", keyField, path, err)
	}
	return at, nil
}

// follow opens an auditor and makes it follow the ledger.
func (r *Payer) follow(ctx context.Context, path string, signer identity.Signer, keys *keyfile.Keys) error {
	vaultPath := VaultBeside(path)
	vault, err := service.OpenVault(vaultPath, r.ledger.Genesis())
	if errors.Is(err, fs.ErrNotExist) {
		vault, err = service.CreateVault(vaultPath, r.ledger.Genesis())
	}
	if err != nil {
		return err
	}
	a := &ownAuditor{vault: vault}
	r.own = append(r.own, a)
	if a.service, err = service.NewAuditorService(r.purse.params, token.Tuning{}, executor.Pool(), vault, service.Auditor{
		Signer: signer, Key: keys.Opening, Policy: service.SignAll{}, Authorities: keys.Identities,
	}); err != nil {
		return err
	}
	a.follow = func(ctx context.Context) error {
		_, err := a.service.Reconcile(ctx, r.ledger, func(ledger.Record) error { r.Unsigned++; return nil })
		return err
	}
	return a.follow(ctx)
}

// VaultBeside returns the path of the vault of an auditor or issuer whose keys are in the file at keys: beside it, with the
// extension .vault.
func VaultBeside(keys string) string {
	return strings.TrimSuffix(keys, filepath.Ext(keys)) + ".vault"
}
