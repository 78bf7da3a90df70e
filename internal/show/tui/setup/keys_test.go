package setup

import (
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/needs"
	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/show/tui/tuitest"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/fit"
)

// TestFromKeysToArguments presses keys as a user does and looks at what Start is called with.
func TestFromKeysToArguments(t *testing.T) {
	for _, tt := range []struct {
		name string
		site func(testing.TB) *fakeSite
		do   func(*opened)
		want string
	}{
		{"nothing", everything, func(o *opened) {}, "--profile quick"},
		{"rounds by arrows", everything, func(o *opened) { o.goTo(fieldRounds); o.Press("right", "right", "l", "left") }, "--profile quick --rounds 3"},
		{"rounds and back", everything, func(o *opened) { o.goTo(fieldRounds); o.Press("right", "left") }, "--profile quick"},
		{"rounds undone", everything, func(o *opened) { o.give(fieldRounds, "6"); o.Press("u") }, "--profile quick"},
		{"typed", everything, func(o *opened) {
			o.give(fieldMemory, "1GiB")
			o.give(fieldCPUs, "2.5")
			o.give(fieldCPUSet, "3")
			o.give(fieldConnections, "1, 8")
			o.give(fieldDuration, "5s")
		}, "--profile quick --cpus 2.5 --cpu-set 3 --memory 1GiB --connections 1, 8 --duration 5s"},
		{"escaped", everything, func(o *opened) { o.goTo(fieldMemory); o.Press("enter", "9", "esc") }, "--profile quick"},
		{"profile by list", everything, func(o *opened) { o.Press("enter", "up", "enter"); o.goTo(fieldStore); o.Press("enter", "up", "enter") }, "--profile locations --store embedded"},
		{"profile by arrow", everything, func(o *opened) { o.Press("left"); o.give(fieldElastic, likelyStore) }, "--profile locations --elastic " + likelyStore},
		{"runtime", everything, func(o *opened) { o.goTo(fieldRuntime); o.Press("right", "right") }, "--profile quick --runtime process"},
		{"store and back", everything, func(o *opened) {
			o.goTo(fieldStore)
			o.Press("right", "right")
			o.give(fieldElastic, "http://10.0.0.5:9200")
			o.goTo(fieldStore)
			o.Press("right")
		}, "--profile quick --store container"},
		{"store there and back again", everything, func(o *opened) {
			o.goTo(fieldStore)
			o.Press("right", "right")
			o.give(fieldElastic, likelyStore)
			o.goTo(fieldStore)
			o.Press("right", "left")
		}, "--profile quick --elastic " + likelyStore},
		{"generated", everything, func(o *opened) { o.goTo(fieldData); o.Press("right"); o.give(fieldCities, "500") }, "--profile quick --cities 500"},
		{"dump", everything, func(o *opened) { o.goTo(fieldData); o.Press("left"); o.give(fieldDump, "my dump") }, "--profile quick --data my dump"},
		{"contenders", everything, func(o *opened) {
			o.goTo(fieldContenders)
			o.Press("enter", "down", "space", "end", "space", "up", "space", "up", "space", "enter")
		}, "--profile quick go-nethttp go-nethttp:release rs-actix rs-actix:lto rs-actix:native"},
		{"contenders by filter", everything, func(o *opened) {
			o.goTo(fieldContenders)
			o.Press("enter", "v", "v", "/")
			o.typed("rust lto")
			o.Press("enter", "home", "space", "esc", "enter")
		}, "--profile quick rs-actix:lto"},
		{"contenders escaped", everything, func(o *opened) { o.goTo(fieldContenders); o.Press("enter", "v", "esc") }, "--profile quick"},
		{"all of them", everything, func(o *opened) { o.goTo(fieldContenders); o.Press("enter", "v", "enter") }, "--profile quick go-nethttp js-express kt-http4k kt-ktor rs-actix"},
		{"interleave", everything, func(o *opened) {
			o.goTo(fieldContenders)
			o.Press("enter", "v", "enter")
			o.give(fieldInterleave, "100ms")
		}, "--profile quick go-nethttp js-express kt-http4k kt-ktor rs-actix --interleave 100ms"},
		{"fixes", withoutDocker, func(o *opened) { o.Press("left", "1", "2") }, "--profile locations --runtime process --store embedded"},
		{"a local Elasticsearch is offered", everything, func(o *opened) { o.Press("left", "1") }, "--profile locations --elastic " + likelyStore},
	} {
		t.Run(tt.name, func(t *testing.T) {
			play(t, tt.site(t), Choice{}, func(o *opened) {
				tt.do(o)
				if o.Press("s"); len(o.started) == 0 {
					o.Press("s") // a problem of the machine is confirmed
				}
				testenv.Check(t, len(o.started) == 1 && strings.Join(o.started[0], " ") == tt.want,
					"started %q, want %s\n%s", o.started, tt.want, o.Frame())
			})
		})
	}
}

