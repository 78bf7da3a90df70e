package setup

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"locbench/internal/bench"
)

// askTimeout bounds every question to the Site.
const askTimeout = time.Minute

// localElastic is where an Elasticsearch would be that somebody has started here without saying so.
const localElastic = "http://127.0.0.1:9200"

// facts are what the Site has answered so far. Answers to older questions are recognized by their
// number and dropped.
type facts struct {
	pending int

	contenders    []bench.Service
	contendersErr string
	listed        bool

	states    map[bench.Selection]State
	stateOf   bench.Runtime
	statesErr string
	stateAsk  int

	machine    Machine
	machineAsk int
	machineOK  bool

	elastic    map[string]elasticAnswer // by URL
	elasticAsk int

	room      int // connections asked about last
	most      int // 0: not known
	roomWhy   string
	roomKnown bool
}

type elasticAnswer struct {
	Elastic
	err  string
	done bool
	ask  int
}

type (
	gotProfiles   struct{ list []Profile }
	gotContenders struct {
		list []bench.Service
		err  error
	}
	gotStates struct {
		ask    int
		states map[bench.Selection]State
		err    error
	}
	gotMachine struct {
		ask     int
		machine Machine
	}
	gotElastic struct {
		ask int
		url string
		Elastic
		err error
	}
	gotRoom struct {
		asked, most int
		err         error
	}
	gotSaved struct {
		path, warning string
		err           error
	}
)

// asking makes a command of a question. It counts as pending until its answer has come.
func (s *Screen) asking(f func(context.Context) tea.Msg) tea.Cmd {
	s.facts.pending++
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(context.Background(), askTimeout)
		defer cancel()
		return f(ctx)
	}
}

func (s *Screen) askProfiles() tea.Cmd {
	also, site := s.choice.Profile, s.o.Site
	return s.asking(func(ctx context.Context) tea.Msg { return gotProfiles{site.Profiles(ctx, also)} })
}

func (s *Screen) askContenders() tea.Cmd {
	site := s.o.Site
	return s.asking(func(ctx context.Context) tea.Msg {
		list, err := site.Contenders(ctx)
		return gotContenders{list, err}
	})
}

// askAgain asks about everything that may change while one looks: machine, engine, images, store.
func (s *Screen) askAgain() tea.Cmd {
	s.facts.elastic = map[string]elasticAnswer{}
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
	ask, site := s.facts.machineAsk, s.o.Site
	return s.asking(func(ctx context.Context) tea.Msg { return gotMachine{ask, site.Machine(ctx)} })
}

func (s *Screen) askStates() tea.Cmd {
	s.facts.stateAsk++
	ask, site, runtime := s.facts.stateAsk, s.o.Site, s.runtime()
	s.facts.stateOf = runtime
	return s.asking(func(ctx context.Context) tea.Msg {
		states, err := site.States(ctx, runtime)
		return gotStates{ask, states, err}
	})
}

// askElastic asks the store at url, unless it was asked already.
func (s *Screen) askElastic(url string) tea.Cmd {
	if _, asked := s.facts.elastic[url]; url == "" || asked {
		return nil
	}
	if len(s.facts.elastic) > 100 { // somebody types
		clear(s.facts.elastic)
	}
	s.facts.elasticAsk++
	ask, site := s.facts.elasticAsk, s.o.Site
	s.facts.elastic[url] = elasticAnswer{ask: ask}
	return s.asking(func(ctx context.Context) tea.Msg {
		e, err := site.Elastic(ctx, url)
		return gotElastic{ask, url, e, err}
	})
}

// askRoom asks whether the largest step can be opened, unless that was asked already.
func (s *Screen) askRoom() tea.Cmd {
	n := most(s.plan)
	if n == 0 || n == s.facts.room {
		return nil
	}
	s.facts.room, s.facts.roomKnown = n, false
	site := s.o.Site
	return s.asking(func(ctx context.Context) tea.Msg {
		most, err := site.Room(ctx, n)
		return gotRoom{n, most, err}
	})
}

func saveCommand(site Site, path string, p bench.Profile, replace bool) func(context.Context) tea.Msg {
	return func(ctx context.Context) tea.Msg {
		saved, warning, err := site.Save(ctx, path, p, replace)
		return gotSaved{saved, warning, err}
	}
}

// most is the largest number of connections of a plan.
func most(p bench.Profile) (n int) {
	for _, step := range p.Steps {
		n = max(n, step.Connections, step.MaxConnections)
	}
	return n
}

// heard takes in an answer; mine is false for other messages.
func (s *Screen) heard(msg tea.Msg) (cmd tea.Cmd, mine bool) {
	f := &s.facts
	switch msg := msg.(type) {
	case gotProfiles:
		s.profiles = msg.list
		s.takeProfile()
	case gotContenders:
		f.contenders, f.contendersErr, f.listed = msg.list, text(msg.err), true
		s.list.dirty = true
	case gotStates:
		if msg.ask == f.stateAsk {
			f.states, f.statesErr = msg.states, text(msg.err)
			s.list.dirty = true
		}
	case gotMachine:
		if msg.ask == f.machineAsk {
			f.machine, f.machineOK = msg.machine, true
		}
	case gotElastic:
		if f.elastic[msg.url].ask == msg.ask {
			f.elastic[msg.url] = elasticAnswer{Elastic: msg.Elastic, err: text(msg.err), done: true, ask: msg.ask}
		}
	case gotRoom:
		if msg.asked == f.room {
			f.most, f.roomWhy, f.roomKnown = msg.most, text(msg.err), true
		}
	case gotSaved:
		cmd = s.saved(msg)
	default:
		return nil, false
	}
	f.pending = max(0, f.pending-1)
	return cmd, true
}
