package pkcs11_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token/identity/pkcs11"
)

const (
	good   = "pkcs11:token=bank;object=issuer?module-path=/usr/lib/p11.so&pin-source=file:/run/pin"
	behind = "?module-path=/l.so&pin-source=file:/pin"
)

func TestParseURI(t *testing.T) {
	t.Parallel()
	library := pkcs11.URI{ModulePath: "/l.so", PINFile: "/pin"}
	object := library
	object.Object = "a;b?c&d"
	id := library
	id.ID = []byte{0, 0xaf, 'x'}
	all := library
	all.Token, all.Manufacturer, all.Model, all.Serial, all.Object, all.ID = "The Software PKCS#11 Softtoken", "Snake Oil, Inc.", "1.0", "0=1", "my-certificate", []byte{1, 2}
	for text, want := range map[string]pkcs11.URI{
		"pkcs11:object=a%3bb%3Fc%26d" + behind:    object,
		"pkcs11:type=private;id=%00%AFx" + behind: id,
		"pkcs11:token=The%20Software%20PKCS%2311%20Softtoken;manufacturer=Snake%20Oil,%20Inc.;model=1.0;serial=0=1;object=my-certificate;id=%01%02" + behind: all,
		"pkcs11:object=o?pin-source=file:///run/pin&module-path=m.so":                                                                                        {Object: "o", ModulePath: "m.so", PINFile: "/run/pin"},
		"pkcs11:object=o?pin-source=file:keys/pin&module-path=C:%5cm.dll":                                                                                    {Object: "o", ModulePath: `C:\m.dll`, PINFile: "keys/pin"},
	} {
		if want.ID == nil {
			want.ID = []byte{}
		}
		golden.Equal(t, text, want, *must.Get(pkcs11.ParseURI(text))(t))
	}
}

// TestParseURIRefuses: each error names the attribute and what is accepted, and has no part of the URI.
func TestParseURIRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ was, is, says string }{
		{"pkcs11:", "file:", "scheme: another one; accepted: pkcs11:"},
		{"object=issuer", "object=issuer;", "attributes separated by ;: another one; accepted: token, "},
		{"object=issuer", "object=issuer;hunter2=1", "attributes separated by ;: another one; accepted: token, "},
		{"object=issuer", "object=issuer;type=public", "type: another type of object; accepted: private"},
		{"object=issuer", "object=issuer;object=hunter2", "object: given twice"},
		{"object=issuer", "object=%zz", "object: no text"},
		{"object=issuer", "object=", "object: no text"},
		{";object=issuer", "", "object: none; accepted: the label of a key, or its id"},
		{"file:/run/pin", "file:/run/pin&pin-value=hunter2", "pin-value: other users can see the PIN; accepted: pin-source=file:PATH"},
		{"object=issuer", "object=issuer;pin-value=hunter2", "pin-value: other users can see the PIN"},
		{"pin-source=file:/run/pin", "pin-value=hunter2", "pin-value: other users can see the PIN"},
		{"&pin-source=file:/run/pin", "", "pin-source: no file; accepted: file:PATH"},
		{"file:/run/pin", "|hunter2", "pin-source: no file; accepted: file:PATH"},
		{"file:/run/pin", "file://hunter2/pin", "pin-source: no file; accepted: file:PATH"},
		{"file:/run/pin", "file:", "pin-source: no file; accepted: file:PATH"},
		{"module-path=/usr/lib/p11.so&", "", "module-path: none"},
		{"/usr/lib/p11.so", "%00", "module-path: none"},
		{"module-path", "module-name", "attributes separated by &: another one; accepted: module-path, pin-source"},
	} {
		_, err := pkcs11.ParseURI(strings.Replace(good, c.was, c.is, 1))
		if !errors.Is(err, zkbench.ErrParams) || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s for %s: %v; want ...%s", c.is, c.was, err, c.says)
		}
	}
	must.FailGet(pkcs11.ParseURI(good+strings.Repeat("x", 8192)))(t, zkbench.ErrLimit, "a long one")
}

// FuzzParseURI: no text makes ParseURI panic. What it accepts names a key, a library and a file.
func FuzzParseURI(f *testing.F) {
	for _, seed := range []string{good, "pkcs11:id=%00" + behind, "pkcs11:object=%41;type=private" + behind, "pkcs11:", "pkcs11:pin-value=1", "pkcs11:object=o?pin-source=file:///p&module-path=m"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		u, err := pkcs11.ParseURI(text)
		switch {
		case err != nil:
			if !errors.Is(err, zkbench.ErrParams) && !errors.Is(err, zkbench.ErrLimit) {
				t.Errorf("%v", err)
			}
		case u.Object == "" && len(u.ID) == 0 || u.ModulePath == "" || u.PINFile == "" || strings.Contains(text, "pin-value="):
			t.Errorf("%q: %+v", text, u)
		}
	})
}
