package profile

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
)

const durationHint = "write from 100ms to 24h" // of a step

// mistake is a broken rule: the key's path, what is wrong ("": the value), and a remedy.
type mistake struct {
	path, value, what, hint string
}

func (m mistake) Error() string {
	return strings.TrimSuffix(cmp.Or(m.what, "`"+m.path+"` is "+m.value)+"; "+m.hint, "; ")
}

// Validate returns all mistakes of p as one error. Only Validate requires the URL of an external
// need.
func Validate(p bench.Profile) error {
	var failures []error
	for _, m := range mistakes(&p) {
		failures = append(failures, m)
	}
	failures = append(failures, missing(p)...)
	if len(failures) == 0 {
		return nil
	}
	return fmt.Errorf("profile %s: %w", p.Name, errors.Join(failures...))
}

// rules collects mistakes.
type rules []mistake

// wrong reports a wrong value.
func (r *rules) wrong(path string, value any, hint string) {
	text := fmt.Sprint(value)
	if _, err := strconv.ParseFloat(text, 64); err != nil {
		text = strconv.Quote(text)
	}
	*r = append(*r, mistake{path: path, value: text, hint: hint})
}

// when reports a mistake that the value alone does not show, if broken is true.
func (r *rules) when(broken bool, path, what, hint string) {
	if broken {
		*r = append(*r, mistake{path: path, what: what, hint: hint})
	}
}

// between reports n if it is below low or above high.
func (r *rules) between(path string, n, low, high int) {
	if n < low || n > high {
		r.wrong(path, n, fmt.Sprintf("write from %d to %d", low, high))
	}
}

// mistakes returns all mistakes of p and changes nothing.
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
		r.wrong("name", p.Name, "write at most 60 lower-case letters, digits, `-`, `_`, `.`: it is part of a folder's name")
	}
	r.contenders(p)
	r.needsOf(p)
	r.variables(p)
	r.requests(p)
	single := len(p.Requests) > 0 && p.Requests[0].Session == ""
	r.when(p.FirstRequests != nil && len(p.Requests) > 0 && !single,
		"first_requests", "`first_requests` needs a single request; all are in sessions",
		"add one under `requests`, or remove `first_requests`")
	if p.FirstRequests != nil {
		r.between("first_requests.requests", p.FirstRequests.Requests, 1, maxFirstRequests)
	}
	r.when(p.Protocol == bench.HTTP2 && p.FirstRequests != nil,
		"protocol", "`protocol` is http/2, but `first_requests` uses HTTP/1.1", "remove one of the two")
	r.checks(p.Checks)
	r.steps(p)
	r.thresholds(p)
	return r
}

func (r *rules) contenders(p *bench.Profile) {
	for i, c := range p.Contenders {
		r.when(slices.Contains(p.Contenders[:i], c), fmt.Sprintf("contenders[%d]", i),
			fmt.Sprintf("duplicate contender %q", c), "list each once: `rounds` repeats them; with other settings give each a name: `as: half`")
		for _, m := range wrongLimits(p.SettingsOf(c).Limits, func(string) bool { return false }) { // those of a file were reported at their lines
			r.when(true, fmt.Sprintf("contenders[%d]", i), fmt.Sprintf("`%s` of contender %q is out of bounds", m.path, c), m.hint)
		}
	}
}

func (r *rules) checks(c bench.CheckSpec) {
	for i, name := range c.Lifecycle {
		r.when(slices.Contains(c.Lifecycle[:i], name), fmt.Sprintf("checks.lifecycle[%d]", i),
			fmt.Sprintf("duplicate check %q", name), "list each once")
	}
	for i, suite := range c.Suites {
		r.when(strings.TrimSpace(suite) == "", fmt.Sprintf("checks.suites[%d]", i), "empty name of a suite",
			"write the name of a bundled suite or the path of a YAML file")
	}
}

