package page

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Handler returns a handler that serves the page at "/" and its current data at "/data.json".
// It calls the function read once for each request, possibly from several goroutines. It
// answers only GET and HEAD requests, and only if their Host is localhost, 127.0.0.1 or
// [::1]. Other sites therefore cannot read the page through a host name of their own (DNS
// rebinding).
func Handler(read func() (Data, error)) http.Handler {
	h := &handler{read: read, viewer: new(viewer)}
	h.parts, h.broken = loadParts()
	return h
}

type handler struct {
	read   func() (Data, error)
	parts  *parts
	broken error // from loadParts

	mu     sync.Mutex // guards viewer
	viewer *viewer
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	head := w.Header()
	head.Set("Cache-Control", "no-store")
	head.Set("X-Content-Type-Options", "nosniff")
	head.Set("X-Frame-Options", "DENY")
	head.Set("Referrer-Policy", "no-referrer")
	head.Set("Cross-Origin-Resource-Policy", "same-origin")
	head.Set("Cross-Origin-Opener-Policy", "same-origin")
	head.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	switch {
	case !local(r.Host):
		http.Error(w, "host: accepted: localhost, 127.0.0.1, [::1]", http.StatusForbidden)
	case r.URL.Path != "/" && r.URL.Path != "/data.json":
		http.Error(w, "not found", http.StatusNotFound)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		head.Set("Allow", "GET, HEAD")
		http.Error(w, "method: accepted: GET, HEAD", http.StatusMethodNotAllowed)
	default:
		h.answer(w, r)
	}
}

func (h *handler) answer(w http.ResponseWriter, r *http.Request) {
	body, kind, err := h.body(r.URL.Path == "/")
	if err != nil {
		line := strings.Join(strings.Fields(err.Error()), " ")
		http.Error(w, line, http.StatusInternalServerError)
		return
	}
	if r.URL.Path == "/" {
		w.Header().Set("Content-Security-Policy", h.parts.Policy(true)+"; frame-ancestors 'none'")
	}
	w.Header().Set("Content-Type", kind)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
}

// body returns the page or its data, and the content type.
func (h *handler) body(whole bool) (body []byte, kind string, err error) {
	if h.broken != nil {
		return nil, "", h.broken
	}
	d, err := h.read()
	if err != nil {
		return nil, "", err
	}
	h.mu.Lock()
	v := h.viewer.view(d)
	h.mu.Unlock()
	if whole {
		body, err = h.parts.html(v, true)
		return body, "text/html; charset=utf-8", err
	}
	body, err = json.Marshal(v)
	return body, "application/json", err
}

// local reports whether a request's Host is a name of this machine, with or without a port.
func local(host string) bool {
	for _, name := range []string{"localhost", "127.0.0.1", "[::1]"} {
		if rest, ok := strings.CutPrefix(host, name); ok {
			port, has := strings.CutPrefix(rest, ":")
			_, err := strconv.ParseUint(port, 10, 16)
			return rest == "" || has && err == nil
		}
	}
	return false
}
