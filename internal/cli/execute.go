package cli

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"locbench/internal/bench"
	"locbench/internal/compare"
	"locbench/internal/dataset"
	"locbench/internal/event"
	"locbench/internal/launch"
	"locbench/internal/load"
	"locbench/internal/machine"
	"locbench/internal/plain"
	"locbench/internal/results"
	"locbench/internal/runner"
	"locbench/internal/safe"
	"locbench/internal/secret"
	"locbench/internal/store"
	"locbench/internal/verdict"
)

// run is locbench run.
func run(ctx context.Context, env Env, f runFlags, contenders []string, changed func(string) bool) error {
	if !f.controlled {
		if !f.headless && !f.json && !f.quiet && hasScreen(env) {
			if err := rehearse(f, contenders, changed, env.Args); err != nil {
				return err
			}
			return watchRun(ctx, env, f.screen)
		}
		return execute(ctx, env, f, contenders, changed, nil)
	}
	if f.json {
		return usage("--json and %s both want standard output", controlledFlag)
	}
	return work(ctx, env, func(ctx context.Context, controls <-chan bench.Control) error {
		return execute(ctx, env, f, contenders, changed, controls)
	})
}

// rehearse finds the mistakes of the command line before a screen covers them.
func rehearse(f runFlags, contenders []string, changed func(string) bool, command []string) error {
	plan, _, err := planRun(f, contenders, changed, command)
	if err != nil {
		return err
	}
	_, err = servicesOf(&plan, f.services)
	return err
}

// conducted is a planned run and who follows and steers it.
type conducted struct {
	plan       bench.Run
	dir        string
	services   map[bench.Selection]bench.Service
	resume     *results.Held // nil: it begins
	controlled bool
	controls   <-chan bench.Control
	// follow makes the subscriber beside the results; cancel ends the run.
	follow  func(cancel context.CancelCauseFunc) func(bench.Record)
	metrics metricsFlags
	search  *hunt // chooses the steps; nil: the profile does
	told    bool  // the failure of a leg is told when it ends: the error need not repeat it
	// keepGoing tries a contender again in each round that never answered in its first.
	keepGoing bool
}

// execute plans a run (or reads the plan of one to resume), runs it under control, and writes the reports.
func execute(ctx context.Context, env Env, f runFlags, contenders []string, changed func(string) bool, controls <-chan bench.Control) error {
	var held *results.Held
	if f.resume != "" {
		err := resumeTakes(contenders, changed)
		if err != nil {
			return err
		}
		if held, err = results.Hold(f.resume); err != nil { // before the plan is read: another one may be going on with it
			return withCode(ExitUsage, err)
		}
		defer held.Close()
	}
	plan, dir, err := planRun(f, contenders, changed, withoutControlled(env.Args))
	if err != nil {
		return err
	}
	services, err := servicesOf(&plan, f.services)
	if err != nil {
		return err
	}
	var printer *plain.Printer
	err = conduct(ctx, env, conducted{
		plan: plan, dir: dir, services: services, resume: held, controlled: f.controlled, controls: controls, metrics: f.metrics, keepGoing: f.keepGoing, told: !f.json,
		follow: func(cancel context.CancelCauseFunc) func(bench.Record) {
			printer = newPrinter(env, f, cancel)
			return printer.Handle
		},
	})
	if printer == nil { // it has not begun
		return err
	}
	if run, legs, readErr := results.Read(dir); err != nil && readErr == nil && results.NothingRan(run, legs) {
		if !f.controlled { // the screen still reads it
			err = errors.Join(err, results.Discard(dir, run))
		}
		return alsoSay(err, "nothing ran, so nothing is kept")
	}
	missed, finishErr := finish(env, f, dir)
	if err = errors.Join(err, finishErr, printer.Err()); err == nil && missed > 0 {
		return withCode(ExitThreshold, fmt.Errorf("thresholds were missed: %d of those that the steps were judged by", missed))
	}
	return err
}

