package page_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/cdp"

	"github.com/zkbench/zkbench/internal/testing/browsertest"
	"github.com/zkbench/zkbench/internal/view/page"
)

func TestMain(m *testing.M) { browsertest.Main(m) }

// tab is a page of records in the browser.
type tab struct{ *browsertest.Tab }

func newTab(t *testing.T, width, height int64) *tab { return &tab{browsertest.New(t, width, height)} }

func eval[T any](b *tab, expression string) T {
	b.T.Helper()
	return browsertest.Eval[T](b.Tab, expression)
}

func call[P, R any](b *tab, command cdp.Command[P, R], params P) {
	b.T.Helper()
	browsertest.Call(b.Tab, command, params)
}

// open opens the page of d, with the given part of the address after #.
func (b *tab) open(d page.Data, hash string) {
	b.T.Helper()
	var html bytes.Buffer
	if err := page.Write(&html, d); err != nil {
		b.T.Fatal(err)
	}
	b.Open(html.Bytes(), hash, "#tbody tr")
}

// column returns the texts of a column, by its head, as they are seen.
func (b *tab) column(head string) []string {
	b.T.Helper()
	return eval[[]string](b, fmt.Sprintf(`(() => {
		const i = [...document.querySelectorAll('#thead th')].findIndex(th => th.querySelector('button span')?.innerText.startsWith(%q));
		return [...document.querySelectorAll('#tbody tr')].map(tr => tr.cells[i]?.firstChild.textContent);
	})()`, head))
}
