package ui

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/fit"
	"github.com/locbench/locbench/internal/text/table"
)

func themes() []*Theme {
	return []*Theme{NewTheme(ThemeOptions{}), NewTheme(ThemeOptions{Light: true}), NewTheme(ThemeOptions{NoColor: true}),
		NewTheme(ThemeOptions{ASCII: true, NoColor: true})}
}

const sentence = "kt-ktor was killed at 256 connections: out of memory, the limit is 512 MiB"

// sample is a page of every kind of block, in another order than that of its priorities.
func sample(t *Theme, w int) []Block {
	rows := func(name string, n int) func(w, h int) string {
		return func(_, h int) string { return strings.Repeat(fmt.Sprintf("%s%d\n", name, n), h-1) + "end-" + name }
	}
	g := &Grid{}
	content := table.Table{Columns: []table.Column{{Title: "step", Left: true}, {Title: "req/s"}, {Title: "CPU/req", Drop: 1}}}
	for i := range 12 {
		content.Add(fmt.Sprintf("%d connections", i), "1,234", "12.5 µs")
	}
	g.Set(content)
	return []Block{
		Text(1, t.Title.S("head")),
		Text(3, Hang("✗ ", sentence+"; --memory 768MiB", w, t.Bad)...),
		{Priority: 4, Least: 3, Most: Rest, Draw: rows("chart", 1)},
		{Priority: 6, Least: 4, Most: 9, Draw: rows("second", 2)},
		{},
		g.Block(t, 2, 2),
		Text(5, Wrap("below "+sentence, w)...),
	}
}

// TestStackAtAllSizes: no line is too wide, a block is whole or absent, what fits also fits in a
// larger terminal, and no word is lost of what is shown.
func TestStackAtAllSizes(t *testing.T) {
	for _, theme := range []*Theme{themes()[0], themes()[3]} {
		for _, w := range []int{20, 21, 27, 40, 60, 79, 80, 100, 120, 160, 200} {
			before := map[int]bool{}
			for h := 6; h <= 50; h++ {
				blocks := sample(theme, w)
				view := Stack(w, h, blocks...)
				lines := strings.Split(view, "\n")
				testenv.Need(t, len(lines) == h, "%dx%d: %d lines", w, h, len(lines))
				for _, line := range lines {
					testenv.Need(t, ansi.StringWidth(line) == w, "%dx%d: a line of %d cells", w, h, ansi.StringWidth(line))
				}
				text := strings.Join(strings.Fields(ansi.Strip(view)), " ")
				heights := share(h, blocks)
				for i, n := range heights {
					testenv.Need(t, n > 0 || !before[i], "%dx%d: block %d vanishes from a larger terminal", w, h, i)
					before[i] = n > 0
				}
				for i, want := range map[int]string{1: sentence + "; --memory 768MiB", 2: "end-chart", 3: "end-second", 6: "below " + sentence} {
					testenv.Need(t, strings.Contains(text, want) == (heights[i] > 0), "%dx%d: block %d is not whole:\n%s", w, h, i, view)
				}
				testenv.Need(t, heights[4] == 0 && heights[0] > 0, "%dx%d: an absent block has lines, or the first has none", w, h)
			}
		}
	}
}

func TestStackShares(t *testing.T) {
	block := func(priority, least, most int) Block { return Block{Priority: priority, Least: least, Most: most} }
	for _, c := range []struct {
		h      int
		blocks []Block
		want   []int
	}{
		{10, []Block{block(1, 2, 0), block(2, 3, 0)}, []int{2, 3}},
		{10, []Block{block(2, 2, Rest), block(1, 3, Rest)}, []int{4, 6}},
		{11, []Block{block(2, 2, Rest), block(1, 3, 4)}, []int{7, 4}},
		{4, []Block{block(2, 2, 0), block(1, 3, 0)}, []int{0, 3}},
		{4, []Block{block(1, 2, 0), block(2, 3, 0), block(3, 1, 0)}, []int{2, 0, 0}}, // the third waits for the second
		{4, []Block{block(1, 9, 0), block(2, 1, 0)}, []int{4, 0}},
		{0, []Block{block(1, 9, 0)}, []int{0}},
	} {
		testenv.Equal(t, share(c.h, c.blocks), c.want, c.h, c.blocks)
	}
}

