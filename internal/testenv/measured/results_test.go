package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/testenv/loadtools"
)

const root = "../../../"

// two are a row with bars of each kind, and what was measured of it.
func two() ([]row, measured) {
	r := row{name: "32 connections", bars: []bar{
		{measure: perRequest, client: "wrk", most: 1}, {measure: perCPU, client: "gcannon", least: 1.1}, {measure: delay, most: 200, in: .6},
	}}
	pair := func(own, wrk, p99 float64) map[string]values {
		return map[string]values{ours: {perRequest: own, perCPU: 1e6 / own, delay: p99}, "wrk": {perRequest: wrk}}
	}
	return []row{r}, measured{Date: "2026-12-01", Commit: "abc", Machine: "two CPUs", Seconds: 3, Clients: map[string]string{ours: "0.1.0", "wrk": "4.1.0", "gcannon": ""},
		Rows: []result{{Row: r.name, Pairs: []map[string]values{pair(9, 10, 100), pair(30, 20, 300), pair(19, 20, 150)}}}}
}

func TestTable(t *testing.T) {
	rows, m := two()
	testenv.Equal(t, m.table(rows), `Measured 2026-12-01 at commit abc, in alternating runs of 3 s, on two CPUs; gcannon: not there; locbench: 0.1.0; wrk: 4.1.0.

| load | measure | locbench | next to it | ratio | bar |
|---|---|---|---|---|---|
| 32 connections | CPU time per request, µs | 19 | wrk: 20 | 0.95 (0.90 to 1.50, 3 pairs) | ≤ 1 |
| 32 connections | requests per CPU second | 52,632 | gcannon was not there |  | ≥ 1.1 |
| 32 connections | p99 of the delay of sending, µs | 150 |  |  | ≤ 200 in 60% of the runs |
`)
	m.Rows[0].Pairs[0][ours][perRequest] = 11
	delete(m.Rows[0].Pairs[2], "wrk")
	delete(m.Rows[0].Pairs[1], ours)
	testenv.Contains(t, m.table(rows), "| 15 | wrk: 15 | 1.10 (1.10 to 1.10, 1 pairs) | **missed**: ≤ 1 |")
	m.Rows[0] = result{Row: rows[0].name, LeftOut: "no time was left"}
	testenv.Contains(t, m.table(rows), "| 32 connections | not measured: no time was left |")
}

// A bar is missed by the median of the ratios, by the share of runs, or because nothing was measured without a reason.
func TestMissed(t *testing.T) {
	for name, c := range map[string]struct {
		break_ func(*measured)
		want   string
	}{
		"none":          {func(*measured) {}, ""},
		"ratio":         {func(m *measured) { m.Rows[0].Pairs[0]["wrk"][perRequest] = 8 }, "32 connections: CPU time per request, µs: 19, wrk: 20, 1.12 (0.95 to 1.50, 3 pairs); the bar is ≤ 1"},
		"share of runs": {func(m *measured) { m.Rows[0].Pairs[0][ours][delay] = 201 }, "the bar is ≤ 200 in 60% of the runs"},
		"peer there": {func(m *measured) {
			m.Clients["gcannon"] = "1"
			for _, p := range m.Rows[0].Pairs {
				p["gcannon"] = values{perCPU: p[ours][perCPU]}
			}
		}, "the bar is ≥ 1.1"},
		"peer not measured": {func(m *measured) { m.Clients["gcannon"] = "1" }, "requests per CPU second was not measured"},
		"not measured":      {func(m *measured) { m.Rows = nil }, "CPU time per request, µs was not measured"},
		"measure lost":      {func(m *measured) { m.Rows[0].Pairs = m.Rows[0].Pairs[:0] }, "p99 of the delay of sending, µs was not measured"},
		"left out":          {func(m *measured) { m.Rows[0] = result{Row: "32 connections", LeftOut: "no time was left"} }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			rows, m := two()
			c.break_(&m)
			missed := strings.Join(m.missed(rows), "\n")
			testenv.Check(t, (missed == "") == (c.want == "") && strings.Contains(missed, c.want), "missed: %q, want %q", missed, c.want)
		})
	}
}

// The table of the docs is made from the results next to it; no two rows have the same name.
func TestDocs(t *testing.T) {
	text := testenv.Must(os.ReadFile(root + page))(t)
	found := loadtools.Tables.FindStringSubmatch(string(text))
	testenv.Need(t, found != nil, "%s has no place for the tables", page)
	want := "Not measured yet.\n"
	if _, err := os.Stat(root + data); err == nil {
		want = testenv.Must(read(root + data))(t).table(rows())
	}
	testenv.Contains(t, found[0], want)
	names := map[string]bool{}
	for _, r := range rows() {
		testenv.Check(t, !names[r.name] && r.pairs > 0 && len(r.bars) > 0 && r.connections > 0, "row %+v", r)
		names[r.name] = true
	}
	_, err := read(filepath.Join(t.TempDir(), "none"))
	testenv.Check(t, os.IsNotExist(err), "%v", err)
}