// conduct runs a plan and keeps its results. The error has the exit code.
func conduct(ctx context.Context, env Env, c conducted) (err error) {
	plan, dir := c.plan, c.dir
	data, err := dataset.Open(plan.Profile.Data)
	if err != nil {
		return withCode(ExitUsage, err)
	}
	clock := event.NewClock(time.Now())
	stream := event.New(clock.Now)
	site := &site{plan: &plan, data: data, stream: stream}
	checks, err := newChecks(site)
	if err != nil {
		return err
	}
	loader, err := newLoader(site, env.Getenv)
	if err != nil {
		return err
	}
	recorded := plan
	plan.Data = data.Info()
	plan.Machine = machine.Fingerprint(ctx)
	plan.Software = bench.Software{Locbench: version(), Go: runtime.Version()}
	defer func() { // where it ends before it has begun
		if closeErr := site.close(ctx); closeErr != nil {
			err = errors.Join(err, closeErr)
		}
	}()
	if err := site.chooseRuntime(ctx); err != nil {
		return err
	}
	plan.Machine.OtherContainers = site.others(ctx)
	plan.Hash = compare.ProfileHash(plan.Profile)
	masker := newMasker(plan, c.services)
	stream.Mask(func(e bench.Event) bench.Event { return masker.Event(clock.Event(e)) })
	isolation, warnings := site.neighbours.meet(plan, func(others []launch.Neighbour) bench.Isolation { return part(plan.Profile, site.engine, others) })
	defer site.neighbours.close()
	plan.Isolated, site.apart = &isolation, newApart(isolation)
	plan.Warnings = append(plan.Warnings, warnings...)
	if c.resume != nil {
		if plan.Data.Hash != recorded.Data.Hash {
			return usage("the data set %s is not the one that %s was begun with: its legs could not be compared", plan.Data.Name, dir)
		}
		plan.Warnings = append(plan.Warnings, changes(recorded, plan)...)
	}
	plan.Warnings = append(plan.Warnings, crowded(plan)...)
	if c.resume != nil {
		if err := site.cleanUp(ctx); err != nil {
			warn(env, err)
		}
	}
	if _, err := machine.RaiseOpenFiles(); err != nil {
		warn(env, err)
	}
	if err := load.CheckLimits(most(plan.Profile.Steps)); err != nil {
		return err // rather now than at the largest step of every leg
	}
	// A full disk ends the run: results that cannot be kept are not worth measuring.
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	telling, err := c.metrics.open(ctx)
	if err != nil {
		return err
	}
	defer telling.close()
	writer, err := openResults(dir, c.resume, masker.Run(public(plan)), cancel)
	if err != nil {
		return err
	}
	defer writer.Close()
	defer context.AfterFunc(ctx, func() {
		if interruption(ctx) != nil {
			writer.Interrupted()
		}
	})()
	if c.controlled {
		if err := announce(env.Stdout, dir); err != nil {
			return err
		}
	}
	last, err := results.LastSeq(dir)
	if err != nil {
		return fmt.Errorf("read event log: %w", err)
	}
	stream.Continue(last)
	stream.Subscribe(writer.Handle)
	stream.Subscribe(c.follow(cancel))
	telling.start(ctx, stream)
	site.neighbours.watch(func(f bench.Finding) { stream.Publish(nil, bench.Warn(f)) })

	err = runner.Run(ctx, runner.Config{
		Run: masker.Run(public(plan)), Dir: dir, Stream: stream, Services: c.services, Next: c.search.chooses(site), FirstRequests: site.firstRequests,
		Stages: site.stages(), Build: builder{runtime: plan.Profile.Runtime, engine: site.engine}.build, Spec: site.spec,
		Launcher: site, Engine: loader, Checks: checks, StoreAlive: site.storeAlive, EngineAlive: site.engineAlive, Ready: site.ready, Judge: site.judge,
		Beside:  func(ctx context.Context) *bench.Beside { return site.around.Read(ctx) },
		Control: c.controls, KeepGoing: c.keepGoing,
	})
	if c.told {
		err = untold(err)
	}
	closeErr := site.close(ctx)
	stream.Close()
	return masked(errors.Join(outcome(ctx, err, unkept(dir, writer.Err(), c.search == nil)), closeErr), masker)
}

