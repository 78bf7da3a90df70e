package app

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/verdict"
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
