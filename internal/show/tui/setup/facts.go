package setup

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/analysis/conclusion"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/run/profile"
)

const askTimeout = time.Minute

// localElastic is the URL of an Elasticsearch that may already run on this machine.
const localElastic = "http://127.0.0.1:9200"

// facts are the responses of the Site so far.
type facts struct {
	contenders  []bench.Service
	states      map[bench.Selection]State // nil until they are known
	unreadable  string                    // errors about contenders and their states
	machine     Machine
	machineRead bool
	elastic     map[string]*elasticFact // by URL
	room        int                     // connections of the last request for Site.Room
	most        int                     // its response
	roomWhy     string
	recent      []recentRun
}

type elasticFact struct {
	Elastic
	err  string
	done bool
}

// recentRun is a past run with its verdict.
type recentRun struct {
	results.Entry
	verdict string
}

// mostRecent is the number of past runs that are read.
const mostRecent = 6

// response is a message with what the Site has returned; Update calls it to store that.
type response func() tea.Cmd

// ask makes a command of a request, whose response take stores.
func ask[T any](request func(context.Context) T, take func(T) tea.Cmd) tea.Cmd {
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(context.Background(), askTimeout)
		defer cancel()
		got := request(ctx)
		return response(func() tea.Cmd { return take(got) })
	}
}

// askAll requests everything that can change meanwhile.
func (s *Setup) askAll() tea.Cmd {
	f, site := &s.form.facts, s.options.Site
	f.elastic, f.room = map[string]*elasticFact{}, 0
	machine := ask(site.Machine, func(m Machine) tea.Cmd {
		f.machine, f.machineRead = m, true
		return nil
	})
	recent := ask(s.readRuns, func(all []recentRun) tea.Cmd {
		f.recent = all
		return nil
	})
	return tea.Batch(s.askProfiles(), machine, s.askContenders(), s.askElastic(localElastic),
		s.askElastic(s.form.elasticURL()), s.askRoom(), recent)
}

func (s *Setup) askProfiles() tea.Cmd {
	also := s.form.choice.Profile
	return ask(func(ctx context.Context) []Profile {
		return s.options.Site.Profiles(ctx, also)
	}, func(all []Profile) tea.Cmd {
		return s.change(func() {
			s.form.profiles = all
			s.form.takeProfile()
		})
	})
}

// askContenders requests the contenders and what they need to run.
func (s *Setup) askContenders() tea.Cmd {
	f, runtime := &s.form.facts, s.form.runtime()
	return ask(func(ctx context.Context) (got facts) {
		all, err := s.options.Site.Contenders(ctx)
		states, stateErr := s.options.Site.States(ctx, runtime)
		for _, err := range []error{stateErr, err} {
			if err != nil {
				got.unreadable = text(err)
			}
		}
		got.contenders, got.states = all, states
		return got
	}, func(got facts) tea.Cmd {
		if runtime == s.form.runtime() { // else it is outdated
			f.contenders, f.states, f.unreadable = got.contenders, got.states, got.unreadable
		}
		return nil
	})
}

func (s *Setup) askElastic(url string) tea.Cmd {
	all := s.form.facts.elastic
	if _, asked := all[url]; url == "" || asked {
		return nil
	}
	fact := &elasticFact{}
	all[url] = fact
	return ask(func(ctx context.Context) elasticFact {
		e, err := s.options.Site.Elastic(ctx, url)
		return elasticFact{e, text(err), true}
	}, func(got elasticFact) tea.Cmd {
		*fact = got
		return nil
	})
}

// askRoom requests the room for the largest step, unless that was requested already.
func (s *Setup) askRoom() tea.Cmd {
	n, f := profile.MostConnections(s.form.plan.Steps), &s.form.facts
	if n == 0 || n == f.room {
		return nil
	}
	f.room, f.roomWhy = n, ""
	return ask(func(ctx context.Context) facts {
		most, err := s.options.Site.Room(ctx, n)
		return facts{most: most, roomWhy: text(err)}
	}, func(got facts) tea.Cmd {
		if n == f.room {
			f.most, f.roomWhy = got.most, got.roomWhy
		}
		return nil
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