// crowded warns where the contenders of a round, which are alive at the same time, may take more memory than there is.
func crowded(run bench.Run) bench.Findings {
	if run.Profile.Turns <= 0 {
		return nil
	}
	alive := int64(max(len(run.Profile.Contenders), 2))
	all, machine := alive*run.Profile.Limits.Memory, run.Machine.MemoryBytes
	if all <= machine || machine == 0 {
		return nil
	}
	return bench.Findings{verdict.Overcommitted(alive, all, machine)}
}

func warn(env Env, err error) { fmt.Fprintf(env.Stderr, "warning: %s\n", safe.Line(err.Error(), 2000)) }

// most is the largest number of connections that the steps name.
func most(steps []bench.Step) (n int) {
	for _, s := range steps {
		n = max(n, s.Connections, s.MaxConnections)
	}
	return n
}

// planRun decides everything that the run's record says before anything is started, and the results folder.
func planRun(f runFlags, contenders []string, changed func(string) bool, command []string) (bench.Run, string, error) {
	if f.resume != "" {
		run, err := planResume(f, contenders, changed)
		if err != nil {
			return run, "", err
		}
		run.Resumed = append(run.Resumed, time.Now())
		run.State = bench.RunRunning
		return run, strings.TrimSuffix(f.resume, "/"+results.RunFile), nil
	}
	if f.target != "" {
		if _, err := serviceURL(f.target); err != nil {
			return bench.Run{}, "", err
		}
	}
	p, err := plannedProfile(f, contenders, changed)
	if err != nil {
		return bench.Run{}, "", err
	}
	if f.target != "" {
		if err := aim(&p, contenders, changed); err != nil {
			return bench.Run{}, "", err
		}
	}
	seed := f.seed
	if !changed("seed") {
		seed = rand.Uint64() >> 11 // 53 bits: every reader of JSON keeps it exactly
	}
	now := time.Now()
	id := now.Format("20060102-150405") + fmt.Sprintf("-%04x", rand.Uint32()&0xffff)
	dir := f.out
	if dir == "" {
		dir = filepath.Join("results", now.Format("20060102-150405")+"-"+p.Name)
	}
	services, err := absolute(f.services)
	if err != nil {
		return bench.Run{}, "", err
	}
	legs := runner.Order(p.Contenders, p.Rounds, seed)
	files := map[string]bench.Leg{}
	for _, l := range legs {
		if other, twice := files[l.File]; twice {
			return bench.Run{}, "", usage("%s and %s would write the same file %s: give one of them another name", other.Label(), l.Leg.Label(), l.File)
		}
		files[l.File] = l.Leg
	}
	return bench.Run{
		Schema: bench.SchemaVersion, ID: id, State: bench.RunRunning, Profile: p,
		Legs: legs, Seed: seed, Started: now,
		Command: append([]string{"locbench"}, command...), Services: services, Target: f.target,
	}, dir, nil
}

// aim makes p a plan for a service that somebody else has started: what limits it is not ours to say. Without a contender or a profile
// that was named, nothing is known of its answers: it is asked for its root, and they are not compared with those of cities.
func aim(p *bench.Profile, contenders []string, changed func(string) bool) error {
	for _, name := range []string{"cpus", "memory", "cpu-set"} {
		if changed(name) {
			return usage("--%s: the service at --target was started by somebody else, with limits of its own", name)
		}
	}
	switch len(contenders) {
	case 0:
		p.Contenders = []bench.Selection{{Contender: anyTarget}}
		if !changed("profile") {
			p.Requests = []bench.Request{{Name: "/", Weight: 1, Method: http.MethodGet, Path: "/", IDs: bench.IDSpec{Distribution: "uniform"}, ExpectStatus: http.StatusOK}}
			p.Validate, p.Checks = 0, bench.CheckSpec{}
		}
	case 1:
	default:
		return usage("--target names one service, but %d contenders were given", len(contenders))
	}
	p.Runtime, p.Limits = bench.RuntimeURL, bench.Limits{}
	return nil
}

