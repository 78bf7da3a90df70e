package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/stats"
)

// plotted is a measure in the unit of its chart's axis.
type plotted struct {
	measure.Measure
	note string
}

// plottedMeasures returns the measures with a chart over the steps.
func plottedMeasures(p bench.Profile) (all []plotted) {
	for _, m := range measure.View(measure.ReportCharts) {
		d := plotted{m.Measure, m.Chart.Note}
		switch m.ID {
		case measure.MemoryPeak:
			d.note += limitNote(p, "Limit", func(l bench.Limits) string { return when(l.Memory > 0, units.Bytes(l.Memory)) }) +
				" “≥”: largest sample, no counter available."
		case measure.CPUTime:
			d.note += cpuLimitNote(p)
		}
		all = append(all, d)
	}
	return all
}

func (d plotted) title() string {
	return d.Chart.Title + when(d.Chart.Unit != "", ", "+d.Chart.Unit)
}

// value returns the value of a step on the axis, and in words.
func (d plotted) value(s bench.StepResult) (v float64, text string, ok bool) {
	v, ok = d.Of(s)
	if !ok || v == 0 && !d.Chart.Zero || d.ID == measure.Throughput && s.Load.Succeeded+s.Load.FailedTotal() == 0 {
		return 0, "", false
	}
	text = d.Unit.Text(v)
	if d.AtLeast != nil && d.AtLeast(s) {
		text = "≥ " + text
	}
	text = when(d.Estimate != nil && d.Estimate(s), "~") + text
	if failed := errorKinds(s.Load.Failed); d.ID == measure.ErrorRate && len(failed) > 0 {
		text += " (" + strings.Join(failed, ", ") + ")"
	}
	if t, _ := s.Throttling(); d.ID == measure.Throttled {
		text += fmt.Sprintf(" (%s of %s periods, %s)", units.Count(t.Throttled), units.Count(t.Periods), units.Duration(t.Time))
	}
	return d.Axis(v), text, true
}

// whole returns the value over all rounds on the axis.
func (d plotted) whole(s stats.Step) (v float64, ok bool) {
	f := d.Over(s)
	return d.Axis(f.Value), f.Known && (f.Value != 0 || d.Chart.Zero)
}

// format returns a value of the axis in words.
func (d plotted) format(v float64) string {
	switch d.Chart.Unit {
	case "%":
		return units.Share(v / 100)
	case "ms":
		return units.Duration(time.Duration(v * float64(time.Millisecond)))
	case "µs":
		return units.Duration(time.Duration(v * float64(time.Microsecond)))
	case "s":
		return units.Duration(time.Duration(v * float64(time.Second)))
	case "MiB":
		return units.Number(v) + " MiB"
	}
	return d.Unit.Text(v)
}

// errorKinds returns "timeout 12", "5xx 3", the most frequent first.
func errorKinds(failed map[bench.ErrorKind]int64) []string {
	kinds := slices.DeleteFunc(slices.Collect(maps.Keys(failed)),
		func(k bench.ErrorKind) bool { return failed[k] == 0 })
	slices.SortFunc(kinds, func(a, b bench.ErrorKind) int {
		return cmp.Or(cmp.Compare(failed[b], failed[a]), cmp.Compare(a, b))
	})
	words := make([]string, len(kinds))
	for i, k := range kinds {
		words[i] = cleanName(k.Words()) + " " + units.Count(failed[k])
	}
	return words
}

// cpuLimitNote returns a sentence about the quota, per step if all steps are equally long.
func cpuLimitNote(p bench.Profile) string {
	if len(p.Steps) == 0 {
		return ""
	}
	d := p.Steps[0].Duration
	if slices.ContainsFunc(p.Steps, func(s bench.Step) bool { return s.Duration != d }) {
		return limitNote(p, "Quota", func(l bench.Limits) string {
			return when(l.CPUs > 0, plain(l.CPUs)+" CPU seconds per second")
		})
	}
	return limitNote(p, "Quota", func(l bench.Limits) string {
		return when(l.CPUs > 0, plain(l.CPUs)+" CPUs, "+plain(l.CPUs*d.Seconds())+" s per step")
	})
}

// limitNote returns a sentence about a limit: " Limit: 512 MiB.", or one for each contender where
// they differ: " Limit: a 512 MiB; a:half 256 MiB.".
func limitNote(p bench.Profile, what string, words func(bench.Limits) string) string {
	var each []string
	same := true
	for _, sel := range p.Contenders {
		text := words(p.LimitsOf(sel))
		same = same && text == words(p.LimitsOf(p.Contenders[0]))
		each = append(each, cleanName(sel.String())+" "+cmp.Or(text, "none"))
	}
	text := strings.Join(each, "; ")
	if same && len(p.Contenders) > 0 {
		text = words(p.LimitsOf(p.Contenders[0]))
	} else if same {
		text = words(p.Limits)
	}
	return when(text != "", " "+what+": "+text+".")
}
