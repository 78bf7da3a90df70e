// Package container is the need for a service of any image, such as a database: started in a
// container for the run, seeded once, and started again from a copy of its seeded volumes for each
// trial. Or it runs already; then locbench only reaches it.
package container

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/host/hostusage"
	"github.com/locbench/locbench/internal/needs"
	"github.com/locbench/locbench/internal/needs/compose"
	"github.com/locbench/locbench/internal/text/secret"
)

// Kind is this kind of need. Its needs have names of their profile's choice.
var Kind = needs.Kind{
	Name: "container",
	Read: compose.Read, Complete: compose.Complete, Wrong: compose.Wrong,
	Traits: compose.Traits, Files: compose.Files, Runs: compose.Runs,
	Missing: "needs the address of a service: write `external: 10.0.0.5:5432` in the profile",
	Find:    find,
}

// find finds the service of a profile. It starts nothing, and looks for no image.
func find(n bench.NeedSpec, _ bench.Profile, url string) (found needs.Found, err error) {
	compose.Complete(&n)
	s, err := bench.ReadForm[compose.Service](n.Of)
	if err != nil {
		return found, fmt.Errorf("need %s is not in a form that this locbench reads: %w", n.Name, err)
	}
	need := newNeed(n.Name, n.From, s)
	if need.external() {
		need.url = cmp.Or(url, n.URL)
	}
	if !n.From.Traits().None {
		found.Need = need
	}
	return found, nil
}

// Kept returns a service of an image with the preset of another one. It keeps its state: who starts
// it gives it its data, which contenders cannot change.
func Kept(name, image, like string, env map[string]string) *Need {
	s := compose.Service{Image: image, Like: like, Environment: env, Keep: true}
	s.Fill(name, false)
	return newNeed(name, bench.NeedContainer, s)
}

func newNeed(name string, from bench.NeedOrigin, s compose.Service) *Need {
	p, _ := compose.PresetOf(s)
	return &Need{service: service{name: name, spec: s, preset: p}, from: from, pace: usual}
}

// Need is a service in a container, or an external one.
type Need struct {
	from bench.NeedOrigin
	url  string // of an external one, with places for variables
	pace pace

	// Open sets these; the mutex of running is also of spec and version.
	service
	running
	state
	version string
	images  []bench.NeedPart
	target  string       // host:port of an external one
	relay   func() error // ends it; nil: there is none
	copied  bool         // a contender has it for itself; its state is that of another need

	notes notes         // what its log said
	took  time.Duration // of the first start, until it was ready
	// unenforced are the limits of the last start that the engine does not enforce.
	unenforced string
}

// external reports whether locbench did not start it.
func (n *Need) external() bool { return n.from.Traits().ByURL }

// Info describes the service: its image, or where it is.
func (n *Need) Info() bench.NeedInfo {
	n.mu.Lock()
	defer n.mu.Unlock()
	info := bench.NeedInfo{Name: n.name, From: n.from, Version: cmp.Or(n.spec.Image, n.spec.Dockerfile.Short())}
	if n.version != "" {
		info.Version += " (" + n.version + ")"
	}
	if n.external() {
		info.URL, info.Version = n.url, n.url
		if strings.Contains(n.url, "://") {
			info.URL = secret.WithoutUser(bench.FillEnv(n.url, func(string) string { return secret.Mask }))
			info.Version = info.URL
		}
	}
	return info
}

// Alive returns an error if the container has ended, or its port does not accept connections.
func (n *Need) Alive(ctx context.Context) error {
	c := n.current()
	if c == nil {
		if n.target != "" {
			return accepts(ctx, n.target, 0)
		}
		return nil
	}
	if exit := exitOf(c); exit != nil {
		return fmt.Errorf("it has ended: %s%s", n.death(exit), lastLines(c))
	}
	if err := n.outOfMemory(); err != nil {
		return err
	}
	if why := c.Diagnose(ctx); why != "" { // the kernel of a paused one accepts connections
		return errors.New(why)
	}
	if n.main() == 0 {
		return nil
	}
	return accepts(ctx, c.Address(), 0)
}

// Close removes the container and all volumes. The seeded state of a copy is not its own.
func (n *Need) Close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	var errs []error
	if n.relay != nil {
		errs = append(errs, n.relay())
		n.relay = nil
	}
	return errors.Join(append(errs, n.kill(ctx), n.remove(ctx, !n.copied))...)
}

// start starts the service, and waits until it is ready. first: with empty volumes.
func (n *Need) start(ctx context.Context, first bool) error {
	heard := n.notes.begin(n.spec.Ready.Log.Line)
	steps, after := n.spec.Steps()
	switch {
	case first:
	case n.of == shared: // a contender completes the seed
		steps = after
	default:
		steps = nil
	}
	spec := n.container(n.data, steps, first)
	spec.OnLog = func(l bench.LogLine) { n.notes.hear(heard, l.Text) }
	spec.OnIncident = n.happened
	began := time.Now()
	n.at.Progress(bench.Progress{Text: "starting " + spec.Image})
	c, unenforced, err := n.engine.Run(ctx, spec)
	if err != nil {
		return err
	}
	if unenforced != "" && unenforced != n.unenforced { // not again at each start
		n.warn(": limits not enforced: %s", unenforced)
	}
	n.unenforced = cmp.Or(unenforced, n.unenforced)
	usage, err := hostusage.Container(c.LocalPID())
	if err == nil {
		usage.KeptTo(len(n.at.CPUs))
		usage.LimitedTo(float64(n.spec.Limits.CPUs))
	} else {
		usage = nil
	}
	if err := n.set(c, usage, n.addressOf(c)); err != nil {
		return err
	}
	at := begun{service: &n.service, c: c, heard: heard, first: first, pace: n.pace}
	if err := at.await(ctx); err != nil {
		return err
	}
	if first {
		n.took = time.Since(began)
	}
	return nil
}

// happened reports what others do to the container. Kills for lack of memory are counted.
func (n *Need) happened(in bench.Incident) {
	switch in.Kind {
	case bench.IncidentPaused:
		in.Kind = bench.IncidentNeedPaused
	case bench.IncidentOOM:
		return
	}
	if in.Text = n.name + ": " + in.Text; n.at.Happened != nil {
		n.at.Happened(in)
	}
}
