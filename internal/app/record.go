package app

import (
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/verdict"
	"github.com/locbench/locbench/internal/load"
	"github.com/locbench/locbench/internal/results/event"
	"github.com/locbench/locbench/internal/run/machine"
	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/text/console"
	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/internal/text/secret"
)

// record is what a run has on record and says of itself, and what all that masks.
type record struct {
	plan   Plan
	env    console.Env
	clock  event.Clock
	stream *event.Stream
	masks  masks
	busy   *machine.Busy // shows other runs of this machine; nil if it cannot be opened
	met    sync.Once     // warns of another run
}

// warn publishes a warning of the run as a whole.
func (r *record) warn(w bench.Warning) { r.stream.Publish(nil, bench.WarningNotice(w)) }

// occupy marks this machine as busy for other runs, and warns of another run unless known has that
// warning.
func (r *record) occupy(known bench.Warnings) (warnings bench.Warnings) {
	dir, err := filepath.Abs(r.plan.Dir)
	if err == nil {
		r.busy, err = machine.OpenBusy(os.Getenv(machine.RunsVariable), machine.Active{PID: os.Getpid(), Dir: dir})
	}
	if err != nil {
		return bench.Warnings{{Text: "cannot tell if another run is active: " + err.Error()}}
	}
	r.meet(func(w bench.Warning) { warnings = bench.Warnings{w} })
	if known.Has(bench.WarnOtherRun) { // the run was resumed
		return nil
	}
	return warnings
}

// meet warns, once, of another run on this machine.
func (r *record) meet(warn func(bench.Warning)) {
	if others := r.busy.Others(); len(others) > 0 {
		r.met.Do(func() { warn(verdict.OtherRun(others[0].String())) })
	}
}

// public returns a run without passwords in URLs and in the command line.
func public(run bench.Run) bench.Run {
	run.Profile.Needs = slices.Clone(run.Profile.Needs)
	for i, n := range run.Profile.Needs {
		run.Profile.Needs[i].URL = secret.WithoutUser(n.URL)
	}
	run.Targets = slices.Clone(run.Targets)
	for i, t := range run.Targets {
		run.Targets[i].URL = secret.WithoutUser(t.URL)
	}
	run.Command, run.Given = secret.Masker{}.Args(run.Command), secret.Masker{}.Args(run.Given)
	return run
}

// changes returns warnings of a resumed run about changes of the environment: they may explain
// differences between its earlier and later trials.
func changes(was, is bench.Run) (warnings bench.Warnings) {
	for _, c := range []struct{ what, was, is string }{
		{"locbench", was.Software.Locbench, is.Software.Locbench},
		{"Go", was.Software.Go, is.Software.Go},
		{"Docker", was.Software.Docker, is.Software.Docker},
		{"kernel", was.Machine.Kernel, is.Machine.Kernel},
		{"CPU", was.Machine.CPUModel, is.Machine.CPUModel},
		{"number of CPUs", fmt.Sprint(was.Machine.CPUs), fmt.Sprint(is.Machine.CPUs)},
		{"CPU governor", was.Machine.Governor, is.Machine.Governor},
		{"turbo setting", was.Machine.Turbo, is.Machine.Turbo},
		{"SMT setting", was.Machine.SMT, is.Machine.SMT},
		{"CPU assignment", was.Isolated.String(), is.Isolated.String()},
	} {
		if c.was != c.is {
			text := fmt.Sprintf("resumed with a different %s: was %q, now %q", c.what, c.was, c.is)
			warnings = append(warnings, bench.Warning{Kind: bench.WarnResumedDifferently, Text: text})
		}
	}
	return warnings
}

// memoryOvercommit returns a warning if the interleaved contenders may use more memory than the
// machine has.
func memoryOvercommit(run bench.Run) bench.Warnings {
	if run.Profile.Interleave <= 0 {
		return nil
	}
	alive, has := int64(len(run.Profile.Contenders)), run.Machine.MemoryBytes
	all, _ := profile.Memory(run.Profile)
	if alive == 1 { // it is interleaved with itself
		alive, all = 2, 2*all
	}
	if all <= has || has == 0 {
		return nil
	}
	return bench.Warnings{verdict.Overcommitted(alive, all, has)}
}

// limitsAbove returns a warning about each limit above what the machine has, with the contenders
// that have it.
func limitsAbove(run bench.Run) (warnings bench.Warnings) {
	p := run.Profile
	if p.Runtime.Traits().AlreadyRunning || elsewhere(p.Runtime) {
		return nil
	}
	var texts []string // without names, in the order of the contenders
	named := map[string][]string{}
	add := func(sel bench.Selection, above bool, has, of string) {
		if text := fmt.Sprintf(" may use %s, but this machine has %s: that limit has no effect", has, of); above {
			if named[text] == nil {
				texts = append(texts, text)
			}
			named[text] = append(named[text], safe.Line(sel.String(), 120))
		}
	}
	for _, sel := range p.Contenders {
		l, cpus, memory := p.LimitsOf(sel), run.Machine.CPUs, run.Machine.MemoryBytes
		add(sel, cpus > 0 && l.CPUs > float64(cpus), bench.Limits{CPUs: l.CPUs}.Words(), strconv.Itoa(cpus))
		add(sel, memory > 0 && l.Memory > memory, units.Bytes(l.Memory), units.Bytes(memory))
	}
	for _, text := range texts {
		warnings = append(warnings, bench.Warning{Text: strings.Join(named[text], ", ") + text})
	}
	return warnings
}

