package profile

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"locbench/internal/bench"
	"locbench/internal/strictyaml"
)

const (
	minRate      = 0.01
	maxRate      = 1_000_000
	arrivalsRest = 30 * time.Second // after the last arrival, for users that are still served

	rateHint = "write requests per second (`5000`), a share of the peak that earlier steps have found (`50% of peak`), a ramp " +
		"({from: 100, to: 5000}) or a wave ({mean: 1000, amplitude: 500, period: 20s})"
)

// rate is how many requests come due each second.
type rate struct {
	constant, share float64
	ramp            *ramp
	wave            *wave
}

type ramp struct {
	From float64 `yaml:"from" strict:"required,min=0.01,max=1000000" example:"100"`
	To   float64 `yaml:"to" strict:"required,min=0.01,max=1000000" example:"5000"`
}

type wave struct {
	Mean      float64  `yaml:"mean" strict:"required,min=0.01,max=1000000" example:"1000"`
	Amplitude float64  `yaml:"amplitude" strict:"required,min=0.01,max=1000000" example:"500"`
	Period    duration `yaml:"period" strict:"required,min=100ms,max=24h" example:"20s"`
}

var sharePattern = regexp.MustCompile(`^(\d{1,4}(?:\.\d{1,3})?) ?% of (?:the )?peak$`)

// UnmarshalStrict reads what rateHint says.
func (r *rate) UnmarshalStrict(v strictyaml.Value) {
	switch v.Kind() {
	case strictyaml.Map:
		if v.Has("from") || v.Has("to") {
			r.ramp = &ramp{}
			v.Decode(r.ramp)
			return
		}
		r.wave = &wave{}
		if v.Decode(r.wave) && r.wave.Amplitude >= r.wave.Mean {
			v.At("amplitude").Wrong("write less than the mean: the rate must not fall to 0")
		}
	case strictyaml.Scalar:
		text, _ := v.Text()
		if m := sharePattern.FindStringSubmatch(squeeze(text)); m != nil {
			percent, _ := strconv.ParseFloat(m[1], 64) // the pattern lets nothing else through
			if percent < 1 || percent > 1000 {
				v.Wrong("write from 1 to 1000 % of the peak")
			}
			r.share = math.Round(percent*1e3) / 1e5 // the float nearest to what is written
			return
		}
		n, err := strconv.ParseFloat(strings.TrimSuffix(text, "/s"), 64)
		switch {
		case err != nil:
			v.Wrong(rateHint)
		case !(n >= minRate && n <= maxRate):
			v.Wrong(fmt.Sprintf("write from %g to %d requests per second", minRate, maxRate))
		default:
			r.constant = n
		}
	default:
		v.Wrong(rateHint)
	}
}

// MarshalYAML writes what UnmarshalStrict reads.
func (r rate) MarshalYAML() (any, error) {
	switch {
	case r.ramp != nil:
		return strictyaml.Inline{V: *r.ramp}, nil
	case r.wave != nil:
		return strictyaml.Inline{V: *r.wave}, nil
	case r.share != 0:
		return bench.Step{PeakShare: r.share}.DefaultName(), nil
	}
	return r.constant, nil
}

// IsZero leaves an absent rate out of what is written.
func (r rate) IsZero() bool { return r == (rate{}) }

// arrivals are users that come within a time.
type arrivals struct {
	Users    int      `yaml:"users" strict:"required,min=1,max=1000000" example:"4000"`
	Over     duration `yaml:"over" strict:"required,min=1ms,max=24h" example:"5s"`
	Requests int      `yaml:"requests" strict:"min=1,max=100000"`
}

// UnmarshalStrict reads a map; one request each is the default.
func (a *arrivals) UnmarshalStrict(v strictyaml.Value) {
	type plain arrivals
	p := plain{Requests: 1}
	v.Decode(&p)
	*a = arrivals(p)
}

// open is the step of a rate or of arrivals; ok is false when there is neither.
func (s step) open() (b bench.Step, ok bool) {
	if !s.Connections.IsZero() {
		b.MaxConnections = s.Connections.rungs[0]
	}
	switch r := s.Rate; {
	case s.Arrivals != nil:
		b.Arrivals = &bench.Arrivals{Users: s.Arrivals.Users, Over: time.Duration(s.Arrivals.Over), Requests: s.Arrivals.Requests}
	case r.ramp != nil:
		b.Rate, b.RampTo = r.ramp.From, r.ramp.To
	case r.wave != nil:
		b.Rate, b.Wave = r.wave.Mean, &bench.Wave{Amplitude: r.wave.Amplitude, Period: time.Duration(r.wave.Period)}
	case r.share != 0:
		b.PeakShare = r.share
	case r.constant != 0:
		b.Rate = r.constant
	default:
		return b, false
	}
	return b, true
}

func rateOf(s bench.Step) rate {
	switch {
	case s.PeakShare != 0: // the rate itself is worked out anew by each leg
		return rate{share: s.PeakShare}
	case s.RampTo != 0:
		return rate{ramp: &ramp{s.Rate, s.RampTo}}
	case s.Wave != nil:
		return rate{wave: &wave{s.Rate, s.Wave.Amplitude, duration(s.Wave.Period)}}
	}
	return rate{constant: s.Rate}
}
