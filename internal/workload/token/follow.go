package token

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/zkbench/zkbench/internal/workload"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/entry"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/request"
	"github.com/zkbench/zkbench/token/service"
)

// WalletFollowChecked returns the workload in which a wallet follows a ledger's log and validates the log's records
// itself. One operation is a batch of records with one transfer each, none of them the wallet's own. The transfers
// spend tokens that earlier records issued. The vault (the wallet's database) already has these records. Writing and
// opening the vault's file is part of the operation.
func WalletFollowChecked() workload.Def {
	def := defineService("WalletFollowChecked", "following a batch of records with a wallet that validates them", "open a vault (wallet database) and follow a batch of one-transfer records, validating each: signatures, proofs, unspent inputs; the time is for the whole batch",
		token.Transfer, func(s *services) (workload.Instance, error) { return &following{services: s}, nil })
	def.Axes = append(def.Axes, workload.BatchAxis())
	return def
}

type following struct {
	*services
	files atomic.Uint64
}

// follow holds a log, and the file of a vault that has followed its first records.
type follow struct {
	log   issues
	vault []byte
}

// path returns the path of a file that does not exist yet.
func (f *following) path() string {
	return filepath.Join(f.dir, fmt.Sprintf("follower %d", f.files.Add(1)))
}

// sync opens the vault in a file, and has a wallet follow the log with it and validate each record.
func (f *following) sync(ctx context.Context, path string, log issues) (err error) {
	v, err := service.OpenVault(path, f.genesis)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, v.Close()) }()
	with, err := f.validator()
	if err != nil {
		return err
	}
	if err := v.CheckRecords(with); err != nil {
		return err
	}
	w, err := service.NewWallet(f.params, v, f.payees)
	if err != nil {
		return err
	}
	return w.Sync(ctx, log)
}

// Input makes a payer, issues tokens to it, and makes the payer spend them on payments to others.
func (f *following) Input(ctx context.Context, seq uint64) (_ any, err error) {
	path := f.path()
	v, err := service.CreateVault(path, f.genesis)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, v.Close(), os.Remove(path)) }()
	keys, err := f.keys(fmt.Sprintf("payer %d", seq))
	if err != nil {
		return nil, err
	}
	wallet, err := service.NewWallet(f.params, v, keys)
	if err != nil {
		return nil, err
	}
	pays, err := service.NewTransferService(f.params, f.proofType, token.Tuning{}, f.ex, wallet)
	if err != nil {
		return nil, err
	}
	issued, err := service.CreateVault(path+" issuer", f.genesis)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, issued.Close(), os.Remove(path+" issuer")) }()
	issuer, err := service.NewIssueService(f.params, f.proofType, token.Tuning{}, f.ex, issued, f.issuer)
	if err != nil {
		return nil, err
	}
	in := &follow{log: newIssues(f.genesis)}
	r := f.corpus("log", seq)
	// All tokens of an issue are below 2^64 together, and those of a transfer fit into its outputs.
	most := ^uint64(0) >> (64 - f.bits)
	value := max(most/uint64(f.in)/token.MaxTokens, 1)
	if value*uint64(f.in) > most*uint64(f.out) {
		value = 0
	}
	for left := f.batch * f.in; left > 0; {
		o := service.Order{Anchor: r.bytes(service.AnchorLen), Type: tokenType, Rand: r}
		for range min(left, token.MaxTokens) {
			to, err := wallet.Address(r)
			if err != nil {
				return nil, err
			}
			o.Payments = append(o.Payments, service.Payment{To: to, Value: value})
		}
		left -= len(o.Payments)
		sub, err := issuer.Issue(ctx, o)
		if err == nil {
			err = f.record(ctx, in, sub)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := wallet.Sync(ctx, in.log); err != nil {
		return nil, err
	}
	if in.vault, err = f.followed(ctx, in.log); err != nil {
		return nil, err
	}
	var tokens []token.ID
	for h, err := range wallet.Unspent() {
		if err != nil {
			return nil, err
		}
		tokens = append(tokens, h.ID)
	}
	for i := range f.batch {
		payments, err := f.others(r, evenly(value*uint64(f.in), f.out))
		if err != nil {
			return nil, err
		}
		o := service.Order{Anchor: r.bytes(service.AnchorLen), Type: tokenType, Payments: payments, Rand: r, From: tokens[i*f.in : (i+1)*f.in]}
		sub, err := pays.Transfer(ctx, o)
		if err == nil {
			err = f.record(ctx, in, sub)
		}
		if err != nil {
			return nil, fmt.Errorf("transfer %d: %w", i, err)
		}
	}
	return in, nil
}

// others returns payments of values to newly drawn payees, none of whom the follower knows.
func (f *following) others(r stream, values []uint64) (payments []service.Payment, err error) {
	for _, v := range values {
		key, err := signer(r)
		if err != nil {
			return nil, err
		}
		keys, err := service.NewKey(f.genesis, key)
		if err != nil {
			return nil, err
		}
		to, err := keys.Address(&f.params.Policy, r)
		if err != nil {
			return nil, err
		}
		payments = append(payments, service.Payment{To: to, Value: v})
	}
	return payments, nil
}

// record has the auditor sign a submission, and appends its record to the log.
func (f *following) record(ctx context.Context, in *follow, sub *service.Submission) error {
	raw, err := sub.Request.Encode()
	if err != nil {
		return err
	}
	info, err := sub.Information.Encode()
	if err != nil {
		return err
	}
	signature, _, err := f.auditor.Sign(ctx, raw, info)
	if err != nil {
		return err
	}
	sub.Request.Auditors[0] = signature
	if raw, err = sub.Request.Encode(); err != nil {
		return err
	}
	p, err := entry.Parse(f.genesis.ID(), f.pp.PointLen(), raw)
	if err != nil {
		return err
	}
	p.Entry.Time = blockTime
	in.log.append(&p.Entry)
	return nil
}

// followed returns the file of a new vault that has followed the log.
func (f *following) followed(ctx context.Context, log issues) (data []byte, err error) {
	path := f.path()
	v, err := service.CreateVault(path, f.genesis)
	if err == nil {
		err = v.Close()
	}
	if err == nil {
		err = f.sync(ctx, path, log)
	}
	if err == nil {
		data, err = os.ReadFile(path)
	}
	return data, errors.Join(err, os.Remove(path))
}

// Run follows the log to its end.
func (f *following) Run(ctx context.Context, input any) (_ []byte, err error) {
	in := input.(*follow)
	path := f.path()
	if err := os.WriteFile(path, in.vault, 0o600); err != nil {
		return nil, err
	}
	return nil, errors.Join(f.sync(ctx, path, in.log), os.Remove(path))
}

// Check makes sure that the timed validation rejects a wrong signature.
func (f *following) Check(ctx context.Context, input any, _ []byte) error {
	in := *input.(*follow)
	last := in.log.log[len(in.log.log)-1]
	r, err := request.Decode(last.Request)
	if err != nil {
		return err
	}
	bad := append([]byte(nil), r.Auditors[0]...)
	bad[len(bad)-1] ^= 1
	r.Auditors = [][]byte{bad}
	if last.Request, err = r.Encode(); err != nil {
		return err
	}
	in.log.log = append(in.log.log[:len(in.log.log)-1:len(in.log.log)-1], last)
	var corrupt *ledger.CorruptError
	if _, err := f.Run(ctx, &in); !errors.As(err, &corrupt) {
		return fmt.Errorf("a record with a signature that does not hold: %v", err)
	}
	return nil
}
