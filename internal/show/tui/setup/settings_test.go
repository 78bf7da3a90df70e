package setup

import (
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/show/tui/tuitest"
	"github.com/locbench/locbench/internal/testenv"
)

// withSettings opens a page whose profile gives contenders settings.
func withSettings(t *testing.T, contenders string, use func(o *opened)) {
	t.Helper()
	p, err := profile.Parse("own.yaml", []byte("contenders: "+contenders+"\nruntime: docker\nlimits: {cpus: 1, memory: 256MiB}\n"+
		"requests: [{get: /x}]\nsteps: [1 for 1s]\n"))
	testenv.OK(t, err)
	site := everything(t)
	site.profiles = append([]Profile{{Name: "own", Profile: p}}, site.profiles...)
	play(t, site, Choice{Profile: "own"}, use)
}

// A profile without contenders is run with those of the command, as 'locbench run' does; without any
// that is said once.
func TestProfileWithoutContenders(t *testing.T) {
	for name, c := range map[string]struct {
		contenders []bench.Selection
		want       string
	}{
		"of the command": {[]bench.Selection{{Contender: "kt-ktor"}}, ""},
		"none":           {nil, "start: profile own has no contenders: add `contenders`, name some here, or use --target URL"},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := profile.Parse("own.yaml", []byte("runtime: docker\nlimits: {cpus: 1, memory: 256MiB}\nrequests: [{get: /x}]\nsteps: [1 for 1s]\n"))
			testenv.OK(t, err)
			site := everything(t)
			site.profiles = append([]Profile{{Name: "own", Profile: p}}, site.profiles...)
			choice := Choice{Profile: "own", Contenders: c.contenders, Set: profile.Changes{"rounds": {"3"}, "cpus": {"0.5"}}}
			play(t, site, choice, func(o *opened) {
				var found []string
				for _, p := range o.form.problems() {
					if p.input {
						found = append(found, p.field+": "+p.text)
					}
				}
				testenv.Equal(t, strings.Join(found, "; "), c.want)
				testenv.Equal(t, o.form.planned, c.contenders != nil)
			})
		})
	}
}

// A contender's own limits are checked against the machine as those of all are.
func TestOwnLimitsAgainstTheMachine(t *testing.T) {
	for contenders, want := range map[string]string{
		"[kt-ktor, {kt-ktor: {cpus: 900, as: many}}]":   "kt-ktor:many: quota 900 CPUs, but",
		"[kt-ktor, {kt-ktor: {cpu_set: 900, as: set}}]": "kt-ktor:set: 900 CPUs visible, but",
		"[kt-ktor, {kt-ktor: {memory: 9TiB, as: big}}]": "kt-ktor:big: limit 9 TiB, but",
		"[kt-ktor, {kt-ktor: {cpus: 0.5, as: half}}]":   "",
	} {
		var found []string
		withSettings(t, contenders, func(o *opened) {
			for _, p := range o.form.problems() {
				if strings.Contains(p.text, "kt-ktor:") {
					found = append(found, p.text)
				}
			}
		})
		if got := strings.Join(found, "; "); !strings.HasPrefix(got, want) || (got == "") != (want == "") {
			t.Errorf("%s: %q, want %q", contenders, got, want)
		}
	}
}

// Contenders that only the profile knows have a state: from a folder they are built, an image is
// ready.
func TestStateOfOwnSources(t *testing.T) {
	own := "[{kt-ktor: {dir: /somewhere, as: before}}, {'go-nethttp:release': {image: 'go:old', as: old}}, {mine: {dir: /else}}]"
	withSettings(t, own, func(o *opened) {
		for sel, want := range map[bench.Selection]Kind{
			{Contender: "kt-ktor", Variant: "before"}: Build, {Contender: "go-nethttp", Variant: "old"}: Ready, {Contender: "mine"}: Build,
		} {
			got := o.form.state(sel)
			testenv.Check(t, got.Kind == want && got.Why != "", "%s: %+v", sel, got)
		}
	})
}

// Changes on the page keep the settings of the contenders that are left.
func TestChangesKeepSettings(t *testing.T) {
	withSettings(t, "[kt-ktor, {kt-ktor: {cpus: 0.5, env: {A: '1'}, as: half}}, {kt-ktor: {memory: 64MiB, as: small}}]", func(o *opened) {
		half, f := bench.Selection{Contender: "kt-ktor", Variant: "half"}, &o.form
		f.give(fieldCPUs, "2")
		f.give(fieldRounds, "9")
		f.toggle(bench.Selection{Contender: "kt-ktor", Variant: "small"})
		f.replan()
		p := f.plan
		testenv.Need(t, len(p.Contenders) == 2 && p.LimitsOf(half).CPUs == .5 && p.SettingsOf(half).Env["A"] == "1" &&
			p.LimitsOf(p.Contenders[0]).CPUs == 2 && p.Rounds == 9, "%+v %+v", p.Contenders, p.Settings)
	})
}

