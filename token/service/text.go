package service

import (
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"strings"
	"unicode"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token"
)

// AddressPrefix is the prefix of every address in text form.
const AddressPrefix = "zkaddress:"

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// FormatAddress returns the address a on the ledger id as one line of text, which can be mailed.
// The line begins with AddressPrefix. The rest is the base64url encoding, without padding, of
// three parts: the ledger's id (32 bytes), the encoding of the address, and the CRC-32C of these
// two (4 bytes).
func FormatAddress(id token.LedgerID, a Address) (string, error) {
	encoded, err := a.Encode()
	if err != nil {
		return "", err
	}
	body := append(id[:], encoded...)
	body = binary.BigEndian.AppendUint32(body, crc32.Checksum(body, castagnoli))
	return AddressPrefix + base64.RawURLEncoding.EncodeToString(body), nil
}

// ParseAddress parses a text that FormatAddress returned. It ignores white space, because mail may
// break lines. It refuses an address without an owner, since what is paid to it would be redeemed. The error has type
// *zkbench.DecodeError.
func ParseAddress(text string) (id token.LedgerID, a Address, err error) {
	refuse := func(reason string) error { return &zkbench.DecodeError{Path: "address", Reason: reason} }
	text = strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, text)
	rest, ok := strings.CutPrefix(text, AddressPrefix)
	if !ok {
		return id, a, refuse("does not begin with " + AddressPrefix)
	}
	if len(rest) > base64.RawURLEncoding.EncodedLen(MaxAddress+len(id)+crc32.Size) {
		return id, a, refuse("longer than any address")
	}
	body, err := base64.RawURLEncoding.Strict().DecodeString(rest)
	if err != nil {
		return id, a, refuse("not base64url: a part is missing, or a character has been changed")
	}
	end := len(body) - crc32.Size
	if end < len(id) || binary.BigEndian.Uint32(body[end:]) != crc32.Checksum(body[:end], castagnoli) {
		return id, a, refuse("wrong checksum: a part is missing, or a character has been changed")
	}
	copy(id[:], body)
	if a, err = DecodeAddress(body[len(id):end]); err == nil && len(a.Owner) == 0 {
		return id, Address{}, refuse("without an owner: what is paid to it would be redeemed")
	}
	return id, a, err
}
