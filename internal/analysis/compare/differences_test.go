package compare

import (
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// wordsOf returns differences in a line each, without hashes.
func wordsOf(all []Difference) string {
	text := ""
	for _, d := range all {
		text += "  " + string(d.Weight) + ": " + d.String() + "\n"
	}
	return hashes.ReplaceAllString(text, "HASH")
}

// What makes runs incomparable, what may matter, and what does not.
func TestDifferences(t *testing.T) {
	profile := func(f func(*bench.Profile)) func(*bench.Run) { return func(r *bench.Run) { f(&r.Profile) } }
	need := func(n bench.NeedInfo) func(*bench.Run) {
		n.Name = "elasticsearch"
		return func(r *bench.Run) { r.Needs = []bench.NeedInfo{n} }
	}
	text := ""
	for _, c := range []struct {
		name   string
		change func(*bench.Run)
	}{
		{"limits", profile(func(p *bench.Profile) { p.Limits.CPUs = 2 })},
		{"no limits", profile(func(p *bench.Profile) { p.Limits = bench.Limits{} })},
		{"runtime", profile(func(p *bench.Profile) { p.Runtime = bench.RuntimeProcess })},
		{"requests", profile(func(p *bench.Profile) { p.Requests = []bench.Request{{Name: "get", Path: "/other"}} })},
		{"no requests", profile(func(p *bench.Profile) { p.Requests = nil })},
		{"steps", profile(func(p *bench.Profile) { p.Steps = p.Steps[:2] })},
		{"no steps", profile(func(p *bench.Profile) { p.Steps = nil })},
		{"interleaving", profile(func(p *bench.Profile) { p.Interleave = 100 * time.Millisecond })},
		{"interleaving not decided", profile(func(p *bench.Profile) { p.Interleave = bench.InterleaveAuto })},
		{"isolation", profile(func(p *bench.Profile) { p.Isolation = bench.IsolationOff })},
		{"protocol", profile(func(p *bench.Profile) { p.Protocol = bench.HTTP2 })},
		{"request timeout", profile(func(p *bench.Profile) { p.Timeout = time.Second })},
		{"bodies compared", profile(func(p *bench.Profile) { p.CompareBodies = .01 })},
		{"unexpected bodies", profile(func(p *bench.Profile) { p.MaxUnexpected = .01 })},
		{"contenders", profile(func(p *bench.Profile) { p.Contenders = make([]bench.Selection, 2) })},
		{"seed of the data", profile(func(p *bench.Profile) {
			p.Needs = []bench.NeedSpec{{Name: "elasticsearch", Of: bench.FormFrom([]byte(`{"cities":{"seed":4}}`))}}
		})},
		{"data", func(r *bench.Run) { r.Data.Hash = "bbbb" }},
		{"a file", func(r *bench.Run) { r.Files = []bench.DataFile{{File: "/x/body.json", Hash: "cccccccccccccccc"}} }},
		{"elasticsearch", need(bench.NeedInfo{From: bench.NeedExternal})},
		{"elasticsearch address", need(bench.NeedInfo{From: bench.NeedExternal, URL: "http://x"})},
		{"elasticsearch version", need(bench.NeedInfo{From: bench.NeedEmbedded, URL: "http://127.0.0.1:4711", Version: "9"})},
		{"elasticsearch latency", need(bench.NeedInfo{From: bench.NeedEmbedded, Latency: "median 1.00 s"})},
		{"target", func(r *bench.Run) { r.Targets = []bench.Target{{URL: "http://x"}, {URL: "http://y"}} }},
		{"CPUs", func(r *bench.Run) { r.Machine.CPUs = 4 }},
		{"system", func(r *bench.Run) { r.Machine.Arch = "arm64" }},
		{"machine memory", func(r *bench.Run) { r.Machine.MemoryBytes = 1 << 30 }},
		{"machine memory not known", func(r *bench.Run) { r.Machine.MemoryBytes = 0 }},
		{"kernel, governor, load", func(r *bench.Run) { r.Machine.Kernel, r.Machine.Governor, r.Machine.Load1 = "7", "powersave", "1.0" }},
		{"turbo, SMT and virtualisation known on one side only", func(r *bench.Run) { r.Machine.Turbo, r.Machine.SMT = "on", "on" }},
		{"cgroup version", func(r *bench.Run) { r.Machine.CgroupVersion = 1 }},
		{"a few pages of swap", func(r *bench.Run) { r.Machine.SwapUsed = new(int64(64<<20 - 1)) }},
		{"swap", func(r *bench.Run) { r.Machine.SwapUsed = new(int64(64 << 20)) }},
		{"other containers", func(r *bench.Run) { r.Machine.OtherContainers = "1: db" }},
		{"CPUs shared", func(r *bench.Run) { r.Isolated = &bench.Isolation{Text: "shared"} }},
		{"CPUs apart", func(r *bench.Run) { r.Isolated = &bench.Isolation{Separate: true, Text: "apart"} }},
		{"software", func(r *bench.Run) { r.Software = bench.Software{Locbench: "2", Docker: "30", Go: "go2"} }},
		{"names, rounds, thresholds, checks, prices, the same data and files elsewhere", func(r *bench.Run) {
			p := &r.Profile
			p.Name, p.Title, p.Description, p.Rounds, r.Data.Name = "x", "x", "x", 12, "/elsewhere"
			p.PriceVCPUHr, p.Checks, p.CompareBounded = 1, bench.CheckSpec{Suites: []string{"x"}}, true
			p.Thresholds = []bench.Threshold{{Condition: "p99<1ms"}}
			p.Needs = []bench.NeedSpec{{Name: "elasticsearch", URL: "http://x"}}
			p.Steps = steps4()
			p.Steps[2].KeepRequests = 1000
		}},
	} {
		a, b := run(), run()
		c.change(&b)
		text += c.name + "\n" + wordsOf(Differences(a, b))
	}
	known := bench.Machine{Turbo: "off", SMT: "off"}
	text += "the state of the machine\n" + wordsOf(Differences(bench.Run{Machine: known},
		bench.Run{Machine: bench.Machine{Turbo: "on", SMT: "on", Virtual: "kvm"}}))
	testenv.Golden(t, "testdata/differences.txt", text)
}

// The hash of a profile is that of the files' names, not of their folders, and leaves the profile
// unchanged.
func TestProfileHash(t *testing.T) {
	in := func(folder string) bench.Profile {
		file := func(name string) string { return strings.TrimPrefix(folder+"/", "/") + name }
		request := bench.Request{BodyFile: file("body"), Multipart: []bench.Field{{File: file("part")}, {}}}
		return bench.Profile{Steps: []bench.Step{{KeepRequests: len(folder)}}, Settings: []bench.Settings{{Dir: file("before")}},
			Variables: []bench.Variable{{File: file("ids")}, {}}, Requests: []bench.Request{request, {}},
			Setup: []bench.Request{request}, Teardown: []bench.Request{request}}
	}
	a, b := in("/home/a"), in("/home/b")
	testenv.Check(t, ProfileHash(a) == ProfileHash(b) && ProfileHash(a) == ProfileHash(in("")),
		"another folder has another hash")
	if a.Steps[0].KeepRequests != 7 || a.Settings[0].Dir != "home/a/before" || a.Requests[0].Multipart[0].File != "home/a/part" ||
		a.Variables[0].File != "home/a/ids" || a.Setup[0].BodyFile != "home/a/body" {
		t.Errorf("the profile was changed: %+v", a)
	}
	for name, change := range map[string]func(*bench.Profile){
		"step":      func(p *bench.Profile) { p.Steps[0].Connections++ },
		"settings":  func(p *bench.Profile) { p.Settings[0].Dir += "x" },
		"variable":  func(p *bench.Profile) { p.Variables[0].File += "x" },
		"body":      func(p *bench.Profile) { p.Requests[0].BodyFile += "x" },
		"part":      func(p *bench.Profile) { p.Teardown[0].Multipart[0].File += "x" },
		"isolation": func(p *bench.Profile) { p.Isolation = bench.IsolationOff },
	} {
		if change(&b); ProfileHash(b) == ProfileHash(a) {
			t.Errorf("another %s has the same hash", name)
		}
		b = in("/home/b")
	}
}

func TestTrialDifferences(t *testing.T) {
	engine := func(loop string) change {
		return func(l *bench.TrialResult) {
			for i := range l.Steps {
				l.Steps[i].Load.Loop = loop
			}
		}
	}
	defined := func(d bench.Definition) change {
		return func(l *bench.TrialResult) {
			for i := range l.Steps {
				l.Steps[i].Load.Definition = d
			}
		}
	}
	text := ""
	for _, c := range []struct {
		name     string
		old, new change
	}{
		{"none", func(*bench.TrialResult) {}, func(*bench.TrialResult) {}},
		{"engines", engine("epoll"), engine("vegeta")},
		{"loops of the same engine", engine("epoll"), engine("io_uring")},
		{"engine not known", engine(""), engine("vegeta")},
		{"definitions", defined(bench.Interval), defined(bench.Iterations)},
		{"sources and framework", func(l *bench.TrialResult) { l.Artifact.Sources, l.Service.Framework = "0123456789abcdef", "Ktor" },
			func(l *bench.TrialResult) { l.Artifact.Sources, l.Service.Framework = "fedcba987654", "http4k" }},
		{"limits not enforced in one round", func(*bench.TrialResult) {}, in(2, func(l *bench.TrialResult) { l.Instance.LimitsEnforced = false })},
		{"no limits", func(*bench.TrialResult) {}, func(l *bench.TrialResult) { l.Instance.Limits = bench.Limits{} }},
		{"another version, runtime and image", func(*bench.TrialResult) {}, func(l *bench.TrialResult) {
			l.Service.Version, l.Service.LanguageVersion, l.Instance.Runtime, l.Instance.ImageID = "2.0", "25", bench.RuntimeProcess, "sha256:ff"
		}},
		{"no instance", func(*bench.TrialResult) {}, func(l *bench.TrialResult) { l.Instance = nil }},
	} {
		text += c.name + "\n" + wordsOf(trialDifferences(trials("a", 2, usual(), c.old), trials("a", 2, usual(), c.new)))
	}
	testenv.Golden(t, "testdata/trial_differences.txt", text)
}

// TestDifferences_OwnNeeds: a need that a service has for itself is compared with that of the same
// service, or with a shared one, and only if both runs have the service.
func TestDifferences_OwnNeeds(t *testing.T) {
	run := func(contenders string, needs ...string) (r bench.Run) {
		for _, name := range strings.Fields(contenders) {
			r.Profile.Contenders = append(r.Profile.Contenders, bench.Selection{Contender: name, Variant: "v"})
		}
		for _, need := range needs {
			name, version, _ := strings.Cut(need, " ")
			name, service, _ := strings.Cut(name, "@")
			r.Needs = append(r.Needs, bench.NeedInfo{Name: name, Service: service, From: bench.NeedContainer, Version: version})
		}
		return r
	}
	for name, c := range map[string]struct {
		a, b bench.Run
		want string
	}{
		"the same":            {run("go node", "db@go 17", "db@node 17"), run("go node", "db@go 17", "db@node 17"), ""},
		"another one":         {run("go node", "db@go 17", "db@node 17"), run("go node", "db@go 17", "db@node 16"), "db of node version: 17 → 16"},
		"another service":     {run("go node", "db@go 17", "db@node 17"), run("go", "db@go 17"), ""},
		"of one version":      {run("go", "db@go:v 17"), run("go", "db@go:v 16"), "db of go:v version: 17 → 16"},
		"shared before":       {run("go node", "db 17"), run("go node", "db@go 17", "db@node 16"), "db of node version: 17 → 16"},
		"none before":         {run("go"), run("go", "db@go 17"), "db of go: none → container; db of go version: none → 17"},
		"none before, shared": {run("go"), run("go", "db 17"), "db: none → container; db version: none → 17"},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, d := range Differences(c.a, c.b) {
				if strings.HasPrefix(string(d.What), "db") {
					got = append(got, d.String())
				}
			}
			testenv.Equal(t, strings.Join(got, "; "), c.want)
		})
	}
}

