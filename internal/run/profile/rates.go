package profile

import (
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

type mean struct {
	Mean float64 `yaml:"mean" strict:"required,min=0.01,max=1000000" example:"1000"`
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
		var m mean
		r.Wave = &bench.Wave{}
		if v.Struct(&m, r.Wave) && r.Wave.Amplitude >= m.Mean {
			v.At("amplitude").Wrong("write less than the mean: the rate must not fall to 0")
		}
		r.Rate = m.Mean
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
