package compare

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/testenv"
)

// past returns a history of n runs of contenders a and b; change changes the i-th run.
func past(t *testing.T, n int, change func(i int, r *bench.Run, f *values)) *History {
	t.Helper()
	var h History
	for i := range n {
		r, f := run(), usual()
		r.ID, r.Started = fmt.Sprint("run", i), time.Date(2026, 11, 1+i, 8, 0, 0, 0, time.UTC)
		if change != nil {
			change(i, &r, &f)
		}
		all := append(trials("a", 6, f), trials("b", 6, usual())...)
		skipped := h.Add(fmt.Sprintf("results/%02d-<b>", i), r, all)
		testenv.Need(t, len(skipped) <= 0, "%v", skipped)
	}
	return &h
}

func seriesOf(t *testing.T, h *History, labels []string, measures ...measure.ID) []Series {
	t.Helper()
	all := testenv.Must(h.Series(labels, measures))(t)
	return all
}

func texts(t *testing.T, all []Series) (text, markdown, table string) {
	t.Helper()
	var a, b, c bytes.Buffer
	for _, err := range []error{HistoryText(&a, all), HistoryMarkdown(&b, all), HistoryCSV(&c, all)} {
		testenv.OK(t, err)
	}
	for line := range strings.Lines(a.String()) {
		testenv.Check(t, utf8.RuneCountInString(strings.TrimRight(line, "\n")) <= 80 || strings.Contains(line, "results/"),
			"a line of %d: %s", utf8.RuneCountInString(line), line)
	}
	testenv.OK(t, testenv.Err(csv.NewReader(strings.NewReader(c.String())).ReadAll()))
	return a.String(), b.String(), c.String()
}

// A row has the medians of a result and their intervals; a line says which one is not comparable
// with the one before.
func TestHistory(t *testing.T) {
	text := ""
	only := func(id measure.ID) []measure.ID { return []measure.ID{id} }
	for _, c := range []struct {
		name     string
		history  *History
		labels   []string
		measures []measure.ID
	}{
		{"two contenders", past(t, 3, func(i int, _ *bench.Run, f *values) {
			f.peak *= 1 - .2*float64(i/2)
		}), nil, nil},
		{"other limits", past(t, 4, func(i int, r *bench.Run, f *values) {
			if i >= 2 {
				r.Profile.Limits.CPUs = 0.5
				f.peak /= 3
			}
		}), []string{"a"}, only(measure.Throughput)},
		{"a long list of steps", past(t, 2, func(i int, r *bench.Run, _ *values) {
			if i == 1 {
				r.Profile.Steps = append(r.Profile.Steps, r.Profile.Steps...)
			}
		}), []string{"a"}, only(measure.Throughput)},
		{"a threshold", past(t, 2, func(i int, r *bench.Run, _ *values) {
			if i == 1 {
				r.Profile.Thresholds = []bench.Threshold{{Condition: "p99<1ms"}}
			}
		}), []string{"a"}, only(measure.Throughput)},
		{"one result", past(t, 1, nil), []string{"b"}, only(measure.Throughput)},
		{"two results", past(t, 2, nil), []string{"b"}, only(measure.P99Half)},
		{"other results", others(t), nil, nil},
	} {
		all := seriesOf(t, c.history, c.labels, c.measures...)
		plain, markdown, table := texts(t, all)
		text += "## " + c.name + "\n\n" + plain + "\n"
		if len(c.measures) > 0 {
			text += table + "\n"
		} else {
			text += markdown + "\n"
		}
		testenv.Check(t, !strings.Contains(plain+markdown, "\x1b") && !strings.Contains(table, ",=cmd"),
			"text from files is not safe: %q", plain+markdown+table)
	}
	testenv.Golden(t, "testdata/history.txt", text)
	testenv.Fails(t, testenv.Err(past(t, 1, nil).Series([]string{"c"}, nil)), "choose one of a, b")
}

