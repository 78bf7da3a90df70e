// Package search finds the capacity of a contender: the highest rate at which it meets an SLO,
// under given limits.
package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/app"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/run/capacity"
	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/run/runner"
	"github.com/locbench/locbench/internal/text/console"
	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

// Options are the options of a search, in addition to those of a run.
type Options struct {
	app.RunOptions
	SLO, Resolution           string
	Limits                    []string      // searched one after the other: cpus=0.5,1 and memory=128MiB,256MiB are pairs
	Probe                     time.Duration // length of a probe
	WarmUp                    time.Duration // length of the closed loop before the first probe
	Confirm                   string        // K/N: K of N probes must pass
	Guess, MaxRate            float64
	MaxConnections, MaxProbes int

	engine runner.Engine // replaces package load in tests, which know its capacity
	rest   time.Duration // replaces restAfter in tests
}

// Run runs 'locbench capacity'.
func Run(ctx context.Context, env console.Env, o Options) error {
	slo, err := o.slo()
	if err != nil {
		return err
	}
	config, err := o.config()
	if err != nil {
		return err
	}
	places, err := o.places()
	if err != nil {
		return err
	}
	if len(o.Contenders) == 0 && !o.Changes.Given("target") {
		return console.Usagef("name a contender (see 'locbench services list') or set --target URL")
	}
	o.Out = cmp.Or(o.Out, app.NewFolder("capacity"))
	if _, err := os.Lstat(filepath.Join(o.Out, capacity.File)); err == nil {
		return console.Usagef("%s already holds a search: choose another --out", o.Out)
	}
	var planned []app.Plan
	for _, p := range places {
		c, err := o.plan(p, slo)
		if err != nil {
			return err
		}
		planned = append(planned, c)
	}
	first := planned[0].Run
	log := &recorder{dir: o.Out, record: capacity.Record{
		Schema: capacity.Schema, Contender: first.Profile.Contenders[0],
		SLO: slo.String(), Resolution: config.Resolution,
		Need: config.Need, Of: config.Of, Length: o.Probe, Started: first.Started, Command: first.Command,
		Price: first.Profile.PriceVCPUHr,
	}}
	for _, n := range first.Profile.Needs {
		if n.From.Traits().ByURL {
			log.record.External = append(log.record.External, n.Name)
		}
	}
	var failures []error
	for i, c := range planned {
		c.Run.Started = time.Now() // not the time of planning
		err := o.searchAt(ctx, env, c, places[i], config, slo, log, len(places))
		if err != nil && len(planned) > 1 {
			err = fmt.Errorf("%s: %w", places[i].label, err)
		}
		failures = append(failures, err)
		if ctx.Err() != nil || console.ExitCode(ctx, err) == console.ExitUsage {
			break
		}
	}
	if len(log.record.Points) == 0 {
		return errors.Join(failures...)
	}
	return errors.Join(errors.Join(failures...), write(env, o, log))
}

func (o *Options) slo() (profile.Conditions, error) {
	if o.SLO == "" {
		return nil, console.Usagef("--slo is missing, such as --slo 'p99<50ms,errors<0.1%%'")
	}
	slo, err := profile.ParseConditions(o.SLO)
	if err != nil {
		return nil, console.Usagef("--slo: %w", err)
	}
	for _, c := range slo {
		if c.Metric == profile.Throughput {
			return nil, console.Usagef("--slo: remove %s: throughput is what the search finds", c)
		}
	}
	return slo, nil
}

// place is one set of limits to search under.
type place struct {
	label string // such as "0.5 CPUs"; "" without --limits
	dir   string // in the results folder
	cpus  float64
	bytes int64
}

// searchAt runs one search and adds its point to the log.
func (o *Options) searchAt(
	ctx context.Context, env console.Env, c app.Plan, p place, config capacity.Config, slo profile.Conditions,
	log *recorder, limits int,
) error {
	first, dir := p.dir, c.Dir
	point := log.add(capacity.Point{Label: p.label, Limits: c.Run.Profile.LimitsOf(c.Run.Profile.Contenders[0]), Dir: p.dir})
	s := &capacitySearch{options: o, config: config, slo: slo, log: log, point: point}
	shown := &progress{env: env, options: o, search: s, limits: limits}
	c.Search, c.Follow, c.Engine = s, shown.follow, o.engine
	err := app.Conduct(ctx, env, c)
	for n := 2; s.killed(ctx, c.Dir, err, shown.printer); n++ {
		if err = s.err; !s.more() {
			break
		}
		// Its results are apart: those so far are those of a failed trial.
		p.dir = filepath.Join(first, fmt.Sprintf("start-%d", n))
		if c, err = o.plan(p, slo); err != nil {
			break
		}
		c.Search, c.Follow, c.Engine = s, shown.follow, o.engine
		err = app.Conduct(ctx, env, c)
	}
	if err == nil {
		err = s.err
	}
	if !shown.started.Load() {
		log.record.Points = log.record.Points[:point]
		return err
	}
	if run, trials, readErr := results.Read(c.Dir); err != nil && c.Dir == dir && readErr == nil && results.NothingRan(run, trials) {
		log.record.Points = log.record.Points[:point]
		return console.Append(errors.Join(err, results.Discard(c.Dir, run)), "nothing ran; no results saved")
	}
	if err != nil {
		log.record.Points[point].Failure = safe.Line(strings.ReplaceAll(err.Error(), "\n", "; "), 2000)
	}
	err = errors.Join(err, log.write())
	_, reportErr := app.RewriteReports(dir)
	if app.SearchesLimits(o.Out) {
		_, more := app.WriteSearchReports(o.Out, "")
		reportErr = errors.Join(reportErr, more)
	}
	return errors.Join(err, reportErr)
}

const (
	warmUpConnections = 16        // of the closed loop before the first probe
	mostRate          = 1_000_000 // requests per second of the load engine
	leastRate         = 1         // requests per second of the lowest probe
	maxPlaces         = 50        // values of --limits
)

// config returns the search that the flags describe. Without --guess, Start follows from the
// warm-up.
func (o *Options) config() (capacity.Config, error) {
	c := capacity.Config{Start: o.Guess, Min: leastRate, Max: o.MaxRate, Probes: o.MaxProbes}
	if c.Max == 0 {
		c.Max = mostRate
	}
	_, err := fmt.Sscanf(o.Confirm, "%d/%d", &c.Need, &c.Of)
	if err != nil || o.Confirm != fmt.Sprintf("%d/%d", c.Need, c.Of) || c.Of > 100 {
		return c, console.Usagef("--confirm %q: expected K/N, such as 2/3 (K of N probes must pass, N up to 100)",
			o.Confirm)
	}
	digits, percent := strings.CutSuffix(o.Resolution, "%")
	v, err := strconv.ParseFloat(digits, 64)
	if err != nil || !percent {
		return c, console.Usagef("--resolution %q: expected 0.1%% to 100%%, such as 3%%", o.Resolution)
	}
	c.Resolution = v / 100
	switch {
	case o.Guess < 0:
		return c, console.Usagef("--guess %g: must be above 0 requests/s", o.Guess)
	case o.MaxRate < 0 || o.MaxRate > mostRate:
		return c, console.Usagef("--max-rate %g: must be above 0, at most %d requests/s", o.MaxRate, mostRate)
	case o.Probe < time.Second || o.Probe > time.Hour:
		return c, console.Usagef("--probe %v: must be 1s to 1h", o.Probe)
	case o.WarmUp < 100*time.Millisecond || o.WarmUp > time.Hour:
		return c, console.Usagef("--warm-up %v: must be 100ms to 1h; a cold contender misleads the search", o.WarmUp)
	case o.MaxConnections < 0 || o.MaxConnections > 65535:
		return c, console.Usagef("--connections %d: must be 1 to 65535", o.MaxConnections)
	}
	probe := c
	probe.Start = max(probe.Start, leastRate)
	if _, err := capacity.New(probe); err != nil {
		return c, console.WithCode(console.ExitUsage, err)
	}
	return c, nil
}

func (o *Options) places() ([]place, error) {
	if len(o.Limits) == 0 {
		return []place{{dir: "."}}, nil
	}
	if o.Changes.Given("target") {
		return nil, console.Usagef("--limits: not with --target; locbench does not start that service")
	}
	lists := map[string][]place{}
	for _, limits := range o.Limits {
		key, list, ok := strings.Cut(limits, "=")
		if !ok || key != "cpus" && key != "memory" {
			return nil, console.Usagef("--limits %q: expected cpus=0.5,1,1.5,2 or memory=128MiB,512MiB", limits)
		}
		if o.Changes.Given(key) {
			return nil, console.Usagef("use either --limits or --%s", key)
		}
		if lists[key] != nil {
			return nil, console.Usagef("--limits: %s is given twice; write one list", key)
		}
		var err error
		if lists[key], err = placesOf(key, list); err != nil {
			return nil, err
		}
	}
	all, err := paired(lists["cpus"], lists["memory"])
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, p := range all {
		if seen[p.dir] {
			return nil, console.Usagef("--limits: %s is given twice", p.label)
		}
		seen[p.dir] = true
	}
	if len(all) > maxPlaces {
		return nil, console.Usagef("--limits: %d given, at most %d", len(all), maxPlaces)
	}
	return all, nil
}

// paired returns the limits of CPUs and memory that belong together: the first of both, the second
// of both, and so on; one alone belongs to all of the others.
func paired(cpus, memory []place) ([]place, error) {
	if len(cpus) == 0 || len(memory) == 0 {
		return append(cpus, memory...), nil
	}
	if len(cpus) != len(memory) && len(cpus) != 1 && len(memory) != 1 {
		return nil, console.Usagef("--limits: cpus has %d values, memory %d: they are pairs; write as many of each, or one for all", len(cpus), len(memory))
	}
	all := make([]place, max(len(cpus), len(memory)))
	for i := range all {
		c, m := cpus[min(i, len(cpus)-1)], memory[min(i, len(memory)-1)]
		all[i] = place{label: c.label + ", " + m.label, dir: c.dir + "-" + m.dir, cpus: c.cpus, bytes: m.bytes}
	}
	return all, nil
}

// placesOf returns the values of a list of limits.
func placesOf(key, list string) (all []place, err error) {
	for text := range strings.SplitSeq(list, ",") {
		var l bench.Limits
		if hint := strictyaml.SetText(&l, key, strings.TrimSpace(text)); hint != "" {
			return nil, console.Usagef("--limits: %q: %s", text, hint)
		}
		p := place{cpus: l.CPUs, bytes: l.Memory, label: units.CPUs(l.CPUs), dir: "cpus-" + strconv.FormatFloat(l.CPUs, 'g', -1, 64)}
		if p.bytes > 0 {
			p.label, p.dir = units.Bytes(p.bytes), "memory-"+strings.ReplaceAll(units.Bytes(p.bytes), " ", "")
		}
		all = append(all, p)
	}
	return all, nil
}

// plan returns the run of the profile with the limits of p, and with a warm-up instead of its
// steps.
func (o *Options) plan(p place, slo profile.Conditions) (app.Plan, error) {
	given := o.RunOptions
	given.Changes, given.Out = given.Changes.With("rounds", "1"), filepath.Join(o.Out, p.dir)
	if p.cpus > 0 {
		given.Changes = given.Changes.With("cpus", strconv.FormatFloat(p.cpus, 'f', -1, 64))
	}
	if p.bytes > 0 {
		given.Changes = given.Changes.With("memory", strictyaml.FormatBytes(p.bytes))
	}
	plan, err := app.NewPlan(given)
	if err != nil {
		return plan, err
	}
	run := &plan.Run
	pr := &run.Profile
	pr.Thresholds = nil // probes miss the SLO on purpose
	if len(pr.Contenders) != 1 {
		return app.Plan{}, console.Usagef("name one contender: profile %s has %d", pr.Name, len(pr.Contenders))
	}
	own := pr.SettingsOf(pr.Contenders[0]).Limits
	if p.cpus > 0 && own.CPUs > 0 || p.bytes > 0 && own.Memory > 0 {
		return app.Plan{}, console.Usagef("--limits: the profile sets that limit for %s itself (%s): remove it there",
			pr.Contenders[0], own)
	}
	pr.Description = fmt.Sprintf("Capacity search: probes of %s with the requests of profile %s.",
		units.Length(o.Probe), pr.Name)
	pr.Name, pr.Title = "capacity", "Capacity of "+pr.Contenders[0].String()+" under "+slo.String()
	if p.label != "" {
		pr.Title += " with " + p.label
	}
	pr.Checks.Lifecycle, pr.FirstRequests = nil, nil
	pr.Interleave, run.Plain = 0, nil // a search loads one contender
	pr.Steps = []bench.Step{{
		Name:        fmt.Sprintf("%d connections", warmUpConnections),
		Connections: warmUpConnections, WarmUp: true, UntilWarm: true, Duration: o.WarmUp,
	}}
	run.Search = slo.String()
	return plan, nil
}

// step returns the step of a probe.
func (o *Options) step(p capacity.Probe) bench.Step {
	name := units.Number(p.Rate) + "/s"
	if p.Phase == capacity.Confirm {
		name += fmt.Sprintf(", confirmation %d", p.Try)
	}
	return bench.Step{Name: name, Rate: p.Rate, MaxConnections: o.MaxConnections, Duration: o.Probe}
}
