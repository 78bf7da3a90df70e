package app

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"locbench/internal/bench"
	"locbench/internal/results"
	"locbench/internal/run/profile"
	"locbench/internal/run/runner"
	"locbench/internal/text/console"
	"locbench/internal/text/safe"
	"locbench/internal/text/secret"
)

// Plan is a run that is ready to be conducted, and who follows and steers it.
type Plan struct {
	Run      bench.Run
	Dir      string
	Services map[bench.Selection]bench.Service
	// Follow makes the subscriber next to the results; cancel ends the run.
	Follow func(cancel context.CancelCauseFunc) func(bench.Record)
	Search Search        // chooses the steps; nil: the profile does
	Engine runner.Engine // loads the contender; nil: package load does

	resume        *results.Lock // nil: it begins
	worker        bool
	controls      <-chan bench.Control
	metricsListen string
	retryNotReady bool
	failuresShown bool // the failure of a trial is reported when it ends: the error need not repeat it
}

// NewPlan decides everything that the run's record says before anything is started, and the results
// folder.
func NewPlan(o RunOptions) (Plan, error) {
	run, dir, err := planRun(o)
	if err != nil {
		return Plan{}, err
	}
	services, err := servicesOf(&run, o.Services)
	return Plan{Run: run, Dir: dir, Services: services}, err
}

// planRun makes the record of a run.
func planRun(o RunOptions) (bench.Run, string, error) {
	if o.Resume != "" {
		run, err := planResume(o)
		if err != nil {
			return run, "", err
		}
		run.Resumed = append(run.Resumed, time.Now())
		run.State = bench.RunRunning
		return run, strings.TrimSuffix(o.Resume, "/"+results.RunFile), nil
	}
	targets, asked, err := parseTargets(o)
	if err != nil {
		return bench.Run{}, "", err
	}
	trusts, err := trustOf(o, targets)
	if err != nil {
		return bench.Run{}, "", err
	}
	p, err := PlannedProfile(o)
	if err != nil {
		return bench.Run{}, "", err
	}
	if len(targets) > 0 {
		if err := aim(&p, o, targets, asked); err != nil {
			return bench.Run{}, "", err
		}
	}
	seed := rand.Uint64() >> 11 // 53 bits: every reader of JSON keeps it exactly
	if text := o.Changes.Text("seed"); text != "" {
		seed, _ = strconv.ParseUint(text, 0, 64) // its option has read it
	}
	now := time.Now()
	id := now.Format(moment) + fmt.Sprintf("-%04x", rand.Uint32()&0xffff)
	dir := cmp.Or(o.Out, newFolder(now, p.Name))
	var services []string
	for _, d := range o.Services {
		full, err := filepath.Abs(d)
		if err != nil {
			return bench.Run{}, "", fmt.Errorf("--services: %w", err)
		}
		services = append(services, full)
	}
	trials := runner.Order(p.Contenders, p.Rounds, seed)
	files := map[string]bench.Trial{}
	for _, l := range trials {
		if other, twice := files[l.File]; twice {
			return bench.Run{}, "", console.Usagef("%s and %s would both write %s: rename one",
				other.Label(), l.Trial.Label(), l.File)
		}
		files[l.File] = l.Trial
	}
	return bench.Run{
		Schema: bench.SchemaVersion, ID: id, State: bench.RunRunning, Profile: p,
		Trials: trials, Seed: seed, Started: now,
		Command: append([]string{"locbench"}, o.Command...), Services: services, Targets: targets,
		AcceptFailedChecks: o.Accept, TLS: trusts,
	}, dir, nil
}

// moment is how a run's id and folder begin.
const moment = "20060102-150405"

// NewFolder returns the results folder of a run of this moment that names none.
func NewFolder(what string) string { return newFolder(time.Now(), what) }

func newFolder(now time.Time, what string) string {
	return filepath.Join("results", now.Format(moment)+"-"+what)
}

// servicesOf resolves what the plan's contenders name. What a target serves is known only where it
// is said to be one of them. What is wrong with contenders that it does not name becomes a warning
// of the plan.
func servicesOf(run *bench.Run, dirs []string) (map[bench.Selection]bench.Service, error) {
	if len(dirs) == 0 {
		dirs = run.Services
	}
	all, left, err := DiscoverFor(dirs, run.Profile.Contenders)
	if err != nil {
		return nil, err
	}
	for _, text := range left {
		run.Warnings.Add(bench.Warning{Text: text})
	}
	found := map[bench.Selection]bench.Service{}
	for _, sel := range run.Profile.Contenders {
		address := run.TargetOf(sel)
		svc, err := Find(all, sel)
		if address != "" && err != nil {
			svc, err = bench.Service{Name: sel.Contender, Ready: bench.Ready{Path: "/", Timeout: 10 * time.Second}}, nil
		}
		if err != nil {
			return nil, console.WithCode(console.ExitUsage, err)
		}
		svc.URL = address
		found[sel] = svc
	}
	return found, nil
}