// FuzzLayout lays hostile text out in any size.
func FuzzLayout(f *testing.F) {
	for i, s := range hostile {
		f.Add(s, "title "+s, i%7, i, uint8(i))
		f.Add(s+"世"+s+" two words", s, 3*i, 5, uint8(i))
	}
	f.Fuzz(func(t *testing.T, s, title string, w, h int, bits uint8) {
		w, h = 20+max(0, w%200), 6+max(0, h%40)
		theme := NewTheme(ThemeOptions{ASCII: bits&1 != 0, NoColor: bits&2 != 0, Light: bits&4 != 0})
		s, title = Outside(s, 300), Outside(title, 300)
		lines := func(what string, lines []string, most int) {
			t.Helper()
			testenv.Need(t, len(lines) <= most, "%s: %d lines, want %d", what, len(lines), most)
			for _, line := range lines {
				same(t, what, line, -1)
				n := fit.Width(line)
				testenv.Need(t, n <= w, "%s: %d cells of %d: %q", what, n, w, line)
				line = theme.ASCIIOnly(line)
				testenv.Need(t, fit.Width(line) == n && (!theme.ASCII || isASCII(line)), "%s in ASCII: %q", what, line)
				harmless(t, what, ansi.Strip(line))
			}
		}
		lines("Problem", theme.Problem(s, title, w), 3000)
		lines("Rows", theme.Rows([]Row{{title, s}, {s, title}}, w), 3000)
		ask := Ask{Title: title, Text: s, Choices: []Choice{{Name: s, Words: title, Marked: true}, {Name: "b", Words: s}}, After: []string{s}, at: 1}
		lines("Ask", ask.View(theme, w, h), h)
		lines("Box", theme.Box(title, []string{s, theme.Bad.S(title)}, w), 4)
		lines("Rule", []string{theme.Rule(title, s, w), Ends(title, s, w)}, 2)
		g := &Grid{}
		content := table.Table{Columns: []table.Column{{Title: title, Left: true}, {Title: "s", Drop: 2}, {Title: "c", Drop: 1, Left: true}}}
		content.Add(s, title, "1")
		content.Add(title)
		g.Set(content)
		lines("Grid", Exact(strings.Split(g.View(theme, w, h), "\n"), w, h), h)
		lines("Progress", []string{theme.Progress(float64(h)/50, w)}, 1)
	})
}

func press(name string) tea.KeyPressMsg {
	special := map[string]rune{"up": tea.KeyUp, "down": tea.KeyDown, "enter": tea.KeyEnter, "end": tea.KeyEnd, "pgup": tea.KeyPgUp}
	if r, ok := special[name]; ok {
		return tea.KeyPressMsg{Code: r}
	}
	return tea.KeyPressMsg{Code: []rune(name)[0], Text: name}
}

