package setup

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"locbench/internal/bench"
	"locbench/internal/run/profile"
)

const askTimeout = time.Minute

// localElastic is where an Elasticsearch would be that somebody has started here without saying so.
const localElastic = "http://127.0.0.1:9200"

// facts are what the Site has answered so far. Responses to older questions are recognized by their
// number and dropped.
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

	room      int // connections asked about last
	most      int // 0: not known
	roomWhy   string
	roomKnown bool
}

type elasticResponse struct {
	Elastic
	err  string
	done bool
}

// answer takes in what the Site has said. It is called by Update, as the message that it is.
type response func() tea.Cmd

// asking makes a command of a question. It counts as pending until its response has come.
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

// askAgain asks about everything that may change while one looks: machine, engine, images, store.
func (s *Screen) askAgain() tea.Cmd {
	s.facts.elastic = map[string]*elasticResponse{}
	s.facts.roomKnown, s.facts.room = false, 0
	return tea.Batch(s.askMachine(), s.askStates(), s.askElastic(localElastic), s.askElastic(s.elasticURL()), s.askRoom())
}

// backAgain asks again after another screen was shown: images may have been built, and answers that
// came meanwhile have gone to that screen.
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
	if len(s.facts.elastic) > 100 { // somebody types
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

// askRoom asks whether the largest step can be opened, unless that was asked already.
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
