package live_test

import (
	"errors"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/show/tui/live"
	"github.com/locbench/locbench/internal/show/tui/old"
	"github.com/locbench/locbench/internal/show/tui/tuitest"
	"github.com/locbench/locbench/internal/show/tui/ui"
	"github.com/locbench/locbench/internal/testenv"
)

// session is a run that sends records and then ends when stay is closed. It records its controls.
type session struct {
	mu      sync.Mutex
	batches [][]bench.Record
	stay    chan struct{} // closed when it ends
	waiting bool          // Next has no more records
	sent    []bench.Control
	stops   []os.Signal
	watched bool
	stderr  string
	code    int
}

func newSession(records []bench.Record) *session {
	return &session{batches: [][]bench.Record{records}, stay: make(chan struct{})}
}

func (s *session) Dir() string    { return "results/20261121-155000-quick" }
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
	if len(s.batches) > 0 {
		b := s.batches[0]
		s.batches = s.batches[1:]
		s.mu.Unlock()
		return b, true
	}
	s.waiting = true
	s.mu.Unlock()
	<-s.stay
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting = false
	return nil, false
}

func (s *session) waits() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.stay:
		return false
	default:
		return s.waiting
	}
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

// inAStep returns the records up to the middle of the third step of the second trial.
func inAStep(t testing.TB) []bench.Record {
	records := tuitest.Until(tuitest.Records(t, "limits"), 7, func(rec bench.Record) bool {
		_, ok := rec.Event.(bench.StepEnded)
		return ok
	})
	return records[:len(records)-3]
}

// open shows the screen of s with everything it has reported so far.
func open(s *session, leave bool) (*live.Screen, *[]tea.Msg) {
	screen := live.New(live.Options{Session: s, Leave: leave})
	asked := &[]tea.Msg{}
	tuitest.SettleUntil(screen, screen.Init(), func(msg tea.Msg) { *asked = append(*asked, msg) }, s.waits)
	return screen, asked
}

func press(s *live.Screen, asked *[]tea.Msg, keys ...string) {
	for _, k := range keys {
		tuitest.SettleUntil(s, s.Update(tuitest.Key(k)), func(msg tea.Msg) { *asked = append(*asked, msg) }, func() bool { return false })
	}
}

func now(records []bench.Record) time.Time {
	return records[len(records)-1].At.Add(300 * time.Millisecond)
}

func TestDialogs(t *testing.T) {
	records := inAStep(t)
	for name, c := range map[string]struct {
		keys []string
		want []string
	}{
		"none":           {nil, []string{"p pause", "s skip step", "S skip contender", "e stop after step", "a abort", "m mark"}},
		"skip step":      {[]string{"s"}, []string{"Skip this step?", "Stops step 3 (64 connections) now."}},
		"skip contender": {[]string{"S"}, []string{"Skip this contender?", "Stops its trial now and skips its later rounds."}},
		"stop":           {[]string{"e"}, []string{"Stop after this step?", "Finishes this step (about 1s), then stops the run."}},
		"note":           {[]string{"m", "h", "i"}, []string{"Add a note", "hi", "enter save"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSession(records)
			defer s.Stop(syscall.SIGINT)
			screen, asked := open(s, false)
			press(screen, asked, c.keys...)
			tuitest.Shows(t, screen, now(records), c.want...)
		})
	}
}

// TestKeysControl: each key sends its request; those that lose data are confirmed first.
func TestKeysControl(t *testing.T) {
	for name, c := range map[string]struct {
		keys []string
		want string
	}{
		"pause":             {[]string{"p"}, "pause"},
		"skip step":         {[]string{"s", "y"}, "skip_step"},
		"not after all":     {[]string{"s", "n", "S", "esc", "e", "q"}, ""},
		"skip contender":    {[]string{"S", "y"}, "skip_contender"},
		"stop":              {[]string{"e", "y"}, "stop_after_step"},
		"enter is not yes":  {[]string{"s", "enter", "n"}, ""},
		"note":              {[]string{"m", "a", "y", "q", "enter"}, "note"},
		"an empty note":     {[]string{"m", "enter"}, ""},
		"a note left":       {[]string{"m", "a", "esc"}, ""},
		"closed loop, rate": {[]string{"+", "-"}, ""},
		"other keys":        {[]string{"2", "tab", "j", "?"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSession(inAStep(t))
			defer s.Stop(syscall.SIGINT)
			screen, asked := open(s, false)
			press(screen, asked, c.keys...)
			testenv.Equal(t, s.kinds(), c.want, "sent")
			testenv.Check(t, len(s.stops) == 0, "the run was ended")
		})
	}
}

