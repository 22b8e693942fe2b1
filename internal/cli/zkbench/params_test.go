package zkbench

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/cli"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/identity"
	"github.com/zkbench/zkbench/token/ledger/ledgertest"
)

// smallParams returns parameters with an Ed25519 key as issuer and as auditor.
func smallParams(t *testing.T) *token.PublicParams {
	t.Helper()
	p := must.Get(token.NewPublicParams("BN254", 8, token.Bulletproof, token.CSP))(t)
	key := must.Get(parseIdentity("ed25519:d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"))(t)
	p.Policy.Issuers, p.Policy.Auditors = ledgertest.Issuers(key), ledgertest.Auditors(t, bytes.Clone(key))
	return p
}

// TestParamsFile edits a good file and gives it to show and check. Whatever is
// refused is one line on stderr and nothing on stdout.
func TestParamsFile(t *testing.T) {
	good := must.Get(smallParams(t).Encode())(t)
	edited := func(edit func(p *token.PublicParams)) []byte {
		p := smallParams(t)
		edit(p)
		return must.Get(p.Encode())(t)
	}
	flipped := func(at int, bits byte) []byte {
		data := bytes.Clone(good)
		data[at] ^= bits
		return data
	}
	const malformed = "malformed encoding: public parameters."
	for name, test := range map[string]struct {
		data        []byte
		show, check int
		reason      string // part of the line on stderr
	}{
		"file=good":             {good, cli.ExitOK, cli.ExitOK, ""},
		"version=1":             {flipped(1, 3), cli.ExitUsage, cli.ExitUsage, malformed + "version at byte 0: version 1, only 2 is known"},
		"truncated=version":     {good[:1], cli.ExitUsage, cli.ExitUsage, malformed + "version at byte "},
		"truncated=curve":       {good[:5], cli.ExitUsage, cli.ExitUsage, malformed + "curve at byte "},
		"truncated=system":      {good[:40], cli.ExitUsage, cli.ExitUsage, malformed + "systems[0] at byte "},
		"truncated=policy":      {good[:len(good)-1], cli.ExitUsage, cli.ExitUsage, malformed + "policy at byte "},
		"trailing=1":            {append(bytes.Clone(good), 0), cli.ExitUsage, cli.ExitUsage, fmt.Sprintf("%send at byte %d: trailing bytes", malformed, len(good))},
		"curve=BN255":           {flipped(7, '4'^'5'), cli.ExitUsage, cli.ExitUsage, "curve BN255, accepted: BN254, "},
		"threshold=1":           {flipped(len(good)-1, 1), cli.ExitUsage, cli.ExitUsage, "threshold of administrators 1, accepted: 0 to 0"},
		"bits=9":                {flipped(8, 8^9), cli.ExitOK, cli.ExitFailed, "digest of bulletproof is not that of its generators"},
		"digest=bulletproof":    {edited(func(p *token.PublicParams) { p.RangeProofs[0].Digest[0] ^= 1 }), cli.ExitOK, cli.ExitFailed, "digest of bulletproof is not that of its generators"},
		"digest=csp":            {edited(func(p *token.PublicParams) { p.RangeProofs[1].Digest[63] ^= 0x80 }), cli.ExitOK, cli.ExitFailed, "digest of csp is not that of its generators"},
		"early stop=8":          {edited(func(p *token.PublicParams) { p.RangeProofs[0].Stop = 8 }), cli.ExitOK, cli.ExitFailed, "digest of bulletproof is not that of its generators"},
		"aggregation=2 of csp":  {edited(func(p *token.PublicParams) { p.RangeProofs[1].Aggregation = 2 }), cli.ExitOK, cli.ExitFailed, "aggregation 2, accepted: 0 for csp"},
		"issuer=no point":       {edited(func(p *token.PublicParams) { p.Policy.Issuers[0].Identity = append([]byte{2, 2}, make([]byte, 31)...) }), cli.ExitUsage, cli.ExitUsage, "issuers[0]: malformed encoding: identity.key at byte 1: not a point"},
		"issuer=no certificate": {edited(func(p *token.PublicParams) { p.Policy.Issuers[0].Identity = []byte{1, 0x30} }), cli.ExitUsage, cli.ExitUsage, "issuers[0]: malformed encoding: identity.certificate at byte 1: "},
		"issuer=small order":    {edited(func(p *token.PublicParams) { p.Policy.Issuers[0].Identity = append([]byte{2, 1}, make([]byte, 31)...) }), cli.ExitUsage, cli.ExitUsage, "issuers[0] is a key of small order, for which anybody can sign"},
		"auditor=pseudonym":     {edited(func(p *token.PublicParams) { p.Policy.Auditors[0].Identity[0] = 3 }), cli.ExitUsage, cli.ExitUsage, "auditors[0]: malformed encoding: identity.type at byte 0: pseudonyms are not accepted"},
		"auditor=type 128":      {edited(func(p *token.PublicParams) { p.Policy.Auditors[0].Identity[0] = 0x80 }), cli.ExitUsage, cli.ExitUsage, "auditors[0]: malformed encoding: identity.type at byte 0: type 128"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "params")
			must.Do(t, os.WriteFile(path, test.data, 0o644))
			for command, want := range map[string]int{"show": test.show, "check": test.check} {
				code, stdout, line := call("params", command, path)
				golden.Equal(t, command+": exit code", want, code)
				switch {
				case want == cli.ExitOK && (line != "" || stdout == ""):
					t.Errorf("%s: stdout %q, stderr %q", command, stdout, line)
				case want != cli.ExitOK && (strings.Count(line, "\n") != 1 || !strings.HasPrefix(line, "zkbench: "+path+": ") || !strings.Contains(line, test.reason) || stdout != ""):
					t.Errorf("%s: stdout %q, stderr %q, want one line with %q", command, stdout, line, test.reason)
				}
			}
		})
	}
}

