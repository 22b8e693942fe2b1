package identity

import (
	"bytes"
	"cmp"
	"crypto/elliptic"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
)

// tlv returns a DER element of the concatenated parts.
func tlv(t tag, parts ...string) string {
	content := strings.Join(parts, "")
	switch n := len(content); {
	case n < 0x80:
		return string([]byte{byte(t), byte(n)}) + content
	case n < 0x100:
		return string([]byte{byte(t), 0x81, byte(n)}) + content
	default:
		return string([]byte{byte(t), 0x82, byte(n >> 8), byte(n)}) + content
	}
}

// form is a certificate by its fields, each with tag and length.
type form struct {
	version, serial, inner, issuer, validity, subject, key, rest string
	outer, value                                                 string
}

func (f form) tbs() string {
	return tlv(tagSequence, f.version, f.serial, f.inner, f.issuer, f.validity, f.subject, f.key, f.rest)
}

func (f form) encode() string { return tlv(tagSequence, f.tbs(), f.outer, f.value) }

const (
	commonName = "\x06\x03\x55\x04\x03"
	keyUsage   = "\x06\x03\x55\x1d\x0f"
	digital    = "\x04\x04\x03\x02\x07\x80" // digitalSignature
)

func rdn(attributes ...string) string       { return tlv(tagSet, attributes...) }
func name(rdns ...string) string            { return tlv(tagSequence, rdns...) }
func attribute(id, value string) string     { return tlv(tagSequence, id, value) }
func extension(parts ...string) string      { return tlv(tagSequence, parts...) }
func extensions(list ...string) string      { return tlv(tagExtensions, tlv(tagSequence, list...)) }
func utf8String(s string) string            { return tlv(tagUTF8String, s) }
func times(before, after string) string     { return tlv(tagSequence, before, after) }
func utc(s string) string                   { return tlv(tagUTCTime, s) }
func generalized(s string) string           { return tlv(tagGeneralizedTime, s) }
func integer(b string) string               { return tlv(tagInteger, b) }
func bits(content ...string) string         { return tlv(tagBitString, content...) }
func signatureOf(integers ...string) string { return bits("\x00", tlv(tagSequence, integers...)) }

func oneName(value string) string { return name(rdn(attribute(commonName, value))) }

// numbered returns an extension with an identifier of its own and n bytes.
func numbered(i, n int) string {
	return extension(tlv(tagOID, "\x2a\x03", string([]byte{byte(i)})), tlv(tagOctetString, strings.Repeat("x", n)))
}

func extensionsUpTo(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = numbered(i, 0)
	}
	return extensions(list...)
}

// goodForm has the key of RFC 6979, A.2.5.
func goodForm(t testing.TB) form {
	point := must.Get(p256Key(t, rfc6979Key).PublicKey.Bytes())(t)
	return form{
		version: versionThree, serial: integer("\x2a"), inner: ecdsaWithSHA256, outer: ecdsaWithSHA256,
		issuer: oneName(utf8String("issuer")), subject: oneName(tlv(tagPrintableString, "owner")),
		validity: times(utc("260101000000Z"), utc("270101000000Z")),
		key:      p256Info + string(point),
		rest:     extensions(extension(keyUsage, "\x01\x01\xff", digital)),
		value:    signatureOf(integer("\x01"), integer("\x00\x80")),
	}
}

// point returns the first point of P-256 with x = 0, 1, ... that wanted accepts.
func point(wanted func(y *big.Int) bool) (x, y *big.Int) {
	params := elliptic.P256().Params()
	for x := big.NewInt(0); ; x.Add(x, big.NewInt(1)) {
		square := new(big.Int).Exp(x, big.NewInt(3), nil)
		square.Sub(square, new(big.Int).Mul(big.NewInt(3), x)).Add(square, params.B).Mod(square, params.P)
		if y := new(big.Int).ModSqrt(square, params.P); y != nil && wanted(y) {
			return x, y
		}
	}
}

