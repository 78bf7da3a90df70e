package app

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/docker"
	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/run/machine"
	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/run/runner"
	"github.com/locbench/locbench/internal/text/console"
	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/internal/text/secret"
)

// Plan is a run that is ready to be conducted, with what follows and controls it.
type Plan struct {
	Run      bench.Run // without passwords in addresses and in the command line
	Dir      string
	Services map[bench.Selection]bench.Service
	// Follow returns a subscriber to the events; cancel ends the run.
	Follow func(cancel context.CancelCauseFunc) func(bench.Record)
	Search Search        // chooses the steps; nil: the profile does
	Engine runner.Engine // loads the contender; nil: package load does

	urls   map[string]string // of needs, by their names, with their users, which Run does not have
	hidden []string          // the secrets that were in Run, and those of Services

	resume        *results.Lock // nil: a new run
	worker        bool
	controls      <-chan bench.Control
	metricsListen string
	retryNotReady bool
	failuresShown bool     // failures of trials are shown: the error does not repeat them
	said          []string // before the run begins, such as what a resumed run starts from its record
}

// NewPlan plans a run completely, with its results folder, before anything is started.
func NewPlan(o RunOptions) (Plan, error) {
	run, dir, services, err := planRun(o)
	if err != nil {
		return Plan{}, err
	}
	return Plan{
		Run: public(run), Dir: dir, Services: services, urls: urlsOf(run.Profile),
		hidden: secret.Of(run, slices.Collect(maps.Values(services))),
	}, nil
}

// secrets returns the secrets of the plan, and all that it uses of the environment.
func (p Plan) secrets(getenv func(string) string) []string {
	values := slices.Clone(p.hidden)
	for _, use := range envUses(p.Run, p.Services) {
		values = append(values, getenv(use.name))
	}
	return values
}

// planRun returns the record of a run, its results folder, and the services of its contenders.
func planRun(o RunOptions) (run bench.Run, dir string, found map[bench.Selection]bench.Service, err error) {
	if o.Resume == "" {
		return planNew(o)
	}
	if run, err = planResume(o); err != nil {
		return run, "", nil, err
	}
	run.Resumed = append(run.Resumed, time.Now())
	run.State = bench.RunRunning
	if found, err = servicesOf(&run, o.Services); err == nil {
		err = withinFolders(run, found, o.AllowFiles)
	}
	return run, strings.TrimSuffix(o.Resume, "/"+results.RunFile), found, err
}

// planNew is planRun for a run that is not resumed.
func planNew(o RunOptions) (run bench.Run, dir string, found map[bench.Selection]bench.Service, err error) {
	targets, request, err := parseTargets(o)
	if err != nil {
		return run, "", nil, err
	}
	trusts, err := trustOf(o, targets)
	if err != nil {
		return run, "", nil, err
	}
	p, err := plannedProfile(o, targets, request)
	if err != nil {
		return run, "", nil, err
	}
	if len(targets) > 0 {
		if err := aim(&p, o, targets); err != nil {
			return run, "", nil, err
		}
	}
	now := time.Now()
	run = bench.Run{
		Schema: bench.SchemaVersion, ID: now.Format(moment) + fmt.Sprintf("-%04x", rand.Uint32()&0xffff), State: bench.RunRunning, Started: now,
		Command: append([]string{"locbench"}, o.Command...), Given: o.Given, Profile: p, ProfileFile: profileFile(o),
		Targets: targets, TLS: trusts, AcceptFailedChecks: o.Accept,
		Seed: rand.Uint64() >> 11, // 53 bits: exact in every JSON parser
	}
	if run.Services, err = serviceFolders(o, p); err != nil {
		return run, "", nil, err
	}
	if found, err = servicesOf(&run, o.Services); err != nil {
		return run, "", nil, err
	}
	if err := joinNeeds(&run, o.Profile, found); err != nil {
		return run, "", nil, err
	}
	p, run.Plain = profile.Settle(run.Profile, Available(p.Runtime))
	run.Profile, run.UserUnsaved = p, usersUnsaved(p, o.Changes)
	if shared := profile.Shared(p); shared != "" && p.Interleave > 0 {
		run.Warnings.Add(bench.Warning{Text: shared + "; interleave: off avoids that"})
	}
	if run.Engine, err = chosenEngine(o); err != nil {
		return run, "", nil, err
	}
	if text := o.Changes.Text("seed"); text != "" {
		run.Seed, _ = strconv.ParseUint(text, 0, 64) // its option has validated it
	}
	for _, d := range o.AllowFiles {
		full, err := filepath.Abs(d)
		if err != nil {
			return run, "", nil, fmt.Errorf("--allow-files: %w", err)
		}
		run.AllowFiles = append(run.AllowFiles, full)
	}
	run.Trials = runner.Order(p.Contenders, p.Rounds, run.Seed)
	files := map[string]bench.Trial{}
	for _, l := range run.Trials {
		if other, twice := files[l.File]; twice {
			return run, "", nil, console.Usagef("%s and %s would both write %s: rename one",
				other.Label(), l.Trial.Label(), l.File)
		}
		files[l.File] = l.Trial
	}
	return run, cmp.Or(o.Out, newFolder(now, p.Name)), found, checkEngine(run)
}