// TestGrid keeps the cursor in sight, and on its row.
func TestGrid(t *testing.T) {
	theme := NewTheme(ThemeOptions{NoColor: true})
	of := func(n int) table.Table {
		c := table.Table{Columns: []table.Column{{Title: "name", Left: true}, {Title: "req/s"}}}
		for i := range n {
			c.Add(fmt.Sprintf("row %d", i+1), theme.Bad.S("7"))
		}
		return c
	}
	g := &Grid{}
	g.Set(of(9))
	g.Select(8)
	view := g.View(theme, 20, 4)
	from, to, n := g.Range()
	testenv.Check(t, from == 7 && to == 9 && n == 9, "rows %d to %d of %d", from, to, n)
	testenv.Equal(t, strings.Split(ansi.Strip(view), "\n"),
		[]string{"  name   req/s", "  row 7      7", "  row 8      7", "▸ row 9      7      "}, "view")
	testenv.Check(t, strings.Count(view, theme.Select.On) == 1, "the selected row is not reversed as a whole: %q", view)
	g.Update(Up)
	g.Set(of(20))
	testenv.Equal(t, g.Row(), 7, "row after a move")
	_ = g.View(theme, 20, 4)
	testenv.Check(t, !g.Update(Stop), "another key moves")
	g = &Grid{Below: 1}
	g.Set(of(9))
	for _, row := range []int{5, 8} { // the row after the selected one is in sight too
		g.Select(row)
		_ = g.View(theme, 20, 4)
		_, to, _ = g.Range()
		testenv.Equal(t, to, min(row+2, 9), "last row in sight")
	}
	g.Set(table.Table{Columns: of(0).Columns})
	testenv.Check(t, g.Row() == -1 && g.View(theme, 20, 4) != "", "an empty grid has row %d", g.Row())

	g = NewList()
	g.Set(of(8))
	g.Select(2)
	testenv.Equal(t, strings.Split(ansi.Strip(g.View(theme, 12, 5)), "\n"),
		[]string{"  row 3      7", "  row 4      7", "▸ row 5      7", "  row 6      7"}, "a list of whole rows, without a head")
	block := g.Block(theme, 1, 3)
	testenv.Check(t, block.Least == 6 && block.Most == 8, "a block of %d to %d lines", block.Least, block.Most)
}

func TestProblem(t *testing.T) {
	theme := NewTheme(ThemeOptions{NoColor: true})
	rows := []Row{{"found", "out of memory: 512 of 512 MiB"}, {"remedy", "--memory 768MiB"}}
	text := func(lines []string) string { return ansi.Strip(strings.Join(lines, "\n")) }
	testenv.Equal(t, text(theme.Rows(rows, 60)), "  found   out of memory: 512 of 512 MiB\n  remedy  --memory 768MiB", "wide")
	testenv.Equal(t, text(theme.Rows(rows, 22)), "  found: out of\n  memory: 512 of 512\n  MiB\n  remedy: --memory\n  768MiB", "narrow")
	testenv.Equal(t, text(theme.Problem("kt-ktor killed at 256 connections", "--memory 768MiB", 22)),
		"✗ kt-ktor killed at\n  256 connections\n  remedy: --memory\n  768MiB", "problem")
}

// TestAskLeavesOutWhatDoesNotFit: the choices stay longest.
func TestAskLeavesOutWhatDoesNotFit(t *testing.T) {
	theme := NewTheme(ThemeOptions{NoColor: true})
	ask := Ask{Title: "Leave?", Text: "It runs.", After: []string{"To resume: x"}, Choices: []Choice{
		{Name: "stop", Words: "after the running step of 10 s has ended", Msg: nil}, {Name: "abort", Words: "now", Msg: nil}}}
	for h, want := range map[int][]string{
		20: {"It runs.", "after the running", "resume"}, 7: {"It runs.", "after the running", "!resume"},
		5: {"!It runs", "after the running", "abort  now"}, 4: {"!It runs", "abort  now"}, 3: {"stop   after the running", "!abort"},
	} {
		lines := ask.View(theme, 60, h)
		testenv.Check(t, len(lines) <= h, "%d lines of %d", len(lines), h)
		testenv.Contains(t, ansi.Strip(strings.Join(lines, "\n")), want...)
	}
	long := ask
	long.Text = sentence + ", " + sentence
	for w := 20; w <= 120; w++ {
		words := strings.NewReplacer("│", "", "▸", "").Replace(ansi.Strip(strings.Join(long.View(theme, w, 40), " ")))
		words = strings.Join(strings.Fields(words), " ")
		testenv.Check(t, strings.Contains(words, long.Text) && strings.Contains(words, ask.Choices[0].Words), "%d cells: %s", w, words)
	}
	down, again := press("down"), press("2")
	_, _, _ = ask.Update(down)
	testenv.Contains(t, ansi.Strip(strings.Join(ask.View(theme, 60, 3), "\n")), "abort  now", "!stop")
	testenv.Contains(t, ansi.Strip(strings.Join(ask.View(theme, 24, 5), "\n")), "1  stop", "2  abort", "now", "!after")
	done, _, _ := ask.Update(again)
	testenv.Check(t, done, "a digit does not choose")
	done, _, _ = ask.Update(press("3"))
	testenv.Check(t, !done, "the number of no choice chooses")
}

