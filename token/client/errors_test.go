package client_test

import (
	"encoding/binary"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token/client"
	"github.com/zkbench/zkbench/token/internal/rpc"
	"github.com/zkbench/zkbench/token/server"
)

// fails makes a server answer calls with an error: its JSON is the body of a single answer, and the last envelope of a stream.
func fails(json string) func(r *http.Response) error {
	return func(r *http.Response) error {
		body := json
		switch path := r.Request.URL.Path; {
		case strings.HasSuffix(path, "Submit"):
			r.StatusCode = http.StatusServiceUnavailable
			r.Header.Set("Content-Type", "application/json")
		case strings.HasSuffix(path, "ReadLog"):
			end := `{"error":` + json + `}`
			body = "\x02" + string(binary.BigEndian.AppendUint32(nil, uint32(len(end)))) + end
		default:
			return nil
		}
		r.Header.Del("Content-Length")
		r.Body, r.ContentLength = io.NopCloser(strings.NewReader(body)), -1
		return nil
	}
}

// asked returns the errors of a call of each kind.
func asked(t *testing.T, c *client.Client) map[string]error {
	_, single := c.Submit(t.Context(), [][]byte{[]byte("a")})
	errs := map[string]error{"single": single, "stream": nil}
	for _, err := range c.Log(t.Context(), 1) {
		errs["stream"] = err
	}
	return errs
}

// TestNullDetail: an error whose detail is a null, or of another type, is an error without details.
func TestNullDetail(t *testing.T) {
	t.Parallel()
	for _, details := range []string{"[null]", "[null,null]", "[{}]", `[{"type":"zkbench.token.v1.Verdict","value":""}]`, `[{"type":"nothing","value":"AA"}]`} {
		s := serve(t, server.Options{}, nil)
		address := between(t, s, fails(`{"code":"unavailable","message":"none","details":`+details+`}`))
		c := must.Get(client.Dial(t.Context(), address, client.Options{Patience: -1}))(t)
		for kind, err := range asked(t, c) {
			must.Fail(t, err, zkbench.ErrEnv, kind, details)
			if !strings.Contains(err.Error(), "unavailable: none") {
				t.Errorf("%s, %s: %v", kind, details, err)
			}
		}
		must.Do(t, c.Close())
	}
}

// TestLongError: an error of many details is refused before it takes many times its length. It runs alone, because it measures
// memory.
func TestLongError(t *testing.T) {
	for _, size := range []int{rpc.MaxError - 64, 8 << 20} {
		s := serve(t, server.Options{}, nil)
		address := between(t, s, fails(`{"code":"unavailable","details":[{}`+strings.Repeat(",{}", size/3)+`]}`))
		c := must.Get(client.Dial(t.Context(), address, client.Options{Patience: -1}))(t)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		errs := asked(t, c)
		runtime.ReadMemStats(&after)
		for kind, err := range errs {
			if err == nil {
				t.Errorf("%s of %d bytes: no error", kind, size)
			}
		}
		if took := (after.TotalAlloc - before.TotalAlloc) >> 20; took > 128 {
			t.Errorf("%d bytes: allocated %d MiB", size, took)
		}
		must.Do(t, c.Close())
	}
}
