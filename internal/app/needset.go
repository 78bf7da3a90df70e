package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/contender"
	"github.com/locbench/locbench/internal/docker"
	"github.com/locbench/locbench/internal/figures/verdict"
	"github.com/locbench/locbench/internal/needs"
	"github.com/locbench/locbench/internal/needs/kinds"
	"github.com/locbench/locbench/internal/run/runner"
	"github.com/locbench/locbench/internal/text/console"
	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

// needset has the needs of a run, and of interleaved contenders their own.
type needset struct {
	*record
	begin      func(context.Context) error // called once, before the first need starts
	all        []needs.Named               // in order
	own        map[seat]ownNeeds           // of interleaved contenders; nil: needs are shared
	place      needs.Place                 // of a need; what differs is filled in
	another    func(ctx context.Context, name string) (*docker.Group, error)
	watching   sync.Map // bench.Trial ─▶ func(bench.Incident): gets what happens to its needs
	restored   sync.Map // needs.Need ─▶ true: no contender has got its address since it was restored
	unrestored sync.Map // seat ─▶ true: the last restore has not ended, or failed
}

// find finds the needs of the profile, and the data that its requests use.
func (s *needset) find() (data needs.Data, err error) {
	for _, n := range s.plan.Run.Profile.Needs {
		k, ok := kinds.Of(n.Kind)
		if !ok {
			return nil, console.Usagef("need %s: this locbench has no kind %q", safe.Line(n.Name, 60), safe.Line(n.Kind, 60))
		}
		found, err := k.Find(n, s.plan.Run.Profile, s.plan.urls[n.Name])
		if err != nil {
			return nil, console.WithCode(console.ExitUsage, err)
		}
		if of := kinds.TraitsOf(n); found.Need != nil {
			s.all = append(s.all, needs.Named{
				Name: n.Name, Need: found.Need, Elsewhere: found.Elsewhere, After: of.After, Restarts: of.Restarts, Own: n.Own, For: n.For, Service: n.Service,
			})
		}
		if found.Data != nil {
			data = found.Data
		}
	}
	return data, console.WithCode(console.ExitUsage, needs.Order(s.all))
}

// unknownNeeds returns an error if a contender uses the address of a need that it does not get. In
// a run without needs, the short form of an address is empty: bundled contenders serve other
// requests, too.
func unknownNeeds(p bench.Profile, services map[bench.Selection]bench.Service) error {
	for _, sel := range p.Contenders {
		svc := services[sel]
		if svc.URL != "" {
			continue
		}
		var names []string
		others := map[string]string{} // needs of other contenders only
		for _, n := range p.Needs {
			if n.Gets(sel) {
				names = append(names, n.Name)
				fields := append(bench.Connections(), "URL")
				if used := contender.Uses(svc, n.Name, fields...); used != "" && n.URL != "" && n.From.Traits().ByURL && !strings.Contains(n.URL, "://") {
					return console.Usagef("contender %s uses %s, but `external` of need %q has no more than an address; write a URL, "+
						"such as postgres://USER:${PASSWORD}@HOST:PORT/NAME", safe.Line(sel.String(), 120), safe.Line(used, 120), safe.Line(n.Name, 60))
				}
			} else {
				others[n.Name] = n.For[0].Contender
			}
		}
		used := contender.Needs(svc)
		for _, name := range slices.Sorted(maps.Keys(used)) {
			switch owner, other := others[name]; {
			case slices.Contains(names, name):
			case len(p.Needs) == 0 && !strings.Contains(used[name], ".Needs."):
			case other:
				return console.Usagef("contender %s uses %s, but only the manifest of %s has the need %q; write it in its own, or in the profile",
					safe.Line(sel.String(), 120), safe.Line(used[name], 120), safe.Line(owner, 120), safe.Line(name, 60))
			default:
				return console.Usagef("contender %s uses %s, but the profile has no need %q; %s", safe.Line(sel.String(), 120),
					safe.Line(used[name], 120), safe.Line(name, 60),
					cmp.Or(strictyaml.Suggest(name, "its needs", names), "write it in the profile, or in its manifest"))
			}
		}
	}
	return nil
}

// where returns where the needs run, or will run.
func (s *needset) where() (all []bench.NeedInfo) {
	for _, n := range s.all {
		all = append(all, n.Info())
	}
	return all
}

// Stages returns the phases before the first trial: each need is opened and seeded, in order.
func (s *needset) Stages() (stages []runner.Stage) {
	if len(s.all) == 0 {
		return []runner.Stage{{Phase: bench.PhaseNeeds, Do: s.without}}
	}
	for i, n := range s.all {
		open := func(ctx context.Context, progress func(bench.Progress)) (string, error) {
			return s.openNeed(ctx, n, progress)
		}
		seed := func(ctx context.Context, progress func(bench.Progress)) (note string, err error) {
			if note, err = n.Need.Seed(ctx, progress); err != nil {
				return note, ofService(n, err)
			}
			last := i+1 == len(s.all)
			if n.Service != "" && (last || s.all[i+1].Service != n.Service) {
				if err := s.restAll(ctx, n.Service); err != nil {
					return note, err
				}
			}
			if last {
				return note, s.copyNeeds(ctx, progress)
			}
			return note, nil
		}
		stages = append(stages, runner.Stage{Phase: bench.PhaseNeeds, Do: open}, runner.Stage{Phase: bench.PhaseSeed, Do: seed})
	}
	return stages
}

