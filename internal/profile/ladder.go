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
	"locbench/internal/strictyaml"
	"locbench/internal/units"
)

const (
	maxSteps       = 1000
	maxConnections = 100_000
	maxDuration    = 24 * time.Hour
	minDuration    = 100 * time.Millisecond

	stepHint = "write a number of connections (`64`), a range (`2..2048 doubling`, `10..100 by 10`), and behind it, where wanted, " +
		"`x5` to repeat, `warm-up`, `for 30s`; or a map {connections: 64, duration: 30s} or {rate: 5000}"
)

// steps are the stages of load, in YAML each a short text, as stepHint says, or a map.
type steps []bench.Step

type step struct {
	Name        string      `yaml:"name,omitempty" strict:"min=1,max=100"`
	Connections connections `yaml:"connections,omitempty"`
	Request     string      `yaml:"request,omitempty" strict:"min=1,max=100"`
	Repeat      int         `yaml:"repeat,omitempty" strict:"min=1,max=1000"`
	WarmUp      bool        `yaml:"warm_up,omitempty"`
	Duration    duration    `yaml:"duration,omitempty" strict:"min=100ms,max=24h"`
	MaxRequests int64       `yaml:"max_requests,omitempty" strict:"min=1"`
	Rate        rate        `yaml:"rate,omitempty"`
	Arrivals    *arrivals   `yaml:"arrivals,omitempty"`
}

// ValidateStrict wants connections, a rate or arrivals; beside those, connections are a bound.
func (s *step) ValidateStrict(v strictyaml.Value) {
	open := v.Has("rate") || v.Has("arrivals")
	switch {
	case v.Has("rate") && v.Has("arrivals"):
		v.At("arrivals").Mistake("requests are due both by `rate` and by `arrivals`", "keep one of the two")
	case !open && !v.Has("connections"):
		v.At("connections").Wrong("write how many, for example `connections: 64`; or a `rate`, or `arrivals`")
	case open && (len(s.Connections.rungs) > 1 || s.Connections.from > 0):
		v.At("connections").Mistake("beside `rate` and `arrivals`, `connections` is the most that may be open", "write one number, or leave it out")
	}
	if v.Has("arrivals") && v.Has("max_requests") {
		v.At("max_requests").Mistake("`arrivals` say themselves how many requests there are", "remove `max_requests`")
	}
}

// connections are those of a step: the rungs of a ladder, or a ramp.
type connections struct {
	rungs []int
	from  int // of a ramp to the only rung; 0: none
}

// connectionRamp is a number of connections that rises evenly over the step.
type connectionRamp struct {
	From int `yaml:"from" strict:"required,min=1,max=99999" example:"1"`
	To   int `yaml:"to" strict:"required,min=2,max=100000" example:"512"`
}

