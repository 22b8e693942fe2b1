package keyfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"filippo.io/age"
	"filippo.io/age/armor"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/sys/atomicfile"
)

// An encrypted file of keys is a file in the format of age (C2SP, age-encryption.org/v1) with a passphrase, as text or
// binary: the program age reads and writes it too.
const ageHeader = "age-encryption.org/"

// scrypt turns the passphrase into a key with 2^work blocks of 1 KiB: files are written with the first work factor, which
// takes 256 MiB and about a second, and refused above the second, which takes 1 GiB.
const (
	writtenWork = 18
	maxWork     = 20
)

// encrypted returns a reader of the binary form of an encrypted file, and nil for other files.
func encrypted(data []byte) io.Reader {
	switch {
	case bytes.HasPrefix(data, []byte(ageHeader)):
		return bytes.NewReader(data)
	case bytes.HasPrefix(bytes.TrimSpace(data), []byte(armor.Header)):
		return armor.NewReader(bytes.NewReader(data))
	}
	return nil
}

// decrypt returns the contents of an encrypted file.
func decrypt(file io.Reader, passphrase string) ([]byte, error) {
	identity, err := age.NewScryptIdentity(passphrase)
	if err != nil {
		return nil, err
	}
	identity.SetMaxWorkFactor(maxWork)
	plain, err := age.Decrypt(file, identity)
	if _, ok := errors.AsType[*age.NoIdentityMatchError](err); ok {
		return nil, fmt.Errorf("%w: it is encrypted with another passphrase, or with no passphrase", zkbench.ErrParams)
	}
	if err != nil {
		return nil, fmt.Errorf("%w; accepted: a file that age encrypted with a passphrase, with a work factor of at most %d", err, maxWork)
	}
	data, err := io.ReadAll(io.LimitReader(plain, longest))
	if err != nil {
		return nil, fmt.Errorf("decrypting: %w", err)
	}
	return data, nil
}

// encrypt returns an encrypted file with the given contents, as text.
func encrypt(data []byte, passphrase string, work int) ([]byte, error) {
	recipient, err := age.NewScryptRecipient(passphrase)
	if err != nil {
		return nil, err
	}
	recipient.SetWorkFactor(work)
	var file bytes.Buffer
	text := armor.NewWriter(&file)
	w, err := age.Encrypt(text, recipient)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(data); err != nil {
		return nil, err
	}
	if err := errors.Join(w.Close(), text.Close()); err != nil {
		return nil, err
	}
	return file.Bytes(), nil
}

// Encrypt replaces the file of keys at path with one that is encrypted with a passphrase, which it asks for. The parameters
// field and accepted are as for Read. What the disk has of the old file is not overwritten.
func Encrypt(field, path, accepted string) error {
	data, err := ReadSecret(field, path)
	if err != nil {
		return err
	}
	if encrypted(data) != nil {
		return fmt.Errorf("%w: %s: %s is encrypted already; accepted: %s", zkbench.ErrParams, field, path, accepted)
	}
	if _, err := Decode(data); err != nil {
		return fmt.Errorf("%s: %s: %w; accepted: %s", field, path, err, accepted)
	}
	passphrase, err := newPassphrase(path)
	if err != nil {
		return err
	}
	file, err := encrypt(data, passphrase, writtenWork)
	if err != nil {
		return err
	}
	return atomicfile.Write(path, file)
}
