package profile

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/needs/kinds"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

const (
	interleaveAuto = "auto"
	interleaveOff  = "off"
	interleaveHint = "write auto, off, or an interval from 50ms to 1m, such as 1s"

	minSlice = 50 * time.Millisecond
	maxSlice = time.Minute

	// Slice is the least length of a slice unless the profile has one: five periods of the CPU quota.
	Slice = 500 * time.Millisecond
	// InterleavedRounds is the number of rounds for verdicts on all headline measures by pairs.
	InterleavedRounds = stats.MinPaired
	// PlainRounds is that number for contenders that are not interleaved.
	PlainRounds = stats.MinInterval
	// mostUnlimited is how many contenders without a memory limit may start at the same time.
	mostUnlimited = 4
	// reserve is memory that interleaved contenders leave to client and needs, in bytes.
	reserve = 1 << 30
)

// interleave is the length of a slice, 0 for none, or bench.InterleaveAuto.
type interleave time.Duration

func readInterleave(text string) (time.Duration, error) {
	switch text {
	case interleaveAuto:
		return bench.InterleaveAuto, nil
	case interleaveOff, "none", "0", "0s":
		return 0, nil
	}
	d, err := strictyaml.ParseDuration(text)
	if err != nil || d < minSlice || d > maxSlice {
		return 0, errors.New(interleaveHint)
	}
	return d, nil
}

func writeInterleave(d time.Duration) string {
	switch d {
	case bench.InterleaveAuto:
		return interleaveAuto
	case 0:
		return interleaveOff
	}
	return units.Exact(d)
}

// UnmarshalStrict reads auto, off or a duration.
func (i *interleave) UnmarshalStrict(v strictyaml.Value) {
	text, ok := v.Text()
	if !ok {
		return
	}
	d, err := readInterleave(text)
	if err != nil {
		v.Wrong(err.Error())
		return
	}
	*i = interleave(d)
}

// Settle chooses what p leaves to the plan of a run: whether its contenders are interleaved, and
// the number of rounds. It notes which needs start again for
// each trial, and which each contender has for itself. available is the memory that they may use, in bytes; 0: unknown. Why is nil
// if they are interleaved.
func Settle(p bench.Profile, available int64) (settled bench.Profile, why *bench.Plain) {
	switch {
	case p.Interleave == 0:
		why = plain(bench.PlainChosen, "the profile or the command says so")
	case p.Interleave < 0:
		if why = whyPlain(p, available); why == nil {
			p.Interleave = Slice
		} else {
			p.Interleave = 0
		}
	}
	p.Needs = slices.Clone(p.Needs)
	for i, n := range p.Needs {
		of := kinds.TraitsOf(n)
		p.Needs[i].Restarts, p.Needs[i].Own = of.Restarts, of.Own && p.Interleave > 0
	}
	switch {
	case p.Rounds > 0:
	case len(p.Contenders) < 2:
		p.Rounds = 1
	case why == nil:
		p.Rounds = InterleavedRounds
	default:
		p.Rounds = PlainRounds
	}
	return p, why
}

// whyPlain returns why p is not interleaved by default; nil if it is.
func whyPlain(p bench.Profile, available int64) *bench.Plain {
	n := len(p.Contenders)
	if n < 2 {
		return plain(bench.PlainAlone, "there is one contender")
	}
	if shared := Shared(p); shared != "" {
		return plain(bench.PlainNeeds, "%s", shared)
	}
	for i, s := range p.Steps {
		if err := s.CheckInterleave(); err != nil {
			return plain(bench.PlainSteps, "step %d (%s): %v", i+1, s.Name, err)
		}
		if name := p.Repeated(); name != "" && s.Open() {
			return plain(bench.PlainSteps, "step %d (%s): %q is repeated, which slices of an open loop would interrupt", i+1, s.Name, name)
		}
	}
	need, unlimited := Memory(p)
	switch {
	case p.FirstRequests != nil:
		return plain(bench.PlainFirstRequests, "first_requests times a contender that runs alone")
	case p.Rounds > 0 && p.Rounds < InterleavedRounds:
		return plain(bench.PlainRounds, "%s, and pairs of rounds have verdicts from %d on", units.Plural(p.Rounds, "round"),
			InterleavedRounds)
	case p.Runtime.Traits().AlreadyRunning: // all are in memory anyway
	case unlimited > mostUnlimited:
		return plain(bench.PlainContenders, "%d contenders%s have no memory limit, and at most %d such run at the same time",
			unlimited, alternative(p, ", or needs of theirs,"), mostUnlimited)
	case need > 0 && available > 0 && need > available-reserve:
		return plain(bench.PlainMemory, "%d contenders%s may use %s, this machine has %s free, and %s %s",
			n, alternative(p, " and their own needs"), units.Bytes(need), units.Bytes(available), rest(p), units.Bytes(reserve))
	}
	return nil
}

// Memory returns the sum of the memory limits of all contenders and of the needs that each has
// for itself, in bytes, and how many contenders have none, or a need without one.
func Memory(p bench.Profile) (sum int64, unlimited int) {
	for _, sel := range p.Contenders {
		limits := []int64{p.LimitsOf(sel).Memory}
		for _, n := range p.Needs {
			if of := kinds.TraitsOf(n); of.Own && n.Gets(sel) {
				limits = append(limits, of.Memory)
			}
		}
		if slices.Contains(limits, 0) {
			unlimited++
		}
		for _, limit := range limits {
			sum += limit
		}
	}
	return sum, unlimited
}

// Shared returns which need several contenders of p would share if they were interleaved, and what
// that means, as part of a sentence; "" if there is none.
func Shared(p bench.Profile) string {
	for _, n := range p.Needs {
		why := kinds.TraitsOf(n).Shared
		users := slices.DeleteFunc(slices.Clone(p.Contenders), func(sel bench.Selection) bool { return !n.Gets(sel) })
		if why != "" && len(users) > 1 {
			return n.Label() + " " + why
		}
	}
	return ""
}

// alternative returns text if interleaved contenders of p have needs for themselves.
func alternative(p bench.Profile, text string) string {
	if slices.ContainsFunc(p.Needs, func(n bench.NeedSpec) bool { return kinds.TraitsOf(n).Own }) {
		return text
	}
	return ""
}

func rest(p bench.Profile) string {
	return cmp.Or(alternative(p, "the client takes"), "client and needs take")
}

func plain(reason bench.PlainReason, format string, args ...any) *bench.Plain {
	return &bench.Plain{Reason: reason, Text: fmt.Sprintf(format, args...)}
}

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
