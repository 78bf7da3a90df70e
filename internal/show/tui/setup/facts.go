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
	contenders    []bench.Service
	contendersErr string
	listed        bool

	states    map[bench.Selection]State // nil until they are known
	statesErr string

	machine     Machine
	machineRead bool

	elastic map[string]*elasticFact // by URL

	room    int // connections of the last request for Site.Room
	most    int // its response
	roomWhy string
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

// ask makes a command of a request to the Site.
func ask(f func(context.Context) response) tea.Cmd {
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(context.Background(), askTimeout)
		defer cancel()
		return f(ctx)
	}
}

// askAgain requests everything that can change meanwhile.
func (s *Setup) askAgain() tea.Cmd {
	s.form.facts.elastic, s.form.facts.room = map[string]*elasticFact{}, 0
	return tea.Batch(s.askProfiles(), s.askContenders(), s.askMachine(), s.askStates(), s.askElastic(localElastic),
		s.askElastic(s.form.elasticURL()), s.askRoom(), s.askRecent())
}

func (s *Setup) askProfiles() tea.Cmd {
	also := s.form.choice.Profile
	return ask(func(ctx context.Context) response {
		list := s.options.Site.Profiles(ctx, also)
		return func() tea.Cmd {
			return s.change(func() {
				s.form.profiles = list
				s.form.takeProfile()
			})
		}
	})
}

func (s *Setup) askContenders() tea.Cmd {
	return ask(func(ctx context.Context) response {
		list, err := s.options.Site.Contenders(ctx)
		return func() tea.Cmd {
			f := &s.form.facts
			f.contenders, f.contendersErr, f.listed = list, text(err), true
			return nil
		}
	})
}

func (s *Setup) askMachine() tea.Cmd {
	return ask(func(ctx context.Context) response {
		m := s.options.Site.Machine(ctx)
		return func() tea.Cmd {
			s.form.facts.machine, s.form.facts.machineRead = m, true
			return nil
		}
	})
}

func (s *Setup) askStates() tea.Cmd {
	runtime := s.form.runtime()
	return ask(func(ctx context.Context) response {
		states, err := s.options.Site.States(ctx, runtime)
		return func() tea.Cmd {
			if runtime == s.form.runtime() { // else it is outdated
				s.form.facts.states, s.form.facts.statesErr = states, text(err)
			}
			return nil
		}
	})
}

func (s *Setup) askElastic(url string) tea.Cmd {
	all := s.form.facts.elastic
	if _, asked := all[url]; url == "" || asked {
		return nil
	}
	fact := &elasticFact{}
	all[url] = fact
	return ask(func(ctx context.Context) response {
		e, err := s.options.Site.Elastic(ctx, url)
		return func() tea.Cmd {
			*fact = elasticFact{e, text(err), true}
			return nil
		}
	})
}

// askRoom requests the room for the largest step, unless that was requested already.
func (s *Setup) askRoom() tea.Cmd {
	n, f := profile.MostConnections(s.form.plan.Steps), &s.form.facts
	if n == 0 || n == f.room {
		return nil
	}
	f.room, f.roomWhy = n, ""
	return ask(func(ctx context.Context) response {
		most, err := s.options.Site.Room(ctx, n)
		return func() tea.Cmd {
			if n == f.room {
				f.most, f.roomWhy = most, text(err)
			}
			return nil
		}
	})
}

func (s *Setup) askRecent() tea.Cmd {
	if s.options.Runs == nil {
		return nil
	}
	return ask(func(ctx context.Context) response {
		entries, _ := s.options.Runs.List()
		var all []recentRun
		for _, e := range entries[:min(len(entries), mostRecent)] {
			if ctx.Err() != nil {
				break
			}
			all = append(all, recentRun{e, s.verdict(e)})
		}
		return func() tea.Cmd {
			s.recent = all
			return nil
		}
	})
}

// verdict returns what a past run says first.
func (s *Setup) verdict(e results.Entry) string {
	if e.Err != nil {
		return text(e.Err)
	}
	run, trials, err := s.options.Runs.Load(e.Dir)
	if err != nil {
		return text(err)
	}
	return conclusion.Of(analysis.Of(run, trials), nil).Verdict
}
