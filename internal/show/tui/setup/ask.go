package setup

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/run/profile"
)

const askTimeout = time.Minute

// localElastic is the URL of an Elasticsearch that may already run on this machine.
const localElastic = "http://127.0.0.1:9200"

// facts are the results of the Site so far. A request has a number; outdated results are dropped.
type facts struct {
	pending int

	contenders    []bench.Service
	contendersErr string
	listed        bool

	states    map[bench.Selection]State
	statesErr string
	stateAsk  int

	machine    Machine
	machineAsk int
	machineOK  bool

	elastic map[string]*elasticResponse // by URL

	room      int // connections of the last request for Site.Room
	most      int // its result
	roomWhy   string
	roomKnown bool
}

type elasticResponse struct {
	Elastic
	err  string
	done bool
}

// response is a message with a result of the Site; Update calls it to store the result.
type response func() tea.Cmd

// asking makes a command of a request to the Site, which is pending until its response has arrived.
func (s *Screen) asking(f func(context.Context) response) tea.Cmd {
	s.facts.pending++
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(context.Background(), askTimeout)
		defer cancel()
		return f(ctx)
	}
}

func (s *Screen) askProfiles() tea.Cmd {
	also := s.choice.Profile
	return s.asking(func(ctx context.Context) response {
		list := s.o.Site.Profiles(ctx, also)
		return func() tea.Cmd {
			s.profiles = list
			s.takeProfile()
			return tea.Batch(s.change(func() {}), s.askStates())
		}
	})
}

func (s *Screen) askContenders() tea.Cmd {
	return s.asking(func(ctx context.Context) response {
		list, err := s.o.Site.Contenders(ctx)
		return func() tea.Cmd {
			s.facts.contenders, s.facts.contendersErr, s.facts.listed = list, text(err), true
			s.list.dirty = true
			return nil
		}
	})
}

// askAgain requests everything that can change meanwhile: machine, engine, images, store.
func (s *Screen) askAgain() tea.Cmd {
	s.facts.elastic = map[string]*elasticResponse{}
	s.facts.roomKnown, s.facts.room = false, 0
	return tea.Batch(s.askMachine(), s.askStates(), s.askElastic(localElastic), s.askElastic(s.elasticURL()), s.askRoom())
}

// backAgain requests everything again after another screen was shown: that screen has received the
// responses, and images may have been built.
func (s *Screen) backAgain() tea.Cmd {
	s.facts.pending = 0
	cmds := []tea.Cmd{s.askAgain()}
	if !s.facts.listed {
		cmds = append(cmds, s.askContenders())
	}
	if s.profiles == nil {
		cmds = append(cmds, s.askProfiles())
	}
	return tea.Batch(cmds...)
}

func (s *Screen) askMachine() tea.Cmd {
	s.facts.machineAsk++
	ask := s.facts.machineAsk
	return s.asking(func(ctx context.Context) response {
		m := s.o.Site.Machine(ctx)
		return func() tea.Cmd {
			if ask == s.facts.machineAsk {
				s.facts.machine, s.facts.machineOK = m, true
			}
			return nil
		}
	})
}

func (s *Screen) askStates() tea.Cmd {
	s.facts.stateAsk++
	ask, runtime := s.facts.stateAsk, s.runtime()
	return s.asking(func(ctx context.Context) response {
		states, err := s.o.Site.States(ctx, runtime)
		return func() tea.Cmd {
			if ask == s.facts.stateAsk {
				s.facts.states, s.facts.statesErr, s.list.dirty = states, text(err), true
			}
			return nil
		}
	})
}

func (s *Screen) askElastic(url string) tea.Cmd {
	if _, asked := s.facts.elastic[url]; url == "" || asked {
		return nil
	}
	if len(s.facts.elastic) > 100 { // one for each letter of a long URL
		clear(s.facts.elastic)
	}
	a := &elasticResponse{}
	s.facts.elastic[url] = a
	return s.asking(func(ctx context.Context) response {
		e, err := s.o.Site.Elastic(ctx, url)
		return func() tea.Cmd {
			*a = elasticResponse{e, text(err), true}
			return nil
		}
	})
}

// askRoom requests the room for the largest step, unless it has been requested already.
func (s *Screen) askRoom() tea.Cmd {
	n := profile.MostConnections(s.plan.Steps)
	if n == 0 || n == s.facts.room {
		return nil
	}
	s.facts.room, s.facts.roomKnown = n, false
	return s.asking(func(ctx context.Context) response {
		most, err := s.o.Site.Room(ctx, n)
		return func() tea.Cmd {
			if n == s.facts.room {
				s.facts.most, s.facts.roomWhy, s.facts.roomKnown = most, text(err), true
			}
			return nil
		}
	})
}