// planResume reads the plan of a run that is resumed, with the little that may be said again:
// addresses whose passwords are not on record, and where contenders outside the binary are.
func planResume(o RunOptions) (bench.Run, error) {
	run, err := resumable(o.Resume)
	if err != nil {
		return run, err
	}
	for _, r := range run.Profile.Every() {
		if strings.Contains(r.Path+r.Body, secret.Mask) {
			return run, console.Usagef("cannot resume: a secret in the path or body of request %q was not saved. Start a new run; put secrets in as ${NAME} (environment), which --resume reads again", r.Name)
		}
		for name, value := range r.Header {
			if value == secret.Mask {
				return run, console.Usagef(
					"cannot resume: secret header %s of request %q was not saved. Start a new run; put secrets in as ${NAME} (environment), which --resume reads again", name, r.Name,
				)
			}
		}
	}
	given := o.Changes.Text("elastic")
	switch was := option(run.Command, "--elastic"); {
	case given != "":
		if !run.Profile.Store.Kind.Traits().ByURL {
			return run, console.Usagef("this run uses store %q: omit --elastic", run.Profile.Store.Kind)
		}
		if run.Profile.Store.URL, err = profile.StoreURL(given, o.Getenv); err != nil {
			return run, err
		}
	case strings.Contains(was, secret.Mask+"@"):
		return run, console.Usagef("the store's user came from the environment and was not saved; pass it again: --elastic '%s'", strings.Replace(was, secret.Mask, "${USER_NAME}:${PASSWORD}", 1))
	}
	if targets := o.Changes["target"]; len(targets) > 0 {
		if len(run.Targets) == 0 {
			return run, console.Usagef("this run starts its contenders: omit --target")
		}
		if run.Targets, err = sameTargets(run.Targets, targets); err != nil {
			return run, err
		}
	}
	// A results folder may come from elsewhere. What it would build and run is for the user to
	// name.
	if len(run.Services) > 0 && len(o.Services) == 0 {
		var again []string
		for _, dir := range run.Services {
			again = append(again, "--services", dir)
		}
		return run, console.Usagef("this run used your own contenders; name their folder again: %s",
			safe.Shell(again))
	}
	return run, nil
}

// option returns the value of an option in a command; "" where it was not given.
func option(command []string, name string) string {
	for i, arg := range command {
		if value, ok := strings.CutPrefix(arg, name+"="); ok {
			return value
		}
		if arg == name && i+1 < len(command) {
			return command[i+1]
		}
	}
	return ""
}

// resumable reads the results folder of a run. Every trial that is not complete runs again.
func resumable(dir string) (bench.Run, error) {
	run, _, err := results.Read(dir)
	if run.Schema == 0 {
		return run, console.WithCode(console.ExitUsage, err)
	}
	if run.Search != "" {
		return run, console.Usagef("%s is a capacity search and cannot be resumed: run 'locbench capacity' again", dir)
	}
	if !regexp.MustCompile(`^[0-9A-Za-z-]{1,64}$`).MatchString(run.ID) {
		return run, console.Usagef("%s: %q is not the id of a run", dir, run.ID)
	}
	if err := profile.Validate(run.Profile); err != nil && len(run.Targets) == 0 {
		return run, console.WithCode(console.ExitUsage, err)
	}
	left := 0
	for i := range run.Trials {
		trial := run.Trials[i].Trial
		if !slices.Contains(run.Profile.Contenders, bench.Selection{Contender: trial.Contender, Variant: trial.Variant}) {
			return run, console.Usagef("%s: trial %s is not of its profile", dir, trial)
		}
	}
	for _, group := range run.Groups() {
		if !slices.ContainsFunc(group, func(i int) bool { return run.Trials[i].State != bench.TrialComplete }) {
			continue
		}
		for _, i := range group { // of those that take turns none is run again alone
			run.Trials[i].State = bench.TrialPending
			left++
		}
	}
	if left == 0 {
		return run, console.Usagef("nothing to resume: all %d trials in %s are complete", len(run.Trials), dir)
	}
	return run, nil
}