// TestTheRateOfAnOpenLoop changes by 10% from the step's own rate, but by one at least.
func TestTheRateOfAnOpenLoop(t *testing.T) {
	for rate, want := range map[float64][]float64{1000: {1100, 1210, 1100}, 1: {2, 3, 2}} {
		testenv.Equal(t, ratesAsked(t, rate), want, "from", rate)
	}
}

func ratesAsked(t *testing.T, rate float64) (rates []float64) {
	records := append([]bench.Record{}, inAStep(t)...)
	for i, rec := range records {
		if e, ok := rec.Event.(bench.StepStarted); ok {
			e.Step.Connections, e.Step.Rate = 0, rate
			records[i].Event = e
		}
	}
	s := newSession(records)
	defer s.Stop(syscall.SIGINT)
	screen, asked := open(s, false)
	press(screen, asked, "+", "+", "-")
	for _, c := range s.sent {
		rates = append(rates, c.Rate)
	}
	return rates
}

// dashboard is the whole program on the screen of s.
func dashboard(s **session, screen **live.Screen, leave bool) tuitest.Page {
	return tuitest.Page{New: func(t *testing.T) ui.Page {
		records := inAStep(t)
		*s = newSession(records)
		t.Cleanup(func() { (*s).Stop(syscall.SIGINT) })
		*screen = live.New(live.Options{Session: *s, Leave: leave})
		return old.NewPage(*screen).At(now(records))
	}}
}

func TestQuitAndHelp(t *testing.T) {
	var s *session
	var screen *live.Screen
	for name, key := range map[string]string{"quit": "q", "help": "?"} {
		t.Run(name, func(t *testing.T) {
			c := dashboard(&s, &screen, false)
			c.Keys = []string{key}
			c.Frames(t, name)
		})
	}
}

// TestTheEndOfTheRunClosesTheQuestion.
func TestTheEndOfTheRunClosesTheQuestion(t *testing.T) {
	var s *session
	var screen *live.Screen
	size := tuitest.Size{Width: 80, Height: 24}
	dashboard(&s, &screen, false).Play(t, size, tuitest.Look{}, func(p *tuitest.Program) {
		p.Press("q")
		testenv.Contains(t, p.Frame(), "Leave?")
		s.Stop(syscall.SIGINT)
		p.Settle()
		testenv.Contains(t, p.Frame(), "!Leave?")
	})
}

// TestTheQuestionOfStopping opens it once; Ctrl-C on the question stops, as its choice does.
func TestTheQuestionOfStopping(t *testing.T) {
	for _, c := range []struct {
		keys  string
		stops int
		sent  string
	}{
		{"q", 0, ""}, {"q esc", 0, ""}, {"q q", 0, ""}, {"ctrl+c", 0, ""}, {"a n", 0, ""},
		{"ctrl+c ctrl+c", 1, ""}, {"q 2", 1, ""}, {"a down enter", 1, ""}, {"q 1", 0, "stop_after_step"},
		{"q enter", 0, "stop_after_step"}, {"q ? esc 2", 1, ""},
	} {
		t.Run(c.keys, func(t *testing.T) {
			var s *session
			var screen *live.Screen
			size := tuitest.Size{Width: 80, Height: 24}
			dashboard(&s, &screen, true).Play(t, size, tuitest.Look{}, func(p *tuitest.Program) {
				p.Press(strings.Fields(c.keys)...)
				testenv.Equal(t, len(s.stops), c.stops, "stops")
				testenv.Equal(t, s.kinds(), c.sent, "sent")
				code, _, ended := screen.Outcome()
				testenv.Check(t, ended == (c.stops > 0) && p.Quit() == ended && (!ended || code == 130),
					"ended %v, code %d, quit %v", ended, code, p.Quit())
			})
		})
	}
}

