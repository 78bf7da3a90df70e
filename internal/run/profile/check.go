package profile

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"locbench/internal/bench"
	"locbench/internal/bench/units"
	"locbench/internal/text/secret"
)

const durationHint = "write from 100ms to 24h" // of a step

// mistake is a rule that a profile breaks: at which key, what is wrong, and what would be right. Where what is empty,
// it is the value itself.
type mistake struct{ path, value, what, hint string }

func (m mistake) Error() string {
	return strings.TrimSuffix(cmp.Or(m.what, "`"+m.path+"` is "+m.value)+"; "+m.hint, "; ")
}

// Validate says everything that is wrong with p, or nil when it can be run. Unlike Parse it wants the address of an
// external store.
func Validate(p bench.Profile) error {
	var failures []error
	for _, m := range mistakes(&p) {
		failures = append(failures, m)
	}
	if p.Store.NeedsURL() {
		failures = append(failures, errors.New(`needs an Elasticsearch 7. Use yours: --elastic http://127.0.0.1:9200 or the official image: --store container or the embedded store (shares CPU with the client): --store embedded`))
	}
	if len(failures) == 0 {
		return nil
	}
	return fmt.Errorf("profile %s: %w", p.Name, errors.Join(failures...))
}

// rules collects what is wrong.
type rules []mistake

// wrong reports a value.
func (r *rules) wrong(path string, value any, hint string) {
	text := fmt.Sprint(value)
	if _, err := strconv.ParseFloat(text, 64); err != nil {
		text = strconv.Quote(text)
	}
	*r = append(*r, mistake{path: path, value: text, hint: hint})
}

// when reports, where it is so, what cannot be seen in one value.
func (r *rules) when(so bool, path, what, hint string) {
	if so {
		*r = append(*r, mistake{path: path, what: what, hint: hint})
	}
}

// between reports n where it is not within the bounds.
func (r *rules) between(path string, n, low, high int) {
	if n < low || n > high {
		r.wrong(path, n, fmt.Sprintf("write from %d to %d", low, high))
	}
}

// mistakes returns all rules that p breaks. Nothing is changed.
func mistakes(p *bench.Profile) []mistake {
	var r rules
	for _, o := range Options() {
		if o.wrong == nil {
			continue
		}
		if hint := o.wrong(p, false); hint != "" {
			r.wrong(o.Key, cmp.Or(o.get(p), "0"), hint)
		}
	}
	if !namePattern.MatchString(p.Name) || len(p.Name) > maxName {
		r.wrong("name", p.Name, "write lower-case letters, digits, `-`, `_` and `.`, 60 at most: it becomes part of a folder's "+
			"name")
	}
	r.contenders(p)
	r.store(p.Store)
	r.data(p.Data)
	r.variables(p)
	r.requests(p)
	alone := len(p.Requests) > 0 && p.Requests[0].Session == ""
	r.when(p.Phases != nil && len(p.Requests) > 0 && !alone, "phases",
		"`first_requests` needs a single request; all are in sessions", "add one under `requests`, or remove `first_requests`")
	if p.Phases != nil {
		r.between("phases.requests", p.Phases.Requests, 1, maxPhased)
	}
	r.when(p.Protocol == bench.HTTP2 && p.Phases != nil,
		"protocol", "`protocol` is http/2, but `first_requests` are timed over HTTP/1.1", "remove one of the two")
	r.checks(p.Checks)
	r.steps(p)
	r.thresholds(p)
	return r
}

func (r *rules) contenders(p *bench.Profile) {
	for i, c := range p.Contenders {
		r.when(slices.Contains(p.Contenders[:i], c), fmt.Sprintf("contenders[%d]", i),
			fmt.Sprintf("duplicate contender %q", c), "list each once: `rounds` repeats them")
	}
}

func (r *rules) store(s bench.StoreSpec) {
	if !slices.Contains(bench.StoreKinds(), string(s.Kind)) {
		return // reported by its option
	}
	traits := s.Kind.Traits()
	kind := "a store of kind " + string(s.Kind)
	u, err := secret.ParseURL(s.URL)
	usable := err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https") && u.RawQuery+u.Fragment == ""
	switch byURL := s.Chosen().Traits().ByURL; {
	case s.URL == "":
	case !byURL:
		r.when(true, "store.url", kind+" has no url", "write `kind: external` or remove the url")
	case !usable:
		r.wrong("store.url", secret.Address(s.URL), "write a URL such as `http://10.0.0.5:9200`")
	}
	r.when(s.Image != "" && !traits.Container,
		"store.image", kind+" has no image", "write `kind: container` or remove the image")
	r.when(s.Latency != 0 && !traits.Latency,
		"store.latency", kind+" cannot add latency", "write `kind: embedded` or remove `latency`")
	r.when(s.P99 != 0 && !traits.Latency,
		"store.latency_p99", kind+" answers as fast as it can", "write `kind: embedded` or remove `p99`")
	r.when(s.P99 != 0 && s.Latency == 0,
		"store.latency_p99", "`latency_p99` without `latency`", "add `latency`, for example `latency: 2ms`")
	if s.P99 != 0 && s.P99 < s.Latency {
		r.wrong("store.latency_p99", units.Exact(s.P99), "the median is `latency`: write at least that")
	}
}