// uncompressed returns the encoding of a point that keys contain.
func uncompressed(x, y *big.Int) string {
	return "\x04" + string(x.FillBytes(make([]byte, 32))) + string(y.FillBytes(make([]byte, 32)))
}

const accepted = "ok"

type formCase struct {
	name    string
	field   string // at which it is refused, below identity.certificate, or accepted
	differs bool   // crypto/x509 does otherwise
	der     string
}

// formCases returns the edges of what is accepted, and for each rule what breaks it alone.
func formCases(t testing.TB) []formCase {
	good := goodForm(t)
	encoded := good.encode()
	var cases []formCase
	raw := func(name, field string, differs bool, der string) {
		cases = append(cases, formCase{name, field, differs, der})
	}
	edit := func(name, field string, differs bool, change func(f *form)) {
		f := good
		change(&f)
		raw(name, field, differs, f.encode())
	}
	const strict, lenient, stricter = false, true, true
	owner := good.key[len(p256Info):]
	fill := MaxLen - 1 - len(encoded) - len(extensions("")) - 1

	raw("good", accepted, strict, encoded)
	edit("no extensions", accepted, strict, func(f *form) { f.rest = "" })
	edit("empty names", accepted, strict, func(f *form) { f.issuer, f.subject = name(), name() })
	edit("serial of 20 bytes", accepted, strict, func(f *form) { f.serial = integer("\x7f" + strings.Repeat("\xff", 19)) })
	edit("serial 128", accepted, strict, func(f *form) { f.serial = integer("\x00\x80") })
	edit("1950 to 9999", accepted, strict, func(f *form) {
		f.validity = times(utc("500101000000Z"), generalized("99991231235959Z"))
	})
	edit("2049 to 2050", accepted, strict, func(f *form) {
		f.validity = times(utc("491231235959Z"), generalized("20500101000000Z"))
	})
	edit("29 February", accepted, strict, func(f *form) {
		f.validity = times(utc("000229000000Z"), generalized("24000229000000Z"))
	})
	edit("sorted set", accepted, strict, func(f *form) {
		f.subject = name(rdn(attribute(commonName, utf8String("a")), attribute(commonName, utf8String("b"))), rdn(attribute("\x06\x03\x55\x04\x0a", tlv(tagIA5String, "a@b"))))
	})
	edit("type with 0x80 within a number", accepted, strict, func(f *form) {
		f.subject = name(rdn(attribute("\x06\x04\x55\x81\x80\x01", utf8String("a"))))
	})
	edit("32 extensions", accepted, strict, func(f *form) { f.rest = extensionsUpTo(maxExtensions) })
	edit("unknown critical extension, not DER", accepted, strict, func(f *form) {
		f.rest = extensions(extension("\x06\x01\x2a", "\x01\x01\xff", tlv(tagOctetString, "{}")))
	})
	edit("basicConstraints, not DER", accepted, stricter, func(f *form) {
		f.rest = extensions(extension("\x06\x03\x55\x1d\x13", tlv(tagOctetString, "{}")))
	})
	edit("longest", accepted, strict, func(f *form) { f.rest = extensions(numbered(1, fill)) })

	raw("empty", "", strict, "")
	raw("trailing byte", "", strict, encoded+"\x00")
	raw("truncated", "", strict, encoded[:len(encoded)-1])
	raw("indefinite length", "", strict, "\x30\x80"+encoded[4:]+"\x00\x00")
	raw("length of three bytes", "", strict, "\x30\x83\x00"+encoded[2:])
	raw("length above the input", "", strict, "\x30\x82\xff\xff"+encoded[4:])
	raw("not a SEQUENCE", "", strict, "\x31"+encoded[1:])
	raw("trailing in SEQUENCE", "", lenient, tlv(tagSequence, good.tbs(), good.outer, good.value, "\x05\x00"))
	raw("high tag number", ".tbsCertificate", strict, tlv(tagSequence, "\x3f\x10\x00"))
	edit("trailing in TBS", ".tbsCertificate", lenient, func(f *form) { f.rest += "\x05\x00" })

	edit("version absent", ".version", lenient, func(f *form) { f.version, f.rest = "", "" })
	edit("version 1", ".version", lenient, func(f *form) { f.version, f.rest = "\xa0\x03\x02\x01\x00", "" })
	edit("version 2", ".version", lenient, func(f *form) { f.version, f.rest = "\xa0\x03\x02\x01\x01", "" })
	edit("version 4", ".version", strict, func(f *form) { f.version = "\xa0\x03\x02\x01\x03" })
	edit("version not minimal", ".version", strict, func(f *form) { f.version = "\xa0\x04\x02\x02\x00\x02" })

	edit("serial empty", ".serialNumber", strict, func(f *form) { f.serial = integer("") })
	edit("serial 0", ".serialNumber", lenient, func(f *form) { f.serial = integer("\x00") })
	edit("serial negative", ".serialNumber", strict, func(f *form) { f.serial = integer("\xff") })
	edit("serial not minimal", ".serialNumber", strict, func(f *form) { f.serial = integer("\x00\x2a") })
	edit("serial of 21 bytes", ".serialNumber", lenient, func(f *form) { f.serial = integer("\x00" + strings.Repeat("\xff", 20)) })
	edit("serial, long length", ".serialNumber", strict, func(f *form) { f.serial = "\x02\x81\x01\x2a" })
	edit("serial, longer length", ".serialNumber", strict, func(f *form) { f.serial = "\x02\x82\x00\x01\x2a" })
	edit("serial, length of 255 bytes", ".serialNumber", strict, func(f *form) { f.serial = "\x02\x82\x00\xff" + strings.Repeat("\x2a", 255) })

	edit("inner algorithm with NULL", ".signature", strict, func(f *form) { f.inner = "\x30\x0c" + ecdsaWithSHA256[2:] + "\x05\x00" })
	edit("outer algorithm with NULL", ".signatureAlgorithm", strict, func(f *form) { f.outer = "\x30\x0c" + ecdsaWithSHA256[2:] + "\x05\x00" })
	edit("ecdsa-with-SHA384", ".signatureAlgorithm", lenient, func(f *form) {
		f.inner = strings.TrimSuffix(ecdsaWithSHA256, "\x02") + "\x03"
		f.outer = f.inner
	})
	edit("algorithms apart", ".signature", strict, func(f *form) { f.inner = strings.TrimSuffix(f.inner, "\x02") + "\x03" })

	edit("name of a SET", ".issuer", strict, func(f *form) { f.issuer = rdn(attribute(commonName, utf8String("a"))) })
	edit("RDN empty", ".issuer[0]", lenient, func(f *form) { f.issuer = name(rdn()) })
	edit("RDN not sorted", ".subject[0][1]", lenient, func(f *form) {
		f.subject = name(rdn(attribute(commonName, utf8String("b")), attribute(commonName, utf8String("a"))))
	})
	edit("RDN with a twin", ".subject[1][1]", lenient, func(f *form) {
		a := attribute(commonName, utf8String("a"))
		f.subject = name(rdn(a), rdn(a, a))
	})
	edit("attribute, trailing", ".issuer[0][0]", lenient, func(f *form) { f.issuer = oneName(utf8String("a") + "\x05\x00") })
	edit("attribute without value", ".issuer[0][0].value", strict, func(f *form) { f.issuer = oneName("") })
	edit("type with padding", ".issuer[0][0].type", strict, func(f *form) {
		f.issuer = name(rdn(attribute("\x06\x04\x55\x80\x04\x03", utf8String("a"))))
	})
	edit("type padded at its start", ".issuer[0][0].type", strict, func(f *form) {
		f.issuer = name(rdn(attribute("\x06\x04\x80\x55\x04\x03", utf8String("a"))))
	})
	edit("type unfinished", ".issuer[0][0].type", strict, func(f *form) {
		f.issuer = name(rdn(attribute("\x06\x03\x55\x04\x83", utf8String("a"))))
	})
	edit("type empty", ".issuer[0][0].type", strict, func(f *form) { f.issuer = name(rdn(attribute("\x06\x00", utf8String("a")))) })
	edit("PrintableString with &", ".subject[0][0].value", lenient, func(f *form) { f.subject = oneName(tlv(tagPrintableString, "a&b")) })
	edit("PrintableString with *", ".subject[0][0].value", lenient, func(f *form) { f.subject = oneName(tlv(tagPrintableString, "*.a")) })
	edit("PrintableString with @", ".subject[0][0].value", strict, func(f *form) { f.subject = oneName(tlv(tagPrintableString, "a@b")) })
	edit("UTF8String, not UTF-8", ".subject[0][0].value", strict, func(f *form) { f.subject = oneName(utf8String("\xc0\x80")) })
	edit("IA5String, not ASCII", ".subject[0][0].value", strict, func(f *form) { f.subject = oneName(tlv(tagIA5String, "\x80")) })
	edit("TeletexString", ".subject[0][0].value", lenient, func(f *form) { f.subject = oneName(tlv(0x14, "a")) })
	edit("BMPString", ".subject[0][0].value", lenient, func(f *form) { f.subject = oneName(tlv(0x1e, "\x00a")) })
	edit("NumericString", ".subject[0][0].value", lenient, func(f *form) { f.subject = oneName(tlv(0x12, "1")) })

	for _, bad := range []struct {
		name, time string
		lenient    bool
	}{
		{"GeneralizedTime of 2049", generalized("20491231235959Z"), lenient},
		{"GeneralizedTime with a fraction", generalized("20500101000000.5Z"), strict},
		{"GeneralizedTime with an offset", generalized("20500101000000+0100"), lenient},
		{"UTCTime without seconds", utc("2601010000Z"), lenient},
		{"UTCTime with an offset", utc("260101000000+0100"), lenient},
		{"UTCTime without Z", utc("260101000000"), strict},
		{"UTCTime with another letter", utc("260101000000X"), strict},
		{"month 0", utc("260001000000Z"), strict},
		{"month 13", utc("261301000000Z"), strict},
		{"day 0", utc("260100000000Z"), strict},
		{"31 April", utc("260431000000Z"), strict},
		{"29 February 2100", generalized("21000229000000Z"), strict},
		{"hour 24", utc("260101240000Z"), strict},
		{"minute 60", utc("260101006000Z"), strict},
		{"second 60", utc("260101000060Z"), strict},
		{"time with a space", utc("26 101000000Z"), strict},
		{"time as text", utf8String("260101000000Z"), strict},
	} {
		edit(bad.name, ".validity.notAfter", bad.lenient, func(f *form) { f.validity = times(utc("500101000000Z"), bad.time) })
	}
	edit("notBefore empty", ".validity.notBefore", strict, func(f *form) { f.validity = times(utc(""), utc("270101000000Z")) })
	edit("validity, trailing", ".validity", lenient, func(f *form) {
		f.validity = tlv(tagSequence, utc("260101000000Z"), utc("270101000000Z"), "\x05\x00")
	})

	x, y := point(func(*big.Int) bool { return true })
	aliased := uncompressed(x.Add(x, elliptic.P256().Params().P), y) // x + p for x
	short := uncompressed(point(func(y *big.Int) bool { return y.FillBytes(make([]byte, 32))[31] == ecdsaWithSHA256[0] }))
	keyOf := func(unused, encoded string) string {
		algorithm := p256Info[2 : len(p256Info)-3]
		return tlv(tagSequence, algorithm, bits(unused, encoded))
	}
	info := ".subjectPublicKeyInfo"
	edit("unused bits in key", info, strict, func(f *form) { f.key = keyOf("\x01", owner) })
	edit("point compressed", info, strict, func(f *form) { f.key = keyOf("\x00", "\x02"+owner[1:33]) })
	edit("point at infinity", info, strict, func(f *form) { f.key = keyOf("\x00", "\x00") })
	edit("curve secp256k1", info, strict, func(f *form) {
		f.key = tlv(tagSequence, tlv(tagSequence, p256Info[4:13], "\x06\x05\x2b\x81\x04\x00\x0a"), bits("\x00", owner))
	})
	edit("algorithm, trailing", info, lenient, func(f *form) {
		f.key = tlv(tagSequence, tlv(tagSequence, p256Info[4:len(p256Info)-3], "\x05\x00"), bits("\x00", owner))
	})
	edit("key information, trailing", info, lenient, func(f *form) { f.key = tlv(tagSequence, p256Info[2:], owner, "\x05\x00") })
	edit("key information cut", ".subjectPublicKey", strict, func(f *form) { f.key, f.rest = f.key[:len(f.key)-1], "" })
	edit("key information ends in signatureAlgorithm", ".subjectPublicKey", strict, func(f *form) { f.key, f.rest = p256Info+short[:64], "" })
	edit("point hybrid", ".subjectPublicKey", strict, func(f *form) { f.key = keyOf("\x00", "\x06"+owner[1:]) })
	edit("point off the curve", ".subjectPublicKey", strict, func(f *form) { f.key = keyOf("\x00", owner[:64]+string([]byte{owner[64] ^ 1})) })
	edit("point with x+p", ".subjectPublicKey", strict, func(f *form) { f.key = keyOf("\x00", aliased) })

	edit("issuerUniqueID", ".extensions", lenient, func(f *form) { f.rest = "\x81\x02\x00\x01" + f.rest })
	edit("subjectUniqueID", ".extensions", lenient, func(f *form) { f.rest = "\x82\x02\x00\x01" + f.rest })
	edit("extensions empty", ".extensions", lenient, func(f *form) { f.rest = extensions() })
	edit("extensions, trailing", ".extensions", lenient, func(f *form) {
		f.rest = tlv(tagExtensions, tlv(tagSequence, numbered(1, 0)), "\x05\x00")
	})
	edit("33 extensions", ".extensions", lenient, func(f *form) { f.rest = extensionsUpTo(maxExtensions + 1) })
	edit("extension twice", ".extensions[2].extnID", strict, func(f *form) { f.rest = extensions(numbered(1, 0), numbered(2, 0), numbered(1, 1)) })
	edit("critical FALSE", ".extensions[0].critical", lenient, func(f *form) { f.rest = extensions(extension(keyUsage, "\x01\x01\x00", digital)) })
	edit("critical 0x01", ".extensions[0].critical", strict, func(f *form) { f.rest = extensions(extension(keyUsage, "\x01\x01\x01", digital)) })
	edit("extension without value", ".extensions[0].extnValue", strict, func(f *form) { f.rest = extensions(extension(keyUsage)) })
	edit("extension value constructed", ".extensions[0].extnValue", strict, func(f *form) {
		f.rest = extensions(extension(keyUsage, tlv(0x24, digital)))
	})
	edit("extension, trailing", ".extensions[0]", lenient, func(f *form) { f.rest = extensions(extension(keyUsage, digital, "\x05\x00")) })

	value := ".signatureValue"
	one := integer("\x01")
	edit("signature of no bits", value, lenient, func(f *form) { f.value = bits("\x00") })
	edit("unused bits in signature", value, lenient, func(f *form) { f.value = bits("\x01", tlv(tagSequence, one, integer("\x02"))) })
	edit("signature constructed", value, strict, func(f *form) { f.value = tlv(0x23, f.value) })
	edit("signature, r only", value, lenient, func(f *form) { f.value = signatureOf(one) })
	edit("signature, three integers", value, lenient, func(f *form) { f.value = signatureOf(one, one, one) })
	edit("signature, trailing", value, lenient, func(f *form) { f.value = bits("\x00", tlv(tagSequence, one, one), "\x05\x00") })
	edit("signature, r = 0", value, lenient, func(f *form) { f.value = signatureOf(integer("\x00"), one) })
	edit("signature, s negative", value, lenient, func(f *form) { f.value = signatureOf(one, integer("\x80")) })
	edit("signature, s not minimal", value, lenient, func(f *form) { f.value = signatureOf(one, integer("\x00\x01")) })
	return cases
}

