package head_test

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token/ledger/head"
)

const (
	origin = "zkbench/ledger/abcd0000000000000000000000000000000000000000000000000000000000ef"
	// root is that of the eight leaves of ctLeaves.
	root = "XcnaeacGWamtVZy3Ad7ZoqudgjqtL0lgz+Nw7/RgQyg="
)

// TestCheckpoint: a head's text is the one that the specification asks for, and is read back.
func TestCheckpoint(t *testing.T) {
	t.Parallel()
	h := head.Head{Ledger: home, Size: 8, Root: ctHash(t, ctRoots[8])}
	golden.Equal(t, "checkpoint", origin+"\n8\n"+root+"\n", h.Checkpoint())
	golden.Equal(t, "origin", origin, head.Origin(home))
	golden.Equal(t, "one line", origin+" size 8 root "+ctRoots[8], h.String())
	for _, size := range []uint64{1, 8, 1<<48 - 1, 1 << 48} {
		h.Size = size
		golden.Equal(t, "read back", h, must.Get(head.Parse(h.Checkpoint()))(t))
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	atSize, atRoot := len(origin)+1, len(origin)+3
	// Of the last digit, 4 bits count and 2 must be 0.
	loose := strings.TrimSuffix(root, "g=") + "h="
	if b, err := base64.StdEncoding.DecodeString(loose); err != nil || len(b) != 32 {
		t.Fatalf("%d bytes, %v", len(b), err)
	}
	for name, test := range map[string]struct {
		text, field string
		offset      int
	}{
		"empty":                 {"", "head.origin", 0},
		"no newline":            {origin, "head.origin", 0},
		"another log":           {"example.com/behind-the-sofa\n8\n" + root + "\n", "head.origin", 0},
		"an empty origin":       {"\n8\n" + root + "\n", "head.origin", 0},
		"an id in capitals":     {strings.ToUpper(origin[:15]) + origin[15:] + "\n8\n" + root + "\n", "head.origin", 0},
		"digits in capitals":    {origin[:15] + strings.ToUpper(origin[15:]) + "\n8\n" + root + "\n", "head.origin", 0},
		"a short id":            {origin[:len(origin)-2] + "\n8\n" + root + "\n", "head.origin", 0},
		"a long id":             {origin + "00\n8\n" + root + "\n", "head.origin", 0},
		"a space after the id":  {origin + " \n8\n" + root + "\n", "head.origin", 0},
		"the prefix twice":      {"zkbench/ledger/" + origin + "\n8\n" + root + "\n", "head.origin", 0},
		"no size":               {origin + "\n", "head.size", atSize},
		"an empty size":         {origin + "\n\n" + root + "\n", "head.size", atSize},
		"size 0":                {origin + "\n0\n" + root + "\n", "head.size", atSize},
		"a leading zero":        {origin + "\n08\n" + root + "\n", "head.size", atSize},
		"a sign":                {origin + "\n+8\n" + root + "\n", "head.size", atSize},
		"a negative size":       {origin + "\n-8\n" + root + "\n", "head.size", atSize},
		"hexadecimal":           {origin + "\n0x8\n" + root + "\n", "head.size", atSize},
		"a return":              {origin + "\n8\r\n" + root + "\n", "head.size", atSize},
		"a size above 2^48":     {origin + "\n281474976710657\n" + root + "\n", "head.size", atSize},
		"a size above 2^64":     {origin + "\n18446744073709551624\n" + root + "\n", "head.size", atSize},
		"no root":               {origin + "\n8\n", "head.root", atRoot},
		"an empty root":         {origin + "\n8\n\n", "head.root", atRoot},
		"root without newline":  {origin + "\n8\n" + root, "head.root", atRoot},
		"root without padding":  {origin + "\n8\n" + root[:43] + "\n", "head.root", atRoot},
		"31 bytes":              {origin + "\n8\n" + base64.StdEncoding.EncodeToString(make([]byte, 31)) + "\n", "head.root", atRoot},
		"33 bytes":              {origin + "\n8\n" + base64.StdEncoding.EncodeToString(make([]byte, 33)) + "\n", "head.root", atRoot},
		"bits beyond the bytes": {origin + "\n8\n" + loose + "\n", "head.root", atRoot},
		"URL digits":            {origin + "\n8\n" + strings.ReplaceAll(root, "+", "-") + "\n", "head.root", atRoot},
		"an extension line":     {origin + "\n8\n" + root + "\nmore\n", "head.end", atRoot + len(root) + 1},
		"an empty line":         {origin + "\n8\n" + root + "\n\n", "head.end", atRoot + len(root) + 1},
	} {
		_, err := head.Parse(test.text)
		e, ok := errors.AsType[*zkbench.DecodeError](err)
		if !ok || e.Path != test.field || e.Offset != test.offset {
			t.Errorf("%s: %v, want a DecodeError of %s at byte %d", name, err, test.field, test.offset)
		}
	}
}

// The roots and consistency proofs of RFC 6962 trees that the tests of Certificate Transparency have
// (github.com/google/certificate-transparency, cpp/merkletree/merkle_tree_test.cc).
var (
	ctLeaves = []string{"", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f"}
	ctRoots  = map[uint64]string{
		1: "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
		2: "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
		5: "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
		6: "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
		7: "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
		8: "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
	}
	ctProofs = map[[2]uint64][]string{
		{1, 8}: {
			"96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
			"5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
			"6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
		},
		{6, 8}: {
			"0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a",
			"ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
			"d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
		},
		{2, 5}: {
			"5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
			"bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
		},
		{6, 7}: {
			"0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a",
			"b08693ec2e721597130641e8211e7eedccb4c26413963eee6c1e2ed16ffb1a5f",
			"d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
		},
	}
)

func ctHash(t testing.TB, digits string) tlog.Hash {
	t.Helper()
	return tlog.Hash(must.Get(hex.DecodeString(digits))(t))
}

// TestExtends: the consistency proofs of Certificate Transparency's tests show that a head extends another one, and
// nothing else does.
func TestExtends(t *testing.T) {
	t.Parallel()
	l := new(history)
	for _, leaf := range ctLeaves {
		l.add(t, must.Get(hex.DecodeString(leaf))(t))
	}
	of := func(size uint64) head.Head {
		return head.Head{Ledger: home, Size: size, Root: ctHash(t, ctRoots[size])}
	}
	for sizes, digits := range ctProofs {
		kept, told := of(sizes[0]), of(sizes[1])
		golden.Equal(t, "root of our leaves", kept, l.head(t, int64(sizes[0])))
		var proof tlog.TreeProof
		for _, d := range digits {
			proof = append(proof, ctHash(t, d))
		}
		must.Do(t, told.Extends(kept, proof), sizes)
		for i := range proof {
			changed := append(tlog.TreeProof(nil), proof...)
			changed[i][31] ^= 1
			must.Fail(t, told.Extends(kept, changed), head.ErrInconsistent, "%d: hash %d changed", sizes, i)
		}
		must.Fail(t, told.Extends(kept, proof[1:]), head.ErrInconsistent, "%d: too short", sizes)
		must.Fail(t, told.Extends(kept, append(proof, tlog.Hash{})), head.ErrInconsistent, "%d: too long", sizes)
		must.Fail(t, told.Extends(kept, nil), head.ErrInconsistent, "%d: without a proof", sizes)
		must.Do(t, kept.Extends(kept, nil), "the same head")

		must.Fail(t, kept.Extends(told, proof), head.ErrShorter, "%d: smaller", sizes)
		other := told
		other.Root[0] ^= 1
		must.Fail(t, other.Extends(kept, proof), head.ErrInconsistent, "%d: another root", sizes)
		err := other.Extends(told, nil)
		must.Fail(t, err, head.ErrForked, "%d: another root of the same size", sizes)
		must.Fail(t, err, zkbench.ErrPolicy, "its cause")
		e, ok := errors.AsType[*head.ExtendError](err)
		if !ok || e.Kept != told || e.Told != other {
			t.Errorf("%v does not have both heads", err)
		}
		other = told
		other.Ledger[0]++
		l, ok := errors.AsType[*head.LedgerError](other.Extends(kept, proof))
		if !ok || l.Got != other.Ledger || l.Want != home {
			t.Errorf("another ledger: %v", l)
		}
	}
	// Sizes at which the conversion to int64 would wrap are no panic.
	huge := head.Head{Ledger: home, Size: 1<<64 - 1}
	must.Fail(t, huge.Extends(of(1), nil), head.ErrInconsistent, "a size above 2^63")
	must.Fail(t, of(1).Extends(head.Head{Ledger: home}, nil), head.ErrInconsistent, "after size 0")
}

// TestContradiction: the evidence has both signed heads in full.
func TestContradiction(t *testing.T) {
	t.Parallel()
	kept, told := logOf(t, "abc").head(t, 0), logOf(t, "abd").head(t, 0)
	c := &head.Contradiction{
		Kept: signedBy(kept.Checkpoint(), validator("v", noon)), Told: signedBy(told.Checkpoint(), validator("v", noon)),
		Err: told.Extends(kept, nil),
	}
	must.Fail(t, c, head.ErrForked, "contradiction")
	text := c.Text()
	for _, part := range []string{string(c.Kept), string(c.Told), c.Err.Error()} {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in the evidence:\n%s", part, text)
		}
	}
	if strings.Contains(c.Error(), "\n") {
		t.Errorf("the error has more than one line: %q", c)
	}
}

// FuzzParse: any text is refused with a typed error, or is the one checkpoint of its head.
func FuzzParse(f *testing.F) {
	f.Add(origin + "\n8\n" + root + "\n")
	f.Add(origin + "\n08\n" + root + "\nmore\n")
	f.Add("example.com/behind-the-sofa\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n")
	f.Fuzz(func(t *testing.T, text string) {
		h, err := head.Parse(text)
		if err != nil {
			if _, ok := errors.AsType[*zkbench.DecodeError](err); !ok || h != (head.Head{}) {
				t.Fatalf("%v and %v", h, err)
			}
			return
		}
		golden.Equal(t, "its checkpoint", text, h.Checkpoint())
	})
}
