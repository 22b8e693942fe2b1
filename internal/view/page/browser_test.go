package page_test

import (
	"bytes"
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
	"github.com/zkbench/zkbench/internal/view/page"
)

// chromium is the browser of this test binary. It starts when it is first asked for.
var chromium struct {
	sync.Once
	ctx context.Context
	end []context.CancelFunc
}

func TestMain(m *testing.M) {
	code := m.Run()
	for _, end := range slices.Backward(chromium.end) {
		end()
	}
	os.Exit(code)
}

// tab is a page in the browser.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu       sync.Mutex
	requests []string
	problems []string // errors on the console, exceptions
}

// newTab opens an empty page.
func newTab(t *testing.T, width, height int64) *tab {
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
	b := &tab{t: t}
	ctx, end := chromedp.NewContext(chromium.ctx, chromedp.WithListener(b.listen))
	t.Cleanup(end)
	b.ctx, end = context.WithTimeout(ctx, time.Minute)
	t.Cleanup(end)
	call(b, network.Enable, network.EnableParams{})
	call(b, log.Enable, cdp.Empty{})
	b.run(chromedp.EmulateViewport(width, height))
	return b
}

func (b *tab) listen(event any) {
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

func (b *tab) run(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, steps...); err != nil {
		b.t.Fatal(err)
	}
}

func (b *tab) click(selector string) {
	b.t.Helper()
	b.run(chromedp.Click(chromedp.CSS(selector)))
}

// set sets the value of an element, as if a user had chosen or typed it all at once.
func (b *tab) set(id, value string) {
	b.t.Helper()
	eval[bool](b, fmt.Sprintf(`((e, value) => {
		e.value = value;
		e.dispatchEvent(new Event('input', {bubbles: true}));
		return e.dispatchEvent(new Event('change', {bubbles: true}));
	})(document.getElementById(%q), %q)`, id, value))
}

// press types keys into whatever has the focus.
func (b *tab) press(keys ...string) {
	b.t.Helper()
	for _, k := range keys {
		b.run(chromedp.KeyEvent(k))
	}
}

// call runs a command of the browser's protocol.
func call[P, R any](b *tab, command cdp.Command[P, R], params P) {
	b.t.Helper()
	if _, err := chromedp.Call(b.ctx, command, params); err != nil {
		b.t.Fatal(err)
	}
}

// open writes the page of d to a file and opens it, with the given part of the address
// after #.
func (b *tab) open(d page.Data, hash string) {
	b.t.Helper()
	var html bytes.Buffer
	if err := page.Write(&html, d); err != nil {
		b.t.Fatal(err)
	}
	path := filepath.Join(b.t.TempDir(), "report.html")
	if err := os.WriteFile(path, html.Bytes(), 0o600); err != nil {
		b.t.Fatal(err)
	}
	b.run(chromedp.Navigate("file://"+filepath.ToSlash(path)+hash), chromedp.WaitVisible(chromedp.CSS("#tbody tr")))
	b.t.Cleanup(func() { b.alone("file://" + filepath.ToSlash(path)) })
}

// alone reports everything that the page requested in addition to itself, and its errors.
func (b *tab) alone(self string) {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, url := range b.requests {
		own, _, _ := strings.Cut(url, "#")
		if own != self && !strings.HasPrefix(url, "data:") {
			b.t.Errorf("the page asked for %s", url)
		}
	}
	if len(b.requests) == 0 {
		b.t.Error("no request was seen, not even that for the page")
	}
	for _, p := range b.problems {
		b.t.Errorf("the browser says: %s", p)
	}
}

// eval returns the value of an expression in the page.
func eval[T any](b *tab, expression string) T {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// await returns when an expression is true in the page.
func (b *tab) await(expression string) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, chromedp.Poll[chromedp.Void](expression)); err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
}

// column returns the texts of a column, by its head, as they are seen.
func (b *tab) column(head string) []string {
	b.t.Helper()
	return eval[[]string](b, fmt.Sprintf(`(() => {
		const i = [...document.querySelectorAll('#thead th')].findIndex(th => th.querySelector('button span')?.innerText.startsWith(%q));
		return [...document.querySelectorAll('#tbody tr')].map(tr => tr.cells[i]?.firstChild.textContent);
	})()`, head))
}

// look writes a picture of the whole page to the folder in ZKBENCH_SCREENSHOTS, or to
// one that goes with the test.
func (b *tab) look(name string) {
	b.t.Helper()
	dir := os.Getenv("ZKBENCH_SCREENSHOTS")
	if dir == "" {
		dir = b.t.TempDir()
	}
	picture, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
	if err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), picture, 0o600); err != nil {
		b.t.Fatal(err)
	}
	if len(picture) < 10_000 {
		b.t.Errorf("%s: a picture of %d bytes", name, len(picture))
	}
}

// prefer sets the colours that the reader prefers: light or dark.
func (b *tab) prefer(scheme string) {
	b.t.Helper()
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
}
