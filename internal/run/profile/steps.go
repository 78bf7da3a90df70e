package profile

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

const (
	maxSteps    = 1000
	maxKept     = 100_000 // requests that all steps keep together, of each trial
	maxDuration = 24 * time.Hour

	rangeHint = "write a number such as `64` or a range such as `2..2048 doubling`"
	stepHint  = "write a number of connections (`64`) or a range (`2..2048 doubling`, `10..100 by 10`), optionally " +
		"with `x5` to repeat, `warm-up`, `for 30s`, `or longer`; or a map {connections: 64, duration: 30s} or {rate: 5000}"
)

const longerHint = "write `8 warm-up for 5s or longer`, or leave it out"

// step is an item of the list: a short text as in stepHint, or a map. It may be several steps.
type step struct {
	bench.Step
	stepKeys
}

type stepKeys struct {
	Connections connections `yaml:"connections"`
	Repeat      int         `yaml:"repeat" strict:"min=1,max=1000"`
	OrLonger    bool        `yaml:"or_longer"`
	Rate        rate        `yaml:"rate"`
}

// UnmarshalStrict reads a short text, or a map with connections, a rate or arrivals.
func (s *step) UnmarshalStrict(v strictyaml.Value) {
	switch v.Kind() {
	case strictyaml.Scalar:
		text, _ := v.Text()
		var hint string
		if *s, hint = parseStep(text); hint != "" {
			v.Wrong(hint)
		}
		return
	case strictyaml.List:
		v.Wrong(stepHint)
		return
	}
	v.Struct(&s.Step, &s.stepKeys)
	if s.OrLonger && !s.WarmUp {
		v.At("or_longer").Mistake("only a warm-up can last longer", longerHint)
	}
	open := v.Has("rate") || v.Has("arrivals")
	switch {
	case v.Has("rate") && v.Has("arrivals"):
		v.At("arrivals").Mistake("both `rate` and `arrivals` given", "keep one of the two")
	case !open && !v.Has("connections"):
		v.At("connections").Wrong("write a number, such as `connections: 64`; or a `rate`, or `arrivals`")
	case open && (len(s.stepKeys.Connections.counts) > 1 || s.stepKeys.Connections.from > 0):
		v.At("connections").Mistake("with `rate` or `arrivals`, `connections` is a maximum",
			"write one number, or leave it out")
	}
	if v.Has("arrivals") && v.Has("max_requests") {
		v.At("max_requests").Mistake("`arrivals` already set the number of requests", "remove `max_requests`")
	}
}

// connections are a ramp within one step, or counts, each for its own step.
type connections struct {
	counts []int
	from   int // where a ramp to the only count starts; 0: no ramp
}

// connectionRamp is a number of connections that rises linearly over the step.
type connectionRamp struct {
	From int `yaml:"from" strict:"required,min=1,max=65534" example:"1"`
	To   int `yaml:"to" strict:"required,min=2,max=65535" example:"512"`
}

// UnmarshalStrict reads a ramp, a number, a range, or a list of numbers and ranges.
func (c *connections) UnmarshalStrict(v strictyaml.Value) {
	values := []strictyaml.Value{v}
	switch v.Kind() {
	case strictyaml.Map:
		var r connectionRamp
		if v.Decode(&r) && r.From >= r.To {
			v.At("from").Wrong("`from` must be below `to`")
		}
		c.from, c.counts = r.From, []int{r.To}
		return
	case strictyaml.List:
		values = v.Items()
	}
	for _, item := range values {
		text, ok := item.Text()
		if !ok {
			continue
		}
		parts := stepPattern.FindStringSubmatch(squeeze(text))
		if parts == nil || strings.Join(parts[5:], "") != "" {
			item.Wrong(rangeHint)
			continue
		}
		counts, hint := expand(parts)
		if hint != "" {
			item.Wrong(hint)
		}
		if c.counts = append(c.counts, counts...); len(c.counts) > maxSteps {
			item.Mistake("too many steps", fmt.Sprintf("write at most %d", maxSteps))
			return
		}
	}
}

// steps returns the steps of an item. Without a duration each takes length, or for arrivals their
// time plus arrivalsRest.
func (s step) steps(length time.Duration) (out []bench.Step) {
	s.UntilWarm = s.WarmUp && (s.OrLonger || s.Duration == 0)
	if s.Arrivals != nil {
		length = min(s.Arrivals.Over+arrivalsRest, maxDuration)
	}
	s.Duration = cmp.Or(s.Duration, length)
	counts := s.stepKeys.Connections.counts
	open := s.open()
	for range max(1, s.Repeat) {
		if open.Open() {
			out = append(out, named(open))
			continue
		}
		for _, n := range counts {
			s.Step.Connections, s.RampFrom = n, s.stepKeys.Connections.from
			out = append(out, named(s.Step))
		}
		if len(out) > maxSteps {
			return out
		}
	}
	return out
}

