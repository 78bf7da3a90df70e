package setup

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/show/tui/tuitest"
	"github.com/locbench/locbench/internal/testenv"
)

var changed = Choice{
	Profile: "locations", Contenders: []bench.Selection{{Contender: "rs-actix", Variant: "lto"}, {Contender: "kt-http4k"}},
	Set: profile.Changes{"elastic": {localElastic}, "rounds": {"3"}, "memory": {"512"}, "cities": {"100000"}},
}

func TestFrames(t *testing.T) {
	page(everything, Choice{}, &opened{}).Light(t, "setup")
	for name, c := range map[string]tuitest.Page{
		"setup":      page(everything, Choice{}, &opened{}),
		"changed":    page(everything, changed, &opened{}, "down", "down", "down", "down", "down"),
		"contenders": page(everything, Choice{}, &opened{}, "down", "enter", "down", "space", "down", "down", "space"),
	} {
		t.Run(name, func(t *testing.T) { c.Frames(t, name) })
	}
}

// TestContents: what the page has in some situations.
func TestContents(t *testing.T) {
	for name, c := range map[string]struct {
		page tuitest.Page
		want []string
	}{
		"changed": {page(everything, changed, &opened{}), []string{
			"*5 changed", "✗ a mistake", "*rs-actix:lto kt-http4k", "profile: 6", "✗ --memory 512: write from 6MiB to 16TiB",
		}},
		"another field": {page(everything, Choice{Set: profile.Changes{"rounds": {"0"}}}, &opened{}), []string{
			"✗ --rounds 0: write from 1 to 1000", "--rounds 0"}},
		"in the whole": {page(everything, Choice{Profile: "locations", Set: profile.Changes{"store": {"external"}}}, &opened{}), []string{
			"✗ a mistake", "Start ", "needs an Elasticsearch. Use yours"}},
		"an unknown profile": {page(everything, Choice{Profile: "gone.yaml"}, &opened{}), []string{`✗ unknown profile "gone.yaml"`}},
		"choices": {page(everything, Choice{}, &opened{}, "end", "up", "up", "up", "up", "enter", "down", "down"), []string{
			"╭─ Store", "a URL if one is given, else embedded", "inside locbench; shares CPUs with the load"}},
		"a target": {page(everything, Choice{Set: profile.Changes{"target": {"http://me:secret@h/x"}}}, &opened{}), []string{
			"✓ ready: 1 contender, 5 steps", " Target       *http://", "!secret", "!CPUs ", "!Runtime ", "!Contenders ", "$ locbench run --target 'http://***@h/x'"}},
		"limits of a target": {page(everything, Choice{Set: profile.Changes{"target": {"http://h"}, "cpus": {"1"}}}, &opened{}), []string{
			"✗ --cpus: not with --target"}},
		"runtimes": {page(everything, Choice{Profile: "gone.yaml"}, &opened{}, "end", "up", "enter"), []string{"╭─ Runtime", "processes"}},
		"many contenders": {page(thirty, Choice{}, &opened{}, "down", "enter", "/", "j", "v", "m", "enter", "space", "down", "space"), []string{
			"filter: jvm", "[x] contender-01 ", "[ ] contender-05:two"}},
	} {
		t.Run(name, func(t *testing.T) {
			c.page.Play(t, tuitest.Size{Width: 120, Height: 40}, tuitest.Look{}, func(p *tuitest.Program) {
				testenv.Contains(t, p.Frame(), c.want...)
			})
		})
	}
}

// thirty returns a machine with 31 contenders, most with three variants.
func thirty(t testing.TB) *fakeSite {
	f := everything(t)
	f.services = services()[:1]
	for i := range 30 {
		tags := []string{"native", "async"}
		if i%2 == 1 {
			tags = []string{"jvm", "blocking"}
		}
		f.services = append(f.services, bench.Service{
			Name: fmt.Sprintf("contender-%02d", i), Language: "Language", Framework: "framework", Version: "1.0", Tags: tags,
			Docker:   &bench.DockerRecipe{Dockerfile: "Dockerfile"},
			Variants: []bench.Variant{{Name: "one"}, {Name: "two", Title: "another"}, {Name: "three"}},
		})
	}
	return f
}

