package page_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/view/page"
)

// get sends a request with the given Host to a handler.
func get(h http.Handler, method, host, path string) *http.Response {
	r := httptest.NewRequest(method, path, nil)
	r.Host = host
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

func body(t *testing.T, r *http.Response) string {
	t.Helper()
	return string(must.Get(io.ReadAll(r.Body))(t))
}

// TestAnswers: what is asked for how, and by which name.
func TestAnswers(t *testing.T) {
	h := page.Handler(func() (page.Data, error) { return sample(t), nil })
	for _, c := range []struct {
		method, host, path string
		status             int
		kind               string
	}{
		{"GET", "localhost:8080", "/", 200, "text/html; charset=utf-8"},
		{"GET", "127.0.0.1:8080", "/data.json", 200, "application/json"},
		{"HEAD", "[::1]:8080", "/", 200, "text/html; charset=utf-8"},
		{"GET", "[::1]", "/data.json?x=1", 200, "application/json"},
		{"GET", "localhost", "/", 200, "text/html; charset=utf-8"},
		{"GET", "example.org", "/", 403, "text/plain; charset=utf-8"},
		{"GET", "localhost.example.org:8080", "/data.json", 403, "text/plain; charset=utf-8"},
		{"GET", "127.0.0.1.example.org", "/", 403, "text/plain; charset=utf-8"},
		{"GET", "", "/", 403, "text/plain; charset=utf-8"},
		{"GET", "127.0.0.1:18777.example.org", "/", 403, "text/plain; charset=utf-8"},
		{"GET", "localhost:8080:example.org", "/data.json", 403, "text/plain; charset=utf-8"},
		{"GET", "[::1].example.org:80", "/", 403, "text/plain; charset=utf-8"},
		{"GET", "localhost:65536", "/", 403, "text/plain; charset=utf-8"},
		{"GET", "localhost:-1", "/", 403, "text/plain; charset=utf-8"},
		{"GET", "localhost:", "/", 403, "text/plain; charset=utf-8"},
		{"POST", "localhost", "/", 405, "text/plain; charset=utf-8"},
		{"DELETE", "localhost", "/data.json", 405, "text/plain; charset=utf-8"},
		{"GET", "localhost", "/favicon.ico", 404, "text/plain; charset=utf-8"},
		{"GET", "localhost", "/assets/page.js", 404, "text/plain; charset=utf-8"},
		{"GET", "localhost", "/../go.mod", 404, "text/plain; charset=utf-8"},
	} {
		r := get(h, c.method, c.host, c.path)
		golden.Equal(t, c.method+" "+c.host+c.path, fmt.Sprint(c.status, " ", c.kind), fmt.Sprint(r.StatusCode, " ", r.Header.Get("Content-Type")))
		for name, want := range map[string]string{
			"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer",
			"Cross-Origin-Resource-Policy": "same-origin",
		} {
			golden.Equal(t, c.method+" "+c.host+c.path+": "+name, want, r.Header.Get(name))
		}
		if policy := r.Header.Get("Content-Security-Policy"); !strings.HasPrefix(policy, "default-src 'none'") || !strings.Contains(policy, "frame-ancestors 'none'") || strings.Contains(policy, "unsafe") {
			t.Errorf("%s %s%s: the policy is %q", c.method, c.host, c.path, policy)
		}
		golden.Equal(t, c.method+" "+c.host+c.path+": empty", c.method == "HEAD", len(body(t, r)) == 0)
	}
	golden.Equal(t, "allowed", "GET, HEAD", get(h, "PUT", "localhost", "/").Header.Get("Allow"))
}

// TestAnew: each request reads anew, and the data are those of the page.
func TestAnew(t *testing.T) {
	all := sample(t)
	reads := 0
	h := page.Handler(func() (page.Data, error) {
		reads++
		return page.Data{Title: "Suite", Records: all.Records[:reads], Progress: &page.Progress{Done: reads, Planned: 9}}, nil
	})
	for want := 1; want <= 3; want++ {
		path := []string{"/", "/data.json"}[want%2]
		text := body(t, get(h, "GET", "localhost", path))
		if path == "/" {
			text = dataOf.FindStringSubmatch(text)[1]
		}
		var data struct {
			Processes int
			Progress  struct{ Done, Planned int }
			Cases     []shownCase
		}
		must.Do(t, json.Unmarshal([]byte(text), &data))
		if data.Processes != want || data.Progress.Done != want || data.Cases[0].Latency == nil {
			t.Errorf("request %d: %d processes, %d done, distribution %v", want, data.Processes, data.Progress.Done, data.Cases[0].Latency)
		}
	}
}

// TestServedOrNot: the page asks for data where it is served, and not from a file.
func TestServedOrNot(t *testing.T) {
	served := body(t, get(page.Handler(func() (page.Data, error) { return page.Data{}, nil }), "GET", "localhost", "/"))
	golden.Contains(t, served, `id="data" data-served>`, "connect-src &#39;self&#39;")
	if written, _ := write(t, page.Data{}); strings.Contains(written, `data-served>`) {
		t.Error("the page from a file asks for data")
	}
}

// TestReadFails: an error of read is one line.
func TestReadFails(t *testing.T) {
	h := page.Handler(func() (page.Data, error) { return page.Data{}, errors.New("journal:\n  <b>line 3</b>\tis damaged") })
	for _, path := range []string{"/", "/data.json"} {
		r := get(h, "GET", "localhost", path)
		if diff := cmp.Diff("journal: <b>line 3</b> is damaged\n", body(t, r)); diff != "" || r.StatusCode != 500 || r.Header.Get("Content-Type") != "text/plain; charset=utf-8" {
			t.Errorf("%s: %d %s (-want +got):\n%s", path, r.StatusCode, r.Header.Get("Content-Type"), diff)
		}
	}
}