// others returns a history with what is skipped: unstable steps, excluded contenders, rounds that
// are not complete, values that were not measured; with context switches, which have no verdict.
func others(t *testing.T) *History {
	t.Helper()
	var h History
	for i := range 7 {
		r, f := run(), usual()
		r.ID, r.Started = fmt.Sprint("run", i), time.Date(2026, 11, 30-i, 8, 0, 0, 0, time.UTC) // the last first
		a := trials("a\x1b[31m<script>|*", 6, f, func(l *bench.TrialResult) {
			s := &l.Steps[3]
			s.Before.Switches, s.After.Switches = &bench.Switches{}, &bench.Switches{Voluntary: s.Load.Succeeded}
			switch {
			case i == 2:
				s.Drift = &bench.Drift{Throughput: &bench.Trend{Change: .2, P: .001}}
			case i == 3:
				l.StartUp = nil
			case i == 4:
				in(6, is(bench.TrialAborted))(l)
			case i == 5:
				wrong(l)
			}
		})
		skipped := h.Add(fmt.Sprintf("=cmd()\x1b|%d", i), r, a)
		testenv.Need(t, len(skipped) <= 0, "%v", skipped)
	}
	return &h
}

// p99 is at the step that has half peak in the first of the comparable results.
func TestHistory_SameStep(t *testing.T) {
	var h History
	for i, limit := range []float64{1.5, 1.5, 0.5, 0.5} {
		r := run()
		r.ID, r.Started, r.Profile.Limits.CPUs = fmt.Sprint(i), r.Started.Add(time.Duration(i)*time.Hour), limit
		h.Add(r.ID, r, trials("a", 1, usual(), func(l *bench.TrialResult) {
			if i%3 > 0 { // half peak at 1 connection, with 40% instead of 20%, and not at 4 with 55%
				l.Steps[1].Load.Succeeded *= 2
				l.Steps[2].Load.Succeeded = l.Steps[2].Load.Succeeded * 3 / 2
			}
		}))
	}
	var at []string
	for _, p := range seriesOf(t, &h, nil, measure.P99Half)[0].Points {
		at = append(at, p.Values[0].At)
	}
	testenv.Equal(t, strings.Join(at, ", "), "4 connections, 4 connections, 1 connection, 1 connection")
}

func TestHistory_Add(t *testing.T) {
	var h History
	whole, half := trials("a", 1, usual()), trials("b", 2, usual(), is(bench.TrialAborted))
	named := func(id string) func(*bench.Run) { return func(r *bench.Run) { r.ID = id } }
	search := func(r *bench.Run) { r.ID, r.Search = "y", "p99<1ms" }
	for _, c := range []struct {
		folder string
		side   raw
		want   string
	}{
		{"one", of(trials("a", 2, usual()), half).with(named("x")), "[b: no complete round]"},
		{"copy", of(whole).with(named("x")), "[same run as one]"},
		{"search", of(whole).with(search), "[capacity search]"},
		{"empty", of(), "[no trial started]"},
		{"no ID", of(whole), "[]"},
		{"no ID either", of(whole), "[]"},
	} {
		got := fmt.Sprint(h.Add(c.folder, c.side.Run, c.side.Trials))
		testenv.Check(t, got == c.want, "%s: %s, want %s", c.folder, got, c.want)
	}
	p := seriesOf(t, &h, nil)[0].Points
	testenv.Check(t, strings.Join(h.Labels(), " ") == "a" && len(p) == 3 && p[2].Rounds+p[0].Rounds+p[1].Rounds == 4,
		"%q %+v", h.Labels(), p)
}

func TestParseMeasure(t *testing.T) {
	for _, name := range Measures() {
		testenv.Equal(t, string(testenv.Must(ParseMeasure(name))(t)), name)
	}
	const list = "throughput, p99, start-up, time-to-peak, memory, cpu, switches and first-responses"
	_, err := ParseMeasure("x")
	testenv.Check(t, err != nil && err.Error() == `no measure "x"; choose one of `+list, "%v", err)
	const titles = "peak throughput, p99 at half peak, start-up, time to peak, peak memory, CPU per request, " +
		"context switches per request and first responses"
	got := Titles()
	testenv.Check(t, got == titles, "%v", got)
}
