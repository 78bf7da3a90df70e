package run

import (
	"errors"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/benchtest"
	"github.com/locbench/locbench/internal/show/tui/tuitest"
	"github.com/locbench/locbench/internal/show/tui/ui"
	"github.com/locbench/locbench/internal/testenv"
)

// session is a run that reports records and ends when stay is closed. It keeps the requests that it
// got.
type session struct {
	mu      sync.Mutex
	records []bench.Record
	stay    chan struct{} // closed when it ends
	sent    []bench.Control
	stops   []os.Signal
	watched bool
	stderr  string
	code    int

	detached bool
}

func (s *session) Dir() string { return "results/20261121-155000-quick" }
func (s *session) Detach() error {
	s.detached = true
	return nil
}

func (s *session) CanSteer() bool { return !s.watched }
func (s *session) Send(c bench.Control) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.stops) > 0 {
		return errors.New("the run has ended")
	}
	s.sent = append(s.sent, c)
	return c.Validate()
}

func (s *session) Next() ([]bench.Record, bool) {
	s.mu.Lock()
	records := s.records
	s.records = nil
	s.mu.Unlock()
	if records == nil {
		<-s.stay
	}
	return records, records != nil
}

func (s *session) Wait() (int, string) {
	<-s.stay
	return s.code, s.stderr
}

func (s *session) Stop(sig os.Signal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stops = append(s.stops, sig)
	if len(s.stops) == 1 {
		s.code = 130
		close(s.stay)
	}
}

func (s *session) kinds() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for _, c := range s.sent {
		out = append(out, string(c.Kind))
	}
	return strings.Join(out, ", ")
}

// desk is the dashboard on the page of a run that has reported records; more may change both.
type desk struct {
	*session
	page *Run
}

func deskOf(d *desk, records func(t testing.TB) []bench.Record, more ...func(*session, *Options)) tuitest.Page {
	return tuitest.Page{New: func(t *testing.T) ui.Page {
		d.session = &session{records: records(t), stay: make(chan struct{})}
		o := Options{Session: d.session}
		for _, change := range more {
			change(d.session, &o)
		}
		t.Cleanup(func() {
			if len(d.stops) == 0 {
				d.Stop(syscall.SIGINT)
			}
		})
		d.page = New(o)
		return d.page
	}}
}

var normal = tuitest.Size{Width: 80, Height: 24}

// TestFramesOfARun: the whole page, the questions and the menu over it.
func TestFramesOfARun(t *testing.T) {
	for name, keys := range map[string]string{"live-run": "", "quit": "q", "stop": "x", "help": "?"} {
		t.Run(name, func(t *testing.T) {
			var d desk
			c := deskOf(&d, inAStep)
			c.Keys = strings.Fields(keys)
			c.Frames(t, name)
		})
	}
}

// afterAFailure returns the records of a run in progress of which two contenders have failed.
func afterAFailure(t testing.TB) []bench.Record {
	return tuitest.Until(tuitest.Records(t, "faults"), 1, func(rec bench.Record) bool {
		_, ended := rec.Event.(bench.RunEnded)
		return ended
	})
}

// TestAFailureInARun is in sight on every page, with what to do.
func TestAFailureInARun(t *testing.T) {
	var d desk
	c := deskOf(&d, afterAFailure)
	c.Frames(t, "live-failed")
	c.Light(t, "live-failed")
}

// TestKeysControl: each key sends its request; what loses data is chosen from a menu.
func TestKeysControl(t *testing.T) {
	for keys, want := range map[string]string{
		"p": "pause", "x esc": "", "x q": "", "x 1": "stop_after_step", "x enter": "stop_after_step",
		"x 2": "skip_step", "x 3": "skip_contender", "x down down enter": "skip_contender",
		"tab j ? esc": "",
		"q 1":         "stop_after_step", "q enter": "stop_after_step", "q esc": "", "esc esc": "",
	} {
		t.Run(keys, func(t *testing.T) {
			var d desk
			deskOf(&d, inAStep).Play(t, normal, tuitest.Look{}, func(p *tuitest.Program) {
				p.Press(strings.Fields(keys)...)
				testenv.Equal(t, d.kinds(), want, "sent")
				testenv.Check(t, len(d.stops) == 0 && !p.Quit(), "the run or the dashboard has ended")
			})
		})
	}
}

// TestTheRunIsStopped: Ctrl-C on the question stops, as its choice does; then it forces, and kills.
func TestTheRunIsStopped(t *testing.T) {
	for keys, stops := range map[string]int{
		"ctrl+c": 0, "ctrl+c ctrl+c": 1, "q 2": 1, "q ? esc 2": 1, "x 4": 1, "x ctrl+c": 1,
	} {
		t.Run(keys, func(t *testing.T) {
			var d desk
			leave := func(_ *session, o *Options) { o.Leave = true }
			deskOf(&d, inAStep, leave).Play(t, normal, tuitest.Look{}, func(p *tuitest.Program) {
				p.Press(strings.Fields(keys)...)
				testenv.Equal(t, len(d.stops), stops, "stops")
				code, ended := d.page.code, d.page.ended
				testenv.Check(t, ended == (stops > 0) && p.Quit() == ended && (!ended || code == 130),
					"ended %v, code %d, quit %v", ended, code, p.Quit())
			})
		})
	}
}

