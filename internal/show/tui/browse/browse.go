// Package browse is the screen of past runs: a list of results folders with a preview of the one
// under the cursor, which can be opened, compared or reported. It never deletes anything. It reads
// folders only through its Source, which package screens implements.
package browse

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/show/tui/compare"
	ui "github.com/locbench/locbench/internal/show/tui/old"
)

// Source finds and reads results folders. Its methods block: they are called in commands.
type Source interface {
	compare.Source
	// Report writes the report, opens it if possible, and returns a text that says where it is.
	Report(dir string) (text string, err error)
	// List finds the folders; left is the number of folders that exceed the limit of the list.
	List() (entries []results.Entry, left int)
}

// Options configure the screen.
type Options struct {
	Source Source
	Roots  string                   // the places that Source searches, in words
	Watch  func(dir string) tea.Cmd // shows the run in dir, in progress or finished
	// Compare compares two results folders, or the contenders of one.
	Compare func(a, b string) tea.Cmd
}

// again is the time until a list with runs in progress is made again.
const again = 3 * time.Second

// Screen is the list. It implements ui.Screen.
type Screen struct {
	options Options
	entries []results.Entry
	left    int
	listed  bool
	listing bool
	round   int // number of the newest listing: results of earlier ones are ignored

	shown  []int // indices into entries: filtered and sorted
	cursor int   // index into shown
	from   int   // first line shown
	sort   int   // index into columns
	down   bool  // sorted in reverse
	filter ui.Filter
	marked []string // folders, at most two

	known   map[string]*summary // by folder
	asking  string              // folder that is being summarized
	writing bool                // a report is being written

	w, h int
}

// New makes the list of results folders.
func New(o Options) *Screen {
	return &Screen{options: o, known: map[string]*summary{}, filter: ui.Filter{Most: 200}}
}

// Messages of the screen's own commands.
type (
	listed struct {
		screen  *Screen
		round   int
		entries []results.Entry
		left    int
	}
	relist struct {
		screen *Screen
		round  int
	}
	summarized struct {
		screen  *Screen
		dir     string
		summary *summary
	}
)

// Init implements ui.Screen.
func (s *Screen) Init() tea.Cmd { return s.list() }

func (s *Screen) list() tea.Cmd {
	s.listing = true
	s.round++
	round, src := s.round, s.options.Source
	return func() tea.Msg {
		entries, left := src.List()
		return listed{s, round, entries, left}
	}
}

// Title implements ui.Screen.
func (s *Screen) Title() string { return "results" }

// Busy implements ui.Screen.
func (s *Screen) Busy() bool { return s.listing && !s.listed || s.asking != "" || s.writing }

// Typing implements ui.Screen.
func (s *Screen) Typing() bool { return s.filter.Typing }

// Update implements ui.Screen.
func (s *Screen) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case ui.Resized:
		s.w, s.h = msg.Width, msg.Height
		return s.ask()
	case ui.Shown:
		// The screen above received the messages of this one.
		s.asking, s.writing = "", false
		return s.list()
	case listed:
		if msg.screen == s && msg.round == s.round {
			return s.take(msg)
		}
	case relist:
		if msg.screen == s && msg.round == s.round && !s.listing {
			return s.list()
		}
	case summarized:
		if msg.screen == s {
			s.asking = ""
			s.known[msg.dir] = msg.summary
			s.arrange()
			return s.ask()
		}
	case ui.Done:
		if msg.Screen == s {
			s.writing = false
			return ui.Cmd(msg.StatusMsg)
		}
	case tea.KeyPressMsg:
		cmd := s.key(msg)
		return tea.Batch(cmd, s.ask())
	case tea.PasteMsg:
		if s.filter.Typing {
			s.filter.Add(msg.Content)
			s.arrange()
		}
	case tea.MouseClickMsg:
		return tea.Batch(s.click(msg), s.ask())
	case tea.MouseWheelMsg:
		s.move(3 * ui.Wheel(msg))
		return s.ask()
	}
	return nil
}