// open returns the step of a rate or of arrivals; it is not open when there is neither.
func (s step) open() bench.Step {
	b, of := s.Step, s.stepKeys.Rate
	b.Rate, b.RampTo, b.Wave, b.PeakShare, b.LowestPeak = of.Rate, of.RampTo, of.Wave, of.PeakShare, of.LowestPeak
	if b.Arrivals != nil {
		b.Arrivals.Requests = cmp.Or(b.Arrivals.Requests, 1)
	}
	if counts := s.stepKeys.Connections.counts; len(counts) > 0 {
		b.MaxConnections = counts[0]
	}
	return b
}

// named returns a step with a name.
func named(s bench.Step) bench.Step {
	s.Name = cmp.Or(s.Name, s.DefaultName())
	return s
}

// rangePattern matches a number or range of connections: from, to, "doubling", by.
const rangePattern = `(\d+)(?: ?\.\. ?(\d+)(?: (?:(doubling)|by (\d+)))?)?`

// stepPattern matches the short form of a step: the parts of a range, repeat, warm-up, duration, or longer.
var stepPattern = regexp.MustCompile(`^` + rangePattern + `(?: ?[x×] ?(\d+))?( warm-?up)?(?: for (\S+)( or longer)?)?$`)

// parseStep reads the short form of a step; hint is the remedy for a wrong one, else "".
func parseStep(text string) (s step, hint string) {
	parts := stepPattern.FindStringSubmatch(squeeze(text))
	if parts == nil {
		return s, stepHint
	}
	counts, hint := expand(parts)
	s.stepKeys.Connections.counts, s.WarmUp, s.OrLonger = counts, parts[6] != "", parts[8] != ""
	if hint == "" && parts[5] != "" {
		n, err := strconv.Atoi(parts[5])
		if err != nil || n < 1 || n > maxSteps {
			hint = fmt.Sprintf("repeat a step 1 to %d times", maxSteps)
		}
		s.Repeat = n
	}
	if hint == "" && parts[7] != "" {
		if hint = strictyaml.SetText(&s.Step, "duration", parts[7]); hint != "" {
			hint = "after `for`: " + hint
		}
	}
	if hint == "" && s.OrLonger && !s.WarmUp {
		hint = "`or longer` is for a warm-up: " + longerHint
	}
	return s, hint
}

// expand returns the numbers of a range in the parts of rangePattern; hint is a remedy, or "".
func expand(parts []string) (counts []int, hint string) {
	from, err := strconv.Atoi(parts[1])
	to, err2 := strconv.Atoi(cmp.Or(parts[2], parts[1]))
	by, err3 := strconv.Atoi(cmp.Or(parts[4], "0"))
	switch {
	case cmp.Or(err, err2, err3) != nil || from < 1 || to < 1 || from > bench.MaxConnections || to > bench.MaxConnections:
		return nil, fmt.Sprintf("write from 1 to %d connections", bench.MaxConnections)
	case parts[2] == "":
		return []int{from}, ""
	case to <= from:
		return nil, fmt.Sprintf("let the range rise: `%d..%d doubling`", from, 2*from)
	case parts[3] == "" && parts[4] == "":
		return nil, fmt.Sprintf("say how it rises: `%d..%d doubling` or `%d..%d by %d`", from, to, from, to, to-from)
	case parts[4] != "" && by < 1:
		return nil, "let the range rise by at least 1"
	}
	next := func(n int) int {
		if by > 0 {
			return n + by
		}
		return 2 * n
	}
	for n := from; n <= to && len(counts) <= maxSteps; n = next(n) {
		counts = append(counts, n)
	}
	last := counts[len(counts)-1]
	if last != to && len(counts) <= maxSteps {
		return nil, fmt.Sprintf("end at a number the range reaches: `%d..%d` or `%d..%d`", from, last, from, next(last))
	}
	return counts, ""
}

// ParseSteps reads steps in the short form of profiles ("64", "2..2048 doubling", "1 x5 warm-up for
// 2s"). Those without a duration take length.
func ParseSteps(items []string, length time.Duration) ([]bench.Step, error) {
	var steps []bench.Step
	var all []error
	for _, item := range items {
		one, hint := parseStep(item)
		switch {
		case hint == "":
			steps = append(steps, one.steps(length)...)
		case !stepPattern.MatchString(squeeze(item)):
			all = append(all, fmt.Errorf("%.60q: expected connections such as 64, 2..64 doubling or 1 x5 warm-up", item))
		default:
			all = append(all, fmt.Errorf("%.60q: %s", item, hint))
		}
	}
	return steps, errors.Join(all...)
}