// TestFromKeysToArguments presses keys as a user does and looks at what Start is called with.
func TestFromKeysToArguments(t *testing.T) {
	for _, tt := range []struct {
		name string
		do   func(*opened)
		want string
	}{
		{"nothing", func(o *opened) {}, "--profile quick"},
		{"undone", func(o *opened) { o.give("rounds", "6"); o.Press("u") }, "--profile quick"},
		{"all undone", func(o *opened) { o.give("rounds", "6"); o.give("cpus", "2"); o.Press("U") }, "--profile quick"},
		{"the profile's value", func(o *opened) { o.give("rounds", "6"); o.give("rounds", "1") }, "--profile quick"},
		{"typed", func(o *opened) {
			for _, c := range [][2]string{{"memory", "1GiB"}, {"cpus", "2.5"}, {"cpu-set", "3"}, {"connections", "1, 8"}, {"duration", "5s"}} {
				o.give(c[0], c[1])
			}
		}, "--profile quick --cpus 2.5 --cpu-set 3 --memory 1GiB --connections 1, 8 --duration 5s"},
		{"escaped", func(o *opened) { o.goTo("memory"); o.Press("enter", "9", "esc") }, "--profile quick"},
		{"profile by list", func(o *opened) { o.Press("enter", "up", "enter"); o.goTo("store"); o.Press("enter", "up", "enter") }, "--profile locations --store embedded"},
		{"profile by arrow", func(o *opened) { o.Press("left"); o.give("elastic", localElastic) }, "--profile locations --elastic " + localElastic},
		{"runtime", func(o *opened) { o.goTo("runtime"); o.Press("right", "right") }, "--profile quick --runtime process"},
		{"data", func(o *opened) { o.give("cities", "500"); o.goTo("data"); o.Press("right") }, "--profile quick --cities 500"},
		{"target", func(o *opened) { o.give("cpus", "2"); o.give("target", "http://127.0.0.1:8080/x?y=1") }, "--target http://127.0.0.1:8080/x?y=1"},
		{"targets of a profile", func(o *opened) {
			o.Press("left")
			o.give("target", "a=http://h b=http://i")
			o.give("rounds", "8")
		}, "--profile locations --rounds 8 --target a=http://h --target b=http://i"},
		{"no target", func(o *opened) { o.give("target", "http://h"); o.Press("u"); o.give("cpus", "2") }, "--profile quick --cpus 2"},
		{"dump", func(o *opened) { o.give("data", "my dump") }, "--profile quick --data my dump"},
		{"contenders", func(o *opened) {
			o.goTo(fieldContenders)
			o.Press("enter", "down", "space", "end", "space", "up", "space", "up", "space", "enter")
		}, "--profile quick go-nethttp go-nethttp:release rs-actix rs-actix:lto rs-actix:native"},
		{"contenders by filter", func(o *opened) {
			o.goTo(fieldContenders)
			o.Press("enter", "space", "/")
			o.typed("rust lto")
			o.Press("enter", "space", "enter")
		}, "--profile quick rs-actix:lto"},
		{"contenders escaped", func(o *opened) { o.goTo(fieldContenders); o.Press("enter", "down", "space", "esc") }, "--profile quick"},
		{"the profile's contenders", func(o *opened) { o.goTo(fieldContenders); o.Press("enter", "enter") }, "--profile quick"},
		{"no contender", func(o *opened) { o.goTo(fieldContenders); o.Press("enter", "space", "enter") }, "--profile quick"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			play(t, everything(t), Choice{}, func(o *opened) {
				tt.do(o)
				o.Press("s")
				testenv.Check(t, len(o.started) == 1 && strings.Join(o.started[0], " ") == tt.want,
					"started %q, want %s\n%s", o.started, tt.want, o.Frame())
			})
		})
	}
}

func TestStartShowsTheMistakeAndFocusesItsField(t *testing.T) {
	play(t, everything(t), Choice{}, func(o *opened) {
		o.give("memory", "512")
		o.goTo(fieldStart)
		o.Press("enter", "s")
		testenv.Check(t, len(o.started) == 0 && o.at == "memory", "started %q, focus %v", o.started, o.at)
		o.Press("u", "s")
		testenv.Equal(t, len(o.started), 1, "undone")
	})
}

// A profile without contenders is run with those of the command, as 'locbench run' does; without any
// that is said.
func TestProfileWithoutContenders(t *testing.T) {
	p, err := profile.Parse("own.yaml", []byte("runtime: docker\nlimits: {cpus: 1, memory: 256MiB}\nrequests: [{get: /x}]\nsteps: [1 for 1s]\n"))
	testenv.OK(t, err)
	for want, contenders := range map[string][]bench.Selection{
		"": {{Contender: "kt-ktor"}},
		"profile own has no contenders: add `contenders`, name some here, or use --target URL": nil,
	} {
		site := everything(t)
		site.profiles = append([]Profile{{Name: "own", Profile: p}}, site.profiles...)
		play(t, site, Choice{Profile: "own", Contenders: contenders, Set: profile.Changes{"rounds": {"3"}}}, func(o *opened) {
			where, got := o.form.mistake()
			testenv.Equal(t, where+got, fieldStart+want)
		})
	}
}

