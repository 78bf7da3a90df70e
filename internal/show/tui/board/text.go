package board

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"locbench/internal/bench"
	"locbench/internal/bench/units"
	"locbench/internal/figures/measure"
	"locbench/internal/show/tui/chart"
	"locbench/internal/show/tui/fold"
)

// Bytes of texts from outside that are looked at.
const (
	nameBytes = 60
	lineBytes = 600
	textBytes = 4000
)

// out makes text from outside fit to be shown.
func (v *view) out(s string, n int) string { return v.l.Outside(s, n) }

// own returns text of ours, which in ASCII looks must be that too.
func (v *view) own(s string) string { return v.l.ASCIIOnly(s) }
func (v *view) missing() string     { return v.l.Glyph.Missing }

func (v *view) duration(d time.Duration) string { return v.own(units.Duration(d)) }

// seconds returns a latency in seconds; 0 is unknown.
func (v *view) seconds(s float64) string {
	if !(s > 0) || s > 1e9 {
		return v.missing()
	}
	return v.duration(time.Duration(s * 1e9))
}

func size(b float64) string { return units.Bytes(int64(max(0, min(b, 1<<62)))) }

// bytes returns a size; 0 is unknown.
func (v *view) bytes(b float64) string {
	if b > 0 {
		return size(b)
	}
	return v.missing()
}

func (v *view) cpus(u *fold.UsagePoint, format string) string {
	if u.Known {
		return fmt.Sprintf(format, u.CPUs)
	}
	return v.missing()
}

func rate(r float64) string {
	if !(r > 0) {
		return "0"
	}
	return units.Rate(min(r, 1e15))
}

// clock returns a moment of a trial's time axis: "1:05", "1:05.5".
func clock(s float64) string {
	places := 0
	if math.Mod(math.Round(s*10), 10) != 0 {
		places = 1
	}
	return chart.Minutes(s, places)
}

// The labels of y axes are short, since they stand in a narrow gutter.
func rateLabel(v float64) string {
	if v >= 100 {
		return units.Rate(v)
	}
	return plainLabel(v)
}

func axisLabel(u measure.Unit) func(float64) string {
	switch u {
	case measure.Nanoseconds:
		return latencyLabel
	case measure.Bytes:
		return sizeLabel
	}
	return rateLabel
}

func plainLabel(v float64) string { return strconv.FormatFloat(v, 'g', 3, 64) }

func latencyLabel(v float64) string {
	switch {
	case v < 0.9995e-6:
		return plainLabel(v*1e9) + " ns"
	case v < 0.9995e-3:
		return plainLabel(v*1e6) + " µs"
	case v < 0.9995:
		return plainLabel(v*1e3) + " ms"
	}
	return plainLabel(v) + " s"
}

func sizeLabel(v float64) string {
	unit := "B"
	for _, u := range []string{"KiB", "MiB", "GiB", "TiB"} {
		if v < 1000 {
			break
		}
		v, unit = v/1024, u
	}
	return plainLabel(v) + " " + unit
}

func (v *view) stepName(s bench.Step) string { return v.out(s.Title(), nameBytes+10) }