// TestOptionsHaveTheirFields: each option with a label in the table has a field on the page.
func TestOptionsHaveTheirFields(t *testing.T) {
	frames := ""
	for _, set := range []profile.Changes{{"elastic": {likelyStore}, "cities": {"500"}}, {"data": {"./dump"}}} {
		c := page(everything, Choice{Set: set}, &opened{})
		c.Play(t, tuitest.Size{Width: 120, Height: 60}, tuitest.Look{}, func(p *tuitest.Program) { frames += p.Frame() })
	}
	for _, option := range profile.Options() {
		testenv.Check(t, option.Label == "" || strings.Contains(frames, " "+option.Label+" "),
			"--%s has no field %s:\n%s", option.Name, option.Label, frames)
	}
}

// TestPlanIsSettledWithTheMachinesMemory: the plan follows the machine's memory when it is read,
// and does not use it for an engine of another machine.
func TestPlanIsSettledWithTheMachinesMemory(t *testing.T) {
	base, err := profile.Parse("p.yaml", []byte("contenders: [a, b]\nruntime: docker\nlimits: {memory: 2GiB}\nrequests: [{get: /x}]\nsteps: [3]\n"))
	testenv.OK(t, err)
	f := &form{fields: allFields(), base: base, loaded: true}
	reason := func() bench.PlainReason {
		f.replan()
		if f.notInterleaved == nil {
			return ""
		}
		return f.notInterleaved.Reason
	}
	got := reason()
	testenv.Check(t, got == "" && f.planned, "before the machine was read: %q, %s", got, f.planErr)
	f.facts.machine, f.facts.machineRead = Machine{Available: 4 << 30, Engine: Engine{Local: true}}, true
	testenv.Equal(t, reason(), bench.PlainMemory, "with 4 GiB free")
	f.facts.machine.Engine.Local = false
	testenv.Equal(t, reason(), "", "an engine elsewhere")
}

// TestPlanHasTheNeedsOfManifests: what the manifests of the contenders need counts as a need of the
// profile once they are known, and definitions that differ are why there is no plan.
func TestPlanHasTheNeedsOfManifests(t *testing.T) {
	base, err := profile.Parse("p.yaml", []byte("contenders: [a, b]\nrequests: [{get: /x}]\nsteps: [3]\n"))
	testenv.OK(t, err)
	f := &form{fields: allFields(), base: base, loaded: true}
	f.replan()
	testenv.Check(t, f.planned && f.notInterleaved == nil, "before: %v, %s", f.notInterleaved, f.planErr)
	testenv.Check(t, f.field(fieldNeeds).Hidden(f), "a line for no need")
	need := func(at string) []bench.NeedSpec {
		return []bench.NeedSpec{{Name: "db", Kind: "container", From: bench.NeedExternal, URL: at}}
	}
	f.facts.contenders = []bench.Service{{Name: "a", Dir: "svc/a", Needs: need("db:1")}, {Name: "b", Dir: "svc/b", Needs: need("db:1")}}
	f.replan()
	testenv.Check(t, f.planned && f.notInterleaved != nil && f.notInterleaved.Reason == bench.PlainNeeds, "%v, %s", f.notInterleaved, f.planErr)
	line := f.field(fieldNeeds)
	testenv.Check(t, !line.Hidden(f) && line.Get(f) == "db" && line.Note(f) == "not restored", "%q, %q", line.Get(f), line.Note(f))
	own := []bench.NeedSpec{{Name: "db", Kind: "container", From: bench.NeedContainer, Of: bench.FormFrom([]byte(`{"image": "db:1"}`))}}
	f.facts.contenders[0].Needs, f.facts.contenders[1].Needs = own, own
	f.replan()
	testenv.Contains(t, line.Note(f), "a copy for each contender, restored before each trial")
	f.facts.contenders[0].Needs, f.facts.contenders[1].Needs = need("db:1"), need("db:1")
	f.replan()
	f.facts.contenders[1].Needs = need("db:2")
	f.replan()
	testenv.Check(t, !f.planned && strings.Contains(f.planErr, "need db of svc/a/service.yaml and that of svc/b/service.yaml differ"), "%s", f.planErr)
}
