package record

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
)

func packed(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	must.Get(w.Write([]byte(text)))(t)
	must.Do(t, w.Close())
	return b.Bytes()
}

// TestReadFile: a file tells by its first bytes, not by its name, whether it is packed.
func TestReadFile(t *testing.T) {
	t.Parallel()
	const text = `{"schema":1}` + "\n"
	pack := packed(t, text)
	for name, test := range map[string]struct {
		data []byte
		want string
	}{
		"records.jsonl":    {[]byte(text), text},
		"records.jsonl.gz": {pack, text},
		"packed.jsonl":     {pack, text},
		"plain.gz":         {[]byte(text), text},
		"two.gz":           {append(packed(t, text), pack...), text + text},
		"empty.gz":         {packed(t, ""), ""},
		"empty.jsonl":      {nil, ""},
	} {
		path := filepath.Join(t.TempDir(), name)
		must.Do(t, os.WriteFile(path, test.data, 0o600))
		golden.Equal(t, name, test.want, string(must.Get(ReadFile(path))(t)))
	}
	must.FailGet(ReadFile(filepath.Join(t.TempDir(), "none")))(t, os.ErrNotExist, "a file that is not there")
}

// TestUnpackRefuses: what is cut or damaged anywhere, and what unpacks to more than a limit.
func TestUnpackRefuses(t *testing.T) {
	t.Parallel()
	pack := packed(t, strings.Repeat("record ", 1000))
	for n := 2; n < len(pack); n++ {
		must.FailGet(unpack(pack[:n], mostUnpacked))(t, zkbench.ErrMalformed, "cut after %d bytes", n)
	}
	must.FailGet(unpack(append(bytes.Clone(pack), 0), mostUnpacked))(t, zkbench.ErrMalformed, "a byte after the end")
	sum := bytes.Clone(pack)
	sum[len(sum)-5] ^= 1
	must.FailGet(unpack(sum, mostUnpacked))(t, zkbench.ErrMalformed, "another checksum")

	golden.Equal(t, "bytes at the limit", 7000, len(must.Get(unpack(pack, 7000))(t)))
	must.FailGet(unpack(pack, 6999))(t, zkbench.ErrLimit, "a byte more than the limit")
	bomb := packed(t, strings.Repeat("\x00", 16<<20))
	golden.Within(t, "bytes of the bomb", 0, len(bomb), 1<<15)
	must.FailGet(unpack(bomb, 1<<20))(t, zkbench.ErrLimit, "16 MiB in %d bytes", len(bomb))
}

// TestLimits: neither a small file nor many small records take all memory.
func TestLimits(t *testing.T) {
	testsize.Full(t)
	golden.Equal(t, "most bytes of a file", 256<<20, mostUnpacked)
	path := filepath.Join(t.TempDir(), "records.jsonl.gz")
	must.Do(t, os.WriteFile(path, packed(t, strings.Repeat("\n", mostUnpacked+1)), 0o600))
	must.FailGet(ReadFile(path))(t, zkbench.ErrLimit, "a byte more than 256 MiB")
	line := `{"schema":1,"status":"ok"}` + "\n"
	recs, err := ReadAll(strings.NewReader(strings.Repeat(line, mostRecords+1)))
	must.Fail(t, err, zkbench.ErrLimit, "too many records")
	golden.Equal(t, "records before the limit", 200_000, len(recs))
}

// FuzzUnpack: no bytes take more than the limit.
func FuzzUnpack(f *testing.F) {
	f.Add([]byte("plain"))
	f.Add([]byte{0x1f, 0x8b, 8, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		const most = 1 << 16
		if text, err := unpack(data, most); err == nil && len(text) > max(most, len(data)) {
			t.Errorf("%d bytes of %d", len(text), len(data))
		}
	})
}