// iterations returns the names that a step's `request` may have: single requests and sessions.
func iterations(p *bench.Profile) (names []string) {
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

// validDuration reports whether a step may take d.
func validDuration(d bench.Duration) bool { return d >= minDuration && d <= maxDuration }

func (r *rules) steps(p *bench.Profile) {
	if len(p.Steps) > maxSteps {
		r.when(true, "steps", "too many steps", fmt.Sprintf("write at most %d", maxSteps))
		return
	}
	measured, findsPeak, reported := false, false, false
	kept := 0
	for i, s := range p.Steps {
		at := fmt.Sprintf("steps[%d]", i)
		kept += s.KeepRequests
		r.when(kept > maxKept && kept-s.KeepRequests <= maxKept, at+".keep_requests",
			fmt.Sprintf("the steps up to this one keep %d requests", kept), fmt.Sprintf("keep at most %d in all", maxKept))
		if !validDuration(s.Duration) {
			r.wrong(at+".duration", units.Exact(s.Duration), durationHint)
			s.Duration = minDuration
		}
		if names := iterations(p); s.Request != "" && len(names) > 0 && !slices.Contains(names, s.Request) {
			r.wrong(at+".request", s.Request, fmt.Sprintf("name one of the requests or sessions, such as %q", names[0]))
		}
		r.when(s.PeakShare > 0 && !findsPeak, at, "no earlier step can find the peak",
			"put measured steps with connections before it, such as `2..64 doubling`")
		for _, err := range s.AtPeak(1).Validate() {
			r.when(true, at, fmt.Sprintf("step %d (%s): %v", i+1, s.Name, err), "")
		}
		r.when(p.Paced() != "" && (s.Rate > 0 || s.PeakShare > 0), at,
			fmt.Sprintf("step %d (%s) has a rate, which decides when iterations begin, and %q has a pace", i+1, s.Name, p.Paced()),
			"remove one of the two")
		r.when(p.Repeated() != "" && p.Interleave > 0 && s.Open(), "interleave",
			fmt.Sprintf("%q is repeated, which slices of an open loop would interrupt", p.Repeated()), "remove `interleave` or `repeat`")
		if err := s.CheckInterleave(); p.Interleave > 0 && err != nil && !reported {
			reported = true
			r.when(true, "interleave", fmt.Sprintf("step %d (%s) cannot be interleaved: %v", i+1, s.Name, err),
				"remove `interleave`, or run such steps in their own profile")
		}
		measured = measured || !s.WarmUp
		findsPeak = findsPeak || !s.WarmUp && s.Connections > 0
	}
	r.when(!measured, "steps", "no measured step", "add one that is not a warm-up, such as `64`")
}

func (r *rules) thresholds(p *bench.Profile) {
	for i, t := range p.Thresholds {
		at := fmt.Sprintf("thresholds[%d]", i)
		if _, err := ParseConditions(t.Condition); err != nil {
			r.when(true, at+".condition", err.Error(), "")
		}
		if !slices.Contains([]bench.Scope{"", bench.ScopeTrial, bench.ScopeRun}, t.Stop) {
			r.wrong(at+".stop", string(t.Stop), "one of: trial, run")
		}
		n := len(p.Steps)
		exists := t.FromStep >= 0 && t.FromStep <= n
		r.when(n > 0 && !exists, at, fmt.Sprintf("from_step is %d; there are only %d steps", t.FromStep, n),
			"write the number of a step, counting warm-ups, or leave it out")
		measured := func(s bench.Step) bool { return !s.WarmUp }
		r.when(n > 0 && exists && !slices.ContainsFunc(p.Steps[max(t.FromStep-1, 0):], measured), at,
			"it checks no step", "only warm-ups follow: write a smaller `from_step`")
	}
}

// wrongMethod returns what is wrong with a method; "" if nothing is. Any token is one (RFC 9110, 9.1).
func wrongMethod(method string) (hint string) {
	upper := strings.ToUpper(method)
	switch {
	case len(method) > maxMethod || !token.MatchString(method):
		return fmt.Sprintf("write up to %d letters, such as `GET` or `PURGE`", maxMethod)
	case method == http.MethodConnect:
		return "write another one: CONNECT opens a tunnel, which has no responses to measure"
	case method != upper && slices.Contains(methods, upper):
		return fmt.Sprintf("write `%s`: services tell `%s` and `%s` apart", upper, upper, method)
	}
	return ""
}

const maxMethod = 40 // bytes

// methods are those that have a key.
var methods = []string{
	http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
	http.MethodOptions,
}
