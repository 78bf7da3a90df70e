package setup

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/analysis/conclusion"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/needs"
	"github.com/locbench/locbench/internal/results"
)

const askTimeout = time.Minute

// facts are the responses of the Site so far.
type facts struct {
	contenders  []bench.Service
	states      map[bench.Selection]State // nil until they are known
	unreadable  string                    // errors about contenders and their states
	machine     Machine
	machineRead bool
	probed      map[string]*needs.Probe // nil until it is known
	recent      []recentRun
}

// engineResponds reports whether a Docker engine has responded.
func (f *facts) engineResponds() bool { return f.machineRead && f.machine.Engine.Err == nil }

// recentRun is a past run with its verdict.
type recentRun struct {
	results.Entry
	verdict string
}

// mostRecent is the number of past runs that are read.
const mostRecent = 6

// action is a message with what to do: keep what the Site has returned, or do what was chosen.
type action func() tea.Cmd

// ask makes a command of a request.
func ask(request func(context.Context) action) tea.Cmd {
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(context.Background(), askTimeout)
		defer cancel()
		return request(ctx)
	}
}

// askAll requests everything that can change meanwhile.
func (s *Setup) askAll() tea.Cmd {
	f := &s.form.facts
	f.probed = map[string]*needs.Probe{}
	machine := ask(func(ctx context.Context) action {
		m := s.options.Site.Machine(ctx)
		return func() tea.Cmd {
			f.machine, f.machineRead = m, true
			return nil
		}
	})
	recent := ask(func(ctx context.Context) action {
		all := s.readRuns(ctx)
		return func() tea.Cmd {
			f.recent = all
			return nil
		}
	})
	return tea.Batch(s.askProfiles(), machine, s.askContenders(), s.askNeed(), recent)
}

func (s *Setup) askProfiles() tea.Cmd {
	f, also := &s.form, s.form.choice.Profile
	return ask(func(ctx context.Context) action {
		all := s.options.Site.Profiles(ctx, also)
		return func() tea.Cmd {
			f.profiles = all
			f.takeProfile()
			return nil
		}
	})
}

// askContenders requests the contenders and what they need to run.
func (s *Setup) askContenders() tea.Cmd {
	f, runtime, services := &s.form.facts, s.form.runtime(), s.form.base.Services
	return ask(func(ctx context.Context) action {
		all, states, err := s.options.Site.Contenders(ctx, runtime, services)
		return func() tea.Cmd {
			if runtime == s.form.runtime() && services == s.form.base.Services { // else it is outdated
				f.contenders, f.states, f.unreadable = all, states, text(err)
			}
			return nil
		}
	})
}

// readRuns returns the newest runs, each with what it says first.
func (s *Setup) readRuns(ctx context.Context) (all []recentRun) {
	if s.options.Runs == nil {
		return nil
	}
	entries, _ := s.options.Runs.List()
	for _, e := range entries[:min(len(entries), mostRecent)] {
		run, trials, err := s.options.Runs.Load(e.Dir)
		switch {
		case ctx.Err() != nil:
			return all
		case e.Err != nil:
			all = append(all, recentRun{e, text(e.Err)})
		case err != nil:
			all = append(all, recentRun{e, text(err)})
		default:
			all = append(all, recentRun{e, conclusion.Of(analysis.Of(run, trials), nil).Verdict})
		}
	}
	return all
}