// take shows a new list; the cursor stays on its folder.
func (s *Screen) take(msg listed) tea.Cmd {
	dir := ""
	if e := s.current(); e != nil {
		dir = e.Dir
	}
	s.entries, s.left, s.listed, s.listing = msg.entries, msg.left, true, false
	s.arrange()
	if i := slices.IndexFunc(s.shown, func(n int) bool { return s.entries[n].Dir == dir }); i >= 0 {
		s.cursor = i
	}
	s.marked = slices.DeleteFunc(s.marked, func(dir string) bool {
		return !slices.ContainsFunc(s.entries, func(e results.Entry) bool { return e.Dir == dir })
	})
	cmds := []tea.Cmd{s.ask()}
	if slices.ContainsFunc(s.entries, func(e results.Entry) bool { return e.Live }) {
		round := s.round
		cmds = append(cmds, tea.Tick(again, func(time.Time) tea.Msg { return relist{s, round} }))
	}
	return tea.Batch(cmds...)
}

// current returns the entry under the cursor, or nil.
func (s *Screen) current() *results.Entry {
	if s.cursor >= len(s.shown) {
		return nil
	}
	return &s.entries[s.shown[s.cursor]]
}

// arrange filters and sorts; the cursor stays in bounds.
func (s *Screen) arrange() {
	s.shown = s.shown[:0]
	for i := range s.entries {
		if s.matches(&s.entries[i]) {
			s.shown = append(s.shown, i)
		}
	}
	slices.SortStableFunc(s.shown, func(a, b int) int {
		c := columns[s.sort].compare(s, &s.entries[a], &s.entries[b])
		if s.down {
			return -c
		}
		return c
	})
	s.cursor = max(0, min(s.cursor, len(s.shown)-1))
}

// matches reports whether the row of e contains every word of the filter.
func (s *Screen) matches(e *results.Entry) bool {
	text := strings.ToLower(strings.Join([]string{filepath.Base(e.Dir), e.Profile, stateText(e),
		e.Started.Format("2006-01-02 15:04"), strings.Join(e.Contenders, " ")}, " "))
	words := strings.Fields(strings.ToLower(s.filter.Text))
	return !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(text, word) })
}

func stateText(e *results.Entry) string {
	switch {
	case e.Err != nil:
		return "broken"
	case e.Live:
		return "running"
	case e.State == bench.RunRunning:
		return "killed"
	}
	if n := len(e.Failed); n > 0 && e.State == bench.RunComplete {
		return fmt.Sprintf("%d failed", n)
	}
	return ui.Outside(string(e.State), 40)
}

// columns are the columns that the list can be sorted by, each with its order.
var columns = []struct {
	name    string
	compare func(s *Screen, a, b *results.Entry) int
}{
	{"started", func(_ *Screen, a, b *results.Entry) int { return b.Time().Compare(a.Time()) }},
	{"profile", by(func(e *results.Entry) string { return e.Profile })},
	{"contenders", by(func(e *results.Entry) string { return strings.Join(e.Contenders, " ") })},
	{"state", by(stateText)},
	{"trials", by(func(e *results.Entry) int { return -e.Trials })},
	{"peak/s", func(s *Screen, a, b *results.Entry) int { return cmp.Compare(s.peak(b), s.peak(a)) }},
	{"folder", by(func(e *results.Entry) string { return e.Dir })},
}

func by[T cmp.Ordered](key func(*results.Entry) T) func(*Screen, *results.Entry, *results.Entry) int {
	return func(_ *Screen, a, b *results.Entry) int { return cmp.Compare(key(a), key(b)) }
}

// peak returns the highest throughput of a folder, 0 where it is not known yet.
func (s *Screen) peak(e *results.Entry) float64 {
	if k := s.known[e.Dir]; k != nil {
		return k.peak
	}
	return 0
}
