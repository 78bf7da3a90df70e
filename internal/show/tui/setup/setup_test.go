package setup

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/show/tui/tuitest"
	"github.com/locbench/locbench/internal/testenv"
)

// twoCPUs returns a small machine.
func twoCPUs(t testing.TB) *fakeSite {
	f := everything(t)
	f.machine.CPUs, f.machine.Engine.CPUs, f.machine.Engine.Memory, f.most = 2, 2, 4<<30, 1000
	return f
}

var tooMuch = Choice{Profile: "locations", Set: profile.Changes{"cpus": {"4"}, "memory": {"8GiB"}, "store": {"container"}}}

func TestFrames(t *testing.T) {
	page(everything, Choice{}, &opened{}).Light(t, "setup")
	for name, c := range map[string]tuitest.Page{
		"setup":      page(everything, Choice{}, &opened{}),
		"problems":   page(twoCPUs, tooMuch, &opened{}, "down", "down", "down"),
		"contenders": page(everything, Choice{}, &opened{}, "down", "enter", "down", "space", "down", "down", "space"),
	} {
		t.Run(name, func(t *testing.T) { c.Frames(t, name) })
	}
	page(withoutDocker, Choice{}, &opened{}, "m").Whole(t)
}

// TestTheLastRunsStay next to all checks of a machine, with the warnings and the button.
func TestTheLastRunsStay(t *testing.T) {
	many := func(t testing.TB) *fakeSite {
		f := everything(t)
		f.machine.Warnings = slices.Concat(f.machine.Warnings, f.machine.Warnings)
		return f
	}
	c := page(many, Choice{Profile: "locations"}, &opened{})
	for height, runs := range map[int]int{28: 1, 38: 2} {
		c.Play(t, tuitest.Size{Width: 120, Height: height}, tuitest.Look{}, func(p *tuitest.Program) {
			frame := p.Frame()
			testenv.Contains(t, frame, "recent runs", "21 Nov 15:49  quick", "this machine: load", "[ Start ]")
			testenv.Equal(t, strings.Count(frame, "Nov 15:"), runs, height, frame)
		})
	}
}

// TestContents: what the page has in some situations.
func TestContents(t *testing.T) {
	locations := Choice{Profile: "locations"}
	for name, c := range map[string]struct {
		page tuitest.Page
		want []string
	}{
		"changed": {
			page(everything, Choice{Profile: "locations", Contenders: []bench.Selection{{Contender: "rs-actix", Variant: "lto"}, {Contender: "kt-http4k"}},
				Set: profile.Changes{"elastic": {likelyStore}, "rounds": {"3"}, "cities": {"100000"}}}, &opened{}, "down", "down"),
			[]string{"*5 changed", "*rs-actix:lto kt-http4k", "*‹ 3 ›", "profile: 6", " 7.10.2, 14,945 cities",
				"this Elasticsearch has 14,945 cities, not 100,000:", "copy the seed command"},
		},
		"without Docker": {page(withoutDocker, locations, &opened{}), []string{
			"✗ 2 problems", "✗ no Docker engine: unix:///var/run/docker.sock", "1 run as processes", "2 use embedded store",
			"this machine: Docker, load (m)",
		}},
		"wrong values": {page(everything, Choice{Set: profile.Changes{"memory": {"512"}, "rounds": {"0"}, "connections": {"1,many"}}}, &opened{}), []string{
			"✗ 3 problems", "✗ --rounds 0: write from 1 to 1000", "1 use the profile's value", "2 use the profile's value",
		}},
		"choices": {page(everything, Choice{}, &opened{}, "end", "up", "up", "enter", "down", "down"), []string{
			"╭─ Store", "a URL if one is given, else embedded", "inside locbench; shares CPUs with the load",
		}},
		"many contenders": {page(thirty, Choice{}, &opened{}, "down", "enter", "/", "j", "v", "m", "enter", "v", "pgdown", "down"), []string{
			"16 contenders selected, filter: jvm", "of 31 contenders", "[x] contender-05 ", "[ ] contender-05:two",
		}},
		"machine": {page(withoutDocker, locations, &opened{}, "m"), []string{
			"✗ Docker  ", "2  ! load  ", "nothing listening → start it", "(see top): they distort results",
		}},
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
