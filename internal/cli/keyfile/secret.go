package keyfile

import (
	"errors"
	"fmt"
	"os"

	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/sys/secretfile"
)

// ReadSecret reads the file at path as it is. It returns an error if users other than the file's owner can open it. The
// parameter field is the name with which errors begin.
func ReadSecret(field, path string) ([]byte, error) {
	data, err := secretfile.Read(path, longest)
	if open, ok := errors.AsType[*secretfile.ModeError](err); ok {
		return nil, &argument.ValueError{
			Field: field, Value: fmt.Sprintf("%s, mode %04o", path, open.Mode),
			Accepted: "a secret key that only its owner can read; try chmod 600 " + path,
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", field, err)
	}
	return data, nil
}

// WriteSecret writes a new file with mode 0600 and flushes it to the disk. It returns fs.ErrExist if the file exists.
func WriteSecret(path string, data []byte) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}