func absolute(dirs []string) ([]string, error) {
	var out []string
	for _, d := range dirs {
		a, err := filepath.Abs(d)
		if err != nil {
			return nil, fmt.Errorf("--services: %w", err)
		}
		out = append(out, a)
	}
	return out, nil
}

// changes tells what is not as it was when the run began: its earlier and its later legs differ by more than their contenders.
func changes(was, is bench.Run) (warnings bench.Findings) {
	for _, c := range []struct{ what, was, is string }{
		{"locbench", was.Software.Locbench, is.Software.Locbench},
		{"Go", was.Software.Go, is.Software.Go},
		{"Docker", was.Software.Docker, is.Software.Docker},
		{"the kernel", was.Machine.Kernel, is.Machine.Kernel},
		{"the CPU", was.Machine.CPUModel, is.Machine.CPUModel},
		{"the number of CPUs", fmt.Sprint(was.Machine.CPUs), fmt.Sprint(is.Machine.CPUs)},
		{"the governor", was.Machine.Governor, is.Machine.Governor},
		{"turbo", was.Machine.Turbo, is.Machine.Turbo},
		{"SMT", was.Machine.SMT, is.Machine.SMT},
		{"who runs on which CPUs", was.Isolated.String(), is.Isolated.String()},
	} {
		if c.was != c.is {
			warnings = append(warnings, bench.Finding{Kind: bench.FoundOtherwise, Text: fmt.Sprintf("resumed under other conditions: %s was %q and is %q", c.what, c.was, c.is)})
		}
	}
	return warnings
}

// public is the plan as it may be sent round: without passwords in URLs.
func public(run bench.Run) bench.Run {
	run.Profile.Store.URL = store.Redact(run.Profile.Store.URL)
	run.Target = store.Redact(run.Target)
	command := make([]string, len(run.Command))
	for i, arg := range run.Command {
		flag, value, ok := strings.Cut(arg, "=")
		if ok = ok && strings.HasPrefix(arg, "-"); !ok { // a URL may hold the sign too
			flag, value = "", arg
		}
		if strings.Contains(value, "://") {
			value = store.Redact(value)
			if flag == "--push-url" || i > 0 && run.Command[i-1] == "--push-url" {
				value = withoutQuery(value)
			}
		}
		if ok {
			value = flag + "=" + value
		}
		command[i] = value
	}
	run.Command = secret.Masker{}.Args(command)
	return run
}

func openResults(dir string, resume *results.Held, plan bench.Run, cancel context.CancelCauseFunc) (*results.Writer, error) {
	fail := func(err error) { cancel(unkept(dir, err, plan.Search == "")) }
	if resume != nil {
		return resume.Reopen(plan, fail)
	}
	w, err := results.Create(dir, plan, fail)
	if err != nil {
		return nil, withCode(ExitUsage, err)
	}
	return w, nil
}

// unkept says that results could not be written, and what to do about it; nil for nil.
func unkept(dir string, err error, resumable bool) error {
	if err == nil {
		return nil
	}
	err = fmt.Errorf("results cannot be kept: %w", err)
	if !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, syscall.EDQUOT) {
		return err
	}
	if full, e := filepath.Abs(dir); e == nil {
		err = fmt.Errorf("%w; make room in %s", err, full)
	}
	if resumable {
		err = fmt.Errorf("%w, then go on with locbench run --resume %s", err, dir)
	}
	return err
}

func newPrinter(env Env, f runFlags, fail func(error)) *plain.Printer {
	width, live := terminal(env.Stderr)
	return plain.New(plain.Options{
		Out: env.Stdout, Talk: env.Stderr, Live: live && !f.json, Width: width,
		Color: colored(env, env.Stderr), JSON: f.json, Quiet: f.quiet || f.controlled, Details: f.details, Fail: fail,
	})
}

