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

// result is what was measured of a row.
type result struct {
	Row     string              `json:"row"`
	LeftOut string              `json:"left_out,omitempty"` // why nothing was
	Pairs   []map[string]values `json:"pairs,omitempty"`    // by client
}

// values are the numbers of a client in a run.
type values map[string]float64

// read returns what was measured last.
func read(file string) (m measured, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return m, err
	}
	return m, json.Unmarshal(text, &m)
}

// of returns a measure of locbench in each pair that has it, with a client also that of the client and the ratio.
func (r result) of(measure, client string) (own, theirs, ratios []float64) {
	for _, p := range r.Pairs {
		a, ok := p[ours][measure]
		b := p[client][measure]
		if ok && (client == "" || b > 0) {
			own, theirs, ratios = append(own, a), append(theirs, b), append(ratios, a/b)
		}
	}
	return own, theirs, ratios
}

// here reports whether a client was there; "": a bar without one.
func (m measured) here(client string) bool {
	return client == "" || client == twin || m.Clients[client] != ""
}

// line is a bar next to what was measured.
type line struct{ load, measure, own, next, ratio, bar, fault string }

// lines compares the results of rows with their bars.
func (m measured) lines(rows []row) (all []line) {
	for _, r := range rows {
		var x result
		if i := slices.IndexFunc(m.Rows, func(x result) bool { return x.Row == r.name }); i >= 0 {
			x = m.Rows[i]
		}
		if x.LeftOut != "" {
			all = append(all, line{load: r.name, measure: "not measured: " + x.LeftOut})
			continue
		}
		for _, b := range r.bars {
			all = append(all, m.line(x, r.name, b))
		}
	}
	return all
}

func (m measured) line(x result, load string, b bar) line {
	l := line{load: load, measure: b.measure, bar: b.String()}
	own, theirs, ratios := x.of(b.measure, b.client)
	first, ok := stats.Median(own)
	if !ok {
		l.next = b.client
		if l.bar != "" && m.here(b.client) {
			l.fault = "not measured"
		}
		return l
	}
	l.own = digits(first)
	compared, in := own, cmp.Or(b.in, 1)
	if b.client != "" {
		second, _ := stats.Median(theirs)
		middle, _ := stats.Median(ratios)
		l.next, compared = b.client+": "+digits(second), []float64{middle}
		l.ratio = fmt.Sprintf("%.2f (%.2f to %.2f, pairs: %d)", middle, slices.Min(ratios), slices.Max(ratios), len(ratios))
	}
	reached := 0
	for _, x := range compared {
		if (b.least == 0 || x >= b.least) && (b.most == 0 || x <= b.most) {
			reached++
		}
	}
	if float64(reached) < in*float64(len(compared)) {
		l.fault = "missed"
	}
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
	if b.in > 0 {
		text += fmt.Sprintf(" in %.0f%% of the runs", 100*b.in)
	}
	return text
}

// faults returns the bars that are missed, and those that were not measured although the client was there.
func (m measured) faults(rows []row) (all []string) {
	for _, l := range m.lines(rows) {
		if l.fault != "" {
			all = append(all, fmt.Sprintf("%s: %s: %s: %s %s %s; the bar is %s", l.fault, l.load, l.measure, l.own, l.next, l.ratio, l.bar))
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
	for _, l := range m.lines(rows) {
		if l.fault != "" {
			l.bar = "**" + l.fault + "**: " + l.bar
		}
		if l.own != "" || l.next == "" || l.fault != "" {
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", l.load, l.measure, l.own, l.next, l.ratio, l.bar)
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
