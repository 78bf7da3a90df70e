package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/locbench/locbench/internal/analysis/compare"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/host/limits"
	"github.com/locbench/locbench/internal/load"
	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/results/event"
	"github.com/locbench/locbench/internal/results/export"
	"github.com/locbench/locbench/internal/run/machine"
	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/run/runner"
	"github.com/locbench/locbench/internal/run/worker"
	"github.com/locbench/locbench/internal/store/dataset"
	"github.com/locbench/locbench/internal/text/console"
	"github.com/locbench/locbench/internal/text/secret"
)

// Search chooses the steps while a run is in progress.
type Search interface {
	// Begin is called before the first step, with the final plan and a function that publishes
	// events.
	Begin(run *bench.Run, publish func(*bench.Trial, bench.Event))
	// Next returns the step of a trial that follows those that are done, if there is one.
	Next(ctx context.Context, trial bench.Trial, done []bench.StepResult) (bench.Step, bool)
}

// conductor carries out a plan.
type conductor struct {
	plan   Plan
	env    console.Env
	clock  event.Clock
	stream *event.Stream
	site   *site
	checks *checks
	loader *loader
	before map[bench.Selection]bench.Artifact // what the complete trials of a resumed run ran

	hidden
}

// setUp sends the setup requests.
func (c *conductor) setUp(ctx context.Context, at runner.Place) error {
	return c.loader.setUp(ctx, at, func(load.Asked) {})
}

// tearDown sends the teardown requests.
func (c *conductor) tearDown(ctx context.Context, at runner.Place) error {
	return c.loader.tearDown(ctx, at, func(load.Asked) {})
}

// Conduct runs a plan and saves its results. Its error has the exit code.
func Conduct(ctx context.Context, env console.Env, p Plan) (err error) {
	c := &conductor{plan: p, env: env}
	if err := c.open(); err != nil {
		return err
	}
	defer func() { // for an end before the run begins
		if closeErr := c.site.close(ctx); closeErr != nil {
			err = errors.Join(err, closeErr)
		}
	}()
	if err := c.prepare(ctx); err != nil {
		return err
	}
	// A full disk ends the run: results that cannot be saved are not worth measuring.
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var served *export.MetricsServer
	if c.plan.metricsListen != "" {
		if served, err = export.ListenMetrics(ctx, c.plan.metricsListen); err != nil {
			return console.Usagef("--metrics-listen: %w", err)
		}
		defer served.Close()
	}
	writer, err := c.openResults(cancel)
	if err != nil {
		return err
	}
	defer writer.Close()
	defer context.AfterFunc(ctx, func() {
		if interruption(ctx) != nil {
			writer.Interrupted()
		}
	})()
	if c.plan.worker {
		if err := worker.Announce(env.Stdout, c.plan.Dir); err != nil {
			return err
		}
	}
	follow := c.plan.Follow(cancel)
	last, err := results.LastSeq(c.plan.Dir)
	if err != nil {
		return fmt.Errorf("read event log: %w", err)
	}
	c.stream.Continue(last) // numbers continue those on disk
	c.stream.Subscribe(writer.Handle)
	c.stream.Subscribe(follow)
	if served != nil {
		served.Follow(c.stream)
	}

	if c.plan.worker {
		for _, text := range c.plan.onRecord {
			c.stream.Publish(nil, bench.Notice{Level: "info", Text: text})
		}
	}
	err = runner.Run(ctx, c.config())
	if c.plan.failuresShown {
		err = withoutFailures(err)
	}
	closeErr := c.site.close(ctx)
	c.stream.Close()
	err = outcome(ctx, err, saveError(c.plan.Dir, writer.Err(), c.plan.Search == nil))
	return c.mask().Error(errors.Join(err, closeErr))
}

// open reads the files that the plan names and reports mistakes before anything is started.
func (c *conductor) open() error {
	var data dataset.Set // nil: nothing in this run reads it
	var err error
	if p := c.plan.Run.Profile; p.UsesData() || p.Data != (bench.DataSpec{}) {
		if data, err = dataset.Open(p.Data); err != nil {
			return console.WithCode(console.ExitUsage, err)
		}
	}
	c.clock = event.NewClock(time.Now())
	c.stream = event.New(c.clock.Now)
	if err := missingEnv(c.plan.Run, c.plan.Services, c.env.Getenv); err != nil {
		return err
	}
	c.site = &site{plan: &c.plan.Run, data: data, stream: c.stream, getenv: c.env.Getenv}
	c.site.requests = filled(c.plan.Run.Profile.Requests, c.env.Getenv)
	if c.site.tls, err = tlsConfig(c.plan.Run.TLS); err != nil {
		return err
	}
	if c.checks, err = newChecks(c.site); err != nil {
		return err
	}
	if c.loader, err = newLoader(c.site); err != nil {
		return err
	}
	c.fromResponses = secret.Saved(c.plan.Run.Profile.Every())
	c.loader.saw = c.hideAsked
	return nil
}

