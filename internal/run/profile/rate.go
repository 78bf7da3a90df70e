package profile

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

const (
	minRate      = 0.01
	maxRate      = 1_000_000
	arrivalsRest = 30 * time.Second // after the last arrival, for users still waiting

	rateHint = "write requests per second (`5000`), a share of the earlier steps' peak (`50% of peak`) or of the slowest " +
		"contender's (`50% of lowest peak`), a ramp ({from: 100, to: 5000}) or a wave ({mean: 1000, amplitude: 500, period: 20s})"
)

// rate is how many requests are scheduled per second: a step with only its rate, ramp or wave set.
type rate bench.Step

type ramp struct {
	From float64 `yaml:"from" strict:"required,min=0.01,max=1000000" example:"100"`
	To   float64 `yaml:"to" strict:"required,min=0.01,max=1000000" example:"5000"`
}

type wave struct {
	Mean      float64       `yaml:"mean" strict:"required,min=0.01,max=1000000" example:"1000"`
	Amplitude float64       `yaml:"amplitude" strict:"required,min=0.01,max=1000000" example:"500"`
	Period    time.Duration `yaml:"period" strict:"required,min=100ms,max=24h" example:"20s"`
}

var sharePattern = regexp.MustCompile(`^(\d{1,4}(?:\.\d{1,3})?) ?% of (?:the )?(lowest )?peak$`)

// UnmarshalStrict reads the forms that rateHint lists.
func (r *rate) UnmarshalStrict(v strictyaml.Value) {
	switch v.Kind() {
	case strictyaml.Map:
		if v.Has("from") || v.Has("to") {
			var m ramp
			v.Decode(&m)
			r.Rate, r.RampTo = m.From, m.To
			return
		}
		var m wave
		if v.Decode(&m) && m.Amplitude >= m.Mean {
			v.At("amplitude").Wrong("write less than the mean: the rate must not fall to 0")
		}
		r.Rate, r.Wave = m.Mean, &bench.Wave{Amplitude: m.Amplitude, Period: m.Period}
	case strictyaml.Scalar:
		text, _ := v.Text()
		if m := sharePattern.FindStringSubmatch(squeeze(text)); m != nil {
			percent, _ := strconv.ParseFloat(m[1], 64) // the pattern lets nothing else through
			if percent < 1 || percent > 1000 {
				v.Wrong("write from 1 to 1000% of peak")
			}
			r.PeakShare, r.LowestPeak = math.Round(percent*1e3)/1e5, m[2] != "" // the float nearest to the decimal number
			return
		}
		n, err := strconv.ParseFloat(strings.TrimSuffix(text, "/s"), 64)
		switch {
		case err != nil:
			v.Wrong(rateHint)
		case !(n >= minRate && n <= maxRate):
			v.Wrong(fmt.Sprintf("write from %g to %d requests per second", minRate, maxRate))
		default:
			r.Rate = n
		}
	default:
		v.Wrong(rateHint)
	}
}

// open returns the step of a rate or of arrivals; ok is false when there is neither.
func (s step) open() (b bench.Step, ok bool) {
	b = bench.Step(s.Rate)
	if a := s.Arrivals; a != nil {
		b.Arrivals = &bench.Arrivals{Users: a.Users, Over: a.Over, Requests: cmp.Or(a.Requests, 1)}
	}
	if !b.Open() {
		return b, false
	}
	if len(s.Connections.counts) > 0 {
		b.MaxConnections = s.Connections.counts[0]
	}
	return b, true
}
