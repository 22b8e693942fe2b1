package rpc

import (
	"bytes"
	"encoding/json"
	"fmt"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token/internal/rpc/tokenv1"
)

// MaxFields is the maximum number of fields of a message, each element of a list counted, and of commas in its JSON form. An
// element of two bytes takes 24 and more in memory.
const (
	MaxFields = 4096
	maxCommas = 4 * MaxFields
)

// maxSmall is the greatest length in bytes of the requests that hold no request for a ledger and no address.
const maxSmall = 64 << 10

// Codecs are those for messages, Binary is the first of them. They refuse a message that would take many times its length in
// memory before they decode it.
var (
	Codecs               = []connect.Codec{Binary, text{"json"}, text{"json; charset=utf-8"}}
	Binary connect.Codec = binary{}
)

// small reports whether a message is a request that is never long.
func small(message any) bool {
	switch message.(type) {
	case *tokenv1.GetLedgerRequest, *tokenv1.GetRecordRequest, *tokenv1.GetTokensRequest, *tokenv1.GetHashesRequest, *tokenv1.GetInclusionRequest,
		*tokenv1.GetConsistencyRequest, *tokenv1.GetHeadRequest, *tokenv1.GetPolicyRequest, *tokenv1.ReadLogRequest:
		return true
	}
	return false
}

// check refuses data that is too long for its message.
func check(data []byte, message any, times int) error {
	if most := times * maxSmall; len(data) > most && small(message) {
		return &zkbench.LimitError{What: "bytes of this message", Estimate: int64(len(data)), Max: int64(most)}
	}
	return nil
}

// binary is the codec of gRPC and of Connect's own form.
type binary struct{}

func (binary) Name() string { return "proto" }

// IsBinary is for calls by GET, as connect asks.
func (binary) IsBinary() bool { return true }

func (binary) Marshal(message any) ([]byte, error) { return proto.Marshal(message.(proto.Message)) }

// MarshalAppend saves connect a copy.
func (binary) MarshalAppend(dst []byte, message any) ([]byte, error) {
	return proto.MarshalOptions{}.MarshalAppend(dst, message.(proto.Message))
}

// MarshalStable is for calls by GET.
func (binary) MarshalStable(message any) ([]byte, error) {
	return proto.MarshalOptions{Deterministic: true}.Marshal(message.(proto.Message))
}

func (binary) Unmarshal(data []byte, message any) error {
	if err := check(data, message, 1); err != nil {
		return err
	}
	for rest, n := data, 0; len(rest) > 0; n++ {
		if n == MaxFields {
			return &zkbench.LimitError{What: "fields of a message", Estimate: MaxFields + 1, Max: MaxFields}
		}
		_, _, size := protowire.ConsumeField(rest)
		if size < 0 {
			return protowire.ParseError(size)
		}
		rest = rest[size:]
	}
	return proto.Unmarshal(data, message.(proto.Message))
}

// text is the codec of JSON, under one of its names.
type text struct{ name string }

func (t text) Name() string { return t.name }

// IsBinary is for calls by GET.
func (text) IsBinary() bool { return false }

func (text) Marshal(message any) ([]byte, error) { return protojson.Marshal(message.(proto.Message)) }

// MarshalAppend saves connect a copy.
func (text) MarshalAppend(dst []byte, message any) ([]byte, error) {
	return protojson.MarshalOptions{}.MarshalAppend(dst, message.(proto.Message))
}

// MarshalStable is for calls by GET. protojson's white space differs from one program to the next.
func (t text) MarshalStable(message any) ([]byte, error) {
	data, err := t.Marshal(message)
	if err != nil {
		return nil, err
	}
	var compact bytes.Buffer
	err = json.Compact(&compact, data)
	return compact.Bytes(), err
}

// Unmarshal passes over fields that it does not know, as the binary form does.
func (text) Unmarshal(data []byte, message any) error {
	if err := check(data, message, 2); err != nil { // base64
		return err
	}
	if n := bytes.Count(data, []byte{','}); n > maxCommas {
		return &zkbench.LimitError{What: "commas of a message", Estimate: int64(n), Max: maxCommas}
	}
	if len(data) == 0 {
		return fmt.Errorf("%w: no bytes, the least message is {}", zkbench.ErrMalformed)
	}
	return protojson.UnmarshalOptions{DiscardUnknown: true}.Unmarshal(data, message.(proto.Message))
}