// TestOptionsHaveTheirFields: each option with a label in the table has a field on the page.
func TestOptionsHaveTheirFields(t *testing.T) {
	page(everything, Choice{}, &opened{}).Play(t, tuitest.Size{Width: 120, Height: 60}, tuitest.Look{}, func(p *tuitest.Program) {
		for _, option := range profile.Options() {
			testenv.Check(t, option.Label == "" || strings.Contains(p.Frame(), " "+option.Label+" "),
				"--%s has no field %s:\n%s", option.Name, option.Label, p.Frame())
		}
	})
}

// The contenders of a profile are those of its folder, whichever profile was chosen before; a response
// about another folder is dropped.
func TestContendersOfTheChosenProfile(t *testing.T) {
	f := everything(t)
	own := f.profiles[1]
	own.Name, own.Services, own.Contenders = "bench.yaml", "/mine/bookings", []bench.Selection{{Contender: "bookings"}}
	f.profiles = append(f.profiles, own)
	play(t, f, Choice{}, func(o *opened) {
		f.asked = nil
		old := o.readContenders()()
		o.Press("right")
		testenv.Equal(t, f.asked, []string{"", "/mine/bookings"}, "the profile's folder")
		o.Update(old)
		testenv.Equal(t, len(o.form.services), 6, "an old response has replaced a newer one")
		o.Press("left")
		testenv.Equal(t, f.asked[2:], []string{""}, "bundled ones again")
	})
}

func TestAPasteGoesIntoTheField(t *testing.T) {
	play(t, everything(t), Choice{}, func(o *opened) {
		o.goTo("memory")
		o.Press("enter", "ctrl+u")
		o.Send(tea.PasteMsg{Content: "2\x1b]0;title\aGiB\n"})
		o.Frame() // fails on control characters
		o.Press("enter")
		testenv.Check(t, strings.HasPrefix(o.form.value(o.form.field("memory")), "2"), "%q", o.form.choice.Set)
		o.Frame()
	})
}

func TestTheShownCommandHoldsNoPassword(t *testing.T) {
	secrets := Choice{Set: profile.Changes{"elastic": {"http://elastic:secret@10.0.0.5:9200"}}, Extra: []string{"--services=a b", "--target=http://me:secret@x"}}
	for _, size := range tuitest.Sizes() {
		o := &opened{}
		page(everything, secrets, o, "y").Play(t, size, tuitest.Look{}, func(p *tuitest.Program) {
			testenv.Contains(t, p.Frame(), "!secret", "copied command: ")
			if c := o.form.choice.Command(); !strings.Contains(c, "elastic:secret@") || !strings.Contains(c, "'--services=a b'") {
				t.Errorf("the copied command cannot do the same: %s", c)
			}
		})
	}
}

func TestHostileNamesHoldTheLayout(t *testing.T) {
	evil := []string{"\x1b]0;owned\a\x1b[2J", "a\u202eb\u0300\u0300\u0300", strings.Repeat("wide 漢字 ", 400), "👨‍👩‍👧‍👦\r\n\t\x00", "\xff\xfe" + strings.Repeat("x", 100000)}
	for i, bad := range evil {
		site := func(t testing.TB) *fakeSite {
			f := everything(t)
			f.services[1].Name, f.services[1].Language, f.services[1].Framework = bad, bad, bad
			f.services[1].Tags, f.services[1].Version, f.services[2].Variants[1].Name = []string{bad}, bad, bad
			f.profiles = append(f.profiles, Profile{Name: bad, Profile: f.profiles[0].Profile}, Profile{Name: bad + "2", Err: fmt.Errorf("broken: %s", bad)})
			f.profiles[0].Title, f.profiles[0].Steps = bad, slices.Clone(f.profiles[0].Steps)
			f.profiles[0].Steps[0].Name = bad
			return f
		}
		c := Choice{Profile: bad, Contenders: []bench.Selection{{Contender: bad}, {Contender: "go-nethttp"}}, Set: profile.Changes{"data": {bad}, "elastic": {localElastic}, "rounds": {bad}}, Extra: []string{bad}}
		for _, keys := range []string{"enter", "down enter", "down down enter", "end", "end up up enter"} {
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
		"":               {},
		"1.2":            {Version: "1.2"},
		"Go · async":     {Language: "Go", Tags: []string{"async"}},
		"Go · x 1 · a b": {Language: "Go", Framework: "x", Version: "1", Tags: []string{"a", "b"}},
		"net/http · jvm": {Framework: "net/http", Tags: []string{"jvm"}},
	} {
		testenv.Equal(t, about(svc), want)
	}
}

// A value is made harmless to show; without an edit it is unchanged.
func TestAValueThatIsNotEditedIsUnchanged(t *testing.T) {
	play(t, everything(t), Choice{Set: profile.Changes{"data": {"a\u202eb"}}}, func(o *opened) {
		o.goTo("data")
		o.Press("enter", "enter")
		testenv.Equal(t, o.form.choice.Set.Text("data"), "a\u202eb")
	})
}
