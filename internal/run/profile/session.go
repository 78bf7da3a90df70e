package profile

import (
	"slices"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

// saves are written as a map by the names of the variables.
type saves []bench.Save

// UnmarshalStrict reads `token: data.token` for a path, and `token: {header: X-Token}`.
func (s *saves) UnmarshalStrict(v strictyaml.Value) {
	const hint = "write names and where their values are, such as `{token: data.token, id: {header: X-Id}}`"
	if v.Kind() != strictyaml.Map {
		v.Wrong(hint)
	}
	for _, f := range v.Fields() {
		one := bench.Save{Name: f.Key, From: bench.FromJSON}
		if f.Value.Kind() == strictyaml.Scalar {
			one.Of, _ = f.Value.Text()
			*s = append(*s, one)
			continue
		}
		from := f.Value.Fields()
		pattern := slices.IndexFunc(from, func(f strictyaml.Field) bool { return f.Key == string(bench.FromRegex) })
		if len(from) == 2 && pattern >= 0 {
			one.Regex, _ = from[pattern].Value.Text()
			from = slices.Delete(from, pattern, pattern+1)
		}
		if len(from) != 1 {
			f.Value.Wrong("write a path, or one of `{json: PATH}`, `{header: NAME}`, `{cookie: NAME}`, " +
				"`{regex: PATTERN}`; `regex` may be with another one, to take a part of that")
			continue
		}
		one.From = bench.Source(from[0].Key)
		one.Of, _ = from[0].Value.Text()
		*s = append(*s, one)
	}
}

const thinkHint = "write a time such as `1s`, or two of them such as `500ms..2s`, up to 1h"

// think is `1s`, or `500ms..2s`.
type think bench.Think

// UnmarshalStrict reads one or two times.
func (t *think) UnmarshalStrict(v strictyaml.Value) {
	text, ok := v.Text()
	if !ok {
		return
	}
	low, high, two := strings.Cut(squeeze(text), "..")
	if !two {
		high = low
	}
	var errs [2]error
	t.Min, errs[0] = strictyaml.ParseDuration(low)
	t.Max, errs[1] = strictyaml.ParseDuration(high)
	if errs[0] != nil || errs[1] != nil || t.Min < 0 || t.Max < t.Min || t.Max > time.Hour {
		v.Wrong(thinkHint)
	}
}

// session is a sequence of requests of one user.
type session struct {
	Name     string        `yaml:"name" strict:"required,min=1,max=80"`
	Weight   int           `yaml:"weight"`
	Share    share         `yaml:"share"`
	Pace     time.Duration `yaml:"pace" strict:"min=1ms,max=1h"`
	Setup    []request     `yaml:"setup" strict:"min=1,max=100"`
	Requests []request     `yaml:"requests" strict:"required,min=1,max=100" example:"[{get: /items}]"`
}

// UnmarshalStrict reads a map whose absent keys have defaults.
func (s *session) UnmarshalStrict(v strictyaml.Value) {
	type plain session
	v.Decode((*plain)(s))
	if !v.Has("share") && !v.Has("weight") {
		s.Weight = 1
	}
	for _, item := range slices.Concat(v.At("setup").Items(), v.At("requests").Items()) {
		if n := count(item, "share", "weight"); n > 0 {
			item.Mistake("a request in a session has no share or weight", "write it next to the name of the session")
		}
		if item.Has("pace") {
			item.At("pace").Mistake("a request in a session has no pace", "write it next to the name of the session")
		}
	}
}
