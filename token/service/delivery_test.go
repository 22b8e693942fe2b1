package service_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/golden"
	"github.com/zkbench/zkbench/internal/must"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/service"
)

func deliveries() *rapid.Generator[service.Delivery] {
	return rapid.Custom(func(t *rapid.T) service.Delivery {
		bytes := func(label string, lo, hi int) []byte { return rapid.SliceOfN(rapid.Byte(), lo, hi).Draw(t, label) }
		return service.Delivery{
			ID:    bytes("id", 1, token.MaxID),
			Token: token.Token{Owner: bytes("owner", 0, 100), Commitment: bytes("commitment", 1, 48)},
			Opening: token.Opening{
				Type: string(bytes("type", 0, token.MaxType)), Value: rapid.Uint64().Draw(t, "value"), Blinding: bytes("blinding", 32, 32),
			},
		}
	})
}

// TestDeliveryRoundTrip: a delivery comes back, and no proper prefix or extension of
// its encoding decodes.
func TestDeliveryRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := deliveries().Draw(t, "delivery")
		data := must.Get(d.Encode())(t)
		got := must.Get(service.DecodeDelivery(data))(t)
		if diff := cmp.Diff(d, got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatal(diff)
		}
		cut := rapid.IntRange(0, len(data)-1).Draw(t, "cut")
		for _, bad := range [][]byte{data[:cut], append(bytes.Clone(data), 0)} {
			must.FailGet(service.DecodeDelivery(bad))(t, zkbench.ErrMalformed, "%d of %d bytes", len(bad), len(data))
		}
	})
}

func TestLongestDelivery(t *testing.T) {
	d := service.Delivery{
		ID:      make([]byte, token.MaxID),
		Token:   token.Token{Owner: make([]byte, token.MaxOwner), Commitment: make([]byte, 255)},
		Opening: token.Opening{Type: strings.Repeat("x", token.MaxType), Blinding: make([]byte, 32)},
	}
	data := must.Get(d.Encode())(t)
	golden.Equal(t, "bytes of the largest delivery", service.MaxDelivery, len(data))
	d.Token.Owner = make([]byte, token.MaxOwner+1)
	if _, err := d.Encode(); !errors.Is(err, zkbench.ErrLimit) || !strings.Contains(err.Error(), "owner") {
		t.Error(err)
	}
}

// FuzzDecodeDelivery: what decodes is the one encoding of a delivery.
func FuzzDecodeDelivery(f *testing.F) {
	d := service.Delivery{ID: []byte("id"), Token: token.Token{Owner: []byte("owner"), Commitment: make([]byte, 32)}, Opening: token.Opening{Type: "USD", Value: 7, Blinding: make([]byte, 32)}}
	data := must.Get(d.Encode())(f)
	f.Add(data)
	f.Add([]byte{1})
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := service.DecodeDelivery(data)
		if err != nil {
			if e, ok := errors.AsType[*zkbench.DecodeError](err); !ok || e.Offset < 0 || e.Offset > len(data) {
				t.Fatalf("%v", err)
			}
			return
		}
		golden.Equal(t, "the same delivery, encoded again", data, must.Get(d.Encode())(t))
	})
}
