package setup

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/docker"
	"github.com/locbench/locbench/internal/needs"
	"github.com/locbench/locbench/internal/run/machine"
	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/show/tui/tuitest"
	"github.com/locbench/locbench/internal/show/tui/ui"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/profiles"
)

// fakeSite is the machine of a test. It keeps the contract of Site: it refuses to overwrite files.
type fakeSite struct {
	profiles []Profile
	services []bench.Service
	states   map[bench.Selection]State
	machine  Machine
	probed   map[string]needs.Probe
	most     int
	files    map[string]bench.Profile
	mu       sync.Mutex // guards asked
	asked    []string
}

func (f *fakeSite) note(request string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, request)
}

func (f *fakeSite) Profiles(ctx context.Context, also string) []Profile {
	out := slices.Clone(f.profiles)
	for name, p := range f.files {
		out = append(out, Profile{Name: name, Profile: p})
	}
	if !slices.ContainsFunc(out, func(p Profile) bool { return p.Name == also }) {
		out = append(out, Profile{Name: also, Err: fmt.Errorf("unknown profile %q", also)})
	}
	return out
}

func (f *fakeSite) Contenders(_ context.Context, r bench.Runtime, folder string) ([]bench.Service, map[bench.Selection]State, error) {
	f.note("states " + string(r))
	out := map[bench.Selection]State{}
	for sel, st := range f.states {
		out[sel] = st
		if sel.Contender == "kt-http4k" && (r == bench.RuntimeProcess || r == bench.RuntimeAuto && f.machine.Engine.Err != nil) {
			out[sel] = State{Kind: Cannot, Why: "mvn is not installed here"}
		}
	}
	if folder != "" {
		f.note("in " + folder)
		return append(slices.Clone(f.services), bench.Service{Name: filepath.Base(folder)}), out, nil
	}
	return f.services, out, nil
}

func (f *fakeSite) Machine(context.Context) Machine {
	f.note("machine")
	m := f.machine
	m.Room = f.room
	return m
}

func (f *fakeSite) Probe(_ context.Context, url string) needs.Probe {
	f.note("probe " + url)
	if e, ok := f.probed[url]; ok {
		return e
	}
	_, host, _ := strings.Cut(url, "@") // no password in an error
	return needs.Probe{Err: fmt.Errorf("open external store http://%s: dial tcp: connect: connection refused", host)}
}

func (f *fakeSite) room(n int) (int, error) {
	if n > f.most {
		return f.most, fmt.Errorf("%d connections need %d open files, but only %d are allowed: ulimit -n %d", n, n+300, f.most+300, n+300)
	}
	return n, nil
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

// everything returns a machine on which everything is available.
func everything(t testing.TB) *fakeSite {
	states := map[bench.Selection]State{}
	for _, svc := range services() {
		for _, v := range svc.Variants {
			states[bench.Selection{Contender: svc.Name, Variant: v.Name}] = State{Kind: Ready}
		}
	}
	states[bench.Selection{Contender: "go-nethttp", Variant: "release"}] = State{Kind: Build}
	states[bench.Selection{Contender: "kt-http4k", Variant: "graalvm"}] = State{Kind: Build}
	states[bench.Selection{Contender: "js-express"}] = State{Kind: Build}
	states[bench.Selection{Contender: "kt-ktor"}] = State{Kind: Build}
	return &fakeSite{
		profiles: bundled(t), services: services(), states: states, most: 30000, files: map[string]bench.Profile{},
		probed: map[string]needs.Probe{likelyStore: {Version: "7.10.2", Size: 14945}},
		machine: Machine{CPUs: 16, Memory: 64 << 30, Available: 50 << 30, Engine: Engine{Version: "28.5.1", CPUs: 16, Memory: 64 << 30, Local: true},
			Warnings: []machine.Warning{
				{Name: "Docker", Status: machine.OK, Value: "engine 28.5.1, API 1.51, cgroup v2, 16 CPUs, at unix:///var/run/docker.sock"},
				{Name: "Docker limits", Status: machine.OK, Value: "CPU, memory without swap, processes"},
				{Name: "cgroup", Status: machine.OK, Value: "v2"},
				{Name: "CPUs", Status: machine.OK, Value: "16 (AMD EPYC 7713)"},
				{Name: "memory", Status: machine.OK, Value: "64.0 GiB, 50.0 GiB available"},
				{Name: "load", Status: machine.Warn, Value: "9.41 in the last minute", Fix: "stop other processes (see top): they distort results"},
				{Name: "open files", Status: machine.OK, Value: "up to 1048576"},
				{Name: "local ports", Status: machine.OK, Value: "28232 (32768 to 60999)"},
				{Name: "Go toolchain", Status: machine.OK, Value: "go1.26.0"},
			}},
	}
}

// withoutDocker returns a machine without a Docker engine and without an Elasticsearch.
func withoutDocker(t testing.TB) *fakeSite {
	f := everything(t)
	f.probed = nil
	f.machine.Engine = Engine{Err: &docker.ConnectError{
		What: "docker engine", Where: "unix:///var/run/docker.sock (of the default socket)",
		Reason: errors.New("nothing listening"), Fix: "start it (Linux: sudo systemctl start docker)",
	}}
	f.machine.Unlimited = "the cgroup hierarchy is not writable"
	f.machine.Warnings[0] = machine.Warning{Name: "Docker", Status: machine.Missing, Value: "docker engine unix:///var/run/docker.sock (of the default socket): nothing listening",
		Fix: "start it (Linux: sudo systemctl start docker). Without it contenders run as processes"}
	return f
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
			Site: site(t), Initial: initial, Runs: pastRuns(t), Browse: func() tea.Cmd { return ui.Cmd(ui.TellMsg{Text: "browse"}) },
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

// pastRuns are a finished run, one that failed, one in progress, and a folder that cannot be read.
func pastRuns(t testing.TB) tuitest.Folders {
	all := tuitest.Folders{
		tuitest.FolderOf("results/limits", tuitest.Records(t, "limits")), tuitest.FolderOf("results/faults", tuitest.Records(t, "faults")),
		tuitest.FolderOf("results/live", tuitest.Records(t, "limits")), {Dir: "results/broken", Broken: errors.New("run.json: unexpected end of file")},
	}
	all[2].Live = true
	for _, f := range all {
		for _, trial := range f.Trials {
			for i := range trial.Steps { // the page says of them what needs no latencies, which take long to merge
				trial.Steps[i].Load.Latency.HDR = ""
			}
		}
	}
	return all
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
