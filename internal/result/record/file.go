package record

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"

	"github.com/zkbench/zkbench"
)

// Packed ends the name of a file of records that gzip has packed.
const Packed = ".gz"

// mostUnpacked is how many bytes a packed file may hold: a study has some megabytes, and a
// file of a few kilobytes could ask for all memory.
const mostUnpacked = 256 << 20

// ReadFile returns what a file of records or figures holds. One that begins as those of gzip
// do, whatever its name, is unpacked: into more than 256 MiB is a *zkbench.LimitError, and one
// that is cut or damaged a *zkbench.DecodeError.
func ReadFile(path string) ([]byte, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if data, err = unpack(data, mostUnpacked); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return data, nil
}

// unpack returns what data hold where they begin as those of gzip do (RFC 1952, section
// 2.3.1), and else data.
func unpack(data []byte, most int64) ([]byte, error) {
	if !bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		return data, nil
	}
	packed := bytes.NewReader(data)
	var text []byte
	in, err := gzip.NewReader(packed)
	if err == nil {
		text, err = io.ReadAll(io.LimitReader(in, most+1))
	}
	switch {
	case err != nil:
		return nil, &zkbench.DecodeError{Path: "gzip", Offset: len(data) - packed.Len(), Reason: err.Error()}
	case int64(len(text)) > most:
		return nil, &zkbench.LimitError{What: "bytes that it unpacks to", Estimate: int64(len(text)), Max: most}
	}
	return text, nil
}
