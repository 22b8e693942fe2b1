package client

import (
	"encoding/binary"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/zkbench/zkbench/token/internal/rpc"
)

// errLong is the error of an answer whose error is too long: package connect would decode it into many times its length.
var errLong = errors.New("the answer's error is too long")

// shortErrors returns the body of an answer that ends with errLong if the error in it has more than rpc.MaxError bytes. If the
// status is not OK, the body is the error, whatever type it claims. The error of a stream is its last envelope.
func shortErrors(answer *http.Response) io.ReadCloser {
	switch {
	case answer.StatusCode != http.StatusOK:
		return &short{answer.Body, rpc.MaxError}
	case strings.HasPrefix(answer.Header.Get("Content-Type"), "application/connect+"):
		return &envelopes{ReadCloser: answer.Body}
	}
	return answer.Body
}

// short is a body of up to left bytes.
type short struct {
	io.ReadCloser
	left int
}

func (s *short) Read(p []byte) (int, error) {
	n, err := s.ReadCloser.Read(p)
	if s.left -= n; s.left < 0 {
		return 0, errLong
	}
	return n, err
}

// envelopes is the body of a stream in Connect's protocol: before each message there are a byte of flags and 4 bytes of length.
type envelopes struct {
	io.ReadCloser
	header [5]byte
	have   int    // bytes of the header
	left   uint32 // bytes of the message
}

// endOfStream is the flag of the last envelope, which has the error.
const endOfStream = 2

func (e *envelopes) Read(p []byte) (int, error) {
	n, err := e.ReadCloser.Read(p)
	for rest := p[:n]; len(rest) > 0; {
		if e.left > 0 {
			k := min(len(rest), int(e.left))
			e.left, rest = e.left-uint32(k), rest[k:]
			continue
		}
		k := copy(e.header[e.have:], rest)
		e.have, rest = e.have+k, rest[k:]
		if e.have < len(e.header) {
			break
		}
		e.have, e.left = 0, binary.BigEndian.Uint32(e.header[1:])
		if e.header[0]&endOfStream != 0 && e.left > rpc.MaxError {
			return 0, errLong
		}
	}
	return n, err
}