// TestVectors: the form, rule by rule. What crypto/x509 makes of it is that of Go 1.26
// without GODEBUG; nothing else depends on it.
func TestVectors(t *testing.T) {
	t.Setenv("GODEBUG", "")
	var lines strings.Builder
	seen := make(map[string]bool)
	for _, c := range formCases(t) {
		if seen[c.name] {
			t.Errorf("%s: stands twice", c.name)
		}
		seen[c.name] = true
		field := accepted
		_, err := parse(append([]byte{byte(TypeX509)}, c.der...), nil)
		if d, ok := errors.AsType[*zkbench.DecodeError](err); ok {
			field = strings.TrimPrefix(d.Path, "identity.certificate")
			if d.Offset < 1 || d.Offset > 1+len(c.der) {
				t.Errorf("%s: offset %d of %d bytes", c.name, d.Offset, len(c.der))
			}
		} else if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		golden.Equal(t, c.name+": "+fmt.Sprint(err), c.field, field)
		fmt.Fprintf(&lines, "%s: %s %x\n", c.name, cmp.Or(strings.TrimPrefix(c.field, "."), "certificate"), c.der)

		if strings.HasPrefix(runtime.Version(), "go1.26") {
			_, err := x509.ParseCertificate([]byte(c.der))
			golden.Equal(t, fmt.Sprintf("%s: crypto/x509 accepts (%v)", c.name, err), c.differs != (c.field == accepted), err == nil)
		}
	}
	golden.Check(t, "token/x509_form.txt", lines.String())
}

