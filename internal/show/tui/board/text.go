package board

import (
	"fmt"
	"math"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/show/tui/chart"
	"github.com/locbench/locbench/internal/show/tui/fold"
)

// The most bytes of texts from outside that are shown.
const (
	nameBytes = 60
	lineBytes = 600
	textBytes = 4000
)

// out makes text from outside safe to show, in at most n bytes.
func (v *view) out(s string, n int) string { return v.l.Outside(s, n) }

// own returns a text of locbench, in ASCII for looks that have no more.
func (v *view) own(s string) string { return v.l.ASCIIOnly(s) }
func (v *view) missing() string     { return v.l.Glyph.Missing }

func (v *view) duration(d time.Duration) string { return v.own(units.Duration(d)) }

// seconds returns a latency, given in seconds, as text; 0 is unknown.
func (v *view) seconds(s float64) string {
	if !(s > 0) || s > 1e9 {
		return v.missing()
	}
	return v.duration(time.Duration(s * 1e9))
}

func size(b float64) string { return units.Bytes(int64(max(0, min(b, 1<<62)))) }

// bytes returns a size as text; 0 is unknown.
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
	return units.Number(min(r, 1e15))
}

// clock returns a moment of a trial's time axis: "1:05", "1:05.5".
func clock(s float64) string {
	places := 0
	if math.Mod(math.Round(s*10), 10) != 0 {
		places = 1
	}
	return chart.Minutes(s, places)
}

func (v *view) stepName(s bench.Step) string { return v.out(s.Title(), nameBytes+10) }
