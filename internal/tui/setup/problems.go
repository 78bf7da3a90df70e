package setup

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"locbench/internal/bench"
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
	list := s.mistakes()
	if s.loaded {
		list = slices.Concat(list, s.engineProblems(), s.storeProblems(), s.contenderProblems(),
			s.limitProblems(), s.roomProblems())
	}
	rank := map[bool]int{true: -1}
	slices.SortStableFunc(list, func(a, b problem) int { return rank[a.bad] - rank[b.bad] })
	return list
}

func (s *Screen) mistakes() (list []problem) {
	mistake := func(text string, f id, offers ...offer) {
		if text != "" {
			list = append(list, problem{bad: true, input: true, text: text, field: f, offers: offers})
		}
	}
	mistake(s.baseErr, fieldProfile)
	for f := range fieldCount {
		if f != fieldElastic || s.choice.Set["elastic"] != "" {
			mistake(s.wrong[f], f, offer{"as in the profile", func() tea.Cmd { return s.reset(f) }})
		}
	}
	mistake(s.planErr, fieldStart, offer{"all as in the profile", s.resetAll})
	return list
}

func (s *Screen) set(what, flag, value string) offer {
	return offer{what, func() tea.Cmd { return s.change(func() { s.choice.Set[flag] = value }) }}
}

func (s *Screen) engineProblems() (list []problem) {
	if !s.facts.machineOK {
		return nil
	}
	m, runtime := &s.facts.machine, s.runtime().Traits()
	if m.Unlimited != "" && (runtime.OnHost || runtime.Auto && m.Engine.Err != nil) {
		p := problem{field: fieldRuntime, text: "limits of processes are not enforced here: " + look.Outside(m.Unlimited, 300)}
		if m.Engine.Err == nil {
			p.offers = []offer{s.inDocker()}
		}
		list = append(list, p)
	}
	if m.Engine.Err == nil {
		return list
	}
	why, _, _ := strings.Cut(strings.TrimPrefix(text(m.Engine.Err), "docker engine "), "; ") // d shows what would start one
	if runtime.Container {
		list = append(list, problem{bad: true, field: fieldRuntime, text: "no Docker engine answers: " + why,
			offers: []offer{s.set("run as processes, without it", "runtime", "process")}})
	}
	if s.storeKind().Traits().Container {
		list = append(list, problem{bad: true, field: fieldStore, text: "no Docker engine answers, so none can start the store: " + why, offers: s.otherStores()})
	}
	return list
}

func (s *Screen) inDocker() offer { return s.set("run in containers", "runtime", "docker") }

// engineAnswers tells whether there is a Docker engine, as far as that is known.
func (s *Screen) engineAnswers() bool { return s.facts.machineOK && s.facts.machine.Engine.Err == nil }

// otherStores are ways out of a store that is not there.
func (s *Screen) otherStores() (out []offer) {
	if a := s.facts.elastic[localElastic]; a != nil && a.done && a.err == "" && s.elasticURL() != localElastic {
		out = append(out, offer{"take Elasticsearch " + look.Outside(a.Version, 30) + " at " + localElastic, func() tea.Cmd {
			return s.change(func() {
				s.put(fieldStore, string(bench.StoreExternal))
				s.choice.Set["elastic"] = localElastic
			})
		}})
	}
	out = append(out, offer{"the embedded one", func() tea.Cmd { return s.setStore("embedded") }})
	if s.engineAnswers() && !s.storeKind().Traits().Container {
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
	case a == nil || !a.done:
		return nil
	case a.err != "":
		return []problem{{bad: true, field: fieldElastic, text: a.err, offers: s.otherStores()}}
	}
	seed := offer{"copy the command that loads them", func() tea.Cmd {
		args := []string{"--elastic", url}
		if s.dataKind() == dataGenerated {
			args = append(args, "--cities", s.value(fieldCities))
		}
		return ui.Cmd(ui.Copy{Text: commandLine("seed", args), What: "command", Shown: commandLine("seed", withoutPasswords(args))})
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

func (s *Screen) contenderProblems() (list []problem) {
	if !s.facts.listed {
		return nil
	}
	for _, sel := range s.selected() {
		drop := offer{"without it", func() tea.Cmd { return s.change(func() { s.drop(sel) }) }}
		name := look.Outside(sel.String(), 80)
		svc, err := s.resolve(sel)
		if err != nil {
			list = append(list, problem{bad: true, field: fieldContenders, text: text(err), offers: []offer{drop}})
			continue
		}
		if state := s.state(sel); state.Kind == Cannot {
			p := problem{bad: true, field: fieldContenders, text: name + " cannot run here: " + look.Outside(state.Why, 300), offers: []offer{drop}}
			if s.runtime().Traits().OnHost && s.engineAnswers() && (svc.Docker != nil || svc.Builtin) {
				p.offers = append(p.offers, s.inDocker())
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
	if !s.facts.machineOK || !s.planned {
		return nil
	}
	m, l := &s.facts.machine, s.plan.Limits
	cpus, memory, where := s.has()
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
		list = append(list, problem{bad: true, field: fieldMemory, offers: []offer{s.set("limit to "+units.Bytes(half), "memory", strictyaml.FormatBytes(half))},
			text: fmt.Sprintf("a limit of %s, but %s has %s", units.Bytes(l.Memory), where, units.Bytes(memory))})
	} else if (!s.inContainers() || m.Engine.Local) && m.Available > 0 && l.Memory > m.Available {
		list = append(list, problem{field: fieldMemory, text: fmt.Sprintf("a limit of %s, but only %s of memory are available now", units.Bytes(l.Memory), units.Bytes(m.Available))})
	}
	return list
}

// has tells what the machine that contenders run on has, and which one that is.
func (s *Screen) has() (cpus int, memory int64, where string) {
	m := &s.facts.machine
	if s.inContainers() && m.Engine.CPUs > 0 {
		return m.Engine.CPUs, m.Engine.Memory, "the engine's machine"
	}
	return m.CPUs, m.Memory, "this machine"
}

func (s *Screen) roomProblems() []problem {
	f := &s.facts
	if !f.roomKnown || f.roomWhy == "" || most(s.plan.Steps) != f.room {
		return nil
	}
	p := problem{bad: true, field: fieldConnections, text: f.roomWhy}
	steps := slices.DeleteFunc(slices.Clone(s.plan.Steps), func(step bench.Step) bool {
		return step.Connections > f.most || step.Connections <= 0
	})
	if slices.ContainsFunc(steps, func(step bench.Step) bool { return !step.WarmUp }) {
		p.offers = []offer{s.set("end at "+units.Plural(most(steps), "connection"), "connections", ladder(steps))}
	}
	return []problem{p}
}
