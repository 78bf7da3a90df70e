package setup

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/run/profile"
	ui "github.com/locbench/locbench/internal/show/tui/old"
	"github.com/locbench/locbench/internal/show/tui/tuitest"
	"github.com/locbench/locbench/internal/testenv"
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
		{"rounds by arrows", everything, func(o *opened) { o.goTo(fieldRounds); o.press("right", "right", "l", "left") }, "--profile quick --rounds 3"},
		{"rounds and back", everything, func(o *opened) { o.goTo(fieldRounds); o.press("right", "left") }, "--profile quick"},
		{"rounds undone", everything, func(o *opened) { o.give(fieldRounds, "6"); o.press("u") }, "--profile quick"},
		{"typed", everything, func(o *opened) {
			o.give(fieldMemory, "1GiB")
			o.give(fieldCPUs, "2.5")
			o.give(fieldCPUSet, "3")
			o.give(fieldConnections, "1, 8")
			o.give(fieldDuration, "5s")
		}, "--profile quick --cpus 2.5 --cpu-set 3 --memory 1GiB --connections 1, 8 --duration 5s"},
		{"escaped", everything, func(o *opened) { o.goTo(fieldMemory); o.press("enter", "9", "esc") }, "--profile quick"},
		{"tab keeps", everything, func(o *opened) {
			o.goTo(fieldRounds)
			o.press("enter", "backspace", "7", "tab", "enter", "backspace", "4", "up")
		}, "--profile quick --rounds 7 --cpus 1.4"},
		{"profile by list", everything, func(o *opened) { o.press("enter", "up", "enter"); o.goTo(fieldStore); o.press("enter", "up", "enter") }, "--profile locations --store embedded"},
		{"profile by arrow", everything, func(o *opened) { o.press("left"); o.give(fieldElastic, localElastic) }, "--profile locations --elastic " + localElastic},
		{"runtime", everything, func(o *opened) { o.goTo(fieldRuntime); o.press("right", "right") }, "--profile quick --runtime process"},
		{"store and back", everything, func(o *opened) {
			o.goTo(fieldStore)
			o.press("right", "right")
			o.give(fieldElastic, "http://10.0.0.5:9200")
			o.goTo(fieldStore)
			o.press("right")
		}, "--profile quick --store container"},
		{"store there and back again", everything, func(o *opened) {
			o.goTo(fieldStore)
			o.press("right", "right")
			o.give(fieldElastic, localElastic)
			o.goTo(fieldStore)
			o.press("right", "left")
		}, "--profile quick --elastic " + localElastic},
		{"generated", everything, func(o *opened) { o.goTo(fieldData); o.press("right"); o.give(fieldCities, "500") }, "--profile quick --cities 500"},
		{"dump", everything, func(o *opened) { o.goTo(fieldData); o.press("left"); o.give(fieldDump, "my dump") }, "--profile quick --data my dump"},
		{"contenders", everything, func(o *opened) {
			o.goTo(fieldContenders)
			o.press("enter", "down", "space", "end", "space", "up", "space", "up", "space", "enter")
		}, "--profile quick go-nethttp go-nethttp:release rs-actix rs-actix:lto rs-actix:native"},
		{"contenders by filter", everything, func(o *opened) {
			o.goTo(fieldContenders)
			o.press("enter", "n", "/")
			o.typed("rust lto")
			o.press("enter", "home", "down", "space", "esc", "enter")
		}, "--profile quick rs-actix:lto"},
		{"contenders escaped", everything, func(o *opened) { o.goTo(fieldContenders); o.press("enter", "a", "esc") }, "--profile quick"},
		{"all of them", everything, func(o *opened) { o.goTo(fieldContenders); o.press("enter", "a", "enter") }, "--profile quick go-nethttp js-express kt-http4k kt-ktor rs-actix"},
		{"interleave", everything, func(o *opened) {
			o.goTo(fieldContenders)
			o.press("enter", "a", "enter")
			o.give(fieldInterleave, "100ms")
		}, "--profile quick go-nethttp js-express kt-http4k kt-ktor rs-actix --interleave 100ms"},
		{"fixes", withoutDocker, func(o *opened) { o.press("left", "1", "1") }, "--profile locations --runtime process --store embedded"},
		{"fixes in the diagnosis", withoutDocker, func(o *opened) { o.press("left", "d", "1", "1", "esc") }, "--profile locations --runtime process --store embedded"},
		{"a local Elasticsearch is offered", everything, func(o *opened) { o.press("left", "1") }, "--profile locations --elastic " + localElastic},
		{"saved", everything, func(o *opened) { o.give(fieldRounds, "2"); o.press("w", "enter") }, "--profile my-quick.yaml"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := open(t, tt.site(t), Choice{})
			tt.do(o)
			o.press("s")
			if o.focus != fieldStart && len(o.started) == 0 {
				o.press("s") // a problem of the machine is confirmed
			}
			testenv.Check(t, len(o.started) == 1 && strings.Join(o.started[0], " ") == tt.want,
				"started %q, want %s; %v", o.started, tt.want, o.program)
		})
	}
}

