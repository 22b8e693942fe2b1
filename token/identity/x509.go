package identity

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"unicode/utf8"

	"github.com/zkbench/zkbench"
)

// X509 returns the identity of a certificate: X.509 version 3 in DER, with a P-256 key and the signature
// algorithm ecdsa-with-SHA256. docs/owners.md describes the form, field by field. X509 returns a
// *zkbench.DecodeError if the certificate has another form, or a *zkbench.LimitError if it is too long.
func X509(der []byte) (Identity, error) {
	id := append(Identity{byte(TypeX509)}, der...)
	_, err := parse(id, nil)
	if err != nil {
		return nil, err
	}
	return id, nil
}

// parseX509 parses a certificate, of at most MaxLen bytes.
func parseX509(cert []byte) (Verifier, error) {
	point, at, err := parseCertificate(cert)
	if err != nil {
		return nil, err.Within("identity.", 1)
	}
	key, bad := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), point)
	if bad != nil {
		return nil, malformed(fieldKey, 1+at, "want 0x04, x, y of a point of P-256, x and y below p")
	}
	return &ecdsaVerifier{key}, nil
}

const (
	fieldKey = "certificate.subjectPublicKey"
	pointLen = 65 // 0x04, x, y

	// maxSerial is RFC 5280's limit on bytes of a serial number.
	maxSerial = 20
	// maxExtensions bounds the search for duplicates.
	maxExtensions = 32

	// Fields with only one accepted encoding.
	versionThree    = "\xa0\x03\x02\x01\x02"
	ecdsaWithSHA256 = "\x30\x0a\x06\x08\x2a\x86\x48\xce\x3d\x04\x03\x02"
	// p256Info is a SubjectPublicKeyInfo up to the point: id-ecPublicKey, prime256v1,
	// a BIT STRING of pointLen bytes.
	p256Info = "\x30\x59\x30\x13\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06\x08\x2a\x86\x48\xce\x3d\x03\x01\x07\x03\x42\x00"

	wantAlgorithm = "ecdsa-with-SHA256 without parameters"
)

// parseCertificate returns the bytes of the key's point, and their offset. The names of fields are those of RFC
// 5280.
func parseCertificate(in []byte) (point []byte, at int, err *zkbench.DecodeError) {
	whole := newElement(in)
	cert := whole.next("certificate", tagSequence)
	whole.done("certificate")
	tbs := cert.next("certificate.tbsCertificate", tagSequence)
	cert.fixed("certificate.signatureAlgorithm", ecdsaWithSHA256, wantAlgorithm)
	cert.signature("certificate.signatureValue")
	cert.done("certificate")

	tbs.fixed("certificate.version", versionThree, "version 3")
	serial := tbs.positive("certificate.serialNumber")
	if len(serial) > maxSerial {
		tbs.fail("certificate.serialNumber", tbs.at-len(serial), "%d bytes, want at most %d", len(serial), maxSerial)
	}
	tbs.fixed("certificate.signature", ecdsaWithSHA256, wantAlgorithm)
	tbs.name("certificate.issuer")
	validity := tbs.next("certificate.validity", tagSequence)
	validity.time("certificate.validity.notBefore")
	validity.time("certificate.validity.notAfter")
	validity.done("certificate.validity")
	tbs.name("certificate.subject")
	tbs.fixed("certificate.subjectPublicKeyInfo", p256Info, "a P-256 key: id-ecPublicKey, prime256v1, an uncompressed point")
	at = tbs.at
	if tbs.err == nil && tbs.end-at < pointLen {
		tbs.fail(fieldKey, at, "%d bytes are left, want %d", tbs.end-at, pointLen)
	}
	if tbs.err == nil {
		point = in[at : at+pointLen]
		tbs.at += pointLen
	}
	tbs.extensions("certificate.extensions")
	tbs.done("certificate.tbsCertificate")
	return point, at, whole.err
}

// signature reads a BIT STRING that holds an Ecdsa-Sig-Value. It does not verify the signature, because no
// issuer is known.
func (d *element) signature(field string) {
	bits := d.next(field, tagBitString)
	bits.fixed(field, "\x00", "a BIT STRING of whole bytes")
	pair := bits.next(field, tagSequence)
	bits.done(field)
	pair.positive(field)
	pair.positive(field)
	pair.done(field)
}

// name reads a Name: sets of attributes, none of which is empty. The attributes of a set must be in the order
// that DER requires, so none can occur twice in a set.
func (d *element) name(field string) {
	name := d.next(field, tagSequence)
	for i := 0; name.more(); i++ {
		set := name.next("", tagSet)
		if set.err == nil && !set.more() {
			set.fail("", set.at, "empty set, want an attribute")
		}
		var last []byte
		for j := 0; set.more(); j++ {
			from := set.at
			set.attribute()
			if this := d.in[from:set.at]; set.err == nil && bytes.Compare(last, this) >= 0 {
				set.fail("", from, "want the attributes of a set in ascending order of their bytes")
			} else {
				last = this
			}
			set.within("", j)
		}
		name.within(field, i)
	}
}

// attribute reads the type and the value of an attribute of a name.
func (d *element) attribute() {
	pair := d.next("", tagSequence)
	pair.oid(".type")
	value := pair.next(".value", tagUTF8String, tagPrintableString, tagIA5String)
	if d.err == nil && !isText(value.tag, value.rest()) {
		d.fail(".value", value.at, "characters that its string type does not allow")
	}
	pair.done("")
}

func isText(t tag, b []byte) bool {
	switch t {
	case tagUTF8String:
		return utf8.Valid(b)
	case tagIA5String:
		return !bytes.ContainsFunc(b, func(r rune) bool { return r >= utf8.RuneSelf })
	}
	for _, c := range b { // PrintableString
		letter := 'a' <= c|0x20 && c|0x20 <= 'z'
		if !letter && (c < '0' || c > '9') && bytes.IndexByte([]byte(" '()+,-./:=?"), c) < 0 {
			return false
		}
	}
	return true
}

// extensions reads the extensions, if there are any. It does not read their values, which may be anything
// (Fabric CA's are JSON). It does not look at whether they are critical.
func (d *element) extensions(field string) {
	if !d.more() {
		return
	}
	explicit := d.next(field, tagExtensions)
	list := explicit.next(field, tagSequence)
	explicit.done(field)
	if d.err == nil && !list.more() {
		d.fail(field, list.at, "empty, want none or at least one")
	}
	var seen [maxExtensions][]byte
	for i := 0; list.more(); i++ {
		if i == maxExtensions {
			list.fail(field, list.at, "more than %d", maxExtensions)
			return
		}
		extension := list.next("", tagSequence)
		from := extension.at
		seen[i] = extension.oid(".extnID")
		for _, id := range seen[:i] {
			if bytes.Equal(id, seen[i]) {
				list.fail(".extnID", from, "occurs twice")
			}
		}
		if extension.peek() == tagBoolean {
			extension.fixed(".critical", "\x01\x01\xff", "TRUE as 0xff, or nothing for FALSE")
		}
		extension.next(".extnValue", tagOctetString)
		extension.done("")
		list.within(field, i)
	}
}