// TestTheRunGoesOn without the dashboard: the key, and the choice of the question.
func TestTheRunGoesOn(t *testing.T) {
	for _, keys := range []string{"d", "q 3"} {
		var d desk
		deskOf(&d, inAStep).Play(t, normal, tuitest.Look{}, func(p *tuitest.Program) {
			p.Press(strings.Fields(keys)...)
			testenv.Check(t, d.detached && p.Quit() && len(d.stops) == 0, "%s: detached %v, quit %v, stops %v", keys, d.detached, p.Quit(), d.stops)
		})
	}
}

// TestCtrlCTwice stops the run also if the question had no time to open.
func TestCtrlCTwice(t *testing.T) {
	s := &session{records: inAStep(t), stay: make(chan struct{})}
	r := New(Options{Session: s})
	r.SetSize(ui.SizeOf(80, 24), ui.NewTheme(ui.ThemeOptions{}))
	first := r.Update(ui.StopMsg{})
	all(r.Update(ui.StopMsg{}))
	testenv.Equal(t, len(s.stops), 1, "stops")
	testenv.Check(t, len(all(first)) == 1, "the question")
}

// TestAStopThatTakesLong is forced by the next Ctrl-C, and killed by the third.
func TestAStopThatTakesLong(t *testing.T) {
	r := New(Options{Session: &session{records: inAStep(t), stay: make(chan struct{})}})
	r.SetSize(ui.SizeOf(80, 24), ui.NewTheme(ui.ThemeOptions{}))
	for _, want := range []string{"STOPPING", "forcing stop", "killed; clean up"} {
		msgs := all(r.Update(map[bool]tea.Msg{true: act(abort), false: ui.StopMsg{}}[want == "STOPPING"]))
		said := slices.ContainsFunc(msgs, func(m tea.Msg) bool {
			tell, ok := m.(ui.TellMsg)
			return ok && strings.HasPrefix(tell.Text, want)
		})
		testenv.Check(t, said == (want != "STOPPING"), "%s: %v", want, msgs)
	}
	testenv.Equal(t, len(r.options.Session.(*session).stops), 3)
}

// all runs a command and those in it.
func all(cmd tea.Cmd) (msgs []tea.Msg) {
	if cmd == nil {
		return nil
	}
	switch msg := cmd().(type) {
	case tea.BatchMsg:
		for _, c := range msg {
			msgs = append(msgs, all(c)...)
		}
		return msgs
	default:
		return []tea.Msg{msg}
	}
}

// TestTheEndOfTheRunClosesTheQuestion and shows the result; v leads to the charts and esc back.
func TestTheEndOfTheRunClosesTheQuestion(t *testing.T) {
	var d desk
	deskOf(&d, inAStep).Play(t, normal, tuitest.Look{}, func(p *tuitest.Program) {
		p.Press("q")
		testenv.Contains(t, p.Frame(), "Leave?")
		d.Stop(syscall.SIGINT)
		p.Settle()
		testenv.Contains(t, p.Frame(), "!Leave?", "▸1 Result")
		p.Press("v")
		if strings.Contains(p.Frame(), "▸1 Result") { // the other chart came first
			p.Press("v")
		}
		testenv.Contains(t, p.Frame(), "▸5 Overview", "throughput")
		p.Press("esc")
		testenv.Contains(t, p.Frame(), "▸1 Result")
	})
}

// TestARunThatNeverBegan: the page shows why.
func TestARunThatNeverBegan(t *testing.T) {
	var d desk
	deskOf(&d, func(testing.TB) []bench.Record { return nil }, func(s *session, _ *Options) {
		s.stderr = "locbench: connect to Docker: \x1b[31mno such file\x1b[0m\n  without Docker: --runtime process\n"
	}).Play(t, normal, tuitest.Look{}, func(p *tuitest.Program) {
		d.Stop(syscall.SIGINT)
		p.Settle()
		testenv.Contains(t, p.Frame(), "exit code 130", "connect to Docker", "--runtime process", "remedy", "!\x1b[31m")
		p.Press("esc")
		testenv.Check(t, p.Quit(), "esc does not lead back")
	})
}

// TestTheCommandIsCopied quoted for a shell; other commands than a run of locbench are
// refused, and not started either.
func TestTheCommandIsCopied(t *testing.T) {
	for _, c := range []struct {
		command []string
		want    string
	}{
		{[]string{"locbench", "run", "--data=it's here"}, `locbench run '--data=it'\''s here'`},
		{[]string{"locbench", "run", "\x1b]0;x\a"}, ""},
		{[]string{"rm", "-rf", "/"}, ""},
	} {
		r := New(Options{Session: &session{}})
		r.state.Run, r.state.Started, r.size = bench.Run{Given: c.command}, benchtest.Start(), ui.SizeOf(80, 24)
		switch got := r.copyCommand()().(type) {
		case ui.CopyMsg:
			testenv.Equal(t, got.Text, c.want, c.command)
		case ui.TellMsg:
			testenv.Check(t, c.want == "" && got.Bad, "%q: %s", c.command, got.Text)
		}
		switch got := r.way(ui.Start)().(type) {
		case ui.AskMsg:
			testenv.Equal(t, got.Text, c.want, c.command)
		default:
			testenv.Equal(t, c.want, "", c.command)
		}
	}
}
