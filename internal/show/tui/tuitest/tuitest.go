// Package tuitest compares screens with golden views, drawn from recorded events. The views are
// text without colors, so reviewers can read them; "go test -update" writes them again.
package tuitest

import (
	"bufio"
	"compress/gzip"
	"embed"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/locbench/locbench/internal/bench"
	ui "github.com/locbench/locbench/internal/show/tui/old"
	page "github.com/locbench/locbench/internal/show/tui/ui"
	"github.com/locbench/locbench/internal/testenv"
)

//go:embed recordings/*.jsonl.gz
var recordings embed.FS

// Size is the size of a terminal in cells.
type Size struct{ Width, Height int }

// Sizes returns usual sizes of terminals.
func Sizes() []Size { return []Size{{60, 20}, {80, 24}, {120, 40}, {200, 50}} }

// Records returns the events of a recorded run: "limits" (two contenders, two rounds, real
// containers), …; see recordings/README.md.
func Records(t testing.TB, name string) []bench.Record {
	t.Helper()
	out, err := decode(name)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func decode(name string) (out []bench.Record, err error) {
	f, err := recordings.Open("recordings/" + name + ".jsonl.gz")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var rec bench.Record
		if err := json.Unmarshal(lines.Bytes(), &rec); err != nil {
			return nil, err
		}
		out = append(out, rec)
	}
	return out, lines.Err()
}

// Until returns the records before the n-th record (from 1) for which is returns true.
func Until(records []bench.Record, n int, is func(bench.Record) bool) []bench.Record {
	for i, rec := range records {
		if is(rec) {
			if n--; n == 0 {
				return records[:i]
			}
		}
	}
	return records
}

// Settle runs cmd and all commands that follow from it, as the program would. It passes messages
// for the program to program, which may be nil.
func Settle(s ui.Screen, cmd tea.Cmd, program func(tea.Msg)) { SettleUntil(s, cmd, program, nil) }

// SettleUntil is Settle for commands that may block: it abandons one as soon as waits returns true.
func SettleUntil(s ui.Screen, cmd tea.Cmd, program func(tea.Msg), waits func() bool) {
	queue := []tea.Cmd{cmd}
	for n := 0; len(queue) > 0 && n < 1000; n++ {
		c := queue[0]
		queue = queue[1:]
		if c == nil {
			continue
		}
		done := make(chan tea.Msg, 1)
		go func() { done <- c() }()
		msg, ok := await(done, waits)
		if !ok {
			continue
		}
		switch msg := msg.(type) {
		case nil:
		case tea.BatchMsg:
			queue = append(queue, msg...)
		case page.OpenMsg, page.AskMsg, page.SettledMsg, ui.Back, ui.Quit, ui.StatusMsg, ui.Copy:
			if program != nil {
				program(msg)
			}
		default:
			queue = append(queue, s.Update(msg))
		}
	}
}

// await waits for a command's message; ok is false if waits returned true first.
func await(done <-chan tea.Msg, waits func() bool) (msg tea.Msg, ok bool) {
	if waits == nil {
		return <-done, true
	}
	for {
		select {
		case msg = <-done:
			return msg, true
		case <-time.After(time.Millisecond):
			if waits() {
				return nil, false
			}
		}
	}
}

// Press sends keys to s, as Bubble Tea names them ("enter", "a", "ctrl+c"), and settles each.
func Press(s ui.Screen, program func(tea.Msg), keys ...string) {
	for _, k := range keys {
		Settle(s, s.Update(Key(k)), program)
	}
}

// Key returns the message of a key.
func Key(name string) tea.KeyPressMsg {
	special := map[string]rune{
		"enter": tea.KeyEnter, "esc": tea.KeyEscape, "tab": tea.KeyTab, "up": tea.KeyUp, "down": tea.KeyDown,
		"left":  tea.KeyLeft,
		"right": tea.KeyRight, "home": tea.KeyHome, "end": tea.KeyEnd, "pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown,
		"backspace": tea.KeyBackspace, "space": tea.KeySpace, "delete": tea.KeyDelete,
	}
	var mod tea.KeyMod
	for {
		switch {
		case strings.HasPrefix(name, "ctrl+"):
			mod |= tea.ModCtrl
			name = name[5:]
			continue
		case strings.HasPrefix(name, "shift+"):
			mod |= tea.ModShift
			name = name[6:]
			continue
		}
		break
	}
	if r, ok := special[name]; ok {
		k := tea.Key{Code: r, Mod: mod}
		if r == tea.KeySpace {
			k.Text = " "
		}
		return tea.KeyPressMsg(k)
	}
	k := tea.Key{Code: []rune(name)[0], Mod: mod}
	if mod == 0 {
		k.Text = name
	}
	return tea.KeyPressMsg(k)
}

