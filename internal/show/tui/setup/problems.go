package setup

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	tea "charm.land/bubbletea/v2"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/docker"
	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/text/strictyaml"
	"github.com/locbench/locbench/internal/text/table"
)

// problem is a reason why a run cannot start (bad) or may give worse results. It is shown at a
// field.
type problem struct {
	bad   bool
	input bool // a mistake in the setup: a second "start" does not ignore it
	text  string
	field string
	fixes []fix
}

// fix is what solves a problem, bound to a digit key: a change of the form, or a message.
type fix struct {
	text   string
	change func()
	msg    tea.Msg
}

// problems returns all problems that are known so far, in the order of the fields.
func (f *form) problems() []problem {
	c := &checker{form: f}
	c.mistakes()
	if f.loaded {
		c.engine()
		c.ofNeeds()
		c.contenders()
		c.limits()
		c.room()
	}
	shown := f.shown()
	place := func(name string) int {
		return slices.IndexFunc(shown, func(field Field) bool { return field.Name == name })
	}
	slices.SortStableFunc(c.all, func(a, b problem) int { return place(a.field) - place(b.field) })
	return c.all
}

// checker collects problems.
type checker struct {
	*form
	all []problem
}

func (c *checker) bad(field, text string, fixes ...fix) {
	c.all = append(c.all, problem{bad: true, field: field, text: text, fixes: fixes})
}

func (c *checker) warn(field, text string, fixes ...fix) {
	c.all = append(c.all, problem{field: field, text: text, fixes: fixes})
}

func (c *checker) mistake(field, text string, fixes ...fix) {
	if text != "" {
		c.all = append(c.all, problem{bad: true, input: true, field: field, text: text, fixes: fixes})
	}
}

func (c *checker) mistakes() {
	c.mistake(fieldProfile, c.baseErr)
	for _, field := range c.fields {
		reset := fix{text: "use the profile's value", change: func() { c.form.reset(field) }}
		c.mistake(field.Name, c.wrong[field.Name], reset)
	}
	c.mistake(fieldStart, c.planErr, fix{text: "use the profile unchanged", change: func() { c.form.reset(c.fields...) }})
}

// set is a fix that sets an option.
func (c *checker) set(text, name, value string) fix {
	return fix{text: text, change: func() { c.give(name, value) }}
}

// noEngine says why there is no Docker engine; "" if there is one, or it is not known.
func (f *form) noEngine() string {
	err := f.facts.machine.Engine.Err
	if e, ok := errors.AsType[*docker.ConnectError](err); ok { // the list of checks has e.Fix
		return outside(e.Where + ": " + e.Reason.Error())
	}
	return text(err)
}

func (c *checker) engine() {
	m, runtime := &c.facts.machine, c.runtime().Traits()
	if m.Unlimited != "" && (runtime.OnHost || runtime.Auto && m.Engine.Err != nil) {
		var fixes []fix
		if m.Engine.Err == nil {
			fixes = []fix{c.inDocker()}
		}
		c.warn(fieldRuntime, "no limits for processes here: "+outside(m.Unlimited), fixes...)
	}
	if why := c.noEngine(); why != "" && runtime.Container {
		c.bad(fieldRuntime, "no Docker engine: "+why, c.set("run as processes", "runtime", "process"))
	}
}

func (c *checker) inDocker() fix { return c.set("run in containers", "runtime", "docker") }

func (c *checker) contenders() {
	if c.facts.contenders == nil {
		return
	}
	for _, sel := range c.selected() {
		fixes := []fix{{text: "remove it", change: func() { c.toggle(sel) }}}
		svc, err := c.resolve(sel)
		switch state, why := c.needs(contenderRow{sel, svc, err}); {
		case err != nil:
			c.bad(fieldContenders, why, fixes...)
		case state.Tone == table.Bad:
			if c.runtime().Traits().OnHost && c.facts.engineResponds() && (svc.Docker != nil || svc.Builtin) {
				fixes = append(fixes, c.inDocker())
			}
			c.bad(fieldContenders, outside(sel.String())+" cannot run here: "+why, fixes...)
		case state.Tone == table.Notice:
			c.warn(fieldContenders, outside(sel.String())+" is unverified: "+why, fixes...)
		}
	}
}

func (c *checker) limits() {
	if !c.facts.machineRead || !c.planned {
		return
	}
	c.limitsAbove("", c.plan.Limits)
	said := map[bench.Limits]bool{{}: true}
	for _, sel := range c.plan.Contenders {
		if own := c.plan.SettingsOf(sel).Limits; !said[own] {
			said[own] = true
			c.limitsAbove(outside(sel.String())+": ", own)
		}
	}
}

// limitsAbove finds limits above what the machine has, those of one contender or of all. Fields are
// of all: they fix nothing for one.
func (c *checker) limitsAbove(of string, l bench.Limits) {
	report := func(bad bool, field, text string, fixes ...fix) {
		if of != "" {
			fixes = nil
		}
		c.all = append(c.all, problem{bad: bad, field: field, text: of + text, fixes: fixes})
	}
	m := &c.facts.machine
	cpus, memory, where := c.has()
	if cpus > 0 && l.CPUs > float64(cpus) {
		report(c.inContainers(), fieldCPUs, fmt.Sprintf("quota %s, but %s has %d", units.CPUs(l.CPUs), where, cpus),
			c.set(fmt.Sprintf("limit to %d", cpus), "cpus", strconv.Itoa(cpus)))
	}
	if cpus > 0 && l.CPUSet > cpus {
		report(false, fieldCPUSet, fmt.Sprintf("%s visible, but %s has only %d", units.Plural(l.CPUSet, "CPU"), where, cpus),
			c.set(fmt.Sprintf("use %d", cpus), "cpu-set", strconv.Itoa(cpus)))
	}
	half := max(memory/2>>26<<26, 64<<20)
	if memory > 0 && l.Memory > memory {
		report(true, fieldMemory, fmt.Sprintf("limit %s, but %s has %s", units.Bytes(l.Memory), where, units.Bytes(memory)),
			c.set("limit to "+units.Bytes(half), "memory", strictyaml.FormatBytes(half)))
	} else if (!c.inContainers() || m.Engine.Local) && m.Available > 0 && l.Memory > m.Available {
		report(false, fieldMemory, fmt.Sprintf("limit %s, but only %s of memory available",
			units.Bytes(l.Memory), units.Bytes(m.Available)))
	}
}

func (c *checker) room() {
	if c.form.room == nil {
		return
	}
	var fixes []fix
	steps := slices.DeleteFunc(slices.Clone(c.plan.Steps), func(step bench.Step) bool {
		return step.Connections > c.most || step.Connections <= 0
	})
	if slices.ContainsFunc(steps, func(step bench.Step) bool { return !step.WarmUp }) {
		end := "stop at " + units.Plural(profile.MostConnections(steps), "connection")
		fixes = []fix{c.set(end, "connections", profile.ShortSteps(steps))}
	}
	c.bad(fieldConnections, text(c.form.room), fixes...)
}
