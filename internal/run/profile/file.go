package profile

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/needs/kinds"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

const isolationAuto = "auto" // empty in bench.Profile, as in results written before isolation existed

// file is a profile as its file has it: these keys, and those of the fields of bench.Profile that
// have the same form there.
type file struct {
	bench.Profile
	keys

	items []int // for each step, the index of its item in the list
}

type keys struct {
	Contenders   []bench.Settings  `yaml:"contenders" strict:"min=1,max=100" example:"[go-nethttp]"`
	Services     contenderFolder   `yaml:"services"`
	Header       map[string]string `yaml:"header" strict:"max=50"`
	Follow       *follow           `yaml:"follow"`
	Setup        []request         `yaml:"setup" strict:"min=1,max=100"`
	Requests     requestList       `yaml:"requests" example:"[{get: /hello}]"`
	Sessions     []session         `yaml:"sessions" strict:"min=1,max=100"`
	Teardown     []request         `yaml:"teardown" strict:"min=1,max=100"`
	Interleave   interleave        `yaml:"interleave"`
	StepDuration time.Duration     `yaml:"step_duration" strict:"min=100ms,max=24h"`
	Steps        []step            `yaml:"steps" strict:"required,min=1,max=1000" example:"[1x5 warm-up, 2..64 doubling]"`
}

// readers read the types of bench whose form in a file is another one than their fields.
var readers = []strictyaml.Reader{
	strictyaml.ReaderOf(readSettings), strictyaml.ReaderOf(readNeeds), strictyaml.ReaderOf(readChecks),
	strictyaml.ReaderOf(readVariables), strictyaml.ReaderOf(readThreshold), strictyaml.ReaderOf(readSaves),
	strictyaml.ReaderOf(readFields), strictyaml.ReaderOf(readIDs), strictyaml.ReaderOf(readThink),
	strictyaml.ReaderOf(readRepeat),
}

// parse reads a profile. The error is a strictyaml.Mistakes, or that of the target file.
func parse(name string, data []byte, with instead) (bench.Profile, error) {
	f := defaults()
	f.Name = nameOf(name)
	other, err := with.requests()
	if err != nil {
		return bench.Profile{}, err
	}
	err = strictyaml.DecodeFrom(name, data, &f, strictyaml.Options{Allowed: with.allowed, Readers: readers}, func(v strictyaml.Value) {
		f.complete(v, f.replace(with, other, v.Has))
		f.report(v)
	})
	if err != nil {
		return bench.Profile{}, err
	}
	return f.Profile, nil
}

// nameOf makes a profile's name from a file's; it becomes part of the name of the results folder.
func nameOf(file string) string {
	base := path.Base(filepath.ToSlash(file))
	base = strings.ToLower(strings.TrimSuffix(base, path.Ext(base)))
	base = strings.Trim(notInName.ReplaceAllString(base, "-"), "-._")
	return cmp.Or(base[:min(len(base), maxName)], "profile")
}

// UnmarshalStrict reads the keys of a profile.
func (f *file) UnmarshalStrict(v strictyaml.Value) { v.Struct(&f.Profile, &f.keys) }

func defaults() file {
	return file{
		Profile: bench.Profile{
			Runtime: bench.RuntimeAuto, Timeout: 10 * time.Second, CompareBodies: .01,
			PriceVCPUHr: .0275, // dollars per vCPU-hour, as in the published comparison
			Checks:      bench.CheckSpec{Lifecycle: bench.LifecycleChecks()},
		},
		keys: keys{Interleave: interleave(bench.InterleaveAuto), StepDuration: 10 * time.Second},
	}
}