// interruption is why somebody has ended ctx: by a signal, or by closing the screen; nil where nobody has.
func interruption(ctx context.Context) error {
	if interrupted, ok := errors.AsType[errInterrupted](context.Cause(ctx)); ok {
		return interrupted
	}
	if errors.Is(context.Cause(ctx), errScreenGone) {
		return errScreenGone
	}
	return nil
}

// outcome is the error that the process ends with: an interruption or a full disk explains whatever else went wrong.
func outcome(ctx context.Context, err, writeErr error) error {
	switch cause := interruption(ctx); {
	case cause != nil:
		return withCode(ExitInterrupted, cause)
	case errors.Is(err, runner.ErrOnRequest):
		return withCode(ExitInterrupted, err)
	case writeErr != nil:
		return withCode(ExitContender, fmt.Errorf("the run ended early: %w", writeErr))
	case errors.Is(err, runner.ErrLegs):
		return withCode(ExitContender, err)
	case errors.Is(err, runner.ErrThreshold):
		return withCode(ExitThreshold, err)
	}
	return err
}

// untold is err without the failures of legs that were told when they ended: only how many there are.
func untold(err error) error {
	inc, ok := errors.AsType[*runner.Incomplete](err)
	if !ok {
		return err
	}
	var rest []error
	var failed []string
	for _, f := range inc.Failures {
		if leg, ok := errors.AsType[*runner.LegError](f); ok {
			failed = append(failed, leg.Leg.String())
		} else {
			rest = append(rest, f)
		}
	}
	const named = 5
	text := ""
	switch n := len(failed); {
	case n > named:
		text += fmt.Sprintf(": %d failed", n)
	case n > 0:
		text += ": " + strings.Join(failed, ", ") + " failed"
	}
	if len(rest) > 0 {
		text += ": " + errors.Join(rest...).Error()
	}
	return fmt.Errorf("%w%s", runner.ErrLegs, text)
}

// alsoSay adds a few words to err, which keeps its exit code.
func alsoSay(err error, words string) error {
	if c, ok := errors.AsType[*codeError](err); ok {
		return withCode(c.code, fmt.Errorf("%w; %s", err, words))
	}
	return fmt.Errorf("%w; %s", err, words)
}

// finish writes the reports from what is on disk, so that they show exactly what was kept, and prints the table. missed is how often
// thresholds were.
func finish(env Env, f runFlags, dir string) (missed int, err error) {
	run, legs, err := results.Read(dir)
	if err != nil && len(legs) == 0 {
		return 0, err
	}
	for _, leg := range legs {
		for _, step := range leg.Steps {
			missed += len(step.Missed())
		}
	}
	_, reportErr := writeReports(dir, "", run, legs)
	if !f.json && !f.controlled {
		if err := summary(env, dir, run, legs, true); err != nil {
			return missed, err
		}
	}
	return missed, errors.Join(err, reportErr)
}

// summary prints the table of a run, where its files are, and how to go on with it. warned says that its warnings were told before.
func summary(env Env, dir string, run bench.Run, legs []bench.LegResult, warned bool) error {
	if len(legs) > 0 {
		fmt.Fprintln(env.Stderr)
		width, _ := terminal(env.Stdout)
		if tableErr := plain.Table(env.Stdout, run, legs, findFloor(run, run, dir), width, warned); tableErr != nil {
			return tableErr
		}
	}
	fmt.Fprintf(env.Stderr, "\nresults  %s\n", dir)
	if file := filepath.Join(dir, results.ReportFile); regular(file) {
		fmt.Fprintf(env.Stderr, "report   %s\n", file)
	}
	if run.State == bench.RunInterrupted {
		fmt.Fprintf(env.Stderr, "go on    locbench run --resume %s\n", dir)
	}
	return nil
}

func regular(path string) bool {
	st, err := os.Lstat(path)
	return err == nil && st.Mode().IsRegular()
}
