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

	"locbench/internal/bench"
	"locbench/internal/strictyaml"
)

const (
	defaultSuite  = "locations"
	maxName       = 60
	isolationAuto = "auto" // in bench.Profile the empty text, as in results from before there was a choice
)

var (
	namePattern = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]*$`)
	notInName   = regexp.MustCompile(`[^a-z0-9._-]+`)
)

type file struct {
	Name         string         `yaml:"name,omitempty" strict:"min=1,max=60"`
	Title        string         `yaml:"title,omitempty" strict:"max=200"`
	Description  string         `yaml:"description,omitempty" strict:"max=10000"`
	Contenders   []selection    `yaml:"contenders,flow,omitempty" strict:"min=1,max=100" example:"[go-nethttp]"`
	Rounds       int            `yaml:"rounds" strict:"min=1,max=1000"`
	Runtime      bench.Runtime  `yaml:"runtime"`
	Limits       limits         `yaml:"limits,omitempty"`
	Isolation    string         `yaml:"isolation" strict:"oneof=auto|off"`
	Store        store          `yaml:"store"`
	Data         data           `yaml:"data"`
	Requests     []request      `yaml:"requests" strict:"required,min=1,max=100" example:"[{path: '/city/v1/get?id={id}&language={language}'}]"`
	Protocol     bench.Protocol `yaml:"protocol,omitempty" strict:"oneof=http/1.1|http/2"`
	Timeout      duration       `yaml:"timeout" strict:"min=1ms,max=1h"`
	Validate     share          `yaml:"validate"`
	MaxErrors    share          `yaml:"max_errors,omitempty"`
	Phases       *phases        `yaml:"phases,omitempty"`
	Checks       checks         `yaml:"checks"`
	StepDuration duration       `yaml:"step_duration,omitempty" strict:"min=100ms,max=24h"`
	Turns        duration       `yaml:"turns,omitempty" strict:"min=50ms,max=1m"`
	Steps        steps          `yaml:"steps" strict:"required,min=1,max=1000" example:"[1x5 warm-up, 2..64 doubling]"`
	Thresholds   []threshold    `yaml:"thresholds,omitempty" strict:"max=100"`
	Price        float64        `yaml:"price_per_vcpu_hour" strict:"min=0,max=1000"`
}

// duration is written with its unit.
type duration = strictyaml.Duration

// share is a part of a whole, written in percent.
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
	if !isPercent || err != nil || !(x >= .001 && x <= 100) {
		v.Wrong("write a share from 0.001% to 100%, or `none`")
		return
	}
	*s = share(math.Round(x*1e4) / 1e6)
}

// MarshalYAML writes what UnmarshalStrict reads.
func (s share) MarshalYAML() (any, error) {
	if s == 0 {
		return "none", nil
	}
	return strconv.FormatFloat(math.Round(float64(s)*1e6)/1e4, 'f', -1, 64) + "%", nil
}

// limits has a zero for "no such limit", which in a file is the absence of the key.
type limits struct {
	CPUs   float64          `yaml:"cpus,omitempty" strict:"min=0.01,max=1024"`
	CPUSet int              `yaml:"cpu_set,omitempty" strict:"min=1,max=1024"`
	Memory strictyaml.Bytes `yaml:"memory,omitempty" strict:"min=6MiB,max=16TiB"`
	PIDs   int64            `yaml:"pids,omitempty" strict:"min=1,max=4194304"`
}

// phases asks for the first requests of a leg to be timed one by one.
type phases struct {
	Requests int `yaml:"requests" strict:"required,min=1,max=1000" example:"10"`
}

func defaults() file {
	return file{
		Rounds: 1, Runtime: bench.RuntimeAuto, Isolation: isolationAuto, Store: store{Kind: bench.StoreAuto},
		Timeout: duration(10 * time.Second), StepDuration: duration(10 * time.Second),
		Validate: .01,   // of the answers, whose bodies are compared with the known ones
		Price:    .0275, // dollars for a vCPU-hour, as in the published comparison
		Checks:   checks{Lifecycle: bench.LifecycleChecks()},
	}
}

// ValidateStrict looks at what concerns more than one key.
func (f *file) ValidateStrict(v strictyaml.Value) {
	if f.Name != "" && !namePattern.MatchString(f.Name) {
		v.At("name").Wrong("write small letters, digits, `-`, `_` and `.`: it becomes part of a folder's name")
	}
	for i, c := range f.Contenders {
		if slices.Contains(f.Contenders[:i], c) {
			item := v.At("contenders").Items()[i]
			item.Mistake(fmt.Sprintf("contender %q is here again", c), "list each once: `rounds` repeats them")
		}
	}
	f.follow(v)
	var names []string
	for i, r := range f.Requests {
		if r.Name != "" && slices.Contains(names, r.Name) {
			item := v.At("requests").Items()[i]
			item.At("name").Mistake(fmt.Sprintf("request %q is here again", r.Name), "give each a name of its own")
		}
		names = append(names, r.Name)
	}
	for _, item := range v.At("steps").Items() {
		if item.Kind() != strictyaml.Map || !item.Has("request") || len(names) == 0 {
			continue
		}
		if name, ok := item.At("request").Text(); ok && !slices.Contains(names, name) {
			item.At("request").Wrong(fmt.Sprintf("name one of the `requests`, such as %q", cmp.Or(names...)))
		}
	}
	if f.Protocol == bench.HTTP2 && f.Phases != nil {
		v.At("protocol").Mistake("`protocol` is http/2, but `phases` are timed over HTTP/1.1", "remove one of the two")
	}
	if v.Has("max_errors") && f.MaxErrors == 0 {
		v.At("max_errors").Wrong("write a share from 0.001% to 100%")
	}
	f.Steps.fill(time.Duration(f.StepDuration))
	for i, step := range f.Steps {
		if err := step.CheckTurns(); f.Turns > 0 && err != nil {
			v.At("turns").Mistake(fmt.Sprintf("`turns` do not fit step %d (%s): %v", i+1, step.Name, err),
				"remove `turns`, or run such steps in a profile of their own")
			break
		}
	}
	f.checkThresholds(v)
}

// follow fills in what follows from the requests: a profile that asks no city needs no store, no
// data, and no checks of the locations service.
func (f *file) follow(v strictyaml.Value) {
	if slices.ContainsFunc(f.Requests, request.namesCity) {
		if !v.Has("checks", "suites") && f.Data == (data{}) {
			f.Checks.Suites = []string{defaultSuite} // it knows the bundled data and no other
		}
		return
	}
	if !v.Has("store") && !v.Has("data") {
		f.Store = store{Kind: bench.StoreNone}
	}
	if !v.Has("validate") {
		f.Validate = 0
	}
	if !v.Has("checks", "lifecycle") {
		f.Checks.Lifecycle = slices.DeleteFunc(bench.LifecycleChecks(), func(name string) bool {
			// What a locations service logs, needs and does when it is asked to stop is its contract.
			return !slices.Contains([]string{bench.CheckImageSize, bench.CheckThreads, bench.CheckStillAnswers}, name)
		})
	}
	if !f.Store.Kind.Traits().None {
		return
	}
	for i, r := range f.Requests {
		if strings.Contains(r.Path, "{id}") && r.IDs.Distribution != fixed {
			v.At("requests").Items()[i].At("path").Mistake("`{id}` has no values: the ids of the data set are those of cities, and this profile has no store",
				"list them: `ids: [1, 2, 3]`")
		}
	}
}

func (f file) profile() bench.Profile {
	p := bench.Profile{
		Name: f.Name, Title: f.Title, Description: f.Description, Rounds: f.Rounds, Runtime: f.Runtime,
		Limits: bench.Limits{
			CPUs: f.Limits.CPUs, CPUSet: f.Limits.CPUSet, Memory: int64(f.Limits.Memory), PIDs: f.Limits.PIDs,
		},
		Data: bench.DataSpec(f.Data), Protocol: f.Protocol, Timeout: time.Duration(f.Timeout),
		Validate: float64(f.Validate), MaxErrors: float64(f.MaxErrors), Checks: bench.CheckSpec{Lifecycle: f.Checks.Lifecycle, Suites: f.Checks.Suites},
		Phases: (*bench.PhaseSpec)(f.Phases), Turns: time.Duration(f.Turns), Steps: f.Steps, PriceVCPUHr: f.Price,
		Contenders: each(f.Contenders, func(s selection) bench.Selection { return bench.Selection(s) }),
		Requests:   each(f.Requests, request.request),
		Thresholds: each(f.Thresholds, func(t threshold) bench.Threshold { return bench.Threshold(t) }),
	}
	p.Store = bench.StoreSpec{Kind: f.Store.Kind, URL: f.Store.URL, Image: f.Store.Image}
	p.Store.Latency, p.Store.P99 = time.Duration(f.Store.Latency), time.Duration(f.Store.P99)
	if p.Protocol == bench.HTTP11 {
		p.Protocol = "" // the same profile, whether or not it says so
	}
	if f.Isolation != isolationAuto {
		p.Isolation = f.Isolation
	}
	if len(p.Checks.Suites) == 0 {
		p.Checks.Suites = nil
	}
	return p
}

func fileOf(p bench.Profile) file {
	return file{
		Name: p.Name, Title: p.Title, Description: p.Description, Rounds: p.Rounds, Runtime: p.Runtime,
		Limits: limits{p.Limits.CPUs, p.Limits.CPUSet, strictyaml.Bytes(p.Limits.Memory), p.Limits.PIDs},
		Store:  store{p.Store.Kind, p.Store.URL, p.Store.Image, duration(p.Store.Latency), duration(p.Store.P99)},
		Data:   data(p.Data), Protocol: p.Protocol, Timeout: duration(p.Timeout), Validate: share(p.Validate), MaxErrors: share(p.MaxErrors),
		Checks: checks{p.Checks.Lifecycle, p.Checks.Suites}, Isolation: cmp.Or(p.Isolation, isolationAuto),
		Phases: (*phases)(p.Phases), Turns: duration(p.Turns), Steps: p.Steps, Price: p.PriceVCPUHr,
		Contenders: each(p.Contenders, func(s bench.Selection) selection { return selection(s) }),
		Requests:   each(p.Requests, requestOf),
		Thresholds: each(p.Thresholds, func(t bench.Threshold) threshold { return threshold(t) }),
	}
}

// each converts a list; nil stands for one without items.
func each[T, U any](list []T, convert func(T) U) (out []U) {
	for _, item := range list {
		out = append(out, convert(item))
	}
	return out
}