func TestStartShowsTheProblemAndFocusesItsField(t *testing.T) {
	o := open(t, everything(t), Choice{})
	o.give(fieldMemory, "512")
	o.goTo(fieldStart)
	for range 3 { // a mistake cannot be confirmed
		o.press("enter")
	}
	testenv.Check(t, len(o.started) == 0 && o.focus == fieldMemory, "started %q, focus %v", o.started, o.focus)
	msg, ok := o.program[0].(ui.StatusMsg)
	testenv.Check(t, ok && msg.Bad && strings.Contains(msg.Text, "512MiB"), "%v", o.program)
	o.press("1", "s") // the profile's value
	testenv.Equal(t, len(o.started), 1, "the fix did not help")
}

func TestProblemsOfTheMachineCanBeConfirmed(t *testing.T) {
	f := withoutDocker(t)
	o := open(t, f, Choice{Set: profile.Changes{"runtime": {"docker"}}})
	o.press("s")
	testenv.Check(t, len(o.started) == 0 && o.focus == fieldRuntime, "started %q, focus %v", o.started, o.focus)
	o.press("s")
	testenv.Equal(t, len(o.started), 1, "not started the second time")
	f.machine.Engine = Engine{Version: "28.5.1"} // it was started meanwhile
	o.press("r")
	p := o.problems()
	testenv.Check(t, len(p) == 0, "checked again, still %+v", p)
}

func TestFactsAreRequestedAgainAfterChanges(t *testing.T) {
	f := everything(t)
	o := open(t, f, Choice{})
	f.asked = nil
	o.goTo(fieldRuntime)
	o.press("right", "right")
	testenv.Check(t, slices.Contains(f.asked, "states process") && slices.Contains(f.asked, "machine"),
		"another runtime: requested %q", f.asked)
	f.asked = nil
	o.goTo(fieldStore)
	o.press("right", "right")
	o.give(fieldElastic, "http://10.0.0.5:9200")
	testenv.Equal(t, f.asked, []string{"elastic http://10.0.0.5:9200"}, "another store: requested")
	testenv.Check(t, !o.Busy(), "all responses have arrived, but it waits")
}

func TestOutdatedResponsesAreDropped(t *testing.T) {
	f := everything(t)
	o := open(t, f, Choice{})
	states := f.states
	f.states = nil
	old := o.askStates()()
	f.states = states
	o.goTo(fieldRuntime)
	o.press("right")
	o.Update(old)
	testenv.Check(t, len(o.facts.states) != 0, "an old response has replaced a newer one")
}

