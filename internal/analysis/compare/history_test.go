package compare

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/measure"
)

// past returns a history of n runs of contenders a and b; change changes the i-th run.
func past(t *testing.T, n int, change func(i int, r *bench.Run, f *values)) *History {
	t.Helper()
	var h History
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		r, f := run(), usual()
		r.ID, r.Started = fmt.Sprint("run", i), time.Date(2026, 11, 1+i, 8, 0, 0, 0, time.UTC)
		if change != nil {
			change(i, &r, &f)
		}
		if skipped := h.Add(fmt.Sprintf("results/%02d-<b>", i), r, append(trials(rng, "a", 6, f), trials(rng, "b", 6, usual())...)); len(skipped) > 0 {
			t.Fatal(skipped)
		}
	}
	return &h
}

func seriesOf(t *testing.T, h *History, labels []string, measures ...measure.ID) []Series {
	t.Helper()
	all, err := h.Series(labels, measures)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func texts(t *testing.T, all []Series) (text, markdown, table string) {
	t.Helper()
	var a, b, c bytes.Buffer
	for _, err := range []error{HistoryText(&a, all), HistoryMarkdown(&b, all), HistoryCSV(&c, all)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for line := range strings.Lines(a.String()) {
		if utf8.RuneCountInString(strings.TrimRight(line, "\n")) > 80 && !strings.Contains(line, "results/") {
			t.Errorf("a line of %d: %s", utf8.RuneCountInString(line), line)
		}
	}
	if _, err := csv.NewReader(strings.NewReader(c.String())).ReadAll(); err != nil {
		t.Error(err)
	}
	return a.String(), b.String(), c.String()
}

func TestHistoryMarksAChange(t *testing.T) {
	h := past(t, 10, func(i int, r *bench.Run, f *values) {
		r.Software.Locbench = "1"
		if i >= 6 {
			f.peak *= 0.8
			r.Software.Locbench = "2"
		}
	})
	all := seriesOf(t, h, nil)
	if len(all) != 2 || len(all[0].Points) != 10 || all[0].Contender != "a" {
		t.Fatalf("%d series", len(all))
	}
	var found *Change
	for i, x := range all[0].Changes {
		if x.Measure == measure.Throughput {
			found = &all[0].Changes[i]
		}
	}
	if found == nil || found.At != 6 || found.Before < 9800 || found.After > 8200 {
		t.Fatalf("changes: %+v", all[0].Changes)
	}
	text, markdown, table := texts(t, all)
	for _, want := range []string{"▼ peak throughput: ", "(−1", "locbench (1 → 2)", "results/00-<b>", "2026-11-10 08:00", "CPU/req", "▲ CPU per request"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(markdown, "<b>") || !strings.Contains(markdown, "&lt;b&gt;") || !strings.Contains(markdown, "▼") {
		t.Error(markdown)
	}
	if n := strings.Count(table, "\n"); n != 1+2*10*6 {
		t.Errorf("%d rows", n)
	}
}

// Between runs that are not comparable there is a break and no change; levels do not mix both
// sides.
func TestHistoryBreaks(t *testing.T) {
	h := past(t, 12, func(i int, r *bench.Run, f *values) {
		if i >= 6 {
			r.Profile.Limits.CPUs = 0.5
			f.peak /= 3
		}
	})
	c := seriesOf(t, h, []string{"a"}, measure.Throughput)[0]
	for i, p := range c.Points {
		if (p.Break != "") != (i == 6) || len(p.Values) != 1 {
			t.Errorf("%d: %q, %d measures", i, p.Break, len(p.Values))
		}
	}
	if len(c.Changes) != 0 {
		t.Errorf("changes: %+v", c.Changes)
	}
	text, _, _ := texts(t, []Series{c})
	if !strings.Contains(text, "── not comparable with earlier results: other limits (1.5 CPUs → 0.5") || !strings.Contains(text, "|") {
		t.Error(text)
	}
	// A threshold changes no result.
	h = past(t, 2, func(i int, r *bench.Run, _ *values) {
		if i == 1 {
			r.Profile.Thresholds = []bench.Threshold{{Condition: "p99<1ms"}}
		}
	})
	if p := seriesOf(t, h, []string{"a"})[0].Points[1]; p.Break != "" {
		t.Errorf("thresholds break it: %s", p.Break)
	}
}

func TestHistoryOfFew(t *testing.T) {
	for n, want := range map[int]string{1: "Only one result.", 2: "locbench compare OLD NEW", 5: "A change of level takes 6 comparable results in a row", 6: "No significant change of level."} {
		text, _, _ := texts(t, seriesOf(t, past(t, n, nil), []string{"b"}, measure.Throughput))
		if !strings.Contains(strings.Join(strings.Fields(text), " "), want) {
			t.Errorf("%d results: no %q in\n%s", n, want, text)
		}
	}
	if _, err := past(t, 1, nil).Series([]string{"c"}, nil); err == nil || !strings.Contains(err.Error(), "choose one of a, b") {
		t.Errorf("an unknown contender: %v", err)
	}
}

func TestHistorySkips(t *testing.T) {
	var h History
	r := run()
	r.ID = "x"
	whole, half := trial("a", 1, usual()), trial("b", 1, usual())
	half.State = bench.TrialAborted
	skipped := h.Add("one", r, []bench.TrialResult{whole, half, trial("a", 2, usual())})
	if len(skipped) != 1 || skipped[0] != "b: no complete round" || strings.Join(h.Labels(), " ") != "a" {
		t.Errorf("%q, %q", skipped, h.Labels())
	}
	if skipped := h.Add("copy", r, []bench.TrialResult{whole}); len(skipped) != 1 || !strings.Contains(skipped[0], "same run as one") {
		t.Errorf("a copy: %q", skipped)
	}
	r.ID, r.Search = "y", "p99<1ms"
	if skipped := h.Add("search", r, []bench.TrialResult{whole}); len(skipped) != 1 {
		t.Errorf("a search: %q", skipped)
	}
	r.ID, r.Search = "z", ""
	if skipped := h.Add("empty", r, nil); len(skipped) != 1 {
		t.Errorf("nothing: %q", skipped)
	}
	if p := seriesOf(t, &h, nil)[0].Points; len(p) != 1 || p[0].Rounds != 2 || *p[0].Values[0].Median != usual().peak {
		t.Errorf("%+v", p)
	}
}

// Text from files is escaped in every format.
func TestHistoryIsSafe(t *testing.T) {
	var h History
	r := run()
	h.Add("=cmd()\x1b[31m|<script>", r, []bench.TrialResult{trial("a\x1b[31m<script>", 1, usual())})
	text, markdown, table := texts(t, seriesOf(t, &h, nil))
	if strings.Contains(text, "\x1b") || strings.Contains(markdown, "\x1b") || strings.Contains(markdown, "<script") || strings.Contains(table, ",=cmd") {
		t.Errorf("%q\n%q\n%q", text, markdown, table)
	}
}
