package profile

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/contender/check"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

// expect is what a response must be, as in a check suite.
type expect struct {
	statuses []int             // none without the key
	rest     bench.Expectation // with any schema file read
}

// UnmarshalStrict checks the expectations and keeps them.
func (e *expect) UnmarshalStrict(v strictyaml.Value) {
	compiled := check.ReadExpect(v)
	raw, ok := check.Raw(v).(map[string]any)
	if !ok {
		return
	}
	if v.Has("took") {
		v.At("took").Mistake("`took` is for check suites", "write a threshold, such as `thresholds: [p99<50ms]`")
	}
	if _, ok := raw["schema"].(string); ok {
		if doc, err := check.ReadSchema(v.At("schema")); err == nil { // ReadExpect has reported an error
			raw["schema"] = doc
		}
	}
	if v.Has("status") {
		e.statuses = compiled.Status
	}
	if delete(raw, "status"); len(raw) > 0 {
		e.rest = raw
	}
}

const (
	defaultEvery = 100 * time.Millisecond
	defaultMost  = 20
)

// readRepeat reads until when a request is sent again. Absent keys have defaults.
func readRepeat(v strictyaml.Value, r *bench.Repeat) {
	var end struct {
		Until expect `yaml:"until" strict:"required" example:"{status: 200}"`
	}
	r.Every, r.Most = defaultEvery, defaultMost
	v.Struct(&end, r)
	if r.Status, r.Until = end.Until.statuses, end.Until.rest; v.Has("until") && r.Status == nil && r.Until == nil {
		v.At("until").Mistake("`until` is empty", "write what the last response must be, such as `{status: 200}`")
	}
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