func TestSavingAsksBeforeOverwriting(t *testing.T) {
	f := everything(t)
	f.files["mine.yaml"] = bench.Profile{Name: "precious"}
	o := open(t, f, Choice{})
	o.give(fieldRounds, "4")
	o.press("w", "ctrl+u")
	o.typed("mine")
	o.press("enter")
	testenv.Need(t, f.files["mine.yaml"].Name == "precious" && o.save.asking, "%+v", f.files["mine.yaml"])
	o.press("n", "ctrl+u")
	o.typed("/nowhere/x")
	o.press("enter")
	testenv.Check(t, o.mode == saving && strings.Contains(o.save.err, "no such file or directory"),
		"mode %v, error %q", o.mode, o.save.err)
	o.press("ctrl+u")
	o.typed("mine.yaml")
	o.press("enter", "y")
	if f.files["mine.yaml"].Rounds != 4 || o.choice.Profile != "mine.yaml" || o.changes() != 0 || o.base.Rounds != 4 {
		t.Errorf("%+v, choice %+v", f.files["mine.yaml"], o.choice)
	}
}

func TestTheMouseChooses(t *testing.T) {
	for _, size := range []tuitest.Size{{Width: 80, Height: 24}, {Width: 200, Height: 50}} {
		o := open(t, everything(t), Choice{})
		l := ui.NewLook(ui.LookOptions{NoColor: true})
		click := func(what string) {
			t.Helper()
			lines := tuitest.View(o.Screen, size, l, noon)
			for y, line := range lines {
				if before, _, ok := strings.Cut(line, what); ok {
					tuitest.Settle(o.Screen, o.Update(tea.MouseClickMsg{X: ui.Width(before) + 1, Y: y, Button: tea.MouseLeft}), o.receive)
					return
				}
			}
			t.Fatalf("no %q in\n%s", what, strings.Join(lines, "\n"))
		}
		click("Store")
		testenv.Need(t, o.focus == fieldStore, "focus %v", o.focus)
		click("Store")
		click("inside locbench;")
		click("Contenders ")
		click("Contenders ")
		click("] lto")
		o.press("enter")
		click("[ Start ]")
		want := "--profile quick go-nethttp rs-actix:lto --store embedded"
		testenv.Check(t, len(o.started) == 1 && strings.Join(o.started[0], " ") == want, "%v: started %q, want %s",
			size, o.started, want)
	}
}

func TestAPasteGoesIntoTheField(t *testing.T) {
	o := open(t, everything(t), Choice{})
	o.goTo(fieldMemory)
	o.press("enter", "ctrl+u")
	o.Update(tea.PasteMsg{Content: "2\x1b]0;title\aGiB\n"})
	for i, line := range tuitest.View(o.Screen, tuitest.Size{Width: 80, Height: 24}, ui.NewLook(ui.LookOptions{NoColor: true}), noon) {
		testenv.Check(t, !strings.ContainsAny(line, "\a\n"), "line %d: %q", i, line)
	}
}

func TestTheShownCommandHoldsNoPassword(t *testing.T) {
	o := open(t, everything(t), Choice{Set: profile.Changes{"elastic": {"http://elastic:secret@10.0.0.5:9200"}}, Extra: []string{"--services=a b", "--target=http://me:secret@x"}})
	for _, size := range tuitest.Sizes() {
		testenv.Contains(t, strings.Join(tuitest.View(o.Screen, size, ui.NewLook(ui.LookOptions{}), noon), "\n"),
			"!secret")
	}
	if c := o.choice.Command(); !strings.Contains(c, "elastic:secret@") || !strings.Contains(c, "'--services=a b'") {
		t.Errorf("the copied command cannot do the same: %s", c)
	}
	o.press("y")
	if c, ok := o.program[len(o.program)-1].(ui.Copy); !ok || strings.Contains(c.Shown, "secret") || !strings.Contains(c.Shown, "10.0.0.5") || c.Text != o.choice.Command() {
		t.Errorf("the message of the copy: %+v", o.program[len(o.program)-1])
	}
}

