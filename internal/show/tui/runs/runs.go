// Package runs is the page of past runs: how each ended, whether it changed since the run before of
// its profile, and a preview of the one under the cursor, which can be opened, compared, repeated
// or reported. It never deletes anything.
package runs

import (
	"path/filepath"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/show/tui/ui"
)

// Options configure the page.
type Options struct {
	Source  ui.Source
	Roots   string                      // the places that Source searches, in words
	Open    func(dir string) tea.Cmd    // shows the run in dir, in progress or finished
	Compare func(a, b string) tea.Cmd   // compares two folders, the older first, or the contenders of one
	Start   func(args []string) tea.Cmd // starts "locbench run" with args and shows it
	// Report writes the report, opens it if possible, and returns a text that says where it is. It
	// blocks.
	Report func(dir string) (text string, err error)
}

// again is the time in seconds until a list with runs in progress is made again.
const again = 3

// Runs is the page.
type Runs struct {
	options Options
	list    list
	grid    *ui.Grid
	filter  ui.FilterBy
	known   map[string]*known // by folder
	reading string            // folder that is being read
	listing bool
	listed  bool
	size    ui.Size
	theme   *ui.Theme
}

// New makes the page.
func New(o Options) *Runs {
	return &Runs{options: o, grid: ui.NewList(), known: map[string]*known{}, filter: ui.NewFilter()}
}

// Messages of the page's own commands.
type (
	listedMsg struct {
		entries []results.Entry
		left    int
	}
	knownMsg struct {
		dir   string
		known *known
	}
	startMsg struct{ args []string } // of the choice to start
)

// Init implements ui.Page.
func (r *Runs) Init() tea.Cmd { return r.find() }

func (r *Runs) find() tea.Cmd {
	if r.listing {
		return nil
	}
	r.listing = true
	return func() tea.Msg {
		entries, left := r.options.Source.List()
		return listedMsg{entries, left}
	}
}

// Title implements ui.Page.
func (r *Runs) Title() string { return "past runs" }

// Typing implements ui.Page.
func (r *Runs) Typing() bool { return r.filter.Typing() }

// SetSize implements ui.Page.
func (r *Runs) SetSize(size ui.Size, theme *ui.Theme) {
	r.size, r.theme = size, theme
	r.fill()
}

// Update implements ui.Page.
func (r *Runs) Update(msg tea.Msg) (cmd tea.Cmd) {
	switch msg := msg.(type) {
	case ui.StopMsg:
		return ui.Cmd(ui.QuitMsg{})
	case ui.ShownMsg:
		return r.find()
	case startMsg:
		return r.options.Start(msg.args)
	case ui.CopyMsg: // instead
		return ui.Cmd(msg)
	case ui.TickMsg:
		live := slices.ContainsFunc(r.list.entries, func(e results.Entry) bool { return e.Live })
		if live && msg.Now.Second()%again == 0 {
			cmd = r.find()
		}
	case listedMsg:
		r.take(msg)
	case knownMsg:
		r.reading, r.known[msg.dir] = "", msg.known
		r.fill()
	case tea.PasteMsg:
		cmd, _ = r.filter.Update(msg)
		r.arrange()
	case tea.KeyPressMsg:
		cmd = r.key(msg)
	}
	return tea.Batch(cmd, r.read())
}

// take shows a new list; the cursor stays on its run.
func (r *Runs) take(msg listedMsg) {
	e := r.current()
	r.listing, r.listed = false, true
	r.list.entries, r.list.left = msg.entries, msg.left
	if r.list.find(r.list.marked) == nil {
		r.list.marked = ""
	}
	r.arrange()
	for i, o := range r.list.shown {
		if e != nil && o.Dir == e.Dir {
			r.grid.Select(i)
		}
	}
}

// current returns the run under the cursor, or nil.
func (r *Runs) current() *results.Entry {
	if i := r.grid.Row(); i >= 0 && i < len(r.list.shown) {
		return r.list.shown[i]
	}
	return nil
}

func (r *Runs) arrange() {
	r.list.arrange(r.filter)
	r.fill()
}

// maxKnown is the most folders of which the results are kept.
const maxKnown = 50

// read reads the folder under the cursor, or else another one in sight, one at a time.
func (r *Runs) read() tea.Cmd {
	from, _, n := r.grid.Range()
	inSight := r.list.shown[max(0, from-1):min(n, from+r.size.Height/2)]
	if e := r.current(); e != nil {
		inSight = append([]*results.Entry{e}, inSight...)
	}
	i := slices.IndexFunc(inSight, func(e *results.Entry) bool {
		k := r.known[e.Dir]
		return e.Err == nil && (k == nil || !k.changed.Equal(e.Changed))
	})
	if r.reading != "" || i < 0 {
		return nil
	}
	if len(r.known) >= maxKnown {
		clear(r.known)
	}
	e, before := *inSight[i], ui.Before(r.list.entries, inSight[i].Profile, inSight[i].Time())
	r.reading = e.Dir
	return func() tea.Msg { return knownMsg{e.Dir, read(r.options.Source, e, before)} }
}

func (r *Runs) key(msg tea.KeyPressMsg) tea.Cmd {
	if cmd, used := r.filter.Update(msg); used {
		r.arrange()
		return cmd
	}
	if r.grid.Update(ui.KeyOf(msg)) {
		return nil
	}
	switch k := ui.KeyOf(msg); k {
	case ui.Esc, ui.Leave:
		if !r.filter.Clear() {
			return ui.Cmd(ui.BackMsg{})
		}
		r.arrange()
	case ui.Refresh:
		clear(r.known)
		return r.find()
	default:
		return r.act(k)
	}
	return nil
}

// list is the runs, at most one of them marked.
type list struct {
	entries []results.Entry
	left    int              // folders that exceed the limit
	shown   []*results.Entry // filtered, the newest first
	marked  string           // folder
}

// arrange filters and sorts.
func (l *list) arrange(filter ui.FilterBy) {
	l.shown = nil
	for i := range l.entries {
		e := &l.entries[i]
		if filter.Holds(append(slices.Clone(e.Contenders), nameOf(e), filepath.Base(e.Dir), stateOf(e), when(e))...) {
			l.shown = append(l.shown, e)
		}
	}
	slices.SortStableFunc(l.shown, func(a, b *results.Entry) int { return b.Time().Compare(a.Time()) })
}

// find returns the run in a folder, or nil.
func (l *list) find(dir string) *results.Entry {
	i := slices.IndexFunc(l.entries, func(e results.Entry) bool { return e.Dir == dir })
	if i < 0 {
		return nil
	}
	return &l.entries[i]
}

// resumable reports whether a run can be resumed: it ended early and is not in progress.
func resumable(e *results.Entry) bool { return e.Err == nil && !e.Live && e.Complete < e.Trials }

// stateOf returns the state of a run in a word or two.
func stateOf(e *results.Entry) string {
	switch {
	case e.Err != nil:
		return "not readable"
	case e.Live:
		return "running"
	case e.State == bench.RunRunning:
		return "killed"
	}
	return outside(string(e.State))
}