// ShortSteps writes steps in the short form of --connections: "1 x5 warm-up, 2..2048 doubling".
// A duration is written where it differs from that of the last step.
func ShortSteps(steps []bench.Step) string {
	var out []string
	for rest := steps; len(rest) > 0; {
		step := rest[0]
		// alike counts the steps that differ only in connections, by factor from one to the next.
		alike := func(factor int) (n int) {
			for n = 1; n < len(rest) && rest[n].Connections > 0 && rest[n].WarmUp == step.WarmUp &&
				rest[n].UntilWarm == step.UntilWarm && rest[n].Duration == step.Duration && rest[n].Connections == factor*rest[n-1].Connections; n++ {
			}
			return n
		}
		if step.Connections == 0 {
			out, rest = append(out, step.Name), rest[1:]
			continue
		}
		item, n := strconv.Itoa(step.Connections), 1
		if same, doubling := alike(1), alike(2); same > 1 {
			item, n = item+" x"+strconv.Itoa(same), same
		} else if doubling > 2 {
			item, n = item+".."+strconv.Itoa(rest[doubling-1].Connections)+" doubling", doubling
		}
		if step.WarmUp {
			item += " warm-up"
		}
		if usual := step.Duration == steps[len(steps)-1].Duration; !usual || step.WarmUp && !step.UntilWarm {
			item += " for " + units.Exact(step.Duration)
			if step.UntilWarm {
				item += " or longer"
			}
		}
		out, rest = append(out, item), rest[n:]
	}
	return strings.Join(out, ", ")
}

// MostConnections returns the largest number of connections that the steps name.
func MostConnections(steps []bench.Step) (n int) {
	for _, s := range steps {
		n = max(n, s.Connections, s.MaxConnections)
	}
	return n
}

// iterations returns the names that a step's `request` may have: single requests and sessions.
func iterations(p *bench.Profile) (names []string) {
	for _, r := range p.Requests {
		if r.Session == "" {
			names = append(names, r.Name)
		}
	}
	for _, s := range p.Sessions {
		names = append(names, s.Name)
	}
	return names
}

func (r *rules) steps(p *bench.Profile) {
	if len(p.Steps) > maxSteps {
		r.when(true, "steps", "too many steps", fmt.Sprintf("write at most %d", maxSteps))
		return
	}
	measured, findsPeak, reported := false, false, false
	kept := 0
	for i, s := range p.Steps {
		at := fmt.Sprintf("steps[%d]", i)
		kept += s.KeepRequests
		r.when(kept > maxKept && kept-s.KeepRequests <= maxKept, at+".keep_requests",
			fmt.Sprintf("the steps up to this one keep %d requests", kept), fmt.Sprintf("keep at most %d in all", maxKept))
		r.bounds(at+".", &s)
		if names := iterations(p); s.Request != "" && len(names) > 0 && !slices.Contains(names, s.Request) {
			r.wrong(at+".request", s.Request, fmt.Sprintf("name one of the requests or sessions, such as %q", names[0]))
		}
		r.when(s.PeakShare > 0 && !findsPeak, at, "no earlier step can find the peak",
			"put measured steps with connections before it, such as `2..64 doubling`")
		for _, err := range s.AtPeak(1).Validate() {
			r.when(true, at, fmt.Sprintf("step %d (%s): %v", i+1, s.Name, err), "")
		}
		r.when(p.Paced() != "" && (s.Rate > 0 || s.PeakShare > 0), at,
			fmt.Sprintf("step %d (%s) has a rate, which decides when iterations begin, and %q has a pace", i+1, s.Name, p.Paced()),
			"remove one of the two")
		r.when(p.Repeated() != "" && p.Interleave > 0 && s.Open(), "interleave",
			fmt.Sprintf("%q is repeated, which slices of an open loop would interrupt", p.Repeated()), "remove `interleave` or `repeat`")
		if err := s.CheckInterleave(); p.Interleave > 0 && err != nil && !reported {
			reported = true
			r.when(true, "interleave", fmt.Sprintf("step %d (%s) cannot be interleaved: %v", i+1, s.Name, err),
				"remove `interleave`, or run such steps in their own profile")
		}
		measured = measured || !s.WarmUp
		findsPeak = findsPeak || !s.WarmUp && s.Connections > 0
	}
	r.when(!measured, "steps", "no measured step", "add one that is not a warm-up, such as `64`")
}