// restAll lets the needs of one service rest until its trials, since those of another one have the
// same names.
func (s *needset) restAll(ctx context.Context, service string) error {
	for _, n := range slices.Backward(s.all) {
		if n.Service == service {
			if err := withLabel(n, n.Need.Rest(ctx)); err != nil {
				return err
			}
		}
	}
	return nil
}

// ofService returns an error that has the name of its need with that of the service.
func ofService(n needs.Named, err error) error {
	if err == nil || n.Service == "" {
		return err
	}
	return fmt.Errorf("%s: %w", safe.Line(n.Service, 120), err)
}

func (s *needset) without(ctx context.Context, _ func(bench.Progress)) (string, error) {
	if err := s.begin(ctx); err != nil {
		return "", err
	}
	s.prepared()
	if s.plan.Run.Profile.Runtime.Traits().AlreadyRunning {
		return "", nil // a target may have needs that locbench does not know
	}
	return "none", nil
}

func (s *needset) openNeed(ctx context.Context, n needs.Named, progress func(bench.Progress)) (string, error) {
	if len(s.plan.Run.Needs) == 0 {
		if err := s.begin(ctx); err != nil {
			return "", err
		}
	}
	at := s.placeOf(n.Service, progress)
	at.Hide = func(secrets ...string) { // one that is part of its image would be found in every image
		s.masks.hide(slices.DeleteFunc(secrets, func(v string) bool { return strings.Contains(n.Info().String(), v) })...)
	}
	if err := n.Need.Open(ctx, at); err != nil {
		return "", ofService(n, err)
	}
	if err := s.recordImages(n); err != nil {
		return "", err
	}
	info := n.Info()
	s.plan.Run.Needs = append(s.plan.Run.Needs, info)
	if n.Need.Read() == nil {
		s.warn(verdict.NeedNotMeasured(info))
	}
	s.prepared()
	return info.String(), nil
}

// recordImages adds the images of an open need to the record. Those of a resumed run must be the
// same.
func (s *needset) recordImages(n needs.Named) error {
	of, ok := n.Need.(needs.Imaged)
	if !ok {
		return nil
	}
	for _, p := range of.Images() {
		p.Need = n.Label()
		if err := changedParts(s.plan.Run.NeedParts, []bench.NeedPart{p}, s.plan.Dir); err != nil {
			return err
		}
		if !slices.Contains(s.plan.Run.NeedParts, p) {
			s.plan.Run.NeedParts = append(s.plan.Run.NeedParts, p)
		}
	}
	return nil
}

// placeOf returns the place of a need that a service or a contender has for itself, "" if it is
// shared.
func (s *needset) placeOf(of string, progress func(bench.Progress)) needs.Place {
	at := s.place
	at.Progress = progress
	at.Warn = func(w bench.Warning) {
		if of != "" {
			w.Text = safe.Line(of, 120) + ": " + w.Text
		}
		s.warn(w)
	}
	at.Say = func(text string) { s.stream.Publish(nil, bench.Notice{Level: "info", Text: text}) }
	at.Happened = func(in bench.Incident) { s.happened(of, in) }
	return at
}

// happened reports what others did to the container of a need that a service or a contender has for
// itself, "" if it is shared, to the trials that use it.
func (s *needset) happened(of string, in bench.Incident) {
	s.watching.Range(func(trial, report any) bool {
		t := trial.(bench.Trial)
		if slices.Contains([]string{"", t.Contender, selection(t).String(), s.seatOf(t).label()}, of) {
			report.(func(bench.Incident))(in)
		}
		return true
	})
}

// WatchNeeds reports what others do to the needs of a trial, until end is called.
func (s *needset) WatchNeeds(of bench.Trial, report func(bench.Incident)) (end func()) {
	s.watching.Store(of, report)
	return func() { s.watching.Delete(of) }
}

func (s *needset) prepared() {
	s.stream.Publish(nil, bench.Prepared{
		Needs: slices.Clone(s.plan.Run.Needs), NeedParts: slices.Clone(s.plan.Run.NeedParts), Software: s.plan.Run.Software,
	})
}

// addresses returns where the contender of a trial reaches its needs, as values of a template.
func (s *needset) addresses(of bench.Trial) (t bench.Template) {
	t.Needs = map[string]bench.NeedAddress{}
	for _, n := range s.needsOf(of) {
		s.restored.Delete(n.Need)
		t.Needs[n.Name] = n.Need.Address()
	}
	return t
}

// withLabel returns an error with the name of its need.
func withLabel(n needs.Named, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", n.Label(), err)
}

// AddPressure makes the kernel add up the waiting of the needs for disks; false: it does for none.
func (s *needset) AddPressure() (any bool) {
	for n := range s.running() {
		if p, ok := n.Need.(bench.Presser); ok {
			any = p.AddPressure() || any
		}
	}
	return any
}

// close closes the needs, the last one first.
func (s *needset) close(ctx context.Context) error {
	errs := []error{s.closeOwn(ctx)}
	for _, n := range slices.Backward(s.all) {
		errs = append(errs, n.Need.Close(ctx))
	}
	return errors.Join(errs...)
}
