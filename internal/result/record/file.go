package record

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"

	"github.com/zkbench/zkbench"
)

// Packed is the file name suffix of gzip-compressed records.
const Packed = ".gz"

// mostUnpacked is the maximum size of an uncompressed file, in bytes. A study has a few megabytes, but a
// compressed file of a few kilobytes could fill all memory.
const mostUnpacked = 256 << 20

// ReadFile reads a file of records or figures. It uncompresses the file if it begins like a gzip file,
// whatever its name is. ReadFile returns a *zkbench.LimitError if the uncompressed file has more than
// 256 MiB, and a *zkbench.DecodeError if the compressed file is truncated or damaged.
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

// unpack uncompresses data if they begin like a gzip file (RFC 1952, section 2.3.1). Otherwise it returns
// data.
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
		return nil, &zkbench.LimitError{What: "uncompressed bytes", Estimate: int64(len(text)), Max: most}
	}
	return text, nil
}
