package profile

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"locbench/internal/bench"
	"locbench/internal/bench/units"
	"locbench/internal/text/strictyaml"
)

const (
	maxSteps    = 1000
	minDuration = 100 * time.Millisecond
	maxDuration = 24 * time.Hour

	rangeHint = "write a number such as `64` or a range such as `2..2048 doubling`"
	stepHint  = "write a number of connections (`64`) or a range (`2..2048 doubling`, `10..100 by 10`), optionally with `x5` to repeat, `warm-up`, `for 30s`; or a map {connections: 64, duration: 30s} or {rate: 5000}"
)

// steps are the stages of load, in YAML each a short text, as stepHint says, or a map.
type steps struct {
	all   []bench.Step
	items []int // which item of the list each came of
}

type step struct {
	Name        string      `yaml:"name,omitempty" strict:"min=1,max=100"`
	Connections connections `yaml:"connections,omitempty"`
	Request     string      `yaml:"request,omitempty" strict:"min=1,max=100"`
	Repeat      int         `yaml:"repeat,omitempty" strict:"min=1,max=1000"`
	WarmUp      bool        `yaml:"warm_up,omitempty"`
	Duration    duration    `yaml:"duration,omitempty"`
	MaxRequests int64       `yaml:"max_requests,omitempty" strict:"min=1"`
	Rate        rate        `yaml:"rate,omitempty"`
	Arrivals    *arrivals   `yaml:"arrivals,omitempty"`
}

// ValidateStrict wants connections, a rate or arrivals; next to those, connections are a bound.
func (s *step) ValidateStrict(v strictyaml.Value) {
	open := v.Has("rate") || v.Has("arrivals")
	switch {
	case v.Has("rate") && v.Has("arrivals"):
		v.At("arrivals").Mistake("both `rate` and `arrivals` given", "keep one of the two")
	case !open && !v.Has("connections"):
		v.At("connections").Wrong("write how many, for example `connections: 64`; or a `rate`, or `arrivals`")
	case open && (len(s.Connections.rungs) > 1 || s.Connections.from > 0):
		v.At("connections").Mistake("with `rate` or `arrivals`, `connections` is a maximum",
			"write one number, or leave it out")
	}
	if v.Has("arrivals") && v.Has("max_requests") {
		v.At("max_requests").Mistake("`arrivals` already set the number of requests", "remove `max_requests`")
	}
}

// connections are those of a step: the rungs of a ladder, or a ramp.
type connections struct {
	rungs []int
	from  int // of a ramp to the only rung; 0: none
}

// connectionRamp is a number of connections that rises evenly over the step.
type connectionRamp struct {
	From int `yaml:"from" strict:"required,min=1,max=65534" example:"1"`
	To   int `yaml:"to" strict:"required,min=2,max=65535" example:"512"`
}

// UnmarshalStrict reads a ramp, a number, a range or a list of the latter two.
func (c *connections) UnmarshalStrict(v strictyaml.Value) {
	values := []strictyaml.Value{v}
	switch v.Kind() {
	case strictyaml.Map:
		var r connectionRamp
		if v.Decode(&r) && r.From >= r.To {
			v.At("from").Wrong("`from` must be below `to`")
		}
		c.from, c.rungs = r.From, []int{r.To}
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
		rungs, hint := expand(parts)
		if hint != "" {
			item.Wrong(hint)
		}
		if c.rungs = append(c.rungs, rungs...); len(c.rungs) > maxSteps {
			item.Mistake("there are too many steps", fmt.Sprintf("write at most %d", maxSteps))
			return
		}
	}
}

// MarshalYAML writes what UnmarshalStrict reads.
func (c connections) MarshalYAML() (any, error) {
	switch {
	case c.from > 0:
		return strictyaml.Inline{V: connectionRamp{c.from, c.rungs[0]}}, nil
	case len(c.rungs) == 1:
		return c.rungs[0], nil
	}
	return c.rungs, nil
}

// IsZero leaves absent connections out of what is written.
func (c connections) IsZero() bool { return len(c.rungs) == 0 }

// UnmarshalStrict reads the list. Steps that name no duration have 0 then: fill knows the default.
func (s *steps) UnmarshalStrict(v strictyaml.Value) {
	if v.Kind() != strictyaml.List {
		v.Wrong("write a list, for example `[1x5 warm-up, 2..64 doubling]`")
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
			return // a rule says so
		}
	}
}

// fill gives the steps that name no duration the default one: d, or for arrivals the time in which
// they come and as much again as their later requests may need.
func (s *steps) fill(d time.Duration) {
	for i, step := range s.all {
		usual := d
		if step.Arrivals != nil {
			usual = min(step.Arrivals.Over+arrivalsRest, maxDuration)
		}
		s.all[i].Duration = cmp.Or(step.Duration, usual)
	}
}