// UnmarshalStrict reads a ramp, a number, a range or a list of the latter two.
func (c *connections) UnmarshalStrict(v strictyaml.Value) {
	values := []strictyaml.Value{v}
	switch v.Kind() {
	case strictyaml.Map:
		var r connectionRamp
		if v.Decode(&r) && r.From >= r.To {
			v.At("from").Wrong("let the ramp rise: write fewer than it goes `to`")
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
			item.Wrong("write a number such as `64` or a range such as `2..2048 doubling`")
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
	measured, failed, ladder := false, false, false
	for _, item := range v.Items() {
		var one step
		var add []bench.Step
		if item.Kind() == strictyaml.Map && item.Decode(&one) || item.Kind() != strictyaml.Map && one.short(item) {
			add = one.steps()
		} else {
			failed = true
		}
		for _, a := range add {
			measured = measured || !a.WarmUp
			ladder = ladder || !a.WarmUp && a.Connections > 0
		}
		if len(add) > 0 && add[0].PeakShare > 0 && !ladder {
			item.Mistake("no step before it can find the peak", "put measured steps with connections before it, for example `2..64 doubling`")
			failed = true
		}
		*s = append(*s, add...)
		if len(*s) > maxSteps {
			item.Mistake("there are too many steps", fmt.Sprintf("write at most %d", maxSteps))
			*s = (*s)[:maxSteps]
			return
		}
	}
	if !measured && !failed {
		v.Mistake("no step is measured", "add one that is no warm-up, for example `64`")
	}
}

// fill gives the steps that name no duration the default one: d, or for arrivals the time in which
// they come and as much again as their later requests may need.
func (s steps) fill(d time.Duration) {
	for i, step := range s {
		usual := d
		if step.Arrivals != nil {
			usual = min(step.Arrivals.Over+arrivalsRest, maxDuration)
		}
		s[i].Duration = cmp.Or(step.Duration, usual)
	}
}

// MarshalYAML writes one line for each step.
func (s steps) MarshalYAML() (any, error) {
	out := make([]strictyaml.Inline, len(s))
	for i, b := range s {
		one := step{
			WarmUp: b.WarmUp, Request: b.Request, Rate: rateOf(b),
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

// The parts of a short step: from, to, "doubling", by, repeat, warm-up, duration.
var stepPattern = regexp.MustCompile(`^(\d+)(?: ?\.\. ?(\d+)(?: (?:(doubling)|by (\d+)))?)?(?: ?[x×] ?(\d+))?( warm-?up)?(?: for (\S+))?$`)

func squeeze(s string) string { return strings.Join(strings.Fields(s), " ") }

func (s *step) short(v strictyaml.Value) bool {
	var parts []string
	if v.Kind() == strictyaml.Scalar {
		text, _ := v.Text()
		parts = stepPattern.FindStringSubmatch(squeeze(text))
	}
	if parts == nil {
		v.Wrong(stepHint)
		return false
	}
	rungs, hint := expand(parts)
	*s = step{Connections: connections{rungs: rungs}, WarmUp: parts[6] != ""}
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
			hint = "behind `for`: " + err.Error()
		case d < minDuration || d > maxDuration:
			hint = fmt.Sprintf("let a step last from %s to %s", units.Exact(minDuration), units.Exact(maxDuration))
		}
		s.Duration = duration(d)
	}
	if hint != "" {
		v.Wrong(hint)
	}
	return hint == ""
}

// expand makes numbers of connections of a step's first four parts, or says what would be right.
func expand(parts []string) (rungs []int, hint string) {
	from, err := strconv.Atoi(parts[1])
	to, err2 := strconv.Atoi(cmp.Or(parts[2], parts[1]))
	by, err3 := strconv.Atoi(cmp.Or(parts[4], "0"))
	switch {
	case cmp.Or(err, err2, err3) != nil || from < 1 || to < 1 || from > maxConnections || to > maxConnections:
		return nil, fmt.Sprintf("write from 1 to %d connections", maxConnections)
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

// itemIs begins what is said of an item of steps.
var itemIs = regexp.MustCompile("^`steps\\[\\d+\\]` is ")

// ParseSteps reads steps in the short form that items of a profile's steps may have ("64", "2..2048
// doubling", "1 x5 warm-up for 2s"). Those that do not say how long they last get length.
func ParseSteps(items []string, length time.Duration) ([]bench.Step, error) {
	data, err := strictyaml.Encode(struct {
		Steps []string `yaml:"steps"`
	}{items})
	if err != nil {
		return nil, fmt.Errorf("read steps: %w", err)
	}
	var read struct {
		Steps steps `yaml:"steps" strict:"required,min=1,max=1000"`
	}
	mistakes, _ := errors.AsType[strictyaml.Mistakes](strictyaml.Decode("steps", data, &read))
	var all []error
	for _, m := range mistakes { // their lines mean nothing to the reader
		what := itemIs.ReplaceAllString(m.What, "")
		switch m.Hint {
		case "":
		case stepHint:
			what += " is no number of connections; write for example 64, 2..64 doubling, or 1 x5 warm-up"
		default:
			what += ": " + m.Hint
		}
		all = append(all, errors.New(what))
	}
	if all != nil {
		return nil, errors.Join(all...)
	}
	read.Steps.fill(length)
	return read.Steps, nil
}
