package setup

import (
	"fmt"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/show/tui/tuitest"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func TestViews(t *testing.T) {
	locations := Choice{Profile: "locations"}
	for name, make := range map[string]func() *opened{
		"plain": func() *opened { return open(t, everything(t), Choice{}) },
		"changed": func() *opened {
			o := open(t, everything(t), Choice{Profile: "locations", Contenders: []bench.Selection{{Contender: "rs-actix", Variant: "lto"}, {Contender: "kt-http4k"}, {Contender: "go-nethttp", Variant: "release"}},
				Set: profile.Changes{"elastic": {localElastic}, "rounds": {"3"}, "cities": {"100000"}}})
			o.goTo(fieldRounds)
			return o
		},
		"nodocker": func() *opened { return open(t, withoutDocker(t), locations) },
		"twocpus": func() *opened {
			f := everything(t)
			f.machine.CPUs, f.machine.Engine.CPUs, f.machine.Engine.Memory, f.most = 2, 2, 4<<30, 1000
			return open(t, f, Choice{Profile: "locations", Set: profile.Changes{"cpus": {"4"}, "memory": {"8GiB"}, "store": {"container"}}})
		},
		"badinput": func() *opened {
			o := open(t, everything(t), Choice{})
			o.give(fieldMemory, "512")
			o.give(fieldRounds, "0")
			o.give(fieldConnections, "1,many")
			o.goTo(fieldMemory)
			o.press("enter")
			return o
		},
		"asking": func() *opened {
			o := &opened{Screen: New(Options{Site: everything(t)})}
			o.Init() // its commands are not run, so there is no response yet
			return o
		},
		"choose": func() *opened {
			o := open(t, everything(t), Choice{})
			o.goTo(fieldStore)
			o.press("enter", "down", "down")
			return o
		},
		"list": func() *opened {
			o := open(t, everything(t), Choice{})
			o.goTo(fieldContenders)
			o.press("enter", "down", "space", "down", "down", "space")
			return o
		},
		"thirty": func() *opened {
			o := open(t, thirty(t), Choice{})
			o.goTo(fieldContenders)
			o.press("enter", "/")
			o.typed("jvm")
			o.press("enter", "a", "pgdown", "down")
			return o
		},
		"save": func() *opened {
			o := open(t, everything(t), Choice{Set: profile.Changes{"rounds": {"6"}}})
			o.press("w", "enter", "w")
			o.press("ctrl+u")
			o.typed("my-quick")
			o.press("enter")
			return o
		},
		"doctor": func() *opened {
			o := open(t, withoutDocker(t), locations)
			o.press("d")
			return o
		},
	} {
		t.Run(name, func(t *testing.T) {
			page := make().Screen
			tuitest.Shows(t, page, noon, contents[name]...)
			if name == "changed" || name == "list" {
				tuitest.Golden(t, page, name, noon)
			}
		})
	}
}

// contents is what each page has.
var contents = map[string][]string{
	"plain": {"< quick >", "1 contender", "1 warm-up for 2s, 1, 4, 16, 64", "1 trial of 14s load; estimated 17s total",
		"$ locbench run --profile quick"},
	"changed": {"4 changed; U resets all", "*rs-actix:lto kt-http4k go-nethttp:release", "profile: 6"},
	"nodocker": {"< locations >", "(missing)", "✗ no Docker engine: unix:///var/run/docker.sock",
		"$ locbench run --profile locations"},
	"twocpus": {"profile: 1.5; 2 CPUs here", "profile: 512MiB; 4 GiB here", "*container",
		"✗ quota 4 CPUs, but the engine's machine has 2", "1 limit to 2", "2 limit to 2 GiB"},
	"badinput": {"✗ --rounds 0: write from 1 to 1000", "✗ --memory 512: ad…", "*1,many", "1 use the profile's value"},
	"asking":   {"loading profile…", "checking this machine", "looking for Docker"},
	"choose": {"▸ Store", "a URL if one is given, else embedded", "inside locbench; shares CPUs with the load",
		"an Elasticsearch 7 that runs already, at a URL"},
	"list":   {"3 contenders selected", "[-] go-nethttp", "[x] builtin", "[x] release"},
	"thirty": {"16 contenders selected, filter: jvm", "of 31 contenders", "[-] contender-01", "[x] one", "[ ] two"},
	"save":   {"< my-quick.yaml >", "save as a new profile", "my-quick exists. Replace it? y or n"},
	"doctor": {"lines 1 to 14 of 14", "1 run as processes", "2 use embedded store",
		"→ stop other processes (see top): they distort results"},
}

// thirty returns a machine with 31 contenders, most with three variants.
func thirty(t testing.TB) *fakeSite {
	f := everything(t)
	f.services = nil
	for i := range 30 {
		tags := []string{"native", "async"}
		if i%2 == 1 {
			tags = []string{"jvm", "blocking"}
		}
		f.services = append(f.services, bench.Service{
			Name: fmt.Sprintf("contender-%02d", i), Title: fmt.Sprintf("The %dth", i), Language: "Language", Framework: "framework", Version: "1.0", Tags: tags, Endpoints: []string{"get"},
			Docker:   &bench.DockerRecipe{Dockerfile: "Dockerfile"},
			Variants: []bench.Variant{{Name: "one"}, {Name: "two", Title: "another"}, {Name: "three", Unverified: "never run"}},
		})
	}
	f.services = append(services()[:1], f.services...)
	return f
}
