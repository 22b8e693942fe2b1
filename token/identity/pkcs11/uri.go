package pkcs11

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/zkbench/zkbench"
)

// Scheme is the beginning of every PKCS #11 URI.
const Scheme = "pkcs11:"

// maxURI is the maximum number of bytes in a URI.
const maxURI = 8192

// URI names a private key in a token, as RFC 7512 specifies. A field about the token or the key matches everything if it
// is empty. The PIN is not in the URI, but in a file that the URI names.
type URI struct {
	Token, Manufacturer, Model, Serial string // of the token

	Object string // the key's label (CKA_LABEL)
	ID     []byte // the key's id (CKA_ID)

	ModulePath string // the library of the token's vendor, for example /usr/lib/softhsm/libsofthsm2.so
	PINFile    string // path of the file with the PIN of the token's user
}

// The attributes of a URI that ParseURI accepts, before and behind the question mark.
var (
	pathAttributes  = []string{"token", "manufacturer", "model", "serial", "object", "id", "type"}
	queryAttributes = []string{"module-path", "pin-source"}
)

// fileScheme is the beginning of a pin-source.
const fileScheme = "file:"

// refuse returns an ErrParams about an attribute of a URI.
func refuse(attribute, found, accepted string) error {
	return fmt.Errorf("%w: PKCS #11 URI: %s: %s; accepted: %s", zkbench.ErrParams, attribute, found, accepted)
}

// ParseURI parses the URI of a private key, for example
//
//	pkcs11:token=bank;object=issuer?module-path=/usr/lib/softhsm/libsofthsm2.so&pin-source=file:/run/secrets/pin
//
// Before the question mark it accepts token, manufacturer, model, serial, object, id and type=private, and behind it
// module-path and pin-source=file:PATH. The URI must have an object or an id, and both attributes behind the question
// mark. In values, other characters can stand as in %3b. ParseURI returns zkbench.ErrParams, or a *zkbench.LimitError for
// more than 8192 bytes. It refuses the attribute pin-value, because other users of the machine can see the arguments of
// commands. No error contains a part of the URI.
func ParseURI(text string) (*URI, error) {
	if len(text) > maxURI {
		return nil, &zkbench.LimitError{What: "bytes of PKCS #11 URI", Estimate: int64(len(text)), Max: maxURI}
	}
	text, ok := strings.CutPrefix(text, Scheme)
	if !ok {
		return nil, refuse("scheme", "another one", Scheme)
	}
	path, query, _ := strings.Cut(text, "?")
	values := make(map[string]string)
	if err := addAttributes(values, path, ";", pathAttributes); err != nil {
		return nil, err
	}
	if err := addAttributes(values, query, "&", queryAttributes); err != nil {
		return nil, err
	}
	if typ, given := values["type"]; given && typ != "private" {
		return nil, refuse("type", "another type of object", "private")
	}
	u := &URI{
		Token: values["token"], Manufacturer: values["manufacturer"], Model: values["model"], Serial: values["serial"],
		Object: values["object"], ID: []byte(values["id"]),
		ModulePath: values["module-path"],
	}
	if u.Object == "" && len(u.ID) == 0 {
		return nil, refuse("object", "none", "the label of a key, or its id")
	}
	if u.ModulePath == "" || strings.Contains(u.ModulePath, "\x00") {
		return nil, refuse("module-path", "none", "the path of the library of the token's vendor")
	}
	if u.PINFile, ok = filePath(values["pin-source"]); !ok {
		return nil, refuse("pin-source", "no file", fileScheme+"PATH, of a file with the PIN")
	}
	return u, nil
}

// addAttributes adds the attributes in text, which separator separates, to values.
func addAttributes(values map[string]string, text, separator string, accepted []string) error {
	if text == "" {
		return nil
	}
	for attribute := range strings.SplitSeq(text, separator) {
		name, encoded, _ := strings.Cut(attribute, "=")
		if name == "pin-value" {
			return refuse(name, "other users can see the PIN", "pin-source="+fileScheme+"PATH, of a file with the PIN")
		}
		if !slices.Contains(accepted, name) {
			return refuse("attributes separated by "+separator, "another one", strings.Join(accepted, ", "))
		}
		if _, twice := values[name]; twice {
			return refuse(name, "given twice", "each attribute once")
		}
		value, err := url.PathUnescape(encoded)
		if err != nil || value == "" {
			return refuse(name, "no text", "a text in which %25 stands for a percent sign")
		}
		values[name] = value
	}
	return nil
}

// filePath returns the path in a URI of a file. It accepts file:PATH and file:///PATH.
func filePath(uri string) (path string, ok bool) {
	path, ok = strings.CutPrefix(uri, fileScheme)
	if local, authority := strings.CutPrefix(path, "//"); authority {
		path, ok = local, ok && strings.HasPrefix(local, "/")
	}
	return path, ok && path != ""
}