// Available returns the memory that contenders may use, in bytes; 0 if unknown, such as that of
// another machine's engine.
func Available(r bench.Runtime) int64 {
	if elsewhere(r) {
		return 0
	}
	return machine.Available()
}

// elsewhere reports whether contenders run on another machine.
func elsewhere(r bench.Runtime) bool {
	t := r.Traits()
	return (t.Container || t.Auto) && docker.Elsewhere(os.Getenv)
}

// moment is the time format at the start of a run's id and folder.
const moment = "20060102-150405"

// NewFolder returns the default results folder of a run that starts now.
func NewFolder(what string) string { return newFolder(time.Now(), what) }

func newFolder(now time.Time, what string) string {
	return filepath.Join("results", now.Format(moment)+"-"+what)
}

// planResume returns the recorded plan of a resumed run, with the options that may be given again:
// URLs with passwords, which are not recorded, and the folders of contenders.
func planResume(o RunOptions) (bench.Run, error) {
	run, err := resumable(o.Resume)
	if err != nil {
		return run, err
	}
	if what := unsaved(run.Profile); what != "" {
		return run, unsavedSecret(what)
	}
	if err := fillHeaders(&run.Profile, o.Request); err != nil {
		return run, err
	}
	if err := sameProfile(run, o.Resume); err != nil {
		return run, err
	}
	if err := resumedNeeds(&run, o); err != nil {
		return run, err
	}
	if targets := o.Changes["target"]; len(targets) > 0 {
		if len(run.Targets) == 0 {
			return run, console.Usagef("this run starts its contenders: omit --target")
		}
		if run.Targets, err = sameTargets(run.Targets, targets); err != nil {
			return run, err
		}
	}
	if len(o.Services) > 0 {
		return run, nil
	}
	for _, dir := range run.Services {
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return run, console.Usagef("the services folder of this run, %s, was not found; name it with --services DIR",
				safe.Line(dir, 300))
		}
	}
	return run, nil
}

// unsaved returns what is not on record in a profile on record, without which the run cannot be
// resumed; "" for nothing.
func unsaved(p bench.Profile) string {
	is := func(text string) bool { return strings.Contains(text, secret.Mask) }
	for _, s := range p.Settings {
		for _, name := range slices.Sorted(maps.Keys(s.Env)) {
			if is(s.Env[name]) {
				return fmt.Sprintf("the value of %s of contender %s", name, s)
			}
		}
	}
	for _, n := range p.Needs {
		if slices.ContainsFunc(n.Texts(), is) {
			return "a secret of need " + n.Label()
		}
	}
	for _, r := range p.Every() {
		if is(r.Path+r.Body) || slices.ContainsFunc(r.Multipart, func(f bench.Field) bool { return is(f.Value + f.FileName) }) {
			return fmt.Sprintf("a secret in the path or body of request %q", r.Name)
		}
	}
	return ""
}

