package setup

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"locbench/internal/bench"
	"locbench/internal/contender"
	"locbench/internal/strictyaml"
	"locbench/internal/tui/look"
	"locbench/internal/tui/ui"
	"locbench/internal/units"
)

// problem is what stands in the way of a run (bad) or of what it means.
type problem struct {
	bad    bool
	input  bool // a mistake in what was typed: no second "start" gets past it
	text   string
	field  id
	offers []offer
}

// offer is a way out that one key takes.
type offer struct {
	text string
	take func() tea.Cmd
}

// problems are all there are, the bad ones first. It asks nobody: what is not known yet is no
// problem.
func (s *Screen) problems() []problem {
	var list []problem
	list = append(list, s.mistakes()...)
	if s.loaded {
		list = append(list, s.engineProblems()...)
		list = append(list, s.storeProblems()...)
		list = append(list, s.contenderProblems()...)
		list = append(list, s.limitProblems()...)
		list = append(list, s.roomProblems()...)
	}
	slices.SortStableFunc(list, func(a, b problem) int {
		switch {
		case a.bad == b.bad:
			return 0
		case a.bad:
			return -1
		}
		return 1
	})
	return list
}

// mistakes are those of the input.
func (s *Screen) mistakes() (list []problem) {
	if s.baseErr != "" {
		list = append(list, problem{bad: true, input: true, text: s.baseErr, field: fieldProfile})
	}
	for f := range fieldCount {
		if what := s.wrong[f]; what != "" && (f != fieldElastic || s.choice.Set["elastic"] != "") {
			list = append(list, problem{bad: true, input: true, text: what, field: f, offers: []offer{{"as in the profile", func() tea.Cmd { return s.reset(f) }}}})
		}
	}
	if s.planErr != "" {
		list = append(list, problem{bad: true, input: true, text: s.planErr, field: fieldStart,
			offers: []offer{{"all as in the profile", func() tea.Cmd { return s.resetAll() }}}})
	}
	return list
}

// set is an offer that gives a flag a value.
func (s *Screen) set(what, flag, value string) offer {
	return offer{what, func() tea.Cmd { return s.change(func() { s.choice.Set[flag] = value }) }}
}

func (s *Screen) engineProblems() []problem {
	f := &s.facts
	if !f.machineOK || f.machine.Engine.Err == nil {
		if f.machineOK && s.runtime().Traits().OnHost && f.machine.Unlimited != "" {
			return []problem{s.unlimited()}
		}
		return nil
	}
	why, _, _ := strings.Cut(strings.TrimPrefix(text(f.machine.Engine.Err), "docker engine "), "; ") // d shows what would start one
	var list []problem
	switch t := s.runtime().Traits(); {
	case t.Container:
		list = append(list, problem{bad: true, field: fieldRuntime, text: "no Docker engine answers: " + why,
			offers: []offer{s.set("run as processes, without it", "runtime", "process")}})
	case t.Auto, t.OnHost:
		if f.machine.Unlimited != "" {
			list = append(list, s.unlimited())
		}
	}
	if s.storeKind().Traits().Container {
		list = append(list, problem{bad: true, field: fieldStore, text: "no Docker engine answers, so none can start the store: " + why, offers: s.otherStores()})
	}
	return list
}

func (s *Screen) unlimited() problem {
	p := problem{field: fieldRuntime, text: "limits of processes are not enforced here: " + look.Outside(s.facts.machine.Unlimited, 300)}
	if s.facts.machine.Engine.Err == nil {
		p.offers = []offer{s.set("run in containers", "runtime", "docker")}
	}
	return p
}

// otherStores are ways out of a store that is not there.
func (s *Screen) otherStores() (out []offer) {
	if a := s.facts.elastic[localElastic]; a.done && a.err == "" && s.elasticURL() != localElastic {
		out = append(out, offer{"take Elasticsearch " + look.Outside(a.Version, 30) + " at " + localElastic, func() tea.Cmd {
			return s.change(func() {
				s.put(fieldStore, string(bench.StoreExternal))
				s.choice.Set["elastic"] = localElastic
			})
		}})
	}
	out = append(out, offer{"the embedded one", func() tea.Cmd { return s.setStore("embedded") }})
	if s.facts.machineOK && s.facts.machine.Engine.Err == nil && !s.storeKind().Traits().Container {
		out = append(out, offer{"start one in a container", func() tea.Cmd { return s.setStore("container") }})
	}
	return out
}

func (s *Screen) storeProblems() []problem {
	if !s.storeKind().Traits().ByURL || s.choice.Set["elastic"] != "" && s.wrong[fieldElastic] != "" {
		return nil
	}
	url := s.elasticURL()
	if url == "" {
		return []problem{{bad: true, input: true, field: fieldElastic, text: "a real Elasticsearch 7 is wanted, and none is named", offers: s.otherStores()}}
	}
	a := s.facts.elastic[url]
	switch {
	case !a.done:
		return nil
	case a.err != "":
		return []problem{{bad: true, field: fieldElastic, text: a.err, offers: s.otherStores()}}
	}
	seed := offer{"copy the command that loads them", func() tea.Cmd {
		return ui.Cmd(ui.Copy{Text: seedCommand(s.seedArgs()), What: "command", Shown: seedCommand(withoutPasswords(s.seedArgs()))})
	}}
	var list []problem
	if a.Warning != "" {
		list = append(list, problem{field: fieldElastic, text: look.Outside(a.Warning, 300), offers: s.otherStores()})
	}
	if a.Cities == 0 && s.dataKind() != dataDump {
		list = append(list, problem{bad: true, field: fieldElastic, text: "that Elasticsearch has no cities yet", offers: append([]offer{seed}, s.otherStores()...)})
	}
	if n, err := strconv.ParseInt(s.value(fieldCities), 10, 64); err == nil && s.dataKind() == dataGenerated && a.Cities > 0 && a.Cities != n {
		list = append(list, problem{field: fieldCities, text: fmt.Sprintf("that Elasticsearch holds %s cities, not %s: ids may be missed", units.Count(a.Cities), units.Count(n)), offers: []offer{seed}})
	}
	return list
}

