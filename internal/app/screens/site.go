package screens

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/contender/docker"
	"github.com/locbench/locbench/internal/contender/launch"
	"github.com/locbench/locbench/internal/host/limits"
	"github.com/locbench/locbench/internal/run/machine"
	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/show/tui/setup"
	"github.com/locbench/locbench/internal/store"
	"github.com/locbench/locbench/internal/text/secret"
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
	// The store has its own field, which checks the chosen store.
	out.Warnings = slices.DeleteFunc(machine.Doctor(ctx, machine.DoctorOptions{}),
		func(f machine.Warning) bool { return f.Name == "Elasticsearch" })
	return out
}

// Elastic opens the store as a run would, so both report the same.
func (s Site) Elastic(ctx context.Context, address string) (e setup.Elastic) {
	clean, err := profile.StoreURL(address, os.Getenv)
	if err != nil {
		return setup.Elastic{Err: err}
	}
	st, err := store.Open(ctx, bench.StoreSpec{Kind: bench.StoreExternal, URL: clean}, store.Options{})
	if err != nil {
		return setup.Elastic{Err: err}
	}
	e.Version, e.Warning = st.Info().Version, st.Warnings().Join("; ")
	if e.Cities, err = st.Count(ctx, "city"); errors.Is(err, store.ErrNoIndex) {
		e.Cities, err = 0, nil
	}
	e.Err = errors.Join(err, st.Close())
	return e
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

// Save writes p into a file, without the password in the store's URL.
func (s Site) Save(_ context.Context, path string, p bench.Profile, replace bool) (saved, warning string, err error) {
	if ext := filepath.Ext(path); ext != ".yaml" && ext != ".yml" {
		path += ".yaml"
	}
	if u, err := secret.ParseURL(p.Store.URL); err == nil && u.User != nil {
		p.Store.URL = secret.WithoutUser(p.Store.URL)
		warning = "the store's password is not saved; set --elastic"
	}
	err = profile.Save(path, p, replace)
	if errors.Is(err, fs.ErrExist) {
		err = fmt.Errorf("%w: %s", setup.ErrExists, path)
	}
	return path, warning, err
}