// TestAskFiltersManyChoices: more than have digits are filtered by typing; the one in sight is chosen.
func TestAskFiltersManyChoices(t *testing.T) {
	theme := NewTheme(ThemeOptions{NoColor: true})
	ask := Ask{Title: "Profile"}
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h", "locations", "bench"} {
		ask.Choices = append(ask.Choices, Choice{Name: name + ".yaml", Msg: name})
	}
	ask.Init()
	typed := func(keys string) (done bool, chosen tea.Msg) {
		for _, key := range strings.Fields(keys) {
			done, chosen, _ = ask.Update(press(key))
		}
		return done, chosen
	}
	typed("/ b e n")
	testenv.Check(t, ask.Typing(), "letters do not count as text")
	testenv.Contains(t, ansi.Strip(strings.Join(ask.View(theme, 60, 20), "\n")), "filter: ben", "1  bench.yaml", "!locations")
	_, chosen := typed("enter enter")
	testenv.Equal(t, chosen, tea.Msg("bench"), "the one that matches")
	ask.Init()
	done, chosen := typed("/ z z enter enter")
	testenv.Check(t, !done && chosen == nil, "none matches, and %v is chosen", chosen)
	few := Ask{Choices: ask.Choices[:many]}
	few.Init()
	_, _, _ = few.Update(press("/"))
	testenv.Check(t, !few.Typing(), "a filter of %d choices", many)
}

// TestHint: only arrows are next to each other.
func TestHint(t *testing.T) {
	testenv.Equal(t, Hint("x", Up, Down, NextTab, First).Help().Key, "↑↓ tab home")
	testenv.Equal(t, Hint("x", NextTab, Left, Right).Help().Key, "tab ←→")
}

// TestKeys: each name of a key has one meaning, and each key is shown in another way.
func TestKeys(t *testing.T) {
	names, shown := map[string]bool{}, map[string]bool{}
	for _, k := range keys {
		help := k.Help()
		testenv.Check(t, len(k.Keys()) > 0 && help.Key != "" && help.Desc != "", "key %q is incomplete: %+v", k.Keys(), help)
		for _, name := range k.Keys() {
			testenv.Check(t, !names[name], "%s has two meanings", name)
			names[name] = true
		}
		testenv.Check(t, !shown[help.Key], "%s is shown for two keys", help.Key)
		shown[help.Key] = true
	}
	testenv.Check(t, KeyOf(press("k")) == Up && KeyOf(press("G")) == Last && KeyOf(press("é")) == nil, "KeyOf")
	testenv.Check(t, DigitOf(press("3")) == 3 && DigitOf(press("0")) == 0 && KeyOf(press("3")) == Digits, "DigitOf")
	pair := Hint("step", Up, Down)
	testenv.Check(t, pair.Help().Key == "↑↓" && slices.Contains(pair.Keys(), "j"), "%+v", pair)
}

func TestSizes(t *testing.T) {
	for _, c := range []struct {
		w, h int
		want Class
	}{{100, 28, Full}, {99, 28, Compact}, {100, 27, Compact}, {80, 24, Compact}, {79, 24, Column}, {200, 23, Column}} {
		testenv.Equal(t, SizeOf(c.w, c.h), Size{c.w, c.h - 1, c.want}, c.w, c.h)
	}
}

// TestMarks: twelve contenders differ without colors, in ASCII too.
func TestMarks(t *testing.T) {
	for _, theme := range themes() {
		seen := map[string]bool{}
		for n := range 12 {
			mark := theme.ASCIIOnly(ansi.Strip(theme.Mark(n)))
			testenv.Check(t, !seen[mark] && fit.Width(mark) == 1, "mark %d is %q", n, mark)
			seen[mark] = true
		}
	}
}

func TestBar(t *testing.T) {
	theme := NewTheme(ThemeOptions{NoColor: true})
	testenv.Equal(t, ansi.Strip(theme.Progress(0.25, 8)), "━━╌╌╌╌╌╌", "progress")
}
