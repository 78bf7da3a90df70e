package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/stats"
)

// measured is docs/measured.json.
type measured struct {
	Date    string            `json:"date"`
	Commit  string            `json:"commit"`
	Machine string            `json:"machine"`
	Seconds int               `json:"seconds"` // of a run
	Clients map[string]string `json:"clients"` // version of each; "": it was not there
	Rows    []result          `json:"rows"`
}

// read returns what was measured last.
func read(file string) (m measured, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return m, err
	}
	return m, json.Unmarshal(text, &m)
}

// result is what was measured of a row.
type result struct {
	Row     string              `json:"row"`
	LeftOut string              `json:"left_out,omitempty"` // why nothing was
	Pairs   []map[string]values `json:"pairs,omitempty"`    // by client
}

// values are the numbers of a client in a run.
type values map[string]float64

// of returns a measure of a client in each pair that has it.
func (r result) of(client, measure string) (all []float64) {
	for _, p := range r.Pairs {
		if x, ok := p[client][measure]; ok {
			all = append(all, x)
		}
	}
	return all
}

// ratios returns those of locbench to a client, in each pair that has both.
func (r result) ratios(client, measure string) (all []float64) {
	for _, p := range r.Pairs {
		if own, theirs := p[ours][measure], p[client][measure]; own > 0 && theirs > 0 {
			all = append(all, own/theirs)
		}
	}
	return all
}

// line is a bar next to what was measured.
type line struct {
	load, measure, own, next, ratio, bound string
	missing                                bool // without a reason
	missed                                 bool
}

// line compares the result of a row with a bar.
func (m measured) line(r row, b bar) line {
	l := line{load: r.name, measure: b.measure, bound: b.String()}
	i := slices.IndexFunc(m.Rows, func(x result) bool { return x.Row == r.name })
	if i < 0 {
		l.missing = true
		return l
	}
	x := m.Rows[i]
	all := x.of(ours, b.measure)
	if middle, ok := stats.Median(all); ok {
		l.own = digits(middle)
	}
	if b.client != "" {
		all = x.ratios(b.client, b.measure)
		theirs, _ := stats.Median(x.of(b.client, b.measure))
		middle, both := stats.Median(all)
		if !both {
			l.next = b.client + " was not there"
			l.missing = m.Clients[b.client] != "" && x.LeftOut == ""
			return l
		}
		l.next = b.client + ": " + digits(theirs)
		l.ratio = fmt.Sprintf("%.2f (%.2f to %.2f, %d pairs)", middle, slices.Min(all), slices.Max(all), len(all))
		all = []float64{middle}
	}
	reached := 0
	for _, x := range all {
		if (b.least == 0 || x >= b.least) && (b.most == 0 || x <= b.most) {
			reached++
		}
	}
	l.missing = len(all) == 0 && x.LeftOut == ""
	l.missed = float64(reached) < cmp.Or(b.in, 1)*float64(len(all))
	return l
}

// String returns the bar in words; "": there is none.
func (b bar) String() (text string) {
	switch {
	case b.least > 0:
		text = fmt.Sprintf("≥ %.4g", b.least)
	case b.most > 0:
		text = fmt.Sprintf("≤ %.4g", b.most)
	}
	if b.in > 0 && b.in < 1 {
		text += fmt.Sprintf(" in %.0f%% of the runs", 100*b.in)
	}
	return text
}

// missed returns the bars that are missed, and those that were not measured without a reason.
func (m measured) missed(rows []row) (all []string) {
	for _, r := range rows {
		for _, b := range r.bars {
			switch l := m.line(r, b); {
			case l.bound == "":
			case l.missing:
				all = append(all, fmt.Sprintf("%s: %s was not measured", l.load, l.measure))
			case l.missed:
				all = append(all, fmt.Sprintf("%s: %s: %s, %s, %s; the bar is %s", l.load, l.measure, l.own, l.next, l.ratio, l.bound))
			}
		}
	}
	return all
}

// table returns the results as Markdown.
func (m measured) table(rows []row) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Measured %s at commit %s, in alternating runs of %d s, on %s", m.Date, m.Commit, m.Seconds, m.Machine)
	for _, name := range slices.Sorted(maps.Keys(m.Clients)) {
		fmt.Fprintf(&b, "; %s: %s", name, cmp.Or(m.Clients[name], "not there"))
	}
	b.WriteString(".\n\n| load | measure | locbench | next to it | ratio | bar |\n|---|---|---|---|---|---|\n")
	for _, r := range rows {
		for _, bar := range r.bars {
			l := m.line(r, bar)
			if l.missed {
				l.bound = "**missed**: " + l.bound
			}
			if l.own != "" && (bar.client != base || l.ratio != "") {
				fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", l.load, l.measure, l.own, l.next, l.ratio, l.bound)
			}
		}
	}
	for _, x := range m.Rows {
		if x.LeftOut != "" {
			fmt.Fprintf(&b, "| %s | not measured: %s | | | | |\n", x.Row, x.LeftOut)
		}
	}
	return b.String()
}

// digits returns x with three digits, or all before the point.
func digits(x float64) string {
	if x >= 100 {
		return units.Count(int64(x + .5))
	}
	return fmt.Sprintf("%.3g", x)
}