// prepare chooses the runtime and the CPUs, and records the environment of the run.
func (c *conductor) prepare(ctx context.Context) error {
	plan, site, recorded := &c.plan.Run, c.site, c.plan.Run
	if plan.Data = (bench.DataInfo{}); plan.Profile.UsesData() {
		plan.Data = site.data.Info()
	}
	plan.Files = c.loader.data.Hashes
	plan.Machine = machine.Describe(ctx)
	plan.Software = Built().software()
	if err := site.choosePlatform(ctx); err != nil {
		return err
	}
	if err := needEngine(site.noEngine, c.plan.Services); err != nil {
		return err
	}
	plan.Machine.OtherContainers = site.others(ctx)
	plan.Hash = compare.ProfileHash(plan.Profile)
	c.hide(secrets(*plan, c.plan.Services, c.env.Getenv)...)
	c.stream.Mask(func(e bench.Event) bench.Event { return c.mask().Event(c.clock.Event(e)) })
	isolation := isolationOf(plan.Profile, site.noIsolation())
	plan.Isolated, site.isolation = &isolation, newIsolation(isolation)
	plan.Warnings = append(plan.Warnings, site.occupy(plan.Warnings)...)
	if c.plan.resume != nil {
		if plan.Data.Hash != recorded.Data.Hash && plan.Profile.UsesData() {
			return console.Usagef("cannot resume: data set %s differs from the one %s started with",
				plan.Data.Name, c.plan.Dir)
		}
		for _, f := range plan.Files {
			if !slices.Contains(recorded.Files, f) {
				return console.Usagef("cannot resume: %s changed since %s started", f.File, c.plan.Dir)
			}
		}
		c.before = ran(c.plan)
		if err := changedSources(c.plan, c.before); err != nil {
			return err
		}
		plan.Warnings = append(plan.Warnings, changes(recorded, *plan)...)
		if err := site.cleanUp(ctx); err != nil {
			c.env.Warn(err)
		}
	}
	plan.Warnings = append(plan.Warnings, memoryOvercommit(*plan)...)
	plan.Warnings = append(plan.Warnings, interleavedQuotas(*plan)...)
	if c.plan.resume == nil { // or the record has it
		plan.Warnings = append(plan.Warnings, limitsAbove(*plan)...)
	}
	if _, err := machine.RaiseOpenFiles(); err != nil {
		c.env.Warn(err)
	}
	return limits.Check(profile.MostConnections(plan.Profile.Steps)) // now, rather than at the largest step
}

// record returns the masked plan, to be saved and published.
func (c *conductor) record() bench.Run { return c.mask().Run(Public(c.plan.Run)) }

func (c *conductor) openResults(cancel context.CancelCauseFunc) (*results.Writer, error) {
	run := c.record()
	fail := func(err error) { cancel(saveError(c.plan.Dir, err, run.Search == "")) }
	if c.plan.resume != nil {
		return c.plan.resume.Reopen(run, fail)
	}
	w, err := results.Create(c.plan.Dir, run, fail)
	return w, console.WithCode(console.ExitUsage, err)
}

func (c *conductor) config() runner.Config {
	site := c.site
	config := runner.Config{
		Run: c.record(), Dir: c.plan.Dir, Stream: c.stream, Services: c.plan.Services, FirstRequests: c.firstRequests,
		Stages: site.stages(),
		Build:  sameImages(Builder{Builder: site.platform, Runtime: c.plan.Run.Profile.Runtime}.Build, c.plan, c.before),
		Spec:   site.spec, Launcher: site, Engine: c.loader, Ask: c.loader.sendEach, SetUp: c.setUp,
		TearDown: c.tearDown, Checks: c.checks, Responds: c.checks.responds, Unanswered: c.loader.unanswered,
		StoreAlive: site.storeAlive, StoreChange: site.storeChange,
		EngineAlive: site.platformsAlive, Ready: site.ready, Judge: site.limitWarnings,
		ReadHost: func(ctx context.Context) *bench.HostReading { return site.usage.Read(ctx) },
		Control:  c.plan.controls, RetryNotReady: c.plan.retryNotReady,
	}
	if c.plan.Engine != nil {
		config.Engine = c.plan.Engine
	}
	if c.plan.Search != nil {
		c.plan.Search.Begin(&c.plan.Run, c.stream.Publish)
		config.Next = c.plan.Search.Next
	}
	return config
}