// TestDifferences_Parts: another seed, mounted file or image of a need is a difference; a file of
// another folder with the same content is not, and of a run without these nothing is known.
func TestDifferences_Parts(t *testing.T) {
	run := func(parts ...bench.NeedPart) (r bench.Run) {
		r.Needs = []bench.NeedInfo{{Name: "db", From: bench.NeedContainer, Version: "db:1"}}
		for _, p := range parts {
			p.Need = "db"
			r.NeedParts = append(r.NeedParts, p)
		}
		return r
	}
	image := bench.NeedPart{Key: "image", Image: "db:1", Hash: "sha256:1"}
	seed := func(file, hash string) bench.NeedPart { return bench.NeedPart{Key: "seed[0]", File: file, Hash: hash} }
	once := func(hash string) bench.NeedPart {
		return bench.NeedPart{Key: "seed[1].image", Image: "tool:1", Hash: "sha256:" + hash}
	}
	for name, c := range map[string]struct {
		a, b bench.Run
		want string
	}{
		"same":          {run(image, seed("/x/a.sql", "1")), run(image, seed("/y/a.sql", "1")), ""},
		"another seed":  {run(image, seed("/x/a.sql", "1")), run(image, seed("/x/a.sql", "0123456789abcdef")), "db seed[0]: a.sql 1 → a.sql 0123456789ab"},
		"one more":      {run(image), run(image, seed("/x/a.sql", "1")), "db seed[0]: none → a.sql 1"},
		"another tool":  {run(image, once("1")), run(image, once("2")), "db seed[1].image: tool:1 1 → tool:1 2"},
		"one has none":  {run(), run(image, seed("/x/a.sql", "1")), ""},
		"another image": {run(image), run(bench.NeedPart{Key: "image", Image: "db:1", Hash: "sha256:2"}), ""}, // its version says so
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, d := range Differences(c.a, c.b) {
				got = append(got, d.String())
				testenv.Equal(t, d.Weight, Relevant)
			}
			testenv.Equal(t, strings.Join(got, "\n"), c.want)
		})
	}
}
