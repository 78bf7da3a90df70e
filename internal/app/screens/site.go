package screens

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/contender/launch"
	"github.com/locbench/locbench/internal/docker"
	"github.com/locbench/locbench/internal/host/limits"
	"github.com/locbench/locbench/internal/needs"
	"github.com/locbench/locbench/internal/needs/kinds"
	"github.com/locbench/locbench/internal/run/machine"
	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/show/tui/setup"
	"github.com/locbench/locbench/profiles"
)

// Site describes this machine to the setup screen.
type Site struct {
	Services []string // folders with more contenders
}

// maxFound is the most profiles that the setup screen lists from the working folder.
const maxFound = 50

// Profiles returns the bundled profiles, those in the working folder, and the one named also. Other
// YAML files are skipped, unless also names one.
func (s Site) Profiles(_ context.Context, also string) []setup.Profile {
	var out []setup.Profile
	seen := map[string]bool{}
	add := func(name string, must bool) {
		if seen[name] {
			return
		}
		p, err := profile.Load(name, profiles.FS)
		if err == nil || must {
			seen[name] = true
			out = append(out, setup.Profile{Name: name, Profile: p, Err: err})
		}
	}
	list, _ := profile.List(profiles.FS)
	for _, p := range list {
		add(p.Name, true)
	}
	entries, _ := os.ReadDir(".")
	for _, e := range entries {
		if ext := filepath.Ext(e.Name()); len(out) < maxFound && e.Type().IsRegular() && (ext == ".yaml" || ext == ".yml") {
			add(e.Name(), false)
		}
	}
	add(also, true)
	return out
}

// Machine returns what limits a run here.
func (s Site) Machine(ctx context.Context) setup.Machine {
	m := machine.Describe(ctx)
	out := setup.Machine{CPUs: m.CPUs, Memory: m.MemoryBytes, Available: machine.Available()}
	engine, err := docker.Connect(ctx)
	if out.Engine.Err = err; err == nil {
		defer engine.Close()
		info := engine.Info()
		out.Engine = setup.Engine{Version: info.Version, CPUs: info.CPUs, Memory: info.MemoryBytes, Local: engine.SameHost()}
	}
	missing, _, err := launch.ProbeGroups() // affinity can keep a CPU set too
	switch {
	case err != nil:
		out.Unlimited = err.Error()
	case len(missing) > 0:
		out.Unlimited = strings.Join(missing, "; ")
	}
	out.Room = room
	// It has its own fields, which check the chosen one.
	out.Warnings = slices.DeleteFunc(machine.Doctor(ctx, ""), func(w machine.Warning) bool {
		return w.Name == kinds.ByURL.Title
	})
	return out
}

// Probe returns what an external need says of itself.
func (s Site) Probe(ctx context.Context, url string) needs.Probe {
	clean, err := needs.URL(kinds.ByURL.AddressOption, url, os.Getenv)
	if err != nil {
		return needs.Probe{Err: err}
	}
	return kinds.ByURL.Probe(ctx, clean)
}

// room returns how many connections this machine can open, if that is less than connections.
func room(connections int) (int, error) {
	err := limits.Check(connections)
	limit, ok := errors.AsType[*limits.Error](err)
	if !ok {
		return connections, err
	}
	return max(0, connections-int(limit.Need-limit.Have)), err
}
