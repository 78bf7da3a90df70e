package profile

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"locbench/internal/bench"
	"locbench/internal/slo"
	"locbench/internal/strictyaml"
	"locbench/internal/units"
)

const (
	maxWindow = time.Hour

	thresholdHint = "write an objective such as `p99<50ms,errors<0.1%`, and behind it, where wanted, `window=5s`, `from_step=3`, `contender=NAME`, " +
		"`stop=step`, `stop=leg` or `stop=run`; or a map with the keys objective, window, from_step, contender, stop"
)

// threshold is an item of thresholds: a short text, as thresholdHint says, or a map.
type threshold bench.Threshold

type thresholdMap struct {
	Objective string    `yaml:"objective" strict:"required,min=1,max=500" example:"p99<50ms"`
	Window    duration  `yaml:"window,omitempty" strict:"min=1s,max=1h"`
	FromStep  int       `yaml:"from_step,omitempty" strict:"min=1,max=1000"`
	Contender selection `yaml:"contender,omitempty"`
	Stop      scope     `yaml:"stop,omitempty"`
}

// IsZero leaves an absent contender out of what is written.
func (s selection) IsZero() bool { return s == selection{} }

type scope bench.Scope

var scopes = map[string]scope{
	"false": "", "true": scope(bench.ScopeLeg), "step": scope(bench.ScopeStep), "leg": scope(bench.ScopeLeg), "run": scope(bench.ScopeRun),
}

const scopeHint = "write `step`, `leg` (or `true`) or `run`, or leave the key out"

// UnmarshalStrict reads a scope; true is the leg: the other contenders are measured all the same.
func (s *scope) UnmarshalStrict(v strictyaml.Value) {
	if text, ok := v.Text(); ok {
		if *s, ok = scopes[text]; !ok {
			v.Wrong(scopeHint)
		}
	}
}

// UnmarshalStrict reads a short text or a map.
func (t *threshold) UnmarshalStrict(v strictyaml.Value) {
	var m thresholdMap
	switch v.Kind() {
	case strictyaml.Map:
		if !v.Decode(&m) {
			return
		}
	case strictyaml.Scalar:
		text, _ := v.Text()
		if parsed, err := ParseThreshold(text); err == nil {
			*t = threshold(parsed)
		} else {
			what, hint, _ := strings.Cut(err.Error(), "; ")
			v.Mistake(what, hint)
		}
		return
	default:
		v.Wrong(thresholdHint)
		return
	}
	*t = threshold{Objective: m.Objective, Window: time.Duration(m.Window), FromStep: m.FromStep, Stop: bench.Scope(m.Stop)}
	if m.Contender != (selection{}) {
		t.Contender = m.Contender.String()
	}
	for _, wrong := range checkThreshold((*bench.Threshold)(t)) {
		v.At(wrong.key).Mistake(wrong.what, wrong.hint)
	}
}

// MarshalYAML writes a map: it is easier to change.
func (t threshold) MarshalYAML() (any, error) {
	m := thresholdMap{Objective: t.Objective, Window: duration(t.Window), FromStep: t.FromStep, Stop: scope(t.Stop)}
	if sel, ok := ParseSelection(t.Contender); ok {
		m.Contender = selection(sel)
	}
	return strictyaml.Inline{V: m}, nil
}

// ParseThreshold reads the short form of profiles and options: "p99<50ms window=5s stop=leg".
func ParseThreshold(text string) (bench.Threshold, error) {
	var t bench.Threshold
	var objective []string
	seen := map[string]bool{}
	for _, word := range strings.Fields(text) {
		key, value, ok := strings.Cut(word, "=")
		if !ok || strings.ContainsAny(key, "<>,.%") || key == "" || !strings.Contains("abcdefghijklmnopqrstuvwxyz", key[:1]) {
			if len(seen) > 0 {
				return t, fmt.Errorf("threshold %q: %q stands behind the options; %s", clipText(text), clipText(word), thresholdHint)
			}
			objective = append(objective, word)
			continue
		}
		if seen[key] {
			return t, fmt.Errorf("threshold %q: %s= is here again; say it once", clipText(text), clipText(key))
		}
		seen[key] = true
		if err := option(&t, key, value); err != nil {
			return t, fmt.Errorf("threshold %q: %w", clipText(text), err)
		}
	}
	t.Objective = strings.Join(objective, " ")
	for _, wrong := range checkThreshold(&t) {
		return t, fmt.Errorf("threshold %q: %s; %s", clipText(text), wrong.what, wrong.hint)
	}
	return t, nil
}

