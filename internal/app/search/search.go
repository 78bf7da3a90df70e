// Package search finds the capacity of a contender: the highest rate that it sustains under an
// objective and limits.
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

	"locbench/internal/app"
	"locbench/internal/results"
	"locbench/internal/run/capacity"
	"locbench/internal/run/profile"
	"locbench/internal/run/runner"
	"locbench/internal/text/console"
	"locbench/internal/text/safe"
)

// Options are what a search is asked for, besides what it shares with a run.
type Options struct {
	app.RunOptions
	SLO, Resolution           string
	Limits                    string        // to search under, one after the other: cpus=0.5,1 or memory=128MiB
	Probe                     time.Duration // length of one
	WarmUp                    time.Duration // length of the closed loop before the first probe
	Confirm                   string        // K/N
	Guess, MaxRate            float64
	MaxConnections, MaxProbes int

	engine runner.Engine // nil: package load; tests know what theirs can do
	rest   time.Duration // 0: restAfter
}

// Run returns locbench capacity.
func Run(ctx context.Context, env console.Env, o Options) error {
	objective, err := o.objective()
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
		c, err := o.plan(p, objective)
		if err != nil {
			return err
		}
		planned = append(planned, c)
	}
	first := planned[0].Run
	log := &recorder{dir: o.Out, record: capacity.Record{
		Schema: capacity.Schema, Contender: first.Profile.Contenders[0],
		SLO: objective.String(), Resolution: config.Resolution,
		Need: config.Need, Of: config.Of, Length: o.Probe, Started: first.Started, Command: app.Public(first).Command,
	}}
	var failures []error
	for i, c := range planned {
		c.Run.Started = time.Now() // all were planned at the beginning
		err := o.searchAt(ctx, env, c, places[i], config, objective, log)
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

func (o *Options) objective() (profile.Conditions, error) {
	if o.SLO == "" {
		return nil, console.Usagef("--slo is missing, such as --slo 'p99<50ms,errors<0.1%%'")
	}
	objective, err := profile.ParseConditions(o.SLO)
	if err != nil {
		return nil, console.Usagef("--slo: %w", err)
	}
	for _, c := range objective {
		if c.Metric == profile.Throughput {
			return nil, console.Usagef("--slo: remove %s: throughput is what the search finds", c)
		}
	}
	return objective, nil
}

// place is one set of limits to search under.
type place struct {
	label string // "0.5 CPUs"; "" where there is one only
	dir   string // within the results folder
	cpus  float64
	bytes int64
}

// searchAt runs one search and adds its point to the log.
func (o *Options) searchAt(
	ctx context.Context, env console.Env, c app.Plan, p place, config capacity.Config, objective profile.Conditions,
	log *recorder,
) error {
	point := log.add(capacity.Point{Label: p.label, Limits: c.Run.Profile.Limits, Dir: p.dir})
	s := &capacitySearch{options: o, config: config, objective: objective, log: log, point: point}
	shown := &progress{env: env, options: o, search: s}
	c.Search, c.Follow, c.Engine = s, shown.follow, o.engine
	err := app.Conduct(ctx, env, c)
	if err == nil {
		err = s.err
	}
	if !shown.started.Load() {
		log.record.Points = log.record.Points[:point]
		return err
	}
	if run, trials, readErr := results.Read(c.Dir); err != nil && readErr == nil && results.NothingRan(run, trials) {
		log.record.Points = log.record.Points[:point]
		return console.Append(errors.Join(err, results.Discard(c.Dir, run)), "nothing ran, so nothing is kept")
	}
	if err != nil {
		log.record.Points[point].Failure = safe.Line(strings.ReplaceAll(err.Error(), "\n", "; "), 2000)
	}
	_, reportErr := app.RewriteReports(c.Dir)
	return errors.Join(err, reportErr, log.write())
}