// madeCertificates returns the certificates of testdata, which others made, and their points.
func madeCertificates(t testing.TB) (certs map[string][]byte, points map[string]string) {
	certs, points = make(map[string][]byte), make(map[string]string)
	for line := range strings.Lines(golden.Read(t, "token/x509_made.txt")) {
		f := strings.Fields(line)
		if len(f) != 3 {
			t.Fatalf("%q: want a name, a point and a certificate", line)
		}
		points[f[0]], certs[f[0]] = f[1], unhex(t, f[2])
	}
	return certs, points
}

// TestMade: certificates of OpenSSL and crypto/x509 have the keys that their
// makers say.
func TestMade(t *testing.T) {
	certs, points := madeCertificates(t)
	for name, cert := range certs {
		v, err := parseX509(cert)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		golden.Equal(t, name, points[name], hex.EncodeToString(must.Get(v.(*ecdsaVerifier).key.Bytes())(t)))
		canonical(t, cert)
		for n := range cert {
			must.FailGet(parseX509(cert[:n]))(t, zkbench.ErrMalformed, "%s, cut to %d bytes", name, n)
		}
		must.FailGet(parseX509(append(slices.Clone(cert), 0)))(t, zkbench.ErrMalformed, "%s, one byte more", name)
	}
	golden.Equal(t, "certificates", 6, len(certs))
}