func TestStartShowsTheProblemAndFocusesItsField(t *testing.T) {
	play(t, everything(t), Choice{}, func(o *opened) {
		o.give(fieldMemory, "512")
		o.goTo(fieldStart)
		for range 3 { // a mistake cannot be confirmed
			o.Press("enter", "s")
		}
		testenv.Check(t, len(o.started) == 0 && o.at == fieldMemory, "started %q, focus %v", o.started, o.at)
		o.Press("esc")
		testenv.Contains(t, o.Frame(), "512MiB")
		o.Press("1", "s") // the profile's value
		testenv.Equal(t, len(o.started), 1, "the fix did not help")
	})
}

func TestProblemsOfTheMachineCanBeConfirmed(t *testing.T) {
	f := withoutDocker(t)
	play(t, f, Choice{Set: profile.Changes{"runtime": {"docker"}}}, func(o *opened) {
		o.Press("s")
		testenv.Check(t, len(o.started) == 0 && o.at == fieldRuntime, "started %q, focus %v", o.started, o.at)
		o.Press("s")
		testenv.Equal(t, len(o.started), 1, "not started the second time")
		f.machine.Engine = Engine{Version: "28.5.1"} // it was started meanwhile
		o.Press("f5")
		p := o.form.problems()
		testenv.Check(t, len(p) == 0, "checked again, still %+v", p)
	})
}

func TestFactsAreRequestedAgainAfterChanges(t *testing.T) {
	f := everything(t)
	play(t, f, Choice{}, func(o *opened) {
		f.asked = nil
		o.goTo(fieldRuntime)
		o.Press("right", "right")
		testenv.Equal(t, f.asked, []string{"states docker", "states process"}, "another runtime: requested")
		f.asked = nil
		o.goTo(fieldStore)
		o.Press("right", "right")
		o.give(fieldElastic, "http://10.0.0.5:9200")
		testenv.Equal(t, f.asked, []string{"probe http://10.0.0.5:9200"}, "another store: requested")
	})
}

// The contenders of a profile are those of its folder, whichever profile was chosen before.
func TestContendersOfTheChosenProfile(t *testing.T) {
	f := everything(t)
	own := f.profiles[1]
	own.Name, own.Services, own.Contenders = "bench.yaml", "/mine/bookings", []bench.Selection{{Contender: "bookings"}}
	f.profiles = append(f.profiles, own)
	play(t, f, Choice{}, func(o *opened) {
		f.asked = nil
		o.Press("right")
		testenv.Equal(t, f.asked, []string{"states auto", "in /mine/bookings"}, "the profile's folder")
		for _, p := range o.form.problems() {
			testenv.Check(t, !p.bad, "%+v", p)
		}
		f.asked = nil
		o.Press("left")
		testenv.Equal(t, f.asked, []string{"states auto"}, "bundled ones again")
	})
}

func TestOutdatedResponsesAreDropped(t *testing.T) {
	f := everything(t)
	play(t, f, Choice{}, func(o *opened) {
		states := f.states
		f.states = nil
		old := o.askContenders()()
		f.states = states
		o.goTo(fieldRuntime)
		o.Press("right")
		o.Update(old)
		testenv.Check(t, len(o.form.facts.states) != 0, "an old response has replaced a newer one")
	})
}

func TestTheMouseChooses(t *testing.T) {
	for _, size := range []tuitest.Size{{Width: 40, Height: 30}, {Width: 80, Height: 24}, {Width: 200, Height: 50}} {
		o := &opened{}
		page(everything, Choice{}, o).Play(t, size, tuitest.Look{}, func(p *tuitest.Program) {
			click := func(what string) {
				t.Helper()
				for y, line := range strings.Split(p.Frame(), "\n") {
					if before, _, ok := strings.Cut(line, what); ok {
						p.Send(tea.MouseClickMsg{X: fit.Width(before) + 1, Y: y, Button: tea.MouseLeft})
						return
					}
				}
				t.Fatalf("no %q in\n%s", what, p.Frame())
			}
			click("Store ")
			testenv.Need(t, o.at == fieldStore, "focus %v", o.at)
			click("Store ")
			p.Press("down", "enter")
			click("Contenders ")
			click("Contenders ")
			click("] rs-actix:lto")
			p.Press("enter")
			click("[ Start ]")
			want := "--profile quick go-nethttp rs-actix:lto --store embedded"
			testenv.Check(t, len(o.started) == 1 && strings.Join(o.started[0], " ") == want, "%v: started %q, want %s",
				size, o.started, want)
		})
	}
}