// View draws s in the given size as the program does, with the help line at the bottom.
func View(s ui.Screen, size Size, l *ui.Look, now time.Time) []string {
	s.Update(ui.Resized{Width: size.Width, Height: size.Height - 1})
	lines := s.View(ui.Frame{Width: size.Width, Height: size.Height - 1, Look: l, Now: now})
	return append(lines, ui.HelpLine(l, ui.Keys(s), size.Width))
}

// Golden compares the views of s, one for each class of terminals, with testdata/NAME.*.txt: wide,
// normal, small, and one without colors and with ASCII alone. Like Shows, it looks at every size.
func Golden(t *testing.T, s ui.Screen, name string, now time.Time) {
	t.Helper()
	for _, size := range []Size{{120, 40}, {80, 24}, {40, 12}} {
		golden(t, s, fmt.Sprintf("%s.%dx%d", name, size.Width, size.Height), size, ui.LookOptions{NoColor: true}, now)
	}
	golden(t, s, name+".ascii.80x24", Size{80, 24}, ui.LookOptions{NoColor: true, ASCII: true}, now)
	Shows(t, s, now)
}

// Shows reports what the view of s in 120x40 lacks of parts, as testenv.Contains does. It also
// fails if a view of any size is not exactly as large as the terminal, if the view in colors has a
// different text (except for marks on curves), or if one in ASCII has other characters.
func Shows(t *testing.T, s ui.Screen, now time.Time, parts ...string) {
	t.Helper()
	for _, size := range append(Sizes(), Size{20, 6}, Size{40, 12}, Size{50, 14}, Size{100, 12}) {
		plain := View(s, size, ui.NewLook(ui.LookOptions{NoColor: true}), now)
		Exact(t, plain, size, false)
		for i, line := range View(s, size, ui.NewLook(ui.LookOptions{}), now) {
			if line = curves(ansi.Strip(line)); i < len(plain) && line != curves(ansi.Strip(plain[i])) {
				t.Errorf("%v, line %d: colors change the text:\n%s\n%s", size, i+1, line, ansi.Strip(plain[i]))
			}
		}
		Exact(t, View(s, size, ui.NewLook(ui.LookOptions{NoColor: true, ASCII: true}), now), size, true)
	}
	testenv.Contains(t, Text(s, Size{120, 40}, now), parts...)
}

// Text returns the view of s without colors.
func Text(s ui.Screen, size Size, now time.Time) string {
	return ansi.Strip(strings.Join(View(s, size, ui.NewLook(ui.LookOptions{NoColor: true}), now), "\n"))
}

// curves replaces marks and dots of charts by one character: marks depend on colors.
func curves(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 0x2800 && r <= 0x28ff || strings.ContainsRune("●■▲◆○□", r) {
			return '⠿'
		}
		return r
	}, s)
}

func golden(t *testing.T, s ui.Screen, name string, size Size, o ui.LookOptions, now time.Time) {
	t.Helper()
	lines := View(s, size, ui.NewLook(o), now)
	Exact(t, lines, size, o.ASCII)
	var b strings.Builder
	for _, line := range lines {
		b.WriteString(strings.TrimRight(ansi.Strip(line), " ") + "\n")
	}
	testenv.Golden(t, filepath.Join("testdata", name+".txt"), b.String())
}

// Exact fails unless lines fill size to the cell and, with ascii, hold only ASCII.
func Exact(t testing.TB, lines []string, size Size, ascii bool) {
	t.Helper()
	if len(lines) != size.Height {
		t.Errorf("%d lines in a terminal of %d", len(lines), size.Height)
	}
	for i, line := range lines {
		if w := ansi.StringWidth(line); w != size.Width {
			t.Errorf("line %d takes %d cells of %d: %q", i+1, w, size.Width, ansi.Strip(line))
		}
		if w := ansi.StringWidthWc(line); w != size.Width {
			t.Errorf("line %d takes %d cells of %d as older terminals count: %q", i+1, w, size.Width, ansi.Strip(line))
		}
		text := ansi.Strip(line)
		for _, r := range text {
			if r < 0x20 || r >= 0x7f && r < 0xa0 {
				t.Errorf("line %d holds the control character %U", i+1, r)
			}
			if ascii && r >= 0x80 {
				t.Errorf("line %d holds %q, which is not ASCII: %s", i+1, r, text)
				break
			}
		}
	}
}
