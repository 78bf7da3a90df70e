package profile

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

const thresholdHint = "write a condition such as `p99<50ms,errors<0.1%`, optionally with `from_step=3`, `stop=trial` " +
	"or `stop=run`; or a map with condition, from_step, stop"

// scopes are the values of `stop`; true means the trial, so other contenders are still measured.
var scopes = map[string]bench.Scope{
	"false": "", "true": bench.ScopeTrial, "trial": bench.ScopeTrial, "run": bench.ScopeRun,
}

// readThreshold reads a short text as in thresholdHint, or a map.
func readThreshold(v strictyaml.Value, t *bench.Threshold) {
	switch v.Kind() {
	case strictyaml.Map:
		if !v.Struct(t) {
			return
		}
		t.Stop = scopes[string(t.Stop)]
		if all, err := ParseConditions(t.Condition); err == nil {
			t.Condition = all.String()
		}
	case strictyaml.Scalar:
		text, _ := v.Text()
		parsed, err := ParseThreshold(text)
		if err != nil {
			v.Mistake(err.Error(), "")
		}
		*t = parsed
	default:
		v.Wrong(thresholdHint)
	}
}

// thresholdOption matches an option after the condition in the short form.
var thresholdOption = regexp.MustCompile(`^([a-z_]+)=(.*)$`)

// ParseThreshold reads the short form of profiles and options: "p99<50ms from_step=3 stop=trial".
func ParseThreshold(text string) (t bench.Threshold, err error) {
	words := strings.Fields(text)
	stops := false
	for ; len(words) > 0; words = words[:len(words)-1] {
		option := thresholdOption.FindStringSubmatch(words[len(words)-1])
		if option == nil {
			break
		}
		key, value := option[1], option[2]
		n, err := strconv.Atoi(value)
		scope, known := scopes[value]
		switch {
		case key == "from_step" && t.FromStep == 0 && err == nil && n >= 1 && n <= maxSteps:
			t.FromStep = n
		case key == "stop" && known && !stops:
			t.Stop, stops = scope, true
		default:
			return t, fmt.Errorf("threshold %.60q: unexpected %.60s; options are from_step (1 to %d) and "+
				"stop=trial (or true) or stop=run", text, option[0], maxSteps)
		}
	}
	conditions, err := ParseConditions(strings.Join(words, " "))
	if err != nil {
		return t, fmt.Errorf("threshold %.60q: %w", text, err)
	}
	t.Condition = conditions.String()
	return t, nil
}

func (r *rules) thresholds(p *bench.Profile) {
	for i, t := range p.Thresholds {
		at := fmt.Sprintf("thresholds[%d]", i)
		if _, err := ParseConditions(t.Condition); err != nil {
			r.when(true, at+".condition", err.Error(), "")
		}
		r.bounds(at+".", &t)
		n := len(p.Steps)
		exists := t.FromStep >= 0 && t.FromStep <= n
		r.when(n > 0 && !exists, at, fmt.Sprintf("from_step is %d; there are only %d steps", t.FromStep, n),
			"write the number of a step, counting warm-ups, or leave it out")
		measured := func(s bench.Step) bool { return !s.WarmUp }
		r.when(n > 0 && exists && !slices.ContainsFunc(p.Steps[max(t.FromStep-1, 0):], measured), at,
			"it checks no step", "only warm-ups follow: write a smaller `from_step`")
	}
}