func TestAPasteGoesIntoTheField(t *testing.T) {
	play(t, everything(t), Choice{}, func(o *opened) {
		o.goTo(fieldMemory)
		o.Press("enter", "ctrl+u")
		o.Send(tea.PasteMsg{Content: "2\x1b]0;title\aGiB\n"})
		o.Frame() // fails on control characters
		o.Press("enter")
		testenv.Check(t, strings.HasPrefix(o.form.option(fieldMemory), "2"), "%q", o.form.option(fieldMemory))
		o.Frame()
	})
}

func TestTheShownCommandHoldsNoPassword(t *testing.T) {
	secrets := Choice{Set: profile.Changes{"elastic": {"http://elastic:secret@10.0.0.5:9200"}}, Extra: []string{"--services=a b", "--target=http://me:secret@x"}}
	for _, size := range tuitest.Sizes() {
		o := &opened{}
		page(everything, secrets, o, "y").Play(t, size, tuitest.Look{}, func(p *tuitest.Program) {
			testenv.Contains(t, p.Frame(), "!secret", "copied command: ")
			testenv.Contains(t, o.form.choice.Command(), "elastic:secret@", "'--services=a b'")
		})
	}
}

func TestHostileNamesHoldTheLayout(t *testing.T) {
	evil := []string{"\x1b]0;owned\a\x1b[2J", "a\u202eb\u0300\u0300\u0300", strings.Repeat("wide 漢字 ", 400), "👨‍👩‍👧‍👦\r\n\t\x00", "\xff\xfe" + strings.Repeat("x", 100000)}
	for i, bad := range evil {
		site := func(t testing.TB) *fakeSite {
			f := everything(t)
			f.services[1].Name, f.services[1].Title, f.services[1].Language, f.services[1].Framework = bad, bad, bad, bad
			f.services[1].Tags, f.services[1].Unverified, f.services[1].Version = []string{bad}, bad, bad
			f.services[2].Variants[1].Name, f.services[2].Variants[1].Title = bad, bad
			f.profiles = append(f.profiles, Profile{Name: bad, Profile: f.profiles[0].Profile}, Profile{Name: bad + "2", Err: fmt.Errorf("broken: %s", bad)})
			f.profiles[0].Title, f.profiles[0].Steps[0].Name = bad, bad
			f.machine.Engine.Version, f.machine.Unlimited = bad, bad
			f.machine.Warnings[0].Name, f.machine.Warnings[1].Value, f.machine.Warnings[5].Value, f.machine.Warnings[5].Fix = bad, bad, bad, bad
			f.probed[likelyStore] = needs.Probe{Version: bad, Warning: bad}
			f.states[bench.Selection{Contender: "go-nethttp", Variant: "builtin"}] = State{Kind: Cannot, Why: bad}
			return f
		}
		c := Choice{Profile: bad, Contenders: []bench.Selection{{Contender: bad}, {Contender: "go-nethttp"}}, Set: profile.Changes{"data": {bad}, "elastic": {likelyStore}, "rounds": {bad}}, Extra: []string{bad}}
		for _, keys := range []string{"enter", "down enter", "down down enter", "m", "w", "end", "end up up enter"} {
			t.Run(fmt.Sprint(i, " ", keys), func(t *testing.T) {
				for _, ascii := range []bool{false, true} {
					page(site, c, &opened{}, strings.Fields(keys)...).Play(t, usual, tuitest.Look{ASCII: ascii}, func(p *tuitest.Program) {
						for _, size := range []tuitest.Size{{Width: 20, Height: 6}, usual, {Width: 200, Height: 50}} {
							p.Resize(size)
							p.Frame()
						}
					})
				}
			})
		}
	}
}

// TestAboutHasNoGaps where a manifest has no value.
func TestAboutHasNoGaps(t *testing.T) {
	for want, svc := range map[string]bench.Service{
		"":                {},
		"Go":              {Language: "Go"},
		"1.2":             {Version: "1.2"},
		"Go · async":      {Language: "Go", Tags: []string{"async"}},
		"Go · x 1 · a b":  {Language: "Go", Framework: "x", Version: "1", Tags: []string{"a", "b"}},
		"net/http · jvm":  {Framework: "net/http", Tags: []string{"jvm"}},
		"net/http 1 · it": {Framework: "net/http", Version: "1", Tags: []string{"it"}},
	} {
		testenv.Equal(t, about(svc), want)
	}
}

// A value is made harmless to show; without an edit it is unchanged.
func TestAValueThatIsNotEditedIsUnchanged(t *testing.T) {
	play(t, everything(t), Choice{Set: profile.Changes{"data": {"a\u202eb"}}}, func(o *opened) {
		o.goTo(fieldDump)
		o.Press("enter", "enter")
		testenv.Equal(t, o.form.option(fieldDump), "a\u202eb")
	})
}