// MarshalYAML writes one line for each step.
func (s steps) MarshalYAML() (any, error) {
	out := make([]strictyaml.Inline, len(s.all))
	for i, b := range s.all {
		one := step{
			WarmUp: b.WarmUp, Request: b.Request, Rate: rate(b),
			Duration: duration(b.Duration), MaxRequests: b.MaxRequests,
		}
		if a := b.Arrivals; a != nil {
			one.Arrivals = &arrivals{a.Users, duration(a.Over), a.Requests}
		}
		if n := cmp.Or(b.Connections, b.MaxConnections); n != 0 {
			one.Connections = connections{[]int{n}, b.RampFrom}
		}
		if b.Name != b.DefaultName() {
			one.Name = b.Name
		}
		out[i].V = one
	}
	return out, nil
}

func (s step) steps() []bench.Step {
	var out []bench.Step
	add := func(b bench.Step) {
		b.WarmUp, b.Duration, b.MaxRequests = s.WarmUp, time.Duration(s.Duration), s.MaxRequests
		b.Request = s.Request
		b.Name = cmp.Or(s.Name, b.DefaultName())
		out = append(out, b)
	}
	for range max(1, s.Repeat) {
		if open, ok := s.open(); ok {
			add(open)
			continue
		}
		for _, n := range s.Connections.rungs {
			add(bench.Step{Connections: n, RampFrom: s.Connections.from})
		}
		if len(out) > maxSteps {
			return out
		}
	}
	return out
}

// rangePattern are the parts of a number or range of connections: from, to, "doubling", by.
const rangePattern = `(\d+)(?: ?\.\. ?(\d+)(?: (?:(doubling)|by (\d+)))?)?`

// The parts of a short step: those of the range, then repeat, warm-up, duration.
var stepPattern = regexp.MustCompile(`^` + rangePattern + `(?: ?[x×] ?(\d+))?( warm-?up)?(?: for (\S+))?$`)

func squeeze(s string) string { return strings.Join(strings.Fields(s), " ") }

// parseStep reads the short form of a step, or says what would be right.
func parseStep(text string) (s step, hint string) {
	parts := stepPattern.FindStringSubmatch(squeeze(text))
	if parts == nil {
		return s, stepHint
	}
	rungs, hint := expand(parts)
	s = step{Connections: connections{rungs: rungs}, WarmUp: parts[6] != ""}
	if hint == "" && parts[5] != "" {
		n, err := strconv.Atoi(parts[5])
		if err != nil || n < 1 || n > maxSteps {
			hint = fmt.Sprintf("repeat a step from 1 to %d times", maxSteps)
		}
		s.Repeat = n
	}
	if hint == "" && parts[7] != "" {
		d, err := strictyaml.ParseDuration(parts[7])
		switch {
		case err != nil:
			hint = "after `for`: " + err.Error()
		case !lasts(d):
			hint = durationHint
		}
		s.Duration = duration(d)
	}
	return s, hint
}

// expand makes numbers of connections of a step's first four parts, or says what would be right.
func expand(parts []string) (rungs []int, hint string) {
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
		return nil, "let the range rise by 1 at least"
	}
	next := func(n int) int {
		if by > 0 {
			return n + by
		}
		return 2 * n
	}
	for n := from; n <= to && len(rungs) <= maxSteps; n = next(n) {
		rungs = append(rungs, n)
	}
	last := rungs[len(rungs)-1]
	if last != to && len(rungs) <= maxSteps {
		return nil, fmt.Sprintf("end at a number that is met, `%d..%d` or `%d..%d`", from, last, from, next(last))
	}
	return rungs, ""
}

// ParseSteps reads steps in the short form that items of a profile's steps may have ("64", "2..2048
// doubling", "1 x5 warm-up for 2s"). Those that do not say how long they last get length.
func ParseSteps(items []string, length time.Duration) ([]bench.Step, error) {
	var read steps
	var all []error
	for _, item := range items {
		one, hint := parseStep(item)
		switch hint {
		case "":
			read.all = append(read.all, one.steps()...)
		case stepHint:
			all = append(all, fmt.Errorf("%.60q: expected connections such as 64, 2..64 doubling or 1 x5 warm-up", item))
		default:
			all = append(all, fmt.Errorf("%.60q: %s", item, hint))
		}
	}
	read.fill(length)
	return read.all, errors.Join(all...)
}

// ShortSteps writes steps in the short form that --connections reads: "1 x5 warm-up, 2..2048 doubling".
// Its own step length says so, unless all are alike.
func ShortSteps(steps []bench.Step) string {
	var out []string
	for rest := steps; len(rest) > 0; {
		step := rest[0]
		// alike is how many steps differ in nothing but connections, which are factor times those before.
		alike := func(factor int) (n int) {
			for n = 1; n < len(rest) && rest[n].Connections > 0 && rest[n].WarmUp == step.WarmUp &&
				rest[n].Duration == step.Duration && rest[n].Connections == factor*rest[n-1].Connections; n++ {
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
		if step.Duration != steps[len(steps)-1].Duration {
			item += " for " + units.Exact(step.Duration)
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