// maxSaved is how many bytes of saved secrets are known at a time: each trial saves others.
const maxSaved = 256 << 10

// masks are what all output of a run masks.
type masks struct {
	fromResponses map[string]bool // names of saved values that are secrets

	mu     sync.Mutex // guards the others
	values []string   // of the plan and the environment
	saved  []string   // from responses, the oldest first
	masker secret.Masker
}

// hide masks values in all later output.
func (m *masks) hide(values ...string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.values = append(m.values, values...)
	m.masker = secret.New(slices.Concat(m.values, m.saved)...)
}

// hideAsked masks what is secret of an exchange: saved values, and cookies, which may be kept. A
// cookie of another kind, such as a language, is a word that other texts may have too.
func (m *masks) hideAsked(a load.Asked) {
	var values []string
	for name, value := range a.Saved.Values {
		if m.fromResponses[name] {
			values = append(values, value)
		}
	}
	for _, cookie := range (&http.Response{Header: a.Response.Header()}).Cookies() {
		if secret.IsToken(cookie.Value) {
			values = append(values, cookie.Value)
		}
	}
	m.hideSaved(values)
}

func (m *masks) hideSaved(values []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	before := len(m.saved)
	for _, value := range values {
		if !slices.Contains(m.saved, value) {
			m.saved = append(m.saved, value)
		}
	}
	if len(m.saved) == before {
		return
	}
	size := 0
	for i := len(m.saved) - 1; i >= 0; i-- {
		if size += len(m.saved[i]); size > maxSaved {
			m.saved = slices.Delete(m.saved, 0, i+1)
			break
		}
	}
	m.masker = secret.New(slices.Concat(m.values, m.saved)...)
}

func (m *masks) mask() secret.Masker {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.masker
}

// envUse is an environment variable that a run uses as ${NAME}, and where.
type envUse struct {
	name, where string
	manifest    bool // a manifest says so
}

// envUses returns the environment variables of a run's requests, contenders and needs, each once.
func envUses(run bench.Run, services map[bench.Selection]bench.Service) (uses []envUse) {
	add := func(where string, manifest bool, names []string) {
		for _, name := range names {
			if !slices.ContainsFunc(uses, func(u envUse) bool { return u.name == name }) {
				uses = append(uses, envUse{name, where, manifest})
			}
		}
	}
	for _, r := range run.Profile.Every() {
		add(fmt.Sprintf("request %q", r.Name), false, r.EnvNames())
	}
	for _, sel := range run.Profile.Contenders {
		env, header := services[sel].Env, services[sel].Ready.Header
		for _, key := range slices.Sorted(maps.Keys(header)) {
			add(fmt.Sprintf("ready.header of contender %s", sel), true, bench.EnvNames(header[key]))
		}
		for _, key := range slices.Sorted(maps.Keys(env)) {
			_, set := run.Profile.SettingsOf(sel).Env[key]
			add(fmt.Sprintf("%s of contender %s", key, sel), !set, bench.EnvNames(env[key]))
		}
	}
	for _, n := range run.Profile.Needs {
		add("need "+n.Label(), n.Manifest, n.EnvNames())
	}
	return uses
}

// missingEnv returns an error that lists the unset environment variables of a run, or nil.
func missingEnv(run bench.Run, services map[bench.Selection]bench.Service, getenv func(string) string) error {
	var missing []string
	for _, use := range envUses(run, services) {
		if getenv(use.name) == "" {
			missing = append(missing, fmt.Sprintf("%s (%s)", use.name, use.where))
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return console.Usagef("environment variable unset or empty: %s", strings.Join(missing, ", "))
}

// ofManifests returns the variables of the environment that manifests take, in a line each: they are
// not in the profile that the user has read.
func ofManifests(p Plan) (lines []string) {
	for _, use := range envUses(p.Run, p.Services) {
		if use.manifest {
			lines = append(lines, fmt.Sprintf("variable %s of the environment, in %s (manifest)", safe.Line(use.name, 120), safe.Line(use.where, 200)))
		}
	}
	return lines
}

// ManifestVariables returns the names of the variables of the environment that a run of the profile
// in a file takes, because of manifests that can be found, too.
func ManifestVariables(p bench.Profile, file string) (names []string) {
	o := RunOptions{Profile: file}
	run := bench.Run{Profile: p}
	var err error
	if run.Services, err = serviceFolders(o, p); err != nil {
		return nil
	}
	services, err := servicesOf(&run, nil)
	if err != nil || joinNeeds(&run, file, services) != nil {
		return nil // a run reports it
	}
	for _, use := range envUses(run, services) {
		names = append(names, use.name)
	}
	return names
}