// notResumable returns a line about what prevents that a new run is resumed, which its user should
// know before hours of it.
func notResumable(p Plan) (lines []string) {
	if what := unsaved(secret.New(p.hidden...).Run(p.Run).Profile); what != "" {
		lines = append(lines, fmt.Sprintf("resume   not possible: %s is not saved; put it in as ${NAME} (environment)", safe.Line(what, 300)))
	}
	return lines
}

// fillHeaders gives a resumed run the secret headers that were not saved. Several requests may have
// had different values of one header: none of these is filled in.
func fillHeaders(p *bench.Profile, given profile.One) error {
	again, err := given.Header()
	if err != nil {
		return err
	}
	masked := map[string][]bench.Request{} // by the name of the header
	for _, r := range p.Every() {
		for name, value := range r.Header {
			if value == secret.Mask {
				masked[name] = append(masked[name], r)
			}
		}
	}
	for name, value := range again {
		known := slices.Collect(maps.Keys(masked))
		at := slices.IndexFunc(known, func(other string) bool { return strings.EqualFold(other, name) })
		if at < 0 {
			return console.Usagef("--header %s: is on record; omit it", safe.Line(name, 100))
		}
		if all := masked[known[at]]; len(all) == 1 {
			all[0].Header[known[at]] = value
			delete(masked, known[at])
		}
	}
	names := slices.Sorted(maps.Keys(masked))
	for _, name := range names {
		if all := masked[name]; len(all) > 1 {
			return unsavedSecret(fmt.Sprintf("secret header %s of request %q", name, all[0].Name))
		}
	}
	if len(names) == 0 {
		return nil
	}
	return console.Usagef("cannot resume: secret headers were not saved; give them again with --header 'NAME: VALUE': %s "+
		"(a value that is ${NAME} is read from the environment again)", safe.Line(strings.Join(names, ", "), 300))
}

// unsavedSecret returns the error about a masked secret in the plan of a resumed run.
func unsavedSecret(what string) error {
	return console.Usagef("cannot resume: %s was not saved. Start a new run; put secrets in as ${NAME} (environment), "+
		"which --resume reads again", what)
}

// resumable reads the results folder of a run, and marks its incomplete trials to run again.
func resumable(dir string) (bench.Run, error) {
	run, _, err := results.Read(dir)
	damaged := results.DamagedOf(err)
	if err != nil && len(damaged) == 0 {
		return run, console.WithCode(console.ExitUsage, err)
	}
	for _, d := range damaged {
		run.Trials[d.Index].State = bench.TrialPending
	}
	if run.Search != "" {
		return run, console.Usagef("%s is a capacity search and cannot be resumed: run 'locbench capacity' again", dir)
	}
	if !regexp.MustCompile(`^[0-9A-Za-z-]{1,64}$`).MatchString(run.ID) {
		return run, console.Usagef("%s: %q is not a run id", dir, run.ID)
	}
	if err := profile.Validate(run.Profile); err != nil && len(run.Targets) == 0 {
		return run, console.WithCode(console.ExitUsage, err)
	}
	if err := checkEngine(run); err != nil {
		return run, err
	}
	left := 0
	for i := range run.Trials {
		trial := run.Trials[i].Trial
		if !slices.Contains(run.Profile.Contenders, bench.Selection{Contender: trial.Contender, Variant: trial.Variant}) {
			return run, console.Usagef("%s: the contender of trial %s is not in its profile", dir, trial)
		}
	}
	for _, group := range run.Groups() {
		if !slices.ContainsFunc(group, func(i int) bool { return run.Trials[i].State != bench.TrialComplete }) {
			continue
		}
		for _, i := range group { // interleaved trials run again together
			run.Trials[i].State = bench.TrialPending
			left++
		}
	}
	if left == 0 {
		return run, console.Usagef("nothing to resume: all %d trials in %s are complete", len(run.Trials), dir)
	}
	return run, nil
}