func option(t *bench.Threshold, key, value string) error {
	switch key {
	case "window":
		d, err := strictyaml.ParseDuration(value)
		if err != nil || d < time.Second || d > maxWindow {
			return fmt.Errorf("window=%s; write from 1s to 1h, in whole seconds", clipText(value))
		}
		t.Window = d
	case "from_step":
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 || n > maxSteps {
			return fmt.Errorf("from_step=%s; write from 1 to %d", clipText(value), maxSteps)
		}
		t.FromStep = n
	case "contender":
		if _, ok := ParseSelection(value); !ok {
			return fmt.Errorf("contender=%s; write the name of a contender, or name:variant", clipText(value))
		}
		t.Contender = value
	case "stop":
		s, ok := scopes[value]
		if !ok {
			return fmt.Errorf("stop=%s; %s", clipText(value), scopeHint)
		}
		t.Stop = bench.Scope(s)
	default:
		return fmt.Errorf("unknown option %s=; there are window, from_step, contender and stop", clipText(key))
	}
	return nil
}

func clipText(s string) string {
	if r := []rune(s); len(r) > 60 {
		return string(r[:60]) + "…"
	}
	return s
}

type wrong struct{ key, what, hint string }

// checkThreshold looks at what concerns several parts, and writes the objective in its usual form.
func checkThreshold(t *bench.Threshold) (all []wrong) {
	o, err := slo.Parse(t.Objective)
	if err != nil {
		what, hint := err.Error(), ""
		if e, ok := errors.AsType[*slo.Error](err); ok {
			what, hint = (&slo.Error{Text: e.Text, Column: e.Column, What: e.What}).Error(), e.Hint
		}
		return []wrong{{"objective", what, hint}}
	}
	t.Objective = o.String()
	if t.Window%time.Second != 0 {
		all = append(all, wrong{"window", "`window: " + t.Window.String() + "` is of no whole number of seconds", "windows last one second each: write for example 5s"})
	}
	if t.Window > 0 {
		for _, c := range o {
			if !c.Metric.Windowed() {
				all = append(all, wrong{"objective", "windows of a step do not know " + string(c.Metric), "there are p50, p90, p99, max, errors and throughput; or leave `window` out"})
			}
		}
	}
	if t.Stop == bench.ScopeStep && t.Window == 0 {
		all = append(all, wrong{"stop", "without a window the step is over when it is judged", "add `window`, for example 5s, or stop the leg or the run"})
	}
	return all
}

// checkThresholds looks at what concerns the rest of the profile.
func (f *file) checkThresholds(v strictyaml.Value) {
	for i, item := range v.At("thresholds").Items() {
		if i >= len(f.Thresholds) || f.Thresholds[i].Objective == "" {
			continue // reported already
		}
		t := f.Thresholds[i]
		if sel, ok := ParseSelection(t.Contender); ok && len(f.Contenders) > 0 && !slices.Contains(f.Contenders, selection(sel)) {
			item.Mistake(fmt.Sprintf("no contender of this profile is %q", t.Contender),
				fmt.Sprintf("name one of `contenders`, such as %q", f.Contenders[0]))
		}
		if len(f.Steps) == 0 {
			continue
		}
		if t.FromStep > len(f.Steps) {
			item.Mistake(fmt.Sprintf("from_step is %d, and there are %d steps", t.FromStep, len(f.Steps)), "warm-ups count: write the number of a step, or leave it out")
			continue
		}
		longest := time.Duration(-1) // of those that are judged
		for k, s := range f.Steps {
			if !s.WarmUp && k+1 >= t.FromStep {
				longest = max(longest, s.Duration)
			}
		}
		switch {
		case longest < 0:
			item.Mistake("no step is judged by it", "all from there on are warm-ups: write a smaller `from_step`")
		case longest < t.Window:
			item.Mistake("its window of "+units.Exact(t.Window)+" is longer than every step that it judges", "write a shorter window, or let the steps last longer")
		}
	}
}