func TestHostileNamesHoldTheLayout(t *testing.T) {
	evil := []string{"\x1b]0;owned\a\x1b[2J", "a\u202eb\u0300\u0300\u0300", strings.Repeat("wide 漢字 ", 400), "👨‍👩‍👧‍👦\r\n\t\x00", "\xff\xfe" + strings.Repeat("x", 100000)}
	for _, bad := range evil {
		f := everything(t)
		f.services[1].Name, f.services[1].Title, f.services[1].Language, f.services[1].Framework = bad, bad, bad, bad
		f.services[1].Tags, f.services[1].Unverified, f.services[1].Version = []string{bad}, bad, bad
		f.services[2].Variants[1].Name, f.services[2].Variants[1].Title = bad, bad
		f.profiles = append(f.profiles, Profile{Name: bad, Profile: f.profiles[0].Profile}, Profile{Name: bad + "2", Err: fmt.Errorf("broken: %s", bad)})
		f.profiles[0].Title, f.profiles[0].Steps[0].Name = bad, bad
		f.machine.Engine.Version, f.machine.Unlimited = bad, bad
		f.machine.Warnings[0].Name, f.machine.Warnings[1].Value, f.machine.Warnings[2].Fix = bad, bad, bad
		f.elastic[localElastic] = Elastic{Version: bad, Warning: bad}
		f.states[bench.Selection{Contender: "go-nethttp", Variant: "builtin"}] = State{Kind: Cannot, Why: bad}
		o := open(t, f, Choice{Profile: bad, Contenders: []bench.Selection{{Contender: bad}, {Contender: "go-nethttp"}}, Set: profile.Changes{"data": {bad}, "elastic": {localElastic}, "rounds": {bad}}, Extra: []string{bad}})
		o.press("home", "enter")
		for _, walk := range [][]string{{}, {"esc", "down", "enter"}, {"down", "down", "down", "down"}, {"esc", "d"}, {"esc", "w"}, {"esc", "end"}} {
			o.press(walk...)
			for _, size := range append(tuitest.Sizes(), tuitest.Size{Width: 20, Height: 6}, tuitest.Size{Width: 33, Height: 9}) {
				for _, ascii := range []bool{false, true} {
					tuitest.Exact(t, tuitest.View(o.Screen, size, ui.NewLook(ui.LookOptions{ASCII: ascii}), noon), size, ascii)
				}
			}
			testenv.Need(t, !t.Failed(), "%.60q after %q", bad, walk)
		}
	}
}

// TestLostResponses: responses that another screen has received are requested again.
func TestLostResponses(t *testing.T) {
	s := New(Options{Site: everything(t)})
	s.Init() // its responses never come
	testenv.Need(t, s.Busy(), "no response is pending")
	tuitest.Settle(s, s.Update(ui.Shown{}), func(tea.Msg) {})
	testenv.Check(t, !s.Busy() && s.loaded && s.facts.listed && s.facts.machineOK,
		"busy %v, profile %v, contenders %v, machine %v", s.Busy(), s.loaded, s.facts.listed, s.facts.machineOK)
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
		testenv.Equal(t, new(Screen).about(row{svc: svc}), want)
	}
}

func TestEverySizeIsFilledExactly(t *testing.T) {
	o := open(t, withoutDocker(t), Choice{Profile: "locations", Set: profile.Changes{"memory": {"512"}}})
	for _, keys := range []string{"", "enter", "esc down enter", "esc d", "esc end up"} {
		o.press(strings.Fields(keys)...)
		for w := 20; w <= 130; w += 11 {
			for h := 5; h <= 45; h += 2 {
				size := tuitest.Size{Width: w, Height: h}
				tuitest.Exact(t, tuitest.View(o.Screen, size, ui.NewLook(ui.LookOptions{NoColor: true}), noon), size, false)
			}
		}
	}
}
