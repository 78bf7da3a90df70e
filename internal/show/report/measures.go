package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"locbench/internal/bench"
	"locbench/internal/figures/measure"
	"locbench/internal/figures/stats"
)

// plotted is a measure as a figure over the steps shows it: in the unit of its axis.
type plotted struct {
	measure.Measure
	note string
}

// drawings returns the figures over the steps. The memory per rate divides the high-water mark, as the
// published comparison did, so it belongs to the figure before it.
func drawings(p bench.Profile) (all []plotted) {
	for _, m := range measure.View(measure.ReportCharts) {
		d := plotted{m.Measure, m.Chart.Note}
		switch m.ID {
		case measure.MemoryPeak:
			d.note += when(p.Limits.Memory > 0, " The limit is "+mebibytes(p.Limits.Memory)+".") +
				" “≥” marks an estimate: the largest sample, where no counter could be read."
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

// value returns that of a step on the axis, and in words.
func (d plotted) value(s bench.StepResult) (v float64, text string, ok bool) {
	v, ok = d.Of(s)
	if !ok || v == 0 && !d.Chart.Zero || d.ID == measure.Throughput && s.Load.Succeeded+s.Load.FailedTotal() == 0 {
		return 0, "", false
	}
	text = words(d.Unit, v)
	if d.AtLeast != nil && d.AtLeast(s) {
		text = "≥" + nbsp + text
	}
	if failed := errorKinds(s.Load.Failed); d.ID == measure.ErrorRate && len(failed) > 0 {
		text += " (" + strings.Join(failed, ", ") + ")"
	}
	if t, _ := s.Throttling(); d.ID == measure.Throttled {
		text += fmt.Sprintf(" (%s of %s periods, %s)", count(t.Throttled), count(t.Periods), duration(t.Time))
	}
	return d.Axis(v), text, true
}

// whole returns the value of all rounds together on the axis.
func (d plotted) whole(s stats.Step) (v float64, ok bool) {
	f := d.Over(s)
	return d.Axis(f.Value), f.Known && (f.Value != 0 || d.Chart.Zero)
}

// format returns a value of the axis in words.
func (d plotted) format(v float64) string {
	switch d.Chart.Unit {
	case "%":
		return percent(v / 100)
	case "ms":
		return duration(time.Duration(v * float64(time.Millisecond)))
	case "µs":
		return duration(time.Duration(v * float64(time.Microsecond)))
	case "s":
		return duration(time.Duration(v * float64(time.Second)))
	case "MiB":
		return significant(v) + nbsp + "MiB"
	}
	return words(d.Unit, v)
}

func words(u measure.Unit, v float64) string {
	switch u {
	case measure.PerSecond:
		return significant(v) + "/s"
	case measure.Nanoseconds:
		return duration(time.Duration(v))
	case measure.Bytes:
		return mebibytes(int64(v))
	case measure.Share:
		return percent(v)
	case measure.Dollars:
		return dollars(v)
	case measure.MemoryPerRate:
		return significant(v) + nbsp + "MiB·s"
	case measure.CPUs:
		return strconv.FormatFloat(v, 'f', 2, 64) + nbsp + "CPUs"
	}
	return significant(v)
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
		words[i] = cleanName(k.Words()) + " " + count(failed[k])
	}
	return words
}

// cpuLimitNote says how much the quota allows, where all steps take equally long.
func cpuLimitNote(p bench.Profile) string {
	if p.Limits.CPUs <= 0 || len(p.Steps) == 0 {
		return ""
	}
	d := p.Steps[0].Duration
	if slices.ContainsFunc(p.Steps, func(s bench.Step) bool { return s.Duration != d }) {
		return " The quota is " + plain(p.Limits.CPUs) + " CPU seconds a second."
	}
	return " The quota of " + plain(p.Limits.CPUs) + " CPUs allows " + plain(p.Limits.CPUs*d.Seconds()) + " s" + " a step."
}