func (r *rules) data(d bench.DataSpec) {
	generated := d.Cities != 0 || d.Vertices != 0 || d.Seed != 0
	r.when(d.Dir != "" && generated, "data",
		"both `dir` and `cities`/`vertices`/`seed` given", "keep one of the two")
	r.when(d.Dir == "" && generated && d.Cities == 0, "data", "`data.cities` is missing",
		"write `data: bundled`, `{dir: FOLDER}`, or how many to generate, `{cities: 100000}`")
}

func (r *rules) checks(c bench.CheckSpec) {
	for i, name := range c.Lifecycle {
		r.when(slices.Contains(c.Lifecycle[:i], name), fmt.Sprintf("checks.lifecycle[%d]", i),
			fmt.Sprintf("duplicate check %q", name), "list each once")
	}
	for i, suite := range c.Suites {
		r.when(strings.TrimSpace(suite) == "", fmt.Sprintf("checks.suites[%d]", i), "a suite has no name",
			"write the name of a bundled suite or the path of a YAML file")
	}
}

// asked returns the names of what a step may ask alone.
func asked(p *bench.Profile) (names []string) {
	for _, r := range p.Requests {
		if r.Session == "" {
			names = append(names, r.Name)
		}
	}
	for _, s := range p.Sessions {
		names = append(names, s.Name)
	}
	return names
}

// lasts says whether a step may be that long.
func lasts(d bench.Duration) bool { return d >= minDuration && d <= maxDuration }

func (r *rules) steps(p *bench.Profile) {
	if len(p.Steps) > maxSteps {
		r.when(true, "steps", "there are too many steps", fmt.Sprintf("write at most %d", maxSteps))
		return
	}
	measured, ladder, turned := false, false, false
	for i, s := range p.Steps {
		at := fmt.Sprintf("steps[%d]", i)
		if !lasts(s.Duration) {
			r.wrong(at+".duration", units.Exact(s.Duration), durationHint)
			s.Duration = minDuration
		}
		if s.Request != "" && len(p.Requests) > 0 && !slices.Contains(asked(p), s.Request) {
			r.wrong(at+".request", s.Request, fmt.Sprintf("name one of the requests or sessions, such as %q", asked(p)[0]))
		}
		r.when(s.PeakShare > 0 && !ladder, at, "no earlier step can find the peak",
			"put measured steps with connections before it, for example `2..64 doubling`")
		for _, err := range s.AtPeak(1).Validate() {
			r.when(true, at, fmt.Sprintf("step %d (%s): %v", i+1, s.Name, err), "")
		}
		if err := s.CheckInterleave(); p.Interleave > 0 && err != nil && !turned {
			turned = true
			r.when(true, "turns", fmt.Sprintf("step %d (%s) cannot be interleaved: %v", i+1, s.Name, err),
				"remove `interleave`, or run such steps in their own profile")
		}
		measured = measured || !s.WarmUp
		ladder = ladder || !s.WarmUp && s.Connections > 0
	}
	r.when(!measured, "steps", "no measured step", "add one that is not a warm-up, for example `64`")
}

func (r *rules) thresholds(p *bench.Profile) {
	for i, t := range p.Thresholds {
		at := fmt.Sprintf("thresholds[%d]", i)
		if _, err := ParseConditions(t.Condition); err != nil {
			r.when(true, at+".objective", err.Error(), "")
		}
		if !slices.Contains([]bench.Scope{"", bench.ScopeTrial, bench.ScopeRun}, t.Stop) {
			r.wrong(at+".stop", string(t.Stop), "one of: trial, run")
		}
		n := len(p.Steps)
		there := t.FromStep >= 0 && t.FromStep <= n
		r.when(n > 0 && !there, at, fmt.Sprintf("from_step is %d; there are only %d steps", t.FromStep, n),
			"warm-ups count: write the number of a step, or leave it out")
		measured := func(s bench.Step) bool { return !s.WarmUp }
		r.when(n > 0 && there && !slices.ContainsFunc(p.Steps[max(t.FromStep-1, 0):], measured), at,
			"it checks no step", "only warm-ups follow: write a smaller `from_step`")
	}
}

// methods are those that a request may have.
var methods = []string{
	http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
	http.MethodOptions,
}