// TestARunThatNeverBegan: the screen shows why.
func TestARunThatNeverBegan(t *testing.T) {
	s := newSession(nil)
	s.code, s.stderr = 1, "locbench: connect to Docker: \x1b[31mno such file\x1b[0m\n  without Docker: --runtime process\n"
	close(s.stay)
	screen, asked := open(s, false)
	text := strings.Join(tuitest.View(screen, tuitest.Size{Width: 80, Height: 24}, old.NewLook(old.LookOptions{NoColor: true}), time.Unix(0, 0)), "\n")
	testenv.Contains(t, text, "exit code 1", "connect to Docker", "--runtime process", "!\x1b[31m")
	press(screen, asked, "enter")
	if len(*asked) != 1 || (*asked)[0] != (ui.BackMsg{}) {
		t.Errorf("closing the message does not lead back to the setup: %v", *asked)
	}
}

// TestAWatchedRunIsNotControlled: keys do not change a run of another process.
func TestAWatchedRunIsNotControlled(t *testing.T) {
	s := newSession(inAStep(t))
	s.watched = true
	screen, asked := open(s, false)
	press(screen, asked, "p", "s", "y", "a", "y", "m", "x", "enter", "q")
	testenv.Check(t, len(s.sent) == 0 && len(s.stops) == 0, "sent %v, stopped %v", s.sent, s.stops)
	last := (*asked)[len(*asked)-1]
	testenv.Check(t, last == tea.Msg(ui.BackMsg{}), "asked %v", *asked)
	close(s.stay)
}

// TestAFinishedRun is shown with the errors of reading it, and esc leads back.
func TestAFinishedRun(t *testing.T) {
	records := tuitest.Records(t, "limits")
	for stderr, want := range map[string]string{"": "complete", "a-1.json: line 3\n": "Run incomplete"} {
		s := newSession(records)
		s.watched, s.stderr = true, stderr
		close(s.stay)
		screen, asked := open(s, false)
		text := strings.Join(tuitest.View(screen, tuitest.Size{Width: 120, Height: 40}, old.NewLook(old.LookOptions{NoColor: true}), now(records)), "\n")
		testenv.Check(t, strings.Contains(text, want) && !strings.Contains(text, "watching") && !screen.Busy(),
			"no %q, or still busy (%v):\n%s", want, screen.Busy(), text)
		if stderr != "" {
			press(screen, asked, "enter")
		}
		if press(screen, asked, "esc"); len(*asked) != 1 || (*asked)[0] != tea.Msg(ui.BackMsg{}) {
			t.Errorf("asked %v", *asked)
		}
	}
}

// TestTheCommandIsCopied quoted for a shell, with the seed; other commands than a run of locbench
// are refused.
func TestTheCommandIsCopied(t *testing.T) {
	for _, c := range []struct {
		command []string
		want    string
	}{
		{[]string{"locbench", "run", "--out", "there", "--data", "it's here"}, `locbench run --data 'it'\''s here' --seed 7`},
		{[]string{"locbench", "run", "\x1b]0;x\a"}, ""},
		{[]string{"rm", "-rf", "/"}, ""},
	} {
		records := append([]bench.Record{}, inAStep(t)...)
		first := records[0].Event.(bench.RunStarted)
		first.Run.Command, first.Run.Seed = c.command, 7
		records[0].Event = first
		s := newSession(records)
		screen, asked := open(s, false)
		press(screen, asked, "y")
		switch got := (*asked)[0].(type) {
		case ui.CopyMsg:
			testenv.Equal(t, got.Text, c.want, c.command)
		case ui.TellMsg:
			testenv.Check(t, c.want == "" && got.Bad, "%q: %s", c.command, got.Text)
		}
		s.Stop(syscall.SIGINT)
	}
}
