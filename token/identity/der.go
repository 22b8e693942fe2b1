package identity

import (
	"fmt"
	"slices"
	"strings"

	"github.com/zkbench/zkbench"
)

// tag is the first byte of a DER element.
type tag byte

// The tags of a certificate.
const (
	tagBoolean         tag = 0x01
	tagInteger         tag = 0x02
	tagBitString       tag = 0x03
	tagOctetString     tag = 0x04
	tagOID             tag = 0x06
	tagUTF8String      tag = 0x0c
	tagPrintableString tag = 0x13
	tagIA5String       tag = 0x16
	tagUTCTime         tag = 0x17
	tagGeneralizedTime tag = 0x18
	tagSequence        tag = 0x30
	tagSet             tag = 0x31
	tagExtensions      tag = 0xa3
)

func (t tag) String() string {
	switch t {
	case tagBoolean:
		return "BOOLEAN"
	case tagInteger:
		return "INTEGER"
	case tagBitString:
		return "BIT STRING"
	case tagOctetString:
		return "OCTET STRING"
	case tagOID:
		return "OBJECT IDENTIFIER"
	case tagUTF8String:
		return "UTF8String"
	case tagPrintableString:
		return "PrintableString"
	case tagIA5String:
		return "IA5String"
	case tagUTCTime:
		return "UTCTime"
	case tagGeneralizedTime:
		return "GeneralizedTime"
	case tagSequence:
		return "SEQUENCE"
	case tagSet:
		return "SET"
	case tagExtensions:
		return "[3]"
	}
	return fmt.Sprintf("tag 0x%02x", uint8(t))
}

// oneOf lists the accepted tags for an error.
func oneOf(tags ...tag) string {
	names := make([]string, len(tags))
	for i, t := range tags {
		names[i] = t.String()
	}
	return strings.Join(names, " or ")
}

// element holds the unread part of a DER element's content. Elements have a tag of one byte, and a definite
// length in the shortest form, at most three bytes long. We have our own reader because validators must agree
// on what is accepted.
//
// All parts of one encoding share the first error. After it no part has anything left to read, so only loops
// and code that uses values must check it.
type element struct {
	*derInput
	tag     tag
	at, end int
}

type derInput struct {
	in  []byte
	err *zkbench.DecodeError
}

func newElement(in []byte) element { return element{derInput: &derInput{in: in}, end: len(in)} }

// fail sets the error, unless there is one: what was found at an offset, in a field.
func (in *derInput) fail(field string, at int, format string, args ...any) {
	if in.err == nil {
		in.err = &zkbench.DecodeError{Path: field, Offset: at, Reason: fmt.Sprintf(format, args...)}
	}
}

// within puts the field and the index i before the path of the error, if there is one.
func (in *derInput) within(field string, i int) {
	if in.err != nil {
		in.err = in.err.Within(fmt.Sprintf("%s[%d]", field, i), 0)
	}
}

// more reports whether there is an element left.
func (d *element) more() bool { return d.err == nil && d.at < d.end }

// rest returns the unread bytes.
func (d *element) rest() []byte { return d.in[d.at:d.end] }

// peek returns the tag of the next element, or 0 if there is none.
func (d *element) peek() tag {
	if !d.more() {
		return 0
	}
	return tag(d.in[d.at])
}

