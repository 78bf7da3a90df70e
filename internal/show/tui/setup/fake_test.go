package setup

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/show/tui/tuitest"
	"github.com/locbench/locbench/internal/show/tui/ui"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/profiles"
)

const localElastic = "http://127.0.0.1:9200"

// fakeSite is the machine of a test.
type fakeSite struct {
	profiles []Profile
	services []bench.Service
	asked    []string // folders of contenders
}

func (f *fakeSite) Profiles(also string) []Profile {
	out := slices.Clone(f.profiles)
	if !slices.ContainsFunc(out, func(p Profile) bool { return p.Name == also }) {
		out = append(out, Profile{Name: also, Err: fmt.Errorf("unknown profile %q", also)})
	}
	return out
}

func (f *fakeSite) Contenders(folder string) ([]bench.Service, error) {
	f.asked = append(f.asked, folder)
	if folder != "" {
		return append(slices.Clone(f.services), bench.Service{Name: filepath.Base(folder)}), nil
	}
	return f.services, nil
}

func bundled(t testing.TB) (out []Profile) {
	t.Helper()
	for _, name := range []string{"locations", "quick"} {
		out = append(out, Profile{Name: name, Profile: testenv.Must(profile.Load(name, profiles.FS))(t)})
	}
	return out
}

func services() []bench.Service {
	yes := true
	image := func(file string) *bench.DockerRecipe { return &bench.DockerRecipe{Dockerfile: file} }
	return []bench.Service{
		{Name: "go-nethttp", Title: "Go, net/http", Language: "Go", Framework: "net/http", Version: "1.26", Tags: []string{"native", "async"}, Endpoints: []string{"get", "search"},
			Docker: image("Dockerfile"), Variants: []bench.Variant{{Name: "builtin", Title: "the copy inside locbench", Builtin: &yes}, {Name: "release", Title: "built from its Dockerfile"}}},
		{Name: "js-express", Title: "Express", Language: "JavaScript", Framework: "Express", Version: "5.1", Tags: []string{"async"}, Endpoints: []string{"get"}, Docker: image("Dockerfile")},
		{Name: "kt-http4k", Title: "http4k", Language: "Kotlin", Framework: "http4k", Version: "6.5", Tags: []string{"jvm", "blocking"}, Endpoints: []string{"get"}, Docker: image("Dockerfile"),
			Variants: []bench.Variant{{Name: "undertow"}, {Name: "netty"}, {Name: "graalvm", Title: "compiled to native code", Unverified: "written without GraalVM"}}},
		{Name: "kt-ktor", Title: "Ktor", Language: "Kotlin", Framework: "Ktor", Version: "3.4", Tags: []string{"jvm", "async"}, Endpoints: []string{"get"}, Docker: image("Dockerfile")},
		{Name: "rs-actix", Title: "Actix Web", Language: "Rust", Framework: "actix-web", Version: "4.11", Tags: []string{"native", "async"}, Endpoints: []string{"get"}, Docker: image("Dockerfile"),
			Variants: []bench.Variant{{Name: "release"}, {Name: "lto", Title: "link-time optimization"}, {Name: "native", Title: "for this very CPU"}}},
	}
}

// everything returns a machine with the bundled profiles and some contenders.
func everything(t testing.TB) *fakeSite {
	return &fakeSite{profiles: bundled(t), services: services()}
}

// opened is a page in the program that has received every response of its site.
type opened struct {
	*Setup
	*tuitest.Program
	started [][]string
}

var usual = tuitest.Size{Width: 80, Height: 24}

// page returns the page on a machine. made gets it, with the runs that it starts.
func page(site func(testing.TB) *fakeSite, initial Choice, made *opened, keys ...string) tuitest.Page {
	return tuitest.Page{Keys: keys, New: func(t *testing.T) ui.Page {
		o := Options{
			Site: site(t), Initial: initial, Browse: func() tea.Cmd { return ui.Cmd(ui.TellMsg{Text: "browse"}) },
			Start: func(args []string) tea.Cmd { made.started = append(made.started, args); return nil },
		}
		made.Setup = New(o)
		return made.Setup
	}}
}

// play opens the page and calls use.
func play(t *testing.T, site *fakeSite, initial Choice, use func(o *opened)) {
	t.Helper()
	o := &opened{}
	page(func(testing.TB) *fakeSite { return site }, initial, o).Play(t, usual, tuitest.Look{}, func(p *tuitest.Program) {
		o.Program = p
		use(o)
	})
}

// typed presses a key for each letter.
func (o *opened) typed(text string) {
	for _, r := range text {
		if r == ' ' {
			o.Press("space")
			continue
		}
		o.Press(string(r))
	}
}

// goTo focuses a field.
func (o *opened) goTo(name string) {
	o.Press("home")
	for range o.form.shown() {
		if o.at == name {
			return
		}
		o.Press("down")
	}
}

// give types a text into a field.
func (o *opened) give(name, text string) {
	o.goTo(name)
	o.Press("enter", "ctrl+u")
	o.typed(text)
	o.Press("enter")
}
