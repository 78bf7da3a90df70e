package app

import (
	"context"
	"errors"
	"time"

	"github.com/locbench/locbench/internal/needs"
	"github.com/locbench/locbench/internal/results/event"
	"github.com/locbench/locbench/internal/text/console"
	"github.com/locbench/locbench/internal/text/secret"
)

// site carries out a plan. It has a room for each of the runner's interfaces; the runner says when.
type site struct {
	*record
	launcher *launcher
	needs    *needset
	traffic  *traffic
	checks   *checks
	closed   bool
}

// newSite reads the files that the plan names, and reports mistakes before anything is started.
func newSite(p Plan, env console.Env) (*site, error) {
	r := &record{plan: p, env: env, clock: event.NewClock(time.Now())}
	r.stream = event.New(r.clock.Now)
	n := &needset{record: r}
	data, err := n.find()
	if err != nil {
		return nil, err
	}
	if err := missingEnv(p.Run, p.Services, env.Getenv); err != nil {
		return nil, err
	}
	if err := unknownNeeds(p.Run.Profile, p.Services); err != nil {
		return nil, err
	}
	t, err := newTraffic(r, data)
	if err != nil {
		return nil, err
	}
	suites, err := readSuites(p.Run)
	if err != nil {
		return nil, err
	}
	n.begin = t.begin
	r.masks.fromResponses = secret.Saved(p.Run.Profile.Every())
	l := &launcher{record: r, needs: n, way: t.way()}
	return &site{record: r, launcher: l, needs: n, traffic: t, checks: &checks{launcher: l, suites: suites}}, nil
}

// isolate plans the CPUs of contenders, needs and client.
func (s *site) isolate() {
	plan, engine := isolationOf(s.plan.Run.Profile, s.needs.where(), s.launcher.noIsolation()), s.launcher.containers
	s.plan.Run.Isolated, s.launcher.isolation = &plan, newIsolation(plan)
	s.launcher.platform.Allow(s.launcher.isolation.all)
	s.needs.place = needs.Place{
		Seed: s.plan.Run.Seed, CPUs: s.launcher.isolation.sets.Needs, Network: s.launcher.platform.Network(), Getenv: s.env.Getenv,
	}
	if engine != nil {
		s.needs.place.Containers, s.needs.place.Build, s.needs.another = needs.Of{Group: engine.Group}, engine.BuildNeed, engine.Another
	}
}

// close closes what was opened, once, even if ctx was interrupted.
func (s *site) close(ctx context.Context) error {
	if s.closed {
		return nil
	}
	s.closed = true
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	s.traffic.process.Close()
	errs := []error{s.launcher.isolation.end(), s.needs.close(ctx)}
	for _, p := range s.launcher.platforms() {
		errs = append(errs, p.Close(ctx))
	}
	return errors.Join(append(errs, s.busy.Close())...)
}
