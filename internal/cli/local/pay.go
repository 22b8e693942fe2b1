package local

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/zkbench/zkbench/internal/cli/serving"
	"github.com/zkbench/zkbench/token/client"
	"github.com/zkbench/zkbench/token/peer"
	"github.com/zkbench/zkbench/token/service"
)

// amount is a number of tokens for a wallet.
type amount struct {
	to, typ string
	value   uint64
}

// issued is what the issuers issue at first.
var issued = []amount{{ownWallet, currency, 100}, {"alice", currency, 100}, {"bob", currency, 50}, {"carol", security, 10}}

// paid is what the wallets pay at first.
var paid = []struct {
	from string
	amount
}{{"alice", amount{"bob", currency, 30}}, {"bob", amount{"carol", currency, 20}}, {"carol", amount{"alice", security, 4}}}

// pay has the issuers issue, and the wallets pay each other. Each issue and each payment has an idempotency key, so at a later
// start nothing is issued or paid again.
func (s *system) pay(ctx context.Context) error {
	seen := make(map[string]uint64) // by wallet: the number of the last record that concerns it
	for _, a := range issued {
		number, err := s.issue(ctx, a)
		if err != nil {
			return fmt.Errorf("%s: issue to %s: %w", issuerName(a.typ), a.to, err)
		}
		seen[a.to] = number
	}
	if err := s.sync(ctx, seen); err != nil {
		return err
	}
	for _, a := range paid {
		number, err := s.transfer(ctx, a.from, a.amount)
		if err != nil {
			return fmt.Errorf("%s: pay to %s: %w", a.from, a.to, err)
		}
		seen[a.from], seen[a.to] = number, number
	}
	return s.sync(ctx, seen)
}

// to returns the address of a wallet as text.
func (s *system) to(name string) (string, error) {
	text, err := os.ReadFile(place(s.Dir).address(name))
	return strings.TrimSpace(string(text)), err
}

// issue has an issuer issue, and returns the number of the record.
func (s *system) issue(ctx context.Context, a amount) (uint64, error) {
	text, err := s.to(a.to)
	if err != nil {
		return 0, err
	}
	id, to, err := service.ParseAddress(text)
	if err != nil {
		return 0, err
	}
	certificates, err := serving.LoadCertificates("tls", place(s.Dir).tls(issuerName(a.typ)))
	if err != nil {
		return 0, err
	}
	i, err := client.DialIssuer(ctx, s.issuers[a.typ].url, client.Options{TLS: certificates.Client(peer.Issuer), Ledger: id})
	if err != nil {
		return 0, err
	}
	_, number, err := i.Issue(ctx, "first for "+a.to, a.typ, service.Payment{To: to, Value: a.value})
	return number, errors.Join(err, i.Close())
}

const (
	syncTime  = 30 * time.Second // in which a wallet must have seen a payment
	syncPause = 20 * time.Millisecond
)

// sync makes the wallets follow the ledger up to the given records.
func (s *system) sync(ctx context.Context, to map[string]uint64) error {
	deadline := time.Now().Add(syncTime)
	for name, number := range to {
		c, served := s.wallets[name]
		for served {
			var answer struct {
				Followed uint64 `json:",string"`
			}
			if err := s.call(ctx, c, "Sync", struct{}{}, &answer); err != nil {
				return err
			}
			if answer.Followed >= number {
				break
			}
			if time.Now().After(deadline) {
				return fmt.Errorf("%s has not seen record %d after %v", name, number, syncTime)
			}
			time.Sleep(syncPause)
		}
	}
	return nil
}

// sent is a payment in an answer.
type sent struct {
	Payment struct {
		Status string
		Number uint64 `json:",string"`
	}
}

// transfer has a wallet pay, and returns the number of the record.
func (s *system) transfer(ctx context.Context, from string, a amount) (uint64, error) {
	to, err := s.to(a.to)
	if err != nil {
		return 0, err
	}
	key := "first to " + a.to
	var answer sent
	err = s.call(ctx, s.wallets[from], "Pay", map[string]any{"key": key, "to": to, "value": a.value, "type": a.typ}, &answer)
	if err == nil && answer.Payment.Status != landed {
		err = s.call(ctx, s.wallets[from], "GetPayment", map[string]any{"key": key, "wait_ms": syncTime.Milliseconds()}, &answer)
	}
	if err == nil && answer.Payment.Status != landed {
		err = fmt.Errorf("its status is %s after %v", answer.Payment.Status, syncTime)
	}
	return answer.Payment.Number, err
}

const landed = "STATUS_LANDED"

// balance returns what a wallet can spend.
func (s *system) balance(ctx context.Context, c *child) (string, error) {
	var answer struct{ Free []struct{ Type, Sum string } }
	err := s.call(ctx, c, "GetBalance", struct{}{}, &answer)
	parts := make([]string, len(answer.Free))
	for i, a := range answer.Free {
		parts[i] = a.Sum + " " + a.Type
	}
	return strings.Join(parts, ", "), err
}

// walletService is the path of the calls of a wallet's server.
const walletService = "/zkbench.token.v1.WalletService/"

// longestAnswer is the greatest number of bytes of an answer.
const longestAnswer = 1 << 20

// call makes a call of a wallet's server, as a program in any language does: JSON over HTTP.
func (s *system) call(ctx context.Context, c *child, method string, in, out any) (err error) {
	certificates, err := serving.LoadCertificates("tls", place(s.Dir).tls(programName))
	if err != nil {
		return err
	}
	transport := &http.Transport{TLSClientConfig: certificates.Client(peer.Wallet)}
	defer transport.CloseIdleConnections()
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url+walletService+method, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, response.Body.Close()) }()
	data, err := io.ReadAll(io.LimitReader(response.Body, longestAnswer))
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		var problem struct{ Code, Message string }
		if json.Unmarshal(data, &problem) != nil || problem.Code == "" {
			return fmt.Errorf("%s: %s", method, response.Status)
		}
		return fmt.Errorf("%s: %s: %s", method, problem.Code, problem.Message)
	}
	return json.Unmarshal(data, out)
}
