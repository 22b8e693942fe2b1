package service_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/service"
)

// someAddress returns the text of an address.
func someAddress(t testing.TB) string {
	return must.Get(service.FormatAddress(token.LedgerID{1, 2, 3}, service.Address{Owner: []byte("owner"), Members: []service.Member{}}))(t)
}

// TestAddress: an address comes back from its text, however mail breaks it, and nothing else does.
func TestAddress(t *testing.T) {
	text := someAddress(t)
	for _, sent := range []string{text, " " + text + "\n", text[:20] + "\r\n" + text[20:]} {
		id, a, err := service.ParseAddress(sent)
		must.Do(t, err)
		golden.Equal(t, "ledger", token.LedgerID{1, 2, 3}, id)
		golden.Equal(t, "owner", "owner", string(a.Owner))
	}
	refused := func(what, text string) {
		if _, _, err := service.ParseAddress(text); err == nil {
			t.Errorf("%s: no error", what)
		} else if _, ok := errors.AsType[*zkbench.DecodeError](err); !ok || len(err.Error()) > 200 {
			t.Errorf("%s: %v", what, err)
		}
	}
	for i := range text {
		for _, c := range []string{"A", "-", "!", "é"} {
			if text[i:i+1] != c {
				refused("a character changed", text[:i]+c+text[i+1:])
			}
		}
		refused("a character left out", text[:i]+text[i+1:])
		refused("cut off", text[:i])
	}
	for n := range 3 { // of any number of bits behind the last byte
		text := must.Get(service.FormatAddress(token.LedgerID{}, service.Address{Owner: make([]byte, n)}))(t)
		for _, c := range "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_" {
			if last := text[len(text)-1]; rune(last) != c {
				refused("another last character", text[:len(text)-1]+string(c))
			}
		}
	}
	refused("one more", text+"A")
	refused("without an owner", must.Get(service.FormatAddress(token.LedgerID{1, 2, 3}, service.Address{}))(t))
	refused("twice", text+text)
	refused("long", service.AddressPrefix+strings.Repeat("A", 2*service.MaxAddress))
}

// FuzzParseAddress: no text makes ParseAddress panic, and what it accepts has one form.
func FuzzParseAddress(f *testing.F) {
	f.Add(someAddress(f))
	f.Fuzz(func(t *testing.T, text string) {
		id, a, err := service.ParseAddress(text)
		if err != nil {
			return
		}
		again := must.Get(service.FormatAddress(id, a))(t)
		golden.Equal(t, "text", strings.Join(strings.Fields(text), ""), again)
	})
}
