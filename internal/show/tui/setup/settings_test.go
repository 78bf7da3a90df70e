package setup

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/run/profile"
	ui "github.com/locbench/locbench/internal/show/tui/old"
	"github.com/locbench/locbench/internal/show/tui/tuitest"
	"github.com/locbench/locbench/internal/testenv"
)

// withSettings returns a screen whose profile gives contenders settings.
func withSettings(t *testing.T, contenders string) *opened {
	t.Helper()
	p, err := profile.Parse("own.yaml", []byte("contenders: "+contenders+"\nruntime: docker\nlimits: {cpus: 1, memory: 256MiB}\nstore: none\n"+
		"requests: [{get: /x}]\nsteps: [1 for 1s]\n"))
	testenv.OK(t, err)
	site := everything(t)
	site.profiles = append([]Profile{{Name: "own", Profile: p}}, site.profiles...)
	return open(t, site, Choice{Profile: "own"})
}

// A contender's own limits are checked against the machine as those of all are.
func TestOwnLimitsAgainstTheMachine(t *testing.T) {
	for contenders, want := range map[string]string{
		"[kt-ktor, {kt-ktor: {cpus: 900, as: many}}]":   "kt-ktor:many: quota 900 CPUs, but",
		"[kt-ktor, {kt-ktor: {cpu_set: 900, as: set}}]": "kt-ktor:set: CPU set 900, but",
		"[kt-ktor, {kt-ktor: {memory: 9TiB, as: big}}]": "kt-ktor:big: limit 9 TiB, but",
		"[kt-ktor, {kt-ktor: {cpus: 0.5, as: half}}]":   "",
	} {
		var found []string
		for _, p := range withSettings(t, contenders).problems() {
			if strings.Contains(p.text, "kt-ktor:") {
				found = append(found, p.text)
			}
		}
		if got := strings.Join(found, "; "); !strings.HasPrefix(got, want) || (got == "") != (want == "") {
			t.Errorf("%s: %q, want %q", contenders, got, want)
		}
	}
}

// Contenders that only the profile knows have a state: from a folder they are built, an image is
// ready.
func TestStateOfOwnSources(t *testing.T) {
	s := withSettings(t, "[{kt-ktor: {dir: /somewhere, as: before}}, {'go-nethttp:release': {image: 'go:old', as: old}}, {mine: {dir: /else}}]")
	for sel, want := range map[bench.Selection]Kind{
		{Contender: "kt-ktor", Variant: "before"}: Build, {Contender: "go-nethttp", Variant: "old"}: Ready, {Contender: "mine"}: Build,
	} {
		got := s.state(sel)
		testenv.Check(t, got.Kind == want && got.Why != "", "%s: %+v", sel, got)
	}
}

// Changes in the setup screen keep the settings of the contenders that are left, also in a saved
// profile.
func TestChangesKeepSettings(t *testing.T) {
	s := withSettings(t, "[kt-ktor, {kt-ktor: {cpus: 0.5, env: {A: '1'}, as: half}}, {kt-ktor: {memory: 64MiB, as: small}}]")
	half := bench.Selection{Contender: "kt-ktor", Variant: "half"}
	s.give(fieldCPUs, "2")
	s.give(fieldRounds, "9")
	s.drop(bench.Selection{Contender: "kt-ktor", Variant: "small"})
	s.replan()
	if p := s.plan; len(p.Contenders) != 2 || p.LimitsOf(half).CPUs != .5 || p.SettingsOf(half).Env["A"] != "1" || p.LimitsOf(p.Contenders[0]).CPUs != 2 || p.Rounds != 9 {
		t.Fatalf("%+v %+v", p.Contenders, p.Settings)
	}
	text, err := profile.Format(s.plan)
	testenv.OK(t, err)
	again, err := profile.Parse("saved.yaml", text)
	if err != nil || again.LimitsOf(half).CPUs != .5 || again.SettingsOf(half).Env["A"] != "1" || len(again.Contenders) != 2 {
		t.Errorf("saved: %v\n%s", err, text)
	}
}

// TestOptionsHaveTheirFields: each option with a label in the table has a field on the screen.
func TestOptionsHaveTheirFields(t *testing.T) {
	two := []bench.Selection{{Contender: "go-nethttp"}, {Contender: "rs-actix"}}
	screens := ""
	for _, set := range []profile.Changes{{"elastic": {localElastic}, "cities": {"500"}}, {"data": {"./dump"}}} {
		o := open(t, everything(t), Choice{Contenders: two, Set: set})
		size := tuitest.Size{Width: 100, Height: 60}
		screens += strings.Join(tuitest.View(o.Screen, size, ui.NewLook(ui.LookOptions{NoColor: true}), noon), "\n")
	}
	for _, option := range profile.Options() {
		testenv.Check(t, option.Label == "" || strings.Contains(screens, " "+option.Label+" "),
			"--%s has no field %s:\n%s", option.Name, option.Label, screens)
	}
}

// TestPlanIsSettledWithTheMachinesMemory: the plan follows the machine's memory when it is read,
// and does not use it for an engine of another machine.
func TestPlanIsSettledWithTheMachinesMemory(t *testing.T) {
	base, err := profile.Parse("p.yaml", []byte("contenders: [a, b]\nruntime: docker\nlimits: {memory: 2GiB}\nrequests: [{get: /x}]\nsteps: [3]\n"))
	testenv.OK(t, err)
	s := &Screen{base: base, loaded: true, wrong: map[id]string{}}
	reason := func() bench.PlainReason {
		s.replan()
		if s.notInterleaved == nil {
			return ""
		}
		return s.notInterleaved.Reason
	}
	got := reason()
	testenv.Check(t, got == "" && s.planned, "before the machine was read: %q, %s", got, s.planErr)
	s.facts.machine, s.facts.machineOK = Machine{Available: 4 << 30, Engine: Engine{Local: true}}, true
	s.update(response(func() tea.Cmd { return nil }))
	testenv.Check(t, s.notInterleaved != nil && s.notInterleaved.Reason == bench.PlainMemory, "with 4 GiB free: %+v",
		s.notInterleaved)
	s.facts.machine.Engine.Local = false
	testenv.Equal(t, reason(), "", "an engine elsewhere")
}
