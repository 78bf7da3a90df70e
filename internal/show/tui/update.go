package tui

import (
	"cmp"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/locbench/locbench/internal/show/tui/ui"
)

// messageFor is how long a message stays.
const messageFor = 5 * time.Second

// calmTicks is the number of ticks between two frames of a measured step, about a second.
const calmTicks = 5

// Update implements tea.Model.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	m.now = time.Now()
	cmd := m.update(msg)
	return m, tea.Batch(cmd, m.keepTicking())
}

func (m *Model) update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tickMsg:
		m.ticking = false
		m.ticks++
		if m.message.text != "" && m.now.After(m.message.until) {
			m.message, m.dirty = message{}, true
		}
		if c, ok := m.top().(ui.SlowRefresh); ok && c.SlowRefresh() && m.ticks%calmTicks != 0 {
			return nil // changes wait for the next full second
		}
		m.pending, m.dirty = false, m.dirty || m.pending || m.top().Busy()
		if !m.top().Busy() {
			return nil
		}
		return m.top().Update(ui.Tick{Now: time.Time(msg)})
	case tea.WindowSizeMsg:
		m.width, m.height, m.dirty = msg.Width, msg.Height, true
		return m.resize()
	case tea.BackgroundColorMsg:
		if m.options.Theme == "" {
			m.relook(!msg.IsDark())
			m.dirty = true
		}
		return nil
	case tea.KeyPressMsg:
		m.dirty = true
		return m.key(msg)
	case tea.MouseMsg, tea.PasteMsg:
		m.dirty = true
		if m.help {
			m.helpMouse(msg)
			return nil
		}
	case tea.ResumeMsg:
		m.dirty = true
		return tea.ClearScreen
	case tea.ColorProfileMsg, tea.EnvMsg, tea.FocusMsg, tea.BlurMsg, tea.ModeReportMsg,
		tea.KeyboardEnhancementsMsg, tea.KeyReleaseMsg:
		return nil
	default:
		// Changes by events are drawn with the next tick: several events make one frame.
		m.pending, m.dirty = m.pending || m.ticking, m.dirty || !m.ticking
		if cmd, handled := m.navigate(msg); handled {
			return cmd
		}
	}
	return m.top().Update(msg)
}

// resize gives the top screen its size: the last line is the program's.
func (m *Model) resize() tea.Cmd {
	return m.top().Update(ui.Resized{Width: m.width, Height: max(0, m.height-1)})
}

func (m *Model) key(msg tea.KeyPressMsg) tea.Cmd {
	name := msg.String()
	switch {
	case name == "ctrl+z":
		return tea.Suspend
	case name == "ctrl+l":
		return tea.ClearScreen
	case m.help:
		m.helpKey(name)
		return nil
	case name == "?" && !m.top().Typing():
		m.help, m.scroll = true, 0
		return nil
	case name == "ctrl+c":
		if i, ok := m.top().(ui.Interrupter); ok {
			return i.Interrupt()
		}
		return tea.Quit
	}
	return m.top().Update(msg)
}

// helpKey scrolls the help, or closes it.
func (m *Model) helpKey(name string) {
	switch name {
	case "up", "k":
		m.scroll--
	case "down", "j":
		m.scroll++
	case "pgup":
		m.scroll -= m.height / 2
	case "pgdown", "space":
		m.scroll += m.height / 2
	default:
		m.help = false
	}
}

func (m *Model) helpMouse(msg tea.Msg) {
	switch msg := msg.(type) {
	case tea.MouseClickMsg:
		m.help = false
	case tea.MouseWheelMsg:
		m.scroll += ui.Wheel(msg)
	}
}

// navigate handles the messages of screens to the program.
func (m *Model) navigate(msg tea.Msg) (cmd tea.Cmd, handled bool) {
	switch msg := msg.(type) {
	case ui.Open:
		m.dirty = true
		m.screens, m.message = append(m.screens, msg.Screen), message{} // the message was about the previous screen
		return tea.Batch(m.resize(), msg.Screen.Init()), true
	case ui.Replace:
		m.dirty = true
		m.screens[len(m.screens)-1] = msg.Screen
		return tea.Batch(m.resize(), msg.Screen.Init()), true
	case ui.Back:
		if len(m.screens) == 1 {
			return tea.Quit, true
		}
		m.screens, m.dirty = m.screens[:len(m.screens)-1], true
		return tea.Batch(m.resize(), m.top().Update(ui.Shown{})), true
	case ui.Quit:
		return tea.Quit, true
	case ui.StatusMsg:
		m.say(msg.Text, msg.Bad)
		return nil, true
	case ui.Copy:
		m.say("copied "+msg.What+": "+cmp.Or(msg.Shown, msg.Text), false)
		return tea.SetClipboard(msg.Text), true
	}
	return nil, false
}

func (m *Model) say(text string, bad bool) {
	m.dirty = true
	m.message = message{ui.Outside(strings.TrimSpace(text), 2000), bad, m.now.Add(messageFor)}
}