// TestGODEBUG: crypto/x509 reads a serial number below 0 where the environment says
// so; identities do not.
func TestGODEBUG(t *testing.T) {
	t.Setenv("GODEBUG", "x509negativeserial=1")
	f := goodForm(t)
	f.serial = integer("\xff")
	cert := []byte(f.encode())
	if _, err := x509.ParseCertificate(cert); err != nil && strings.HasPrefix(runtime.Version(), "go1.26") {
		t.Errorf("crypto/x509: %v", err)
	}
	must.FailGet(X509(cert))(t, zkbench.ErrMalformed, "serial below 0")
}

// The certificate as encoding/asn1 sees it, to be encoded again.
type (
	asn1Algorithm struct{ ID asn1.ObjectIdentifier }
	asn1Attribute struct {
		Type  asn1.ObjectIdentifier
		Value asn1.RawValue
	}
	asn1NameSET     []asn1Attribute // encoding/asn1 takes SET from the name
	asn1Certificate struct {
		TBS struct {
			Version  int `asn1:"explicit,tag:0"`
			Serial   *big.Int
			Inner    asn1Algorithm
			Issuer   []asn1NameSET
			Validity struct{ NotBefore, NotAfter time.Time }
			Subject  []asn1NameSET
			Key      struct {
				Algorithm struct{ ID, Curve asn1.ObjectIdentifier }
				Point     asn1.BitString
			}
			Extensions []pkix.Extension `asn1:"explicit,optional,omitempty,tag:3"`
		}
		Outer asn1Algorithm
		Value asn1.BitString
	}
	asn1Signature struct{ R, S *big.Int }
)

