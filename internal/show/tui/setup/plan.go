package setup

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/needs"
	"github.com/locbench/locbench/internal/results/event"
	"github.com/locbench/locbench/internal/run/profile"
)

// replan makes the plan as the command line would. It checks each field by itself first, to report
// mistakes at their field, and then plans with all correct ones.
func (f *form) replan() {
	f.plan, f.planned, f.planErr, f.wrong, f.room = bench.Profile{}, false, "", map[string]string{}, nil
	if !f.loaded {
		return
	}
	right := maps.Clone(f.choice.Changes())
	neutral := profile.Without(f.base)
	neutral.Contenders = f.selected()
	for _, field := range f.fields {
		name, v := field.Name, f.choice.Set.Text(field.Name)
		if !f.choice.Set.Given(name) || len(neutral.Contenders) == 0 { // which the plan reports once
			continue
		}
		// What is missing is reported once, by the need.
		if _, err := profile.Change(neutral, profile.Changes{name: {v}}, nil); err != nil && !errors.Is(err, needs.ErrMissing) {
			f.wrong[name] = reason(err)
			delete(right, name)
		}
	}
	for _, o := range profile.Options() {
		if o.With != "" && !right.Given(o.With) {
			delete(right, o.Name)
		}
	}
	var err error
	if f.plan, err = profile.Change(f.base, right, nil); errors.Is(err, needs.ErrMissing) {
		f.plan, err = withoutNeeds(f.base, right) // for the estimate only
	}
	if err == nil {
		f.plan, err = profile.WithManifests(f.plan, f.choice.Profile, f.serviceOf)
	}
	if err == nil {
		f.plan, f.notInterleaved = profile.Settle(f.plan, f.available())
	}
	f.planErr, f.planned = reason(err), err == nil
	if n := profile.MostConnections(f.plan.Steps); n > 0 && f.facts.machine.Room != nil {
		f.most, f.room = f.facts.machine.Room(n)
	}
}

// serviceOf returns the service of a contender, if it is known.
func (f *form) serviceOf(sel bench.Selection) (svc bench.Service, ok bool) {
	i := slices.IndexFunc(f.facts.contenders, func(s bench.Service) bool { return s.Name == sel.Contender })
	if i < 0 || f.plan.SettingsOf(sel).Dir != "" {
		return svc, false
	}
	return f.facts.contenders[i], true
}

// available returns the memory that contenders may use, in bytes; 0 if unknown, such as that of
// another machine's engine, or before the machine was read.
func (f *form) available() int64 {
	if f.inContainers() && f.facts.engineResponds() && !f.facts.machine.Engine.Local {
		return 0
	}
	return f.facts.machine.Available
}

// extent says how much will run.
func (f *form) extent() string {
	out := units.Plural(len(f.plan.Contenders), "contender")
	if f.plan.Rounds > 1 {
		out += " × " + units.Plural(f.plan.Rounds, "round")
	}
	return out + ", " + units.Plural(len(f.plan.Steps), "step") + ", ~" + units.Approx(f.total())
}

// estimate says how long it takes, and what is built before.
func (f *form) estimate() string {
	if !f.planned {
		return "no plan yet"
	}
	time := "~" + units.Approx(f.total())
	if f.facts.states == nil {
		return time
	}
	return time + ", " + cmp.Or(f.builds(), "nothing to build")
}

// total returns the assumed time of the run, without builds.
func (f *form) total() time.Duration {
	p := f.plan
	if p.Runtime.Traits().Auto && f.facts.machineRead && !f.inContainers() {
		p.Runtime = bench.RuntimeProcess
	}
	return event.Before(p) + event.Total(p)
}
