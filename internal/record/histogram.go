package record

import (
	"fmt"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/zkbench/zkbench"
)

// Histogram is an HDR histogram in its V2 compressed encoding, base64, which
// the HdrHistogram tools of every language read.
type Histogram struct {
	Name string `json:"name"`
	Unit string `json:"unit"`
	HDR  string `json:"hdr"`

	// The same values interval by interval of the window, where they were kept so;
	// an interval without values is empty.
	Interval time.Duration `json:"interval,omitempty"` // ns
	Parts    []string      `json:"parts,omitempty"`
}

// EncodeHistogram encodes h, whose values are in unit.
func EncodeHistogram(name, unit string, h *hdrhistogram.Histogram) (Histogram, error) {
	encoded, err := h.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	if err != nil {
		return Histogram{}, fmt.Errorf("encode histogram %s: %w", name, err)
	}
	return Histogram{Name: name, Unit: unit, HDR: string(encoded)}, nil
}

// Decode returns the histogram, or a *zkbench.DecodeError.
func (h Histogram) Decode() (*hdrhistogram.Histogram, error) {
	decoded, err := hdrhistogram.Decode([]byte(h.HDR))
	if err != nil {
		return nil, &zkbench.DecodeError{Path: "histograms." + h.Name, Reason: err.Error()}
	}
	return decoded, nil
}