// seedArgs are those of the "locbench seed" that fills the chosen store with the chosen data.
func (s *Screen) seedArgs() []string {
	args := []string{"--elastic", s.elasticURL()}
	if s.dataKind() == dataGenerated {
		args = append(args, "--cities", s.value(fieldCities))
	}
	return args
}

func seedCommand(args []string) string {
	const run = "locbench run"
	return "locbench seed" + commandLine(args)[len(run):]
}

func (s *Screen) contenderProblems() (list []problem) {
	if !s.facts.listed {
		return nil
	}
	for _, sel := range s.selected() {
		drop := offer{"without it", func() tea.Cmd { return s.change(func() { s.drop(sel) }) }}
		name := look.Outside(sel.String(), 80)
		svc, err := contender.Find(s.facts.contenders, sel.Contender)
		if err == nil {
			svc, err = contender.Resolve(svc, sel.Variant)
		}
		if err != nil {
			list = append(list, problem{bad: true, field: fieldContenders, text: text(err), offers: []offer{drop}})
			continue
		}
		if state := s.state(sel); state.Kind == Cannot {
			p := problem{bad: true, field: fieldContenders, text: name + " cannot run here: " + look.Outside(state.Why, 300), offers: []offer{drop}}
			if s.runtime().Traits().OnHost && s.facts.machine.Engine.Err == nil && s.facts.machineOK && (svc.Docker != nil || svc.Builtin) {
				p.offers = append(p.offers, s.set("run in containers", "runtime", "docker"))
			}
			list = append(list, p)
		}
		if svc.Unverified != "" {
			list = append(list, problem{field: fieldContenders, text: name + " is unverified: " + look.Outside(svc.Unverified, 200), offers: []offer{drop}})
		}
	}
	return list
}

func (s *Screen) limitProblems() (list []problem) {
	m := s.facts.machine
	if !s.facts.machineOK || !s.planned {
		return nil
	}
	cpus, memory, where := m.CPUs, m.Memory, "this machine"
	if s.inContainers() && m.Engine.CPUs > 0 {
		cpus, memory, where = m.Engine.CPUs, m.Engine.Memory, "the engine's machine"
	}
	l := s.plan.Limits
	if cpus > 0 && l.CPUs > float64(cpus) {
		list = append(list, problem{bad: s.inContainers(), field: fieldCPUs, offers: []offer{s.set(fmt.Sprintf("limit to %d", cpus), "cpus", strconv.Itoa(cpus))},
			text: fmt.Sprintf("a quota of %g CPUs, but %s has %d", l.CPUs, where, cpus)})
	}
	if cpus > 0 && l.CPUSet > cpus {
		list = append(list, problem{field: fieldCPUSet, offers: []offer{s.set(fmt.Sprintf("take %d", cpus), "cpu-set", strconv.Itoa(cpus))},
			text: fmt.Sprintf("a CPU set of %d, but %s has %d: contenders get these", l.CPUSet, where, cpus)})
	}
	half := max(memory/2>>26<<26, 64<<20)
	if memory > 0 && l.Memory > memory {
		list = append(list, problem{bad: true, field: fieldMemory, offers: []offer{s.set("limit to "+size(half), "memory", strictyaml.FormatBytes(half))},
			text: fmt.Sprintf("a limit of %s, but %s has %s", size(l.Memory), where, size(memory))})
	} else if (!s.inContainers() || m.Engine.Local) && m.Available > 0 && l.Memory > m.Available {
		list = append(list, problem{field: fieldMemory, text: fmt.Sprintf("a limit of %s, but only %s of memory are available now", size(l.Memory), size(m.Available))})
	}
	return list
}

func (s *Screen) roomProblems() []problem {
	f := &s.facts
	if !f.roomKnown || f.roomWhy == "" || most(s.plan) != f.room {
		return nil
	}
	p := problem{bad: true, field: fieldConnections, text: f.roomWhy}
	var steps []bench.Step
	for _, step := range s.plan.Steps {
		if step.Connections <= f.most && step.Connections > 0 {
			steps = append(steps, step)
		}
	}
	if slices.ContainsFunc(steps, func(step bench.Step) bool { return !step.WarmUp }) {
		p.offers = []offer{s.set("end at "+units.Plural(most(bench.Profile{Steps: steps}), "connection"), "connections", ladder(steps))}
	}
	return []problem{p}
}

// offers are the ways out of all problems, in the order of their keys.
func offers(list []problem) (out []offer) {
	for _, p := range list {
		out = append(out, p.offers...)
	}
	return out
}
