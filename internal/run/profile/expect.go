package profile

import (
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/contender/check"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

// expect is what a response must have, as in a check suite.
type expect map[string]any

// UnmarshalStrict checks the expectations and keeps them as a map, with any schema file read.
func (e *expect) UnmarshalStrict(v strictyaml.Value) {
	check.ReadExpect(v)
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
	*e = raw
}

// status returns the expected statuses; 200 is the default.
func (e expect) status() (first int, more []int) {
	all, isList := e["status"].([]any)
	if !isList && e["status"] != nil {
		all = []any{e["status"]}
	}
	for _, s := range all {
		if n, isNumber := s.(json.Number); isNumber {
			status, _ := strconv.Atoi(string(n))
			more = append(more, status)
		} else { // it is valid
			more = append(more, bench.All2xx()...)
		}
	}
	if len(more) == 0 {
		return http.StatusOK, nil
	}
	if len(more) == 1 {
		return more[0], nil
	}
	return more[0], more[1:]
}
