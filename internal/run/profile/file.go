package profile

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/needs/kinds"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

const (
	maxName          = 60
	minShare         = .00001
	maxWeight        = 1_000_000
	maxFirstRequests = 1000   // requests that are timed one at a time
	isolationAuto    = "auto" // empty in bench.Profile, as in results written before isolation existed
)

var (
	namePattern = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]*$`)
	notInName   = regexp.MustCompile(`[^a-z0-9._-]+`)
)

type file struct {
	Name          string            `yaml:"name,omitempty"`
	Title         string            `yaml:"title,omitempty" strict:"max=200"`
	Description   string            `yaml:"description,omitempty" strict:"max=10000"`
	Contenders    []chosen          `yaml:"contenders,flow,omitempty" strict:"min=1,max=100" example:"[go-nethttp]"`
	Services      contenderFolder   `yaml:"services,omitempty"`
	Rounds        int               `yaml:"rounds,omitempty"`
	Runtime       bench.Runtime     `yaml:"runtime"`
	Limits        limits            `yaml:"limits,omitempty"`
	Isolation     string            `yaml:"isolation"`
	Needs         kinds.List        `yaml:"needs,omitempty"`
	Header        map[string]string `yaml:"header,omitempty" strict:"max=50"`
	Follow        follow            `yaml:"follow,omitempty"`
	Variables     variables         `yaml:"variables,omitempty"`
	Setup         []request         `yaml:"setup,omitempty" strict:"min=1,max=100"`
	Requests      requestList       `yaml:"requests,omitempty" example:"[{get: /hello}]"`
	Sessions      []session         `yaml:"sessions,omitempty" strict:"min=1,max=100"`
	Teardown      []request         `yaml:"teardown,omitempty" strict:"min=1,max=100"`
	Protocol      bench.Protocol    `yaml:"protocol,omitempty"`
	Timeout       duration          `yaml:"timeout"`
	CompareBodies compared          `yaml:"compare_bodies,omitempty"`
	MaxErrors     share             `yaml:"max_errors,omitempty"`
	MaxUnexpected share             `yaml:"max_unexpected,omitempty"`
	FirstRequests *firstRequests    `yaml:"first_requests,omitempty"`
	Checks        checks            `yaml:"checks"`
	StepDuration  duration          `yaml:"step_duration,omitempty" strict:"min=100ms,max=24h"`
	Interleave    interleave        `yaml:"interleave"`
	Steps         steps             `yaml:"steps" strict:"required,min=1,max=1000" example:"[1x5 warm-up, 2..64 doubling]"`
	Thresholds    []threshold       `yaml:"thresholds,omitempty" strict:"max=100"`
	Price         float64           `yaml:"price_per_vcpu_hour"`
}

// contenderFolder is the folder with the contenders.
type contenderFolder string

// UnmarshalStrict reads the path of a folder.
func (f *contenderFolder) UnmarshalStrict(v strictyaml.Value) {
	if v.Kind() == strictyaml.Map {
		v.Wrong("write the folder with the contenders; services that they need, such as a database, are in `needs`")
		return
	}
	(*strictyaml.Folder)(f).UnmarshalStrict(v)
}

// duration is written with its unit.
type duration = strictyaml.Duration

// compared is the share of bodies that are compared.
type compared struct {
	of      share
	bounded bool // it is the default, which a file lacks
}

// UnmarshalStrict reads what share reads.
func (c *compared) UnmarshalStrict(v strictyaml.Value) {
	c.of.UnmarshalStrict(v)
	c.bounded = false
}

// IsZero makes a file lack the default.
func (c compared) IsZero() bool { return c.bounded }

// MarshalYAML writes what UnmarshalStrict reads.
func (c compared) MarshalYAML() (any, error) { return c.of.MarshalYAML() }

const shareHint = "write a share from 0.001% to 100%, or `none`"

// share is a part of a whole, from 0 to 1; written in percent.
type share float64

// UnmarshalStrict reads "1%", and "none" or "off" for 0.
func (s *share) UnmarshalStrict(v strictyaml.Value) {
	text, ok := v.Text()
	if !ok {
		return
	}
	if text == "none" || text == "0" {
		*s = 0
		return
	}
	number, isPercent := strings.CutSuffix(squeeze(text), "%")
	x, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if !isPercent || err != nil || math.IsNaN(x) {
		v.Wrong(shareHint)
		return
	}
	*s = share(math.Round(x*1e4) / 1e6)
}

// MarshalYAML writes what UnmarshalStrict reads.
func (s share) MarshalYAML() (any, error) {
	if s == 0 {
		return "none", nil
	}
	return writeShare(float64(s)), nil
}

func writeShare(x float64) string { return writeFloat(math.Round(x*1e6)/1e4) + "%" }

// limits are those of a contender. Zero means no limit; a file then lacks the key.
type limits struct {
	CPUs   float64          `yaml:"cpus,omitempty"`
	CPUSet int              `yaml:"cpu_set,omitempty"`
	Memory strictyaml.Bytes `yaml:"memory,omitempty"`
	PIDs   int64            `yaml:"pids,omitempty"`
}

// firstRequests says how many requests at the start of a trial are timed one at a time.
type firstRequests struct {
	Requests int `yaml:"requests" strict:"required" example:"10"`
}

func defaults() file {
	return file{
		Interleave: interleave(bench.InterleaveAuto), Runtime: bench.RuntimeAuto, Isolation: isolationAuto,
		Timeout: duration(10 * time.Second), StepDuration: duration(10 * time.Second),
		CompareBodies: compared{.01, true},
		Price:         .0275, // dollars per vCPU-hour, as in the published comparison
		Checks:        checks{Lifecycle: bench.LifecycleChecks()},
	}
}

// derive fills in defaults that depend on other keys: durations of steps, and what checks get from
// needs. has reports whether the profile has a key.
func (f *file) derive(v strictyaml.Value, causes cause, has func(keys ...string) bool) {
	f.Steps.fill(time.Duration(f.StepDuration))
	f.nameTargets()
	for i := range f.Sessions {
		if s := &f.Sessions[i]; s.Name == "" { // reported: its requests are those of a session all the same
			s.Name = fmt.Sprintf("session %d", i+1)
		}
	}
	f.weigh(v, causes)
	of := kinds.Provided(f.Needs)
	if !has("checks", "suites") {
		for _, name := range of.Suites {
			f.Checks.Suites = append(f.Checks.Suites, suite(name))
		}
	}
	if of.Data {
		return
	}
	if !has("compare_bodies") && !slices.ContainsFunc(f.mix(), bench.Request.Checks) {
		f.CompareBodies = compared{}
	}
	if !has("checks", "lifecycle") {
		// The lifecycle contract on logs, environment and stopping is that of locbench's
		// contenders.
		f.Checks.Lifecycle = []string{bench.CheckImageSize, bench.CheckThreads, bench.CheckStillResponds}
	}
}

// stepIndex matches the index of a step in the path of a mistake.
var stepIndex = regexp.MustCompile(`^steps\[(\d+)\]`)

// report reports the rules that p, the profile of f, breaks; each at its line.
func (f *file) report(p *bench.Profile, v strictyaml.Value, causes cause) {
	for _, o := range Options() {
		keys := strings.Split(o.Key, ".")
		if o.wrong == nil || !v.Has(keys...) {
			continue
		}
		if hint := o.wrong(p, true); hint != "" {
			v.Find(o.Key).Wrong(hint)
		}
	}
	reported := map[[2]string]bool{}
	for _, m := range mistakes(p) {
		if causes.of(f.placed(m)) {
			continue
		}
		if f.Requests.report(m) {
			continue
		}
		if of, name, ok := strings.Cut(m.path, ".header."); ok && !v.Find(of).Has("header", name) {
			m.path = "header." + name // shared by all requests: reported once
			if once := [2]string{m.path, m.what}; reported[once] {
				continue
			} else {
				reported[once] = true
			}
		}
		path := f.placed(m).path
		if of, ok := strings.CutSuffix(path, ".path"); ok { // the key may be a method: `get: /items`
			for _, m := range new(request).methodKeys() {
				if v.Find(of).Has(m.key) {
					path = of + "." + m.key
				}
			}
		}
		at := v.Find(path)
		if m.what == "" {
			at.Wrong(m.hint)
		} else {
			at.Mistake(m.what, m.hint)
		}
	}
}

// placed returns a mistake with the path of the item in the file: that of a step may be several.
func (f *file) placed(m mistake) mistake {
	m.path = stepIndex.ReplaceAllStringFunc(m.path, func(at string) string {
		i, _ := strconv.Atoi(stepIndex.FindStringSubmatch(at)[1])
		return fmt.Sprintf("steps[%d]", f.Steps.items[i])
	})
	return m
}

func (f file) profile() bench.Profile {
	p := bench.Profile{
		Name: f.Name, Title: f.Title, Description: f.Description, Rounds: f.Rounds, Runtime: f.Runtime,
		Limits: bench.Limits{
			CPUs: f.Limits.CPUs, CPUSet: f.Limits.CPUSet, Memory: int64(f.Limits.Memory), PIDs: f.Limits.PIDs,
		},
		Needs: f.Needs, Protocol: f.Protocol, Timeout: time.Duration(f.Timeout),
		CompareBodies: float64(f.CompareBodies.of), CompareBounded: f.CompareBodies.bounded, MaxErrors: float64(f.MaxErrors),
		MaxUnexpected: float64(f.MaxUnexpected),
		Checks: bench.CheckSpec{
			Lifecycle: f.Checks.Lifecycle, Suites: each(f.Checks.Suites, func(s suite) string { return string(s) }),
		},
		PriceVCPUHr:   f.Price,
		FirstRequests: (*bench.FirstRequestsSpec)(f.FirstRequests),
		Interleave:    time.Duration(f.Interleave), Steps: f.Steps.all,
		Services:   string(f.Services),
		Contenders: each(f.Contenders, func(c chosen) bench.Selection { return c.Selection }), Settings: settingsOf(f.Contenders),
		Variables: f.Variables, Setup: f.setup(), Requests: f.mix(), Teardown: f.requests(f.Teardown),
		Sessions: each(f.Sessions, func(s session) bench.Session {
			return bench.Session{Name: s.Name, Weight: s.Weight, Pace: time.Duration(s.Pace)}
		}),
		Thresholds: each(f.Thresholds, func(t threshold) bench.Threshold { return bench.Threshold(t) }),
	}
	if p.Protocol == bench.HTTP11 {
		p.Protocol = "" // naming the default makes no other profile
	}
	if f.Isolation != isolationAuto {
		p.Isolation = f.Isolation
	}
	return p
}

func fileOf(p bench.Profile) file {
	return file{
		Name: p.Name, Title: p.Title, Description: p.Description, Rounds: p.Rounds, Runtime: p.Runtime,
		Limits: limits{p.Limits.CPUs, p.Limits.CPUSet, strictyaml.Bytes(p.Limits.Memory), p.Limits.PIDs},
		Needs:  p.Needs, Protocol: p.Protocol, Timeout: duration(p.Timeout),
		CompareBodies: compared{share(p.CompareBodies), p.CompareBounded && p.CompareBodies > 0}, MaxErrors: share(p.MaxErrors),
		MaxUnexpected: share(p.MaxUnexpected), Price: p.PriceVCPUHr,
		Checks:        checks{p.Checks.Lifecycle, each(p.Checks.Suites, func(s string) suite { return suite(s) })},
		Isolation:     cmp.Or(p.Isolation, isolationAuto),
		FirstRequests: (*firstRequests)(p.FirstRequests), Interleave: interleave(p.Interleave), Steps: steps{all: p.Steps},
		Services:   contenderFolder(p.Services),
		Contenders: each(p.Contenders, func(s bench.Selection) chosen { return chosen(p.SettingsOf(s)) }),
		Variables:  p.Variables, Setup: each(p.Setup, requestOf), Teardown: each(p.Teardown, requestOf),
		Sessions: each(p.Sessions, func(s bench.Session) session {
			return session{Name: s.Name, Weight: s.Weight, Pace: duration(s.Pace), Setup: requestsOf(p, s.Name, true), Requests: requestsOf(p, s.Name, false)}
		}),
		Requests:   requestList{all: requestsOf(p, "", false)},
		Thresholds: each(p.Thresholds, func(t bench.Threshold) threshold { return threshold(t) }),
	}
}

// mix returns the single requests, then those of the sessions, each after its setup.
func (f *file) mix() []bench.Request {
	all := f.requests(f.Requests.all)
	for _, s := range f.Sessions {
		for _, r := range withoutSaved(f.ofSession(s.Setup, s.Name), s.Setup) {
			r.SetUp = true
			all = append(all, r)
		}
		all = append(all, f.ofSession(s.Requests, s.Name)...)
	}
	return all
}

// setup returns the requests of the setup. They lack a shared header until its variable is saved.
func (f *file) setup() []bench.Request { return withoutSaved(f.requests(f.Setup), f.Setup) }

// withoutSaved removes from all, the requests of a setup, shared headers with what is saved later.
func withoutSaved(all []bench.Request, setup []request) []bench.Request {
	for i, r := range all {
		for name, value := range r.Header {
			if _, own := setup[i].Header[name]; own {
				continue
			}
			for _, later := range setup[i:] {
				if slices.ContainsFunc(later.Save, func(s bench.Save) bool { return bench.HasPlace(value, s.Name) }) {
					delete(r.Header, name)
				}
			}
		}
		if len(r.Header) == 0 {
			all[i].Header = nil
		}
	}
	return all
}

// requestsOf returns the requests of a session, or those of its setup; "" stands for the single
// ones.
func requestsOf(p bench.Profile, session string, setup bool) (all []request) {
	for _, r := range p.Requests {
		if r.Session == session && r.SetUp == setup {
			all = append(all, requestOf(r))
		}
	}
	return all
}

// each converts the items of a list; an empty list becomes nil.
func each[T, U any](list []T, convert func(T) U) (out []U) {
	for _, item := range list {
		out = append(out, convert(item))
	}
	return out
}
