// Package browsertest opens pages in Chromium for tests: it presses keys, evaluates expressions, takes pictures, and
// reports what a page requests and what the browser complains about.
package browsertest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
)

// Main runs the tests of a package that uses this one, and then ends the browser.
func Main(m *testing.M) {
	code := m.Run()
	for _, end := range slices.Backward(chromium.end) {
		end()
	}
	os.Exit(code)
}

// chromium is the browser of this test binary. It starts when it is first asked for.
var chromium struct {
	sync.Once
	ctx context.Context
	end []context.CancelFunc
}

// Tab is a page in the browser.
type Tab struct {
	T   *testing.T
	Ctx context.Context

	mu       sync.Mutex
	requests []string
	problems []string // errors on the console, exceptions
}

// New opens an empty page.
func New(t *testing.T, width, height int64) *Tab {
	t.Helper()
	testsize.Full(t)
	path := testsize.Program(t, "chromium", "chromium", "chromium-browser", "google-chrome")
	chromium.Do(func() {
		options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.ExecPath(path), chromedp.DisableGPU)
		if os.Geteuid() == 0 { // Chromium's sandbox refuses root
			options = append(options, chromedp.NoSandbox)
		}
		allocator, end := chromedp.NewExecAllocator(context.Background(), options...)
		ctx, endBrowser := chromedp.NewContext(allocator)
		chromium.ctx, chromium.end = ctx, []context.CancelFunc{end, endBrowser}
		must.Do(t, chromedp.Do(ctx), "start", path)
	})
	b := &Tab{T: t}
	ctx, end := chromedp.NewContext(chromium.ctx, chromedp.WithListener(b.listen))
	t.Cleanup(end)
	b.Ctx, end = context.WithTimeout(ctx, time.Minute)
	t.Cleanup(end)
	Call(b, network.Enable, network.EnableParams{})
	Call(b, log.Enable, cdp.Empty{})
	b.Run(chromedp.EmulateViewport(width, height))
	return b
}

func (b *Tab) listen(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		b.requests = append(b.requests, e.Request.URL)
	case *runtime.EventExceptionThrown:
		b.problems = append(b.problems, exceptionText(e.ExceptionDetails))
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeWarning {
			b.problems = append(b.problems, fmt.Sprintf("console: %s", e.Args[0].Value))
		}
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError || e.Entry.Level == log.EntryLevelWarning {
			b.problems = append(b.problems, e.Entry.Text)
		}
	}
}

func exceptionText(e *runtime.ExceptionDetails) string {
	if e.Exception != nil && e.Exception.Description != "" {
		return e.Exception.Description
	}
	return e.Text
}

// Run performs actions one after the other.
func (b *Tab) Run(steps ...chromedp.Action[chromedp.Void]) {
	b.T.Helper()
	if err := chromedp.Do(b.Ctx, steps...); err != nil {
		b.T.Fatal(err)
	}
}

// Click clicks on the element that a selector names.
func (b *Tab) Click(selector string) {
	b.T.Helper()
	b.Run(chromedp.Click(chromedp.CSS(selector)))
}

// Set sets the value of an element, as if a user had chosen or typed it all at once.
func (b *Tab) Set(id, value string) {
	b.T.Helper()
	Eval[bool](b, fmt.Sprintf(`((e, value) => {
		e.value = value;
		e.dispatchEvent(new Event('input', {bubbles: true}));
		return e.dispatchEvent(new Event('change', {bubbles: true}));
	})(document.getElementById(%q), %q)`, id, value))
}

// Press types keys into whatever has the focus.
func (b *Tab) Press(keys ...string) {
	b.T.Helper()
	for _, k := range keys {
		b.Run(chromedp.KeyEvent(k))
	}
}

// Call runs a command of the browser's protocol.
func Call[P, R any](b *Tab, command cdp.Command[P, R], params P) {
	b.T.Helper()
	if _, err := chromedp.Call(b.Ctx, command, params); err != nil {
		b.T.Fatal(err)
	}
}

// Open writes a page to a file and opens it, with the given part of the address after #. It returns when the element that
// a selector names is visible. When the test ends, it reports requests and errors (Alone).
func (b *Tab) Open(html []byte, hash, selector string) {
	b.T.Helper()
	path := filepath.Join(b.T.TempDir(), "page.html")
	if err := os.WriteFile(path, html, 0o600); err != nil {
		b.T.Fatal(err)
	}
	b.Run(chromedp.Navigate("file://"+filepath.ToSlash(path)+hash), chromedp.WaitVisible(chromedp.CSS(selector)))
	b.T.Cleanup(func() { b.Alone("file://" + filepath.ToSlash(path)) })
}

// Seen returns what the page has requested so far, and the errors on its console.
func (b *Tab) Seen() (requests, problems []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.requests), slices.Clone(b.problems)
}

// Overflow returns how many pixels the page is wider than the window.
func (b *Tab) Overflow() int {
	b.T.Helper()
	return Eval[int](b, `Math.max(document.documentElement.scrollWidth, document.body.scrollWidth) - document.documentElement.clientWidth`)
}

// Clipped lists the cells of tables whose text is wider than they are, and those that hide what does not fit.
func (b *Tab) Clipped() []string {
	b.T.Helper()
	return Eval[[]string](b, `[...document.querySelectorAll('td, th')].filter(e => e.offsetParent && (e.scrollWidth > e.clientWidth || getComputedStyle(e).textOverflow === 'ellipsis'))
		.map(e => e.innerText + ': ' + e.scrollWidth + ' px in ' + e.clientWidth)`)
}

// Alone reports everything that the page requested in addition to itself, and its errors.
func (b *Tab) Alone(self string) {
	b.T.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, url := range b.requests {
		own, _, _ := strings.Cut(url, "#")
		if own != self && !strings.HasPrefix(url, "data:") {
			b.T.Errorf("the page asked for %s", url)
		}
	}
	if len(b.requests) == 0 {
		b.T.Error("no request was seen, not even that for the page")
	}
	for _, p := range b.problems {
		b.T.Errorf("the browser says: %s", p)
	}
}

// Eval returns the value of an expression in the page.
func Eval[T any](b *Tab, expression string) T {
	b.T.Helper()
	v, err := chromedp.Run(b.Ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		b.T.Fatalf("%s: %v", expression, err)
	}
	return v
}

// Await returns when an expression is true in the page.
func (b *Tab) Await(expression string) {
	b.T.Helper()
	if err := chromedp.Do(b.Ctx, chromedp.Poll[chromedp.Void](expression)); err != nil {
		b.T.Fatalf("%s: %v", expression, err)
	}
}

// Look writes a picture of the whole page to the folder in ZKBENCH_SCREENSHOTS, or to
// one that goes with the test.
func (b *Tab) Look(name string) {
	b.T.Helper()
	dir := os.Getenv("ZKBENCH_SCREENSHOTS")
	if dir == "" {
		dir = b.T.TempDir()
	}
	picture, err := chromedp.Run(b.Ctx, chromedp.FullScreenshot(100))
	if err != nil {
		b.T.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), picture, 0o600); err != nil {
		b.T.Fatal(err)
	}
	if len(picture) < 10_000 {
		b.T.Errorf("%s: a picture of %d bytes", name, len(picture))
	}
}

// Prefer sets the colours that the reader prefers: light or dark.
func (b *Tab) Prefer(scheme string) {
	b.T.Helper()
	Call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
}
