package profile

import (
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
	Name          string                   `yaml:"name"`
	Title         string                   `yaml:"title" strict:"max=200"`
	Description   string                   `yaml:"description" strict:"max=10000"`
	Contenders    []chosen                 `yaml:"contenders" strict:"min=1,max=100" example:"[go-nethttp]"`
	Services      contenderFolder          `yaml:"services"`
	Rounds        int                      `yaml:"rounds"`
	Runtime       bench.Runtime            `yaml:"runtime"`
	Limits        limits                   `yaml:"limits"`
	Isolation     string                   `yaml:"isolation"`
	Needs         kinds.List               `yaml:"needs"`
	Header        map[string]string        `yaml:"header" strict:"max=50"`
	Follow        follow                   `yaml:"follow"`
	Variables     variables                `yaml:"variables"`
	Setup         []request                `yaml:"setup" strict:"min=1,max=100"`
	Requests      requestList              `yaml:"requests" example:"[{get: /hello}]"`
	Sessions      []session                `yaml:"sessions" strict:"min=1,max=100"`
	Teardown      []request                `yaml:"teardown" strict:"min=1,max=100"`
	Protocol      bench.Protocol           `yaml:"protocol"`
	Timeout       time.Duration            `yaml:"timeout"`
	CompareBodies compared                 `yaml:"compare_bodies"`
	MaxErrors     share                    `yaml:"max_errors"`
	MaxUnexpected share                    `yaml:"max_unexpected"`
	FirstRequests *bench.FirstRequestsSpec `yaml:"first_requests"`
	Checks        checks                   `yaml:"checks"`
	StepDuration  time.Duration            `yaml:"step_duration" strict:"min=100ms,max=24h"`
	Interleave    interleave               `yaml:"interleave"`
	Steps         steps                    `yaml:"steps" strict:"required,min=1,max=1000" example:"[1x5 warm-up, 2..64 doubling]"`
	Thresholds    []threshold              `yaml:"thresholds" strict:"max=100"`
	Price         float64                  `yaml:"price_per_vcpu_hour"`
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

func writeShare(x float64) string { return writeFloat(math.Round(x*1e6)/1e4) + "%" }

// limits are those of a contender. Zero means no limit; a file then lacks the key.
type limits struct {
	CPUs   float64          `yaml:"cpus"`
	CPUSet int              `yaml:"cpu_set"`
	Memory strictyaml.Bytes `yaml:"memory"`
	PIDs   int64            `yaml:"pids"`
}

func defaults() file {
	return file{
		Interleave: interleave(bench.InterleaveAuto), Runtime: bench.RuntimeAuto, Isolation: isolationAuto,
		Timeout: 10 * time.Second, StepDuration: 10 * time.Second,
		CompareBodies: compared{.01, true},
		Price:         .0275, // dollars per vCPU-hour, as in the published comparison
		Checks:        checks{Lifecycle: bench.LifecycleChecks()},
	}
}

// derive fills in defaults that depend on other keys: durations of steps, and what checks get from
// needs. has reports whether the profile has a key.
func (f *file) derive(v strictyaml.Value, has func(keys ...string) bool) {
	f.Steps.fill(f.StepDuration)
	f.nameTargets()
	for i := range f.Sessions {
		if s := &f.Sessions[i]; s.Name == "" { // reported: its requests are those of a session all the same
			s.Name = fmt.Sprintf("session %d", i+1)
		}
	}
	f.weigh(v)
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
func (f *file) report(p *bench.Profile, v strictyaml.Value) {
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
		Needs: f.Needs, Protocol: f.Protocol, Timeout: f.Timeout,
		CompareBodies: float64(f.CompareBodies.of), CompareBounded: f.CompareBodies.bounded, MaxErrors: float64(f.MaxErrors),
		MaxUnexpected: float64(f.MaxUnexpected),
		Checks: bench.CheckSpec{
			Lifecycle: f.Checks.Lifecycle, Suites: each(f.Checks.Suites, func(s suite) string { return string(s) }),
		},
		PriceVCPUHr:   f.Price,
		FirstRequests: f.FirstRequests,
		Interleave:    time.Duration(f.Interleave), Steps: f.Steps.all,
		Services:   string(f.Services),
		Contenders: each(f.Contenders, func(c chosen) bench.Selection { return c.Selection }), Settings: settingsOf(f.Contenders),
		Variables: f.Variables, Setup: f.setup(), Requests: f.mix(), Teardown: f.requests(f.Teardown),
		Sessions: each(f.Sessions, func(s session) bench.Session {
			return bench.Session{Name: s.Name, Weight: s.Weight, Pace: s.Pace}
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

// each converts the items of a list; an empty list becomes nil.
func each[T, U any](list []T, convert func(T) U) (out []U) {
	for _, item := range list {
		out = append(out, convert(item))
	}
	return out
}
