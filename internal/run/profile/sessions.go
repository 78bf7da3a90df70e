package profile

import (
	"slices"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

// Redirects in a row that are followed.
const (
	defaultFollow = 10
	maxFollow     = 20
)

// follow is how many redirects in a row are followed.
type follow int

// UnmarshalStrict reads a bool or a number.
func (f *follow) UnmarshalStrict(v strictyaml.Value) {
	switch text, _ := v.Text(); text {
	case "true":
		*f = defaultFollow
	case "false":
	default:
		v.Decode((*int)(f))
		if *f < 0 || *f > maxFollow {
			v.Wrong("write `true` for up to 10 redirects in a row, `false`, or a number up to 20")
		}
	}
}

// readSaves reads `token: data.token` for a path, and `token: {header: X-Token}`.
func readSaves(v strictyaml.Value, s *[]bench.Save) {
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

// readThink reads one or two times: `1s`, or `500ms..2s`.
func readThink(v strictyaml.Value, t *bench.Think) {
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

// session is a sequence of requests of one user, as a file has it.
type session struct {
	bench.Session
	sessionKeys
}

type sessionKeys struct {
	Share    float64   `yaml:"share" strict:"percent"`
	Setup    []request `yaml:"setup" strict:"min=1,max=100"`
	Requests []request `yaml:"requests" strict:"required,min=1,max=100" example:"[{get: /items}]"`
}

// UnmarshalStrict reads a map whose absent keys have defaults.
func (s *session) UnmarshalStrict(v strictyaml.Value) {
	v.Struct(&s.Session, &s.sessionKeys)
	if s.Name == "" { // reported: its requests are those of a session all the same
		s.Name = v.Path()
	}
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