// complete makes the profile of what the file has: defaults that depend on other keys, what all
// requests share, and steps one by one. has reports whether the profile has a key.
func (f *file) complete(v strictyaml.Value, has func(keys ...string) bool) {
	p := &f.Profile
	p.Services, p.Interleave = string(f.keys.Services), time.Duration(f.keys.Interleave)
	if p.Isolation == isolationAuto {
		p.Isolation = ""
	}
	if p.Protocol == bench.HTTP11 {
		p.Protocol = "" // naming the default makes no other profile
	}
	for _, s := range f.keys.Contenders {
		p.Contenders = append(p.Contenders, s.Selection)
		if changes(s) {
			p.Settings = append(p.Settings, s)
		}
	}
	f.expandSteps()
	f.weigh(v)
	f.mix()
	f.nameTargets()
	of := kinds.Provided(p.Needs)
	if !has("checks", "suites") {
		p.Checks.Suites = slices.Concat(p.Checks.Suites, of.Suites)
	}
	p.CompareBounded = !has("compare_bodies")
	if of.Data {
		return
	}
	if !has("compare_bodies") && !slices.ContainsFunc(p.Requests, bench.Request.Checks) {
		p.CompareBodies, p.CompareBounded = 0, false
	}
	if !has("checks", "lifecycle") {
		// The lifecycle contract on logs, environment and stopping is that of locbench's
		// contenders.
		p.Checks.Lifecycle = []string{bench.CheckImageSize, bench.CheckThreads, bench.CheckStillResponds}
	}
}

// report reports the rules that the profile breaks, each at its line.
func (f *file) report(v strictyaml.Value) {
	reported := map[[2]string]bool{}
	for _, m := range mistakes(&f.Profile) {
		if f.ofTarget(v, m) {
			continue
		}
		of, name, ofHeader := strings.Cut(m.path, ".header.")
		if ofHeader && !v.Find(of).Has("header", name) { // shared by all requests: reported once
			m.path = "header." + name
			if reported[[2]string{m.path, m.what}] {
				continue
			}
			reported[[2]string{m.path, m.what}] = true
		}
		path := stepIndex.ReplaceAllStringFunc(m.path, func(at string) string { // an item may be several steps
			var i int
			_, _ = fmt.Sscanf(at, "steps[%d]", &i)
			return fmt.Sprintf("steps[%d]", f.items[i])
		})
		if of, ok := strings.CutSuffix(path, ".path"); ok { // the key may be a method: `get: /items`
			for _, method := range methods {
				if key := strings.ToLower(method); v.Find(of).Has(key) {
					path = of + "." + key
				}
			}
		}
		if at := v.Find(path); m.what == "" {
			at.Wrong(m.hint)
		} else {
			at.Mistake(m.what, m.hint)
		}
	}
}

// stepIndex matches the index of a step in the path of a mistake.
var stepIndex = regexp.MustCompile(`^steps\[\d+\]`)

func readNeeds(v strictyaml.Value, all *[]bench.NeedSpec) { (*kinds.List)(all).UnmarshalStrict(v) }

const maxName = 60

var (
	namePattern = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]*$`)
	notInName   = regexp.MustCompile(`[^a-z0-9._-]+`)
)

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

// mistakes returns all mistakes of p and changes nothing.
func mistakes(p *bench.Profile) []mistake {
	var r rules
	r.bounds("", p)
	if p.Timeout == 0 {
		r.wrong("timeout", p.Timeout, "write from 1ms to 1h")
	}
	if d := p.Interleave; d != 0 && d != bench.InterleaveAuto && (d < minSlice || d > maxSlice) {
		r.wrong("interleave", d, interleaveHint)
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
	r.when(p.Protocol == bench.HTTP2 && p.FirstRequests != nil,
		"protocol", "`protocol` is http/2, but `first_requests` uses HTTP/1.1", "remove one of the two")
	r.checks(p.Checks)
	r.steps(p)
	r.thresholds(p)
	return r
}

// mistake is a broken rule: the key's path, what is wrong ("": the value), and a remedy.
type mistake struct {
	path, value, what, hint string
}

func (m mistake) Error() string {
	return strings.TrimSuffix(cmp.Or(m.what, "`"+m.path+"` is "+m.value)+"; "+m.hint, "; ")
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

// bounds reports the values in the struct at src that are out of the bounds of their tags.
func (r *rules) bounds(path string, src any) {
	strictyaml.CheckBounds(src, func(key, value, hint string) { r.wrong(path+key, value, hint) })
}

// between reports n if it is below low or above high.
func (r *rules) between(path string, n, low, high int) {
	if n < low || n > high {
		r.wrong(path, n, fmt.Sprintf("write from %d to %d", low, high))
	}
}

func squeeze(s string) string { return strings.Join(strings.Fields(s), " ") }

func count(v strictyaml.Value, keys ...string) (n int) {
	for _, key := range keys {
		if v.Has(key) {
			n++
		}
	}
	return n
}