// canonical checks, by libraries, that an accepted certificate is the one encoding of
// what it says, and has the key that crypto/x509 reads. Both refuse some that are accepted:
// object identifiers with great numbers, and extensions that are not of their type.
func canonical(t testing.TB, cert []byte) {
	t.Helper()
	key := must.Get(parseX509(cert))(t).(*ecdsaVerifier).key
	if c, err := x509.ParseCertificate(cert); err == nil && !key.Equal(c.PublicKey) {
		t.Fatalf("another key than crypto/x509's: %x", cert)
	}
	again := func(value any, encoded []byte) {
		t.Helper()
		if _, err := asn1.Unmarshal(encoded, value); err != nil {
			if !strings.Contains(err.Error(), "base 128 integer too large") {
				t.Fatalf("%v: %x", err, cert)
			}
			return
		}
		if got := must.Get(asn1.Marshal(reflect.ValueOf(value).Elem().Interface()))(t); !bytes.Equal(got, encoded) {
			t.Fatalf("encoded again:\n%x, was\n%x", got, encoded)
		}
	}
	var c asn1Certificate
	again(&c, cert)
	if c.Value.Bytes != nil {
		again(new(asn1Signature), c.Value.Bytes)
	}
}

// TestChanged: a certificate with one byte changed is refused, or is another certificate in
// its one encoding; with one removed or doubled it is refused.
func TestChanged(t *testing.T) {
	certs, _ := madeCertificates(t)
	for name, cert := range certs {
		try := func(changed []byte) bool {
			_, err := parseX509(changed)
			if err == nil {
				canonical(t, changed)
			} else if !errors.Is(err, zkbench.ErrMalformed) {
				t.Fatalf("untyped error: %v", err)
			}
			return err == nil
		}
		for i := range cert {
			for x := 1; x < 0x100; x++ {
				if x&(x-1) != 0 && (testing.Short() || name != "openssl-leaf") {
					continue // one bit only
				}
				changed := slices.Clone(cert)
				changed[i] ^= byte(x)
				try(changed)
			}
			if try(slices.Delete(slices.Clone(cert), i, i+1)) || try(slices.Insert(slices.Clone(cert), i, cert[i])) {
				t.Errorf("byte %d removed or doubled is accepted", i)
			}
		}
	}
}

// BenchmarkParseX509: a certificate with five extensions, here and by crypto/x509.
func BenchmarkParseX509(b *testing.B) {
	certs, _ := madeCertificates(b)
	cert := certs["openssl-leaf"]
	b.Run("impl=identity", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			must.Get(parseX509(cert))(b)
		}
	})
	b.Run("impl=crypto-x509", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			must.Get(x509.ParseCertificate(cert))(b)
		}
	})
}
