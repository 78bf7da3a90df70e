package setup

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	tea "charm.land/bubbletea/v2"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/contender/docker"
	"github.com/locbench/locbench/internal/run/profile"
	ui "github.com/locbench/locbench/internal/show/tui/old"
	"github.com/locbench/locbench/internal/text/secret"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

// problem is a reason why a run cannot start (bad) or may give worse results.
type problem struct {
	bad   bool
	input bool // a mistake in the setup: a second "start" does not ignore it
	text  string
	field id
	fixes []fix
}

type problems []problem

func (all *problems) bad(f id, text string, fixes ...fix) {
	*all = append(*all, problem{bad: true, field: f, text: text, fixes: fixes})
}

func (all *problems) warn(f id, text string, fixes ...fix) {
	*all = append(*all, problem{field: f, text: text, fixes: fixes})
}

// fix is a change that solves a problem, bound to a digit key.
type fix struct {
	text  string
	apply func() tea.Cmd
}

// problems returns all problems that are known so far, the bad ones first.
func (s *Screen) problems() problems {
	list := s.mistakes()
	if s.loaded {
		list = slices.Concat(list, s.engineProblems(), s.storeProblems(), s.contenderProblems(),
			s.limitProblems(), s.roomProblems())
	}
	rank := map[bool]int{true: -1}
	slices.SortStableFunc(list, func(a, b problem) int { return rank[a.bad] - rank[b.bad] })
	return list
}

func (s *Screen) mistakes() (list problems) {
	mistake := func(text string, f id, fixes ...fix) {
		if text != "" {
			list = append(list, problem{bad: true, input: true, text: text, field: f, fixes: fixes})
		}
	}
	mistake(s.baseErr, fieldProfile)
	for _, f := range allFields() {
		if f != fieldElastic || s.choice.Set.Text("elastic") != "" {
			mistake(s.wrong[f], f, fix{"use the profile's value", func() tea.Cmd { return s.reset(f) }})
		}
	}
	mistake(s.planErr, fieldStart, fix{"use the profile unchanged", s.resetAll})
	return list
}

func (s *Screen) set(what, flag, value string) fix {
	return fix{what, func() tea.Cmd { return s.change(func() { s.give(flag, value) }) }}
}

func (s *Screen) engineProblems() (list problems) {
	if !s.facts.machineOK {
		return nil
	}
	m, runtime := &s.facts.machine, s.runtime().Traits()
	if m.Unlimited != "" && (runtime.OnHost || runtime.Auto && m.Engine.Err != nil) {
		var fixes []fix
		if m.Engine.Err == nil {
			fixes = []fix{s.inDocker()}
		}
		list.warn(fieldRuntime, "no limits for processes here: "+ui.Outside(m.Unlimited, 300), fixes...)
	}
	if m.Engine.Err == nil {
		return list
	}
	why := text(m.Engine.Err)
	if e, ok := errors.AsType[*docker.ConnectError](m.Engine.Err); ok { // d shows e.Fix
		why = ui.Outside(e.Where+": "+e.Reason.Error(), 500)
	}
	if runtime.Container {
		list.bad(fieldRuntime, "no Docker engine: "+why, s.set("run as processes", "runtime", "process"))
	}
	if s.storeKind().Traits().Container {
		list.bad(fieldStore, "no Docker engine for the store: "+why, s.otherStores()...)
	}
	return list
}

func (s *Screen) inDocker() fix { return s.set("run in containers", "runtime", "docker") }

// engineResponds reports whether a Docker engine has responded.
func (s *Screen) engineResponds() bool { return s.facts.machineOK && s.facts.machine.Engine.Err == nil }

// otherStores returns fixes for a store that is not available.
func (s *Screen) otherStores() (out []fix) {
	if a := s.facts.elastic[localElastic]; a != nil && a.done && a.err == "" && s.elasticURL() != localElastic {
		out = append(out, fix{"use Elasticsearch " + ui.Outside(a.Version, 30) + " at " + localElastic, func() tea.Cmd {
			return s.change(func() {
				s.put(fieldStore, string(bench.StoreExternal))
				s.give("elastic", localElastic)
			})
		}})
	}
	out = append(out, fix{"use embedded store", func() tea.Cmd { return s.setStore("embedded") }})
	if s.engineResponds() && !s.storeKind().Traits().Container {
		out = append(out, fix{"start a container", func() tea.Cmd { return s.setStore("container") }})
	}
	return out
}