// TestParamsDER: the DER of a certificate is the identity that its PEM is.
func TestParamsDER(t *testing.T) {
	script := must.Get(os.ReadFile(filepath.Join("testdata", "params.txt")))(t)
	block, _ := pem.Decode(script)
	if block == nil {
		t.Fatal("no certificate in params.txt")
	}
	dir := t.TempDir()
	paths := []string{filepath.Join(dir, "pem"), filepath.Join(dir, "der")}
	if err := errors.Join(os.WriteFile(paths[0], pem.EncodeToMemory(block), 0o644), os.WriteFile(paths[1], block.Bytes, 0o644)); err != nil {
		t.Fatal(err)
	}
	fromPEM, errPEM := parseIdentity(paths[0])
	fromDER, errDER := parseIdentity(paths[1])
	if errPEM != nil || errDER != nil || !bytes.Equal(fromPEM, fromDER) {
		t.Errorf("%v, %v; %d and %d bytes", errPEM, errDER, len(fromPEM), len(fromDER))
	}
}

// TestShowUnread: an identity is shown whose extensions crypto/x509 cannot read.
func TestShowUnread(t *testing.T) {
	_, rest, ok := strings.Cut(golden.Read(t, "token/x509_form.txt"), "basicConstraints, not DER: ok ")
	if !ok {
		t.Fatal("no such certificate in x509_form.txt")
	}
	line, _, _ := strings.Cut(rest, "\n")
	id := must.Get(identity.X509(must.Get(hex.DecodeString(line))(t)))(t)
	views := identityViews([][]byte{id})
	golden.Equal(t, "subject", "", views[0].Subject)
	golden.Equal(t, "type", "X.509", views[0].Type)
}

// TestGenerators: a table has as many entries for each generator, so that its
// size counts them.
func TestGenerators(t *testing.T) {
	perGenerator := 0
	for _, bits := range []int{1, 8, 13, 32} {
		p := must.Get(token.NewPublicParams("BN254", bits, token.ProofTypes()...))(t)
		generators := must.Get(p.Validate(t.Context()))(t)
		for i, s := range p.RangeProofs {
			pp := must.Get(p.Crypto(s.ProofType, token.Tuning{}))(t)
			if perGenerator == 0 {
				perGenerator = pp.TableBytes() / generators[i]
			}
			golden.Equal(t, fmt.Sprintf("bits=%d %s: bytes of the table", bits, s.ProofType), generators[i]*perGenerator, pp.TableBytes())
		}
	}
}

func TestCheckParamsInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var stdout strings.Builder
	err := checkParams(ctx, &stdout, "file", smallParams(t))
	if cli.CodeOf(err) != cli.ExitPartial || stdout.Len() > 0 {
		t.Errorf("%v, output %q; want exit code %d", err, &stdout, cli.ExitPartial)
	}
}

// TestWriteNew: of writers that want one name exactly one gets it, with all of
// its bytes, and nothing else stays in the directory.
func TestWriteNew(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "params")
	const writers = 16
	contents := func(i int) []byte { return bytes.Repeat([]byte{byte(i)}, 10_000) }
	errs := make([]error, writers)
	var wg sync.WaitGroup
	for i := range writers {
		wg.Go(func() { errs[i] = writeNew(path, contents(i)) })
	}
	wg.Wait()
	got := must.Get(os.ReadFile(path))(t)
	winners := 0
	for i, err := range errs {
		if err != nil {
			continue
		}
		winners++
		golden.Equal(t, fmt.Sprintf("bytes of writer %d, who won", i), contents(i), got)
	}
	golden.Equal(t, "winners", 1, winners)
	must.Fail(t, writeNew(path, nil), os.ErrExist, "an existing file")
	entries := must.Get(os.ReadDir(dir))(t)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	golden.Equal(t, "files", []string{"params"}, names)
}

// TestReadFileBounded: of a longer file no more is read than shows that it is too
// long.
func TestReadFileBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "long")
	must.Do(t, errors.Join(os.WriteFile(path, nil, 0o644), os.Truncate(path, longestFile+1)))
	golden.Equal(t, "bytes that are read", longestFile, len(must.Get(readFile(path))(t)))
	_, err := loadParams(path)
	if d, ok := errors.AsType[*zkbench.DecodeError](err); !ok || d.Path != "public parameters.length" {
		t.Errorf("%v, want a DecodeError about the length", err)
	}
}
