// Package compare is the page of two runs, or of two contenders of one: what 'locbench compare'
// prints, one contender or pair at a time.
package compare

import (
	"slices"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/locbench/locbench/internal/analysis/compare"
	"github.com/locbench/locbench/internal/show/tui/ui"
)

// Compare is the page.
type Compare struct {
	source ui.Source
	read   sides
	at     int // which of read.results is shown
	text   ui.Scroll
	size   ui.Size
	theme  *ui.Theme
}

// New makes the page of the runs in the folders a and b, the older first. If both are the same, it
// compares the contenders of that run.
func New(a, b string, source ui.Source) *Compare {
	return &Compare{source: source, read: sides{dirs: [2]string{a, b}}, text: ui.NewScroll()}
}

// Init implements ui.Page.
func (c *Compare) Init() tea.Cmd {
	source, read := c.source, c.read
	return func() tea.Msg { return read.load(source) }
}

// Title implements ui.Page.
func (c *Compare) Title() string { return "compare" }

// Typing implements ui.Page.
func (c *Compare) Typing() bool { return false }

// SetSize implements ui.Page.
func (c *Compare) SetSize(size ui.Size, theme *ui.Theme) {
	c.size, c.theme = size, theme
	c.fill()
}

// Update implements ui.Page.
func (c *Compare) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case ui.StopMsg:
		return ui.Cmd(ui.QuitMsg{})
	case sides:
		c.take(msg)
	case tea.KeyPressMsg:
		if c.shown() == nil || !c.text.Update(msg) {
			return c.key(ui.KeyOf(msg))
		}
	default:
		c.text.Update(msg)
	}
	return nil
}

// take shows what was read; after a swap it stays at the same contenders.
func (c *Compare) take(read sides) {
	at := 0
	if one := c.shown(); one != nil {
		at = max(0, slices.IndexFunc(read.results, func(r compare.Result) bool {
			return r.Contenders[0].Old == one.New && r.Contenders[0].New == one.Old
		}))
	}
	c.read, c.at = read, at
	c.fill()
}

// shown returns the comparison in sight, or nil.
func (c *Compare) shown() *compare.Contender {
	if len(c.read.results) == 0 {
		return nil
	}
	return &c.read.results[c.at].Contenders[0]
}

func (c *Compare) key(k ui.Key) tea.Cmd {
	if k == ui.Esc || k == ui.Leave {
		return ui.Cmd(ui.BackMsg{})
	}
	one := c.shown()
	if one == nil {
		return nil
	}
	switch {
	case k == ui.Left, k == ui.Right:
		n := len(c.read.results)
		c.at = (c.at + map[ui.Key]int{ui.Left: n - 1, ui.Right: 1}[k]) % n
		c.text.GotoTop()
		c.fill()
	case k == ui.Order:
		read := c.read
		return func() tea.Msg { return read.swap() }
	case k == ui.Copy:
		others := []string{c.read.dirs[1]}
		if c.read.one() {
			others = []string{one.Old, one.New}
		}
		command, err := ui.CompareCommand(c.read.dirs[0], others...)
		return ui.Cmd(ui.Copied(command, err, "command"))
	}
	return nil
}

// Keys implements ui.Page.
func (c *Compare) Keys() ui.Keys {
	back := ui.Hint("", ui.Esc, ui.Leave)
	if c.shown() == nil {
		return ui.Keys{Short: []key.Binding{back}, Groups: []ui.Group{{Title: "compare", Keys: []key.Binding{back}}}}
	}
	short := []key.Binding{ui.Hint("scroll", ui.Up, ui.Down)}
	if len(c.read.results) > 1 {
		short = append(short, ui.Hint("contender", ui.Left, ui.Right))
	}
	short = append(short, ui.Hint("swap old, new", ui.Order))
	short = append(short, back, ui.Hint("copy command", ui.Copy))
	all := append(slices.Clone(short), ui.Hint("a page", ui.PageUp, ui.PageDown), ui.Hint("first, last line", ui.First, ui.Last))
	return ui.Keys{Short: short, Groups: []ui.Group{{Title: "compare", Keys: all}}}
}