func (s *Screen) storeProblems() (list problems) {
	if !s.storeKind().Traits().ByURL || s.choice.Set.Text("elastic") != "" && s.wrong[fieldElastic] != "" {
		return nil
	}
	url := s.elasticURL()
	if url == "" {
		return problems{{bad: true, input: true, field: fieldElastic, text: noElastic, fixes: s.otherStores()}}
	}
	a := s.facts.elastic[url]
	switch {
	case a == nil || !a.done:
		return nil
	case a.err != "":
		list.bad(fieldElastic, a.err, s.otherStores()...)
		return list
	}
	seed := fix{"copy the seed command", func() tea.Cmd {
		args := []string{"--elastic", url}
		if s.dataKind() == dataGenerated {
			args = append(args, "--cities", s.value(fieldCities))
		}
		text := commandLine("seed", args)
		return ui.Cmd(ui.Copy{Text: text, What: "command", Shown: commandLine("seed", secret.Masker{}.Args(args))})
	}}
	if a.Warning != "" {
		list.warn(fieldElastic, ui.Outside(a.Warning, 300), s.otherStores()...)
	}
	if a.Cities == 0 && s.dataKind() != dataDump {
		list.bad(fieldElastic, "this Elasticsearch has no cities", append([]fix{seed}, s.otherStores()...)...)
	}
	n, err := strconv.ParseInt(s.value(fieldCities), 10, 64)
	if err == nil && s.dataKind() == dataGenerated && a.Cities > 0 && a.Cities != n {
		list.warn(fieldCities, fmt.Sprintf("this Elasticsearch has %s cities, not %s: ids may be missing",
			units.Count(a.Cities), units.Count(n)), seed)
	}
	return list
}

func (s *Screen) contenderProblems() (list problems) {
	if !s.facts.listed {
		return nil
	}
	for _, sel := range s.selected() {
		drop := fix{"remove it", func() tea.Cmd { return s.change(func() { s.drop(sel) }) }}
		name := ui.Outside(sel.String(), 80)
		svc, err := s.resolve(sel)
		if err != nil {
			list.bad(fieldContenders, text(err), drop)
			continue
		}
		if state := s.state(sel); state.Kind == Cannot {
			fixes := []fix{drop}
			if s.runtime().Traits().OnHost && s.engineResponds() && (svc.Docker != nil || svc.Builtin) {
				fixes = append(fixes, s.inDocker())
			}
			list.bad(fieldContenders, name+" cannot run here: "+ui.Outside(state.Why, 300), fixes...)
		}
		if svc.Unverified != "" {
			list.warn(fieldContenders, name+" is unverified: "+ui.Outside(svc.Unverified, 200), drop)
		}
	}
	return list
}

func (s *Screen) limitProblems() (list problems) {
	if !s.facts.machineOK || !s.planned {
		return nil
	}
	said := map[bench.Limits]bool{}
	for _, sel := range s.plan.Contenders {
		own := s.plan.SettingsOf(sel).Limits
		if own == (bench.Limits{}) || said[own] {
			continue
		}
		said[own] = true
		for _, p := range s.limitsAbove(own) { // the fields are of all contenders: they fix nothing here
			p.text, p.fixes = ui.Outside(sel.String(), 80)+": "+p.text, nil
			list = append(list, p)
		}
	}
	return append(s.limitsAbove(s.plan.Limits), list...)
}

// limitsAbove returns the problems of limits above what the machine has.
func (s *Screen) limitsAbove(l bench.Limits) (list problems) {
	m := &s.facts.machine
	cpus, memory, where := s.has()
	if cpus > 0 && l.CPUs > float64(cpus) {
		report := list.warn
		if s.inContainers() {
			report = list.bad
		}
		report(fieldCPUs, fmt.Sprintf("quota %g CPUs, but %s has %d", l.CPUs, where, cpus),
			s.set(fmt.Sprintf("limit to %d", cpus), "cpus", strconv.Itoa(cpus)))
	}
	if cpus > 0 && l.CPUSet > cpus {
		list.warn(fieldCPUSet, fmt.Sprintf("CPU set %d, but %s has only %d", l.CPUSet, where, cpus),
			s.set(fmt.Sprintf("use %d", cpus), "cpu-set", strconv.Itoa(cpus)))
	}
	half := max(memory/2>>26<<26, 64<<20)
	if memory > 0 && l.Memory > memory {
		list.bad(fieldMemory, fmt.Sprintf("limit %s, but %s has %s", units.Bytes(l.Memory), where, units.Bytes(memory)),
			s.set("limit to "+units.Bytes(half), "memory", strictyaml.FormatBytes(half)))
	} else if (!s.inContainers() || m.Engine.Local) && m.Available > 0 && l.Memory > m.Available {
		list.warn(fieldMemory, fmt.Sprintf("limit %s, but only %s of memory available",
			units.Bytes(l.Memory), units.Bytes(m.Available)))
	}
	return list
}

// has returns the CPUs and the memory of the machine that contenders run on, and its name.
func (s *Screen) has() (cpus int, memory int64, where string) {
	m := &s.facts.machine
	if s.inContainers() && m.Engine.CPUs > 0 {
		return m.Engine.CPUs, m.Engine.Memory, "the engine's machine"
	}
	return m.CPUs, m.Memory, "this machine"
}

func (s *Screen) roomProblems() (list problems) {
	f := &s.facts
	if !f.roomKnown || f.roomWhy == "" || profile.MostConnections(s.plan.Steps) != f.room {
		return nil
	}
	var fixes []fix
	steps := slices.DeleteFunc(slices.Clone(s.plan.Steps), func(step bench.Step) bool {
		return step.Connections > f.most || step.Connections <= 0
	})
	if slices.ContainsFunc(steps, func(step bench.Step) bool { return !step.WarmUp }) {
		end := "stop at " + units.Plural(profile.MostConnections(steps), "connection")
		fixes = []fix{s.set(end, "connections", profile.ShortSteps(steps))}
	}
	list.bad(fieldConnections, f.roomWhy, fixes...)
	return list
}
