package page_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"html"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/zkbench/zkbench/internal/measure/jobs"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/view/page"
)

// shown is the part of the page's data that the tests check.
type shown struct {
	Title        string
	Processes    int
	Failed       int
	Environments []struct {
		Name        string
		Differences []string
	}
	Figures     []struct{ Name, Label, Unit string }
	Percentiles []float64
	Cases       []shownCase
	Lines       struct{ Throughput, CPUs, Load []struct{ Cases []string } }
	Progress    *struct{ Done int }
	Answer      struct {
		Sentence, Case string
		Plot           *struct {
			Kind, Key, Figure string
			Lines             []struct{ Cases []string }
		}
	}
}

type shownCase struct {
	ID, Workload, Status, Note, Command string
	Env, CPUs, Runs, Counted            int
	OK                                  bool
	Axes                                [][2]string
	Figures                             map[string][]float64
	Few                                 []string
	Whose                               map[string]string
	Latency                             *struct {
		Of                      string
		Count                   int64
		Values, Least, Greatest []float64
		From, Ratio             float64
		Counts                  []int64
	}
	Timeline *struct {
		Interval float64
		Joined   int
		Series   []struct {
			Name                    string
			Values, Least, Greatest []float64
		}
	}
	Errors, Findings []struct {
		Name, Text string
		Runs       int
	}
}

var dataOf = regexp.MustCompile(`(?s)<script type="application/json" id="data"[^>]*>(.*?)</script>`)

// write returns the page and the data in it.
func write(t *testing.T, d page.Data) (text string, data shown) {
	t.Helper()
	var b bytes.Buffer
	must.Do(t, page.Write(&b, d))
	found := dataOf.FindAllStringSubmatch(b.String(), -1)
	if len(found) != 1 {
		t.Fatalf("%d scripts of data", len(found))
	}
	must.Do(t, json.Unmarshal([]byte(found[0][1]), &data))
	return b.String(), data
}

// TestAlone: the page holds all that it needs, refers to nothing, and lets only its own
// script and style run.
func TestAlone(t *testing.T) {
	text, data := write(t, sample(t))
	if data.Title != "Transfers on four processors" || len(data.Cases) != 29 || data.Processes != 81 || data.Failed != 1 {
		t.Errorf("the data are %q with %d cases, %d processes, %d failed", data.Title, len(data.Cases), data.Processes, data.Failed)
	}
	const notice = "/*! https://github.com/leeoniya/uPlot (v1.6.32) */" // uPlot's own
	golden.Equal(t, "uPlot's notices", 1, strings.Count(text, notice))
	if found := regexp.MustCompile(`.{0,40}https?://.{0,40}`).FindAllString(strings.Replace(text, notice, "", 1), -1); len(found) > 0 {
		t.Errorf("addresses in the page: %q", found)
	}
	for _, link := range regexp.MustCompile(`<[a-z][^>]*?\s(?:src|href|action|data|srcset|poster)="([^"]*)"`).FindAllStringSubmatch(text, -1) {
		if !strings.HasPrefix(link[1], "#") && link[1] != "data:," {
			t.Errorf("the page refers to %s", link[1])
		}
	}
	if found := regexp.MustCompile(`@import|url\(`).FindAllString(text, -1); len(found) > 0 {
		t.Errorf("the style refers to something: %q", found)
	}
	golden.Contains(t, text, "The MIT License (MIT)", "Leon Sorokin", "THE SOFTWARE IS PROVIDED")

	policy := regexp.MustCompile(`Content-Security-Policy" content="([^"]*)"`).FindStringSubmatch(text)
	if policy == nil {
		t.Fatal("no policy")
	}
	allowed := html.UnescapeString(policy[1])
	for _, tag := range []string{"script", "style"} {
		body := regexp.MustCompile(`(?s)<`+tag+`>(.*?)</`+tag+`>`).FindAllStringSubmatch(text, -1)
		if len(body) != 1 {
			t.Fatalf("%d elements %s", len(body), tag)
		}
		sum := sha256.Sum256([]byte(body[0][1]))
		golden.Contains(t, allowed, tag+"-src 'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"';")
	}
	if strings.Contains(allowed, "unsafe") || !strings.HasPrefix(allowed, "default-src 'none';") || !strings.Contains(allowed, "connect-src 'none'") {
		t.Errorf("the policy is %s", allowed)
	}
}

// hostile returns a suite in which every text would do harm as markup, script or address.
func hostile(t testing.TB) page.Data {
	const harm = `</script><script>window.owned=1</script><img src=x onerror="window.owned=1">'"` + "`${owned=1}` --> \u202eevil\u2028 \U0001f47e {{.}} &lt;"
	d := sample(t)
	d.Title = harm
	r := load{"Sender", "pool", 32, 2, 2, 0, 20 * time.Millisecond}.record(t)
	r.Workload, r.Case, r.Status, r.Error = harm, harm, record.Failed, harm+strings.Repeat("x", 500)
	r.Axes = record.Axes{{Key: harm, Value: harm}, {Key: "__proto__", Value: "constructor"}}
	r.Env.CPU, r.Env.Commit, r.Env.Modules = harm, harm, map[string]string{harm: harm}
	r.Findings = []record.Finding{{Name: harm, Text: harm}}
	r.Metrics = append(r.Metrics, record.Reported(harm, harm, 3, record.Timed), record.Reported("__proto__", "s", 3, record.Timed))
	r.Stages = append(r.Stages, record.Stage{Name: harm, Time: 1, Sizes: []record.Metric{record.Reported(harm, harm, 1, record.Exact)}})
	r.Counters = append(r.Counters, record.Counter{Name: harm, Value: 1})
	r.Process.Side = harm
	d.Records = []*record.Record{r}
	d.Progress = &page.Progress{Running: harm, Planned: 1}
	return d
}

// TestHostileText: no text of a record ends the script that holds it, or begins one.
func TestHostileText(t *testing.T) {
	d := hostile(t)
	text, data := write(t, d)
	for _, part := range []string{"<script", "</script", "<img", "<!--"} {
		plain, _ := write(t, sample(t))
		golden.Equal(t, "times that "+part+" stands in a harmless page and in this", strings.Count(plain, part), strings.Count(text, part))
	}
	golden.Equal(t, "title, workload", [2]string{d.Title, d.Title}, [2]string{data.Title, data.Cases[0].Workload})
}

// TestSize: a page of a hundred cases stays small.
func TestSize(t *testing.T) {
	var all []*record.Record
	for i := range 100 {
		for run := range 3 {
			all = append(all, load{"Sender", "pool", i + 1, 2, 2, run, 20 * time.Millisecond}.record(t))
		}
	}
	text, data := write(t, page.Data{Records: all, Command: command, Settings: jobs.Words})
	if len(data.Cases) != 100 {
		t.Fatalf("%d cases", len(data.Cases))
	}
	if len(text) > 1<<20 {
		t.Errorf("%d bytes", len(text))
	}
	t.Logf("%d bytes", len(text))
}

// TestWriteFails: what the writer says is the error.
func TestWriteFails(t *testing.T) {
	full := errors.New("disk full")
	must.Fail(t, page.Write(failing{full}, page.Data{}), full, "writer")
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }
