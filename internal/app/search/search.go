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
	"strings"
	"time"

	"github.com/locbench/locbench/internal/app"
	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/run/capacity"
	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/run/runner"
	"github.com/locbench/locbench/internal/text/console"
	"github.com/locbench/locbench/internal/text/safe"
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
