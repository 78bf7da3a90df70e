package profile

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

// repeated says until when a request is sent again.
type repeated struct {
	Until expect        `yaml:"until" strict:"required" example:"{status: 200}"`
	Every time.Duration `yaml:"every" strict:"min=1ms,max=1h"`
	Most  int           `yaml:"most" strict:"min=2,max=10000"`
}

const (
	defaultEvery = 100 * time.Millisecond
	defaultMost  = 20
)

// UnmarshalStrict reads a map whose absent keys have defaults.
func (r *repeated) UnmarshalStrict(v strictyaml.Value) {
	type plain repeated
	r.Every, r.Most = defaultEvery, defaultMost
	v.Decode((*plain)(r))
	if v.Has("until") && len(r.Until) == 0 {
		v.At("until").Mistake("`until` is empty", "write what the last response must be, such as `{status: 200}`")
	}
}

func (r *repeated) spec() *bench.Repeat {
	if r == nil {
		return nil
	}
	out := &bench.Repeat{Every: r.Every, Most: r.Most}
	until := maps.Clone(r.Until)
	if until["status"] != nil {
		first, more := r.Until.status()
		out.Status = append([]int{first}, more...)
		delete(until, "status")
	}
	if len(until) > 0 {
		out.Until = bench.Expectation(until)
	}
	return out
}

// repeat reports a repetition that never ends, as no expected status ends it.
func (r *rules) repeat(at string, req bench.Request) {
	if req.Repeat == nil {
		return
	}
	for _, status := range req.Repeat.Status {
		expected := append(req.Expected(), status)
		r.when(!slices.Contains(req.Expected(), status), at+".repeat.until",
			fmt.Sprintf("%d ends the repetition, but is not an expected status", status),
			fmt.Sprintf("expect it, and what comes before it: `expect: {status: %s}`", list(expected)))
	}
	one := len(req.Repeat.Status) > 0 && len(req.Repeat.Until) == 0 &&
		!slices.ContainsFunc(req.Expected(), func(s int) bool { return !slices.Contains(req.Repeat.Status, s) })
	r.when(one, at+".repeat", "each expected status ends the repetition, so nothing is repeated",
		"expect the status that comes before it, too, such as `expect: {status: "+list(append(req.Expected(), 202))+"}`")
}

func list(statuses []int) string {
	return strings.ReplaceAll(fmt.Sprint(slices.Compact(statuses)), " ", ", ")
}
