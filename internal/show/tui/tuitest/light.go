package tuitest

import (
	"cmp"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/locbench/locbench/internal/show/tui/ui"
	"github.com/locbench/locbench/internal/testenv"
)

var (
	trueColor = regexp.MustCompile(`38;2;\d+;\d+;\d+`)
	anyColor  = regexp.MustCompile(`\x1b\[(?:[\d;]*;)?(?:[349][0-7]|10[0-7]|[34]8[;\d]*)[;\d]*m`)
)

// Light compares the styled frame in a terminal with a light background with
// testdata/NAME.light.80x24.txt, which "cat" shows.
func (c Page) Light(t *testing.T, name string) {
	t.Helper()
	size, look := Size{80, 24}, Look{Colors: true, Light: true}
	c.Play(t, size, look, func(p *Program) {
		p.Frame()
		testenv.Golden(t, filepath.Join("testdata", name+".light.80x24.txt"), p.app.View().Content+"\n")
	})
}

// lit fails unless light and dark frames differ only in the colors of their themes.
func lit(t *testing.T, size Size, dark, light string) {
	t.Helper()
	named := func(frame string, light bool) string {
		roles := rolesOf(ui.NewTheme(ui.ThemeOptions{Light: light}))
		return trueColor.ReplaceAllStringFunc(frame, func(s string) string { return cmp.Or(roles[s], s) })
	}
	dark, light = named(dark, false), named(light, true)
	testenv.Check(t, dark == light, "%v: a light background changes more than colors:\n%q\n%q", size, light, dark)
	testenv.Check(t, !anyColor.MatchString(light), "%v: the color %q is not of the theme", size, anyColor.FindString(light))
}

// rolesOf returns the role of each color of a theme.
func rolesOf(t *ui.Theme) map[string]string {
	roles := map[string]string{}
	all := append([]ui.Paint{t.Faint, t.Title, t.Good, t.Warn, t.Bad, t.Border}, t.Series[:]...)
	for i, p := range all {
		roles[trueColor.FindString(p.On)] = "role " + strconv.Itoa(i)
	}
	return roles
}