// next reads an element that has one of the tags, and returns its content.
func (d *element) next(field string, tags ...tag) element {
	content := element{derInput: d.derInput}
	if d.err != nil {
		return content
	}
	left := d.rest()
	if len(left) < 2 {
		d.fail(field, d.at, "ends too early, want %s", oneOf(tags...))
		return content
	}
	if !slices.Contains(tags, tag(left[0])) {
		d.fail(field, d.at, "%v, want %s", tag(left[0]), oneOf(tags...))
		return content
	}
	head, length := 2, int(left[1])
	switch {
	case length < 0x80: // one byte says it
	case length == 0x81 && len(left) > 2 && left[2] >= 0x80:
		head, length = 3, int(left[2])
	case length == 0x82 && len(left) > 3 && left[2] != 0:
		head, length = 4, int(left[2])<<8|int(left[3])
	default:
		d.fail(field, d.at+1, "want a definite length in its shortest form, at most 65535")
		return content
	}
	if length > len(left)-head {
		d.fail(field, d.at+1, "length %d, but %d bytes are left", length, len(left)-head)
		return content
	}
	content.tag, content.at = tag(left[0]), d.at+head
	content.end = content.at + length
	d.at = content.end
	return content
}

// fixed reads bytes that must equal want. accepted describes them in the error.
func (d *element) fixed(field string, want, accepted string) {
	left := d.rest()
	if d.err == nil && (len(left) < len(want) || string(left[:len(want)]) != want) {
		d.fail(field, d.at, "want %s", accepted)
	}
	if d.err == nil {
		d.at += len(want)
	}
}

// done ends a field and fails if anything is left of it.
func (d *element) done(field string) {
	if d.more() {
		d.fail(field, d.at, "%d bytes after its last element", d.end-d.at)
	}
}

// positive reads an INTEGER above 0 and returns its content.
func (d *element) positive(field string) []byte {
	n := d.next(field, tagInteger)
	b := n.rest()
	if d.err == nil && (len(b) == 0 || b[0] >= 0x80 || b[0] == 0 && (len(b) == 1 || b[1] < 0x80)) {
		d.fail(field, n.at, "want a positive integer in as few bytes as it needs")
	}
	return b
}

// oid reads an OBJECT IDENTIFIER and returns its content: numbers in base 128, each in the shortest form. All
// bytes of a number except the last have the high bit set.
func (d *element) oid(field string) []byte {
	id := d.next(field, tagOID)
	b := id.rest()
	ok := len(b) > 0 && b[len(b)-1] < 0x80
	for i := range b {
		if b[i] == 0x80 && (i == 0 || b[i-1] < 0x80) {
			ok = false
		}
	}
	if d.err == nil && !ok {
		d.fail(field, id.at, "want an object identifier, each number in as few bytes as it needs")
	}
	return b
}

// time reads a time in the years 1950 to 9999, in whole seconds and UTC. Up to 2049 it is a UTCTime
// YYMMDDhhmmssZ, later a GeneralizedTime YYYYMMDDhhmmssZ (RFC 5280, 4.1.2.5).
func (d *element) time(field string) {
	t := d.next(field, tagUTCTime, tagGeneralizedTime)
	if d.err == nil && !isTime(t.tag, t.rest()) {
		d.fail(field, t.at, "want a UTCTime YYMMDDhhmmssZ up to 2049, a GeneralizedTime YYYYMMDDhhmmssZ later")
	}
}

func isTime(t tag, b []byte) bool {
	pairs := 6
	if t == tagGeneralizedTime {
		pairs = 7
	}
	if len(b) != 2*pairs+1 || b[2*pairs] != 'Z' {
		return false
	}
	var two [7]int // two digits each
	for i, c := range b[:2*pairs] {
		if c < '0' || c > '9' {
			return false
		}
		two[i/2] = 10*two[i/2] + int(c-'0')
	}
	year, f := 1900+two[0], two[1:6]
	if two[0] < 50 {
		year += 100
	}
	if t == tagGeneralizedTime {
		year, f = 100*two[0]+two[1], two[2:]
		if year < 2050 {
			return false
		}
	}
	month, day, hour, minute, second := f[0], f[1], f[2], f[3], f[4]
	return month >= 1 && month <= 12 && day >= 1 && day <= days(year, month) && hour < 24 && minute < 60 && second < 60
}

// days returns the number of days of a month, 1 to 12.
func days(year, month int) int {
	switch month {
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	case 4, 6, 9, 11:
		return 30
	}
	return 31
}
