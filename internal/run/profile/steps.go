package profile

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
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
	minDuration = 100 * time.Millisecond
	maxDuration = 24 * time.Hour

	rangeHint = "write a number such as `64` or a range such as `2..2048 doubling`"
	stepHint  = "write a number of connections (`64`) or a range (`2..2048 doubling`, `10..100 by 10`), optionally " +
		"with `x5` to repeat, `warm-up`, `for 30s`, `or longer`; or a map {connections: 64, duration: 30s} or {rate: 5000}"
)

const longerHint = "write `8 warm-up for 5s or longer`, or leave it out"

// steps are a list in YAML; each item is a short text as in stepHint, or a map.
type steps struct {
	all   []bench.Step
	items []int // the index of each step's item in the list
}

type step struct {
	Name        string          `yaml:"name" strict:"min=1,max=100"`
	Connections connections     `yaml:"connections"`
	Request     string          `yaml:"request" strict:"min=1,max=100"`
	Repeat      int             `yaml:"repeat" strict:"min=1,max=1000"`
	WarmUp      bool            `yaml:"warm_up"`
	OrLonger    bool            `yaml:"or_longer"`
	Duration    time.Duration   `yaml:"duration"`
	MaxRequests int64           `yaml:"max_requests" strict:"min=1"`
	Keep        int             `yaml:"keep_requests" strict:"min=1,max=10000"`
	Rate        rate            `yaml:"rate"`
	Arrivals    *bench.Arrivals `yaml:"arrivals"`
}

// ValidateStrict requires connections, a rate or arrivals.
func (s *step) ValidateStrict(v strictyaml.Value) {
	if s.OrLonger && !s.WarmUp {
		v.At("or_longer").Mistake("only a warm-up can last longer", longerHint)
	}
	open := v.Has("rate") || v.Has("arrivals")
	switch {
	case v.Has("rate") && v.Has("arrivals"):
		v.At("arrivals").Mistake("both `rate` and `arrivals` given", "keep one of the two")
	case !open && !v.Has("connections"):
		v.At("connections").Wrong("write a number, such as `connections: 64`; or a `rate`, or `arrivals`")
	case open && (len(s.Connections.counts) > 1 || s.Connections.from > 0):
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

// UnmarshalStrict reads the list. A step without a duration gets 0; fill sets the default.
func (s *steps) UnmarshalStrict(v strictyaml.Value) {
	if v.Kind() != strictyaml.List {
		v.Wrong("write a list, such as `[1x5 warm-up, 2..64 doubling]`")
		return
	}
	for i, item := range v.Items() {
		var one step
		switch {
		case item.Kind() == strictyaml.Map:
			item.Decode(&one)
		case item.Kind() == strictyaml.Scalar:
			text, _ := item.Text()
			var hint string
			if one, hint = parseStep(text); hint != "" {
				item.Wrong(hint)
			}
		default:
			item.Wrong(stepHint)
		}
		if item.Failed() {
			continue
		}
		for _, add := range one.steps() {
			s.all, s.items = append(s.all, add), append(s.items, i)
		}
		if len(s.all) > maxSteps {
			return // rules.steps reports it
		}
	}
}

// fill sets missing durations: to d, or for arrivals to their time plus arrivalsRest.
func (s *steps) fill(d time.Duration) {
	for i, step := range s.all {
		usual := d
		if step.Arrivals != nil {
			usual = min(step.Arrivals.Over+arrivalsRest, maxDuration)
		}
		s.all[i].Duration = cmp.Or(step.Duration, usual)
	}
}

func (s step) steps() []bench.Step {
	var out []bench.Step
	add := func(b bench.Step) {
		b.WarmUp, b.Duration, b.MaxRequests = s.WarmUp, s.Duration, s.MaxRequests
		b.Request, b.KeepRequests = s.Request, s.Keep
		b.UntilWarm = s.WarmUp && (s.OrLonger || s.Duration == 0)
		b.Name = cmp.Or(s.Name, b.DefaultName())
		out = append(out, b)
	}
	for range max(1, s.Repeat) {
		if open, ok := s.open(); ok {
			add(open)
			continue
		}
		for _, n := range s.Connections.counts {
			add(bench.Step{Connections: n, RampFrom: s.Connections.from})
		}
		if len(out) > maxSteps {
			return out
		}
	}
	return out
}

// rangePattern matches a number or range of connections: from, to, "doubling", by.
const rangePattern = `(\d+)(?: ?\.\. ?(\d+)(?: (?:(doubling)|by (\d+)))?)?`

// stepPattern matches the short form of a step: the parts of a range, repeat, warm-up, duration, or longer.
var stepPattern = regexp.MustCompile(`^` + rangePattern + `(?: ?[x×] ?(\d+))?( warm-?up)?(?: for (\S+)( or longer)?)?$`)

func squeeze(s string) string { return strings.Join(strings.Fields(s), " ") }

// parseStep reads the short form of a step; hint is the remedy for a wrong one, else "".
func parseStep(text string) (s step, hint string) {
	parts := stepPattern.FindStringSubmatch(squeeze(text))
	if parts == nil {
		return s, stepHint
	}
	counts, hint := expand(parts)
	s = step{Connections: connections{counts: counts}, WarmUp: parts[6] != "", OrLonger: parts[8] != ""}
	if hint == "" && parts[5] != "" {
		n, err := strconv.Atoi(parts[5])
		if err != nil || n < 1 || n > maxSteps {
			hint = fmt.Sprintf("repeat a step 1 to %d times", maxSteps)
		}
		s.Repeat = n
	}
	if hint == "" && parts[7] != "" {
		d, err := strictyaml.ParseDuration(parts[7])
		switch {
		case err != nil:
			hint = "after `for`: " + err.Error()
		case !validDuration(d):
			hint = durationHint
		}
		s.Duration = d
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
	var read steps
	var all []error
	for _, item := range items {
		one, hint := parseStep(item)
		switch {
		case hint == "":
			read.all = append(read.all, one.steps()...)
		case !stepPattern.MatchString(squeeze(item)):
			all = append(all, fmt.Errorf("%.60q: expected connections such as 64, 2..64 doubling or 1 x5 warm-up", item))
		default:
			all = append(all, fmt.Errorf("%.60q: %s", item, hint))
		}
	}
	read.fill(length)
	return read.all, errors.Join(all...)
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
