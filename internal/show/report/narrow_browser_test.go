//go:build acceptance && browser

package report

import (
	"slices"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/testenv"
)

// On a narrow screen the results are cards without a header, and only there a list sorts them.
func TestCardsAreSorted(t *testing.T) {
	run, trials := fixture()
	doc, browser := render(t, run, trials), startBrowser(t)
	if b := open(t, browser, doc, 1280, "light"); eval[bool](b, `document.querySelector('.sortby').offsetParent !== null`) {
		t.Error("the list is shown next to the buttons of the header")
	}
	b := open(t, browser, doc, 375, "light")
	names := `[...document.querySelectorAll('.results[data-sort] tbody th')].map((th) => th.textContent.trim())`
	measured := eval[[]string](b, names)
	sorted := slices.Sorted(slices.Values(measured))
	backwards := slices.Clone(sorted)
	slices.Reverse(backwards)
	for _, c := range []struct {
		value string
		want  []string
	}{{"0", sorted}, {"-0", backwards}, {"", measured}} {
		t.Run(c.value, func(t *testing.T) {
			set := eval[string](b, `(() => { const s = document.querySelector('.sortby select'); s.value = '`+c.value+`'; s.dispatchEvent(new Event('change')); return s.value; })()`)
			if got := eval[[]string](b, names); set != c.value || !slices.Equal(got, c.want) {
				t.Errorf("%q: %v, want %v (the list shows %q)", c.value, got, c.want, set)
			}
		})
	}
	n := eval[int](b, `document.querySelectorAll('.sortby option').length`)
	testenv.Check(t, n >= 11, "%d ways to sort", n)
	testenv.Check(t, !eval[bool](b, `document.querySelector('.sortby').offsetParent === null`),
		"the list is not shown")
}

// The heat map shows one contender, which the legend can hide.
func TestHeatMapFollowsTheLegend(t *testing.T) {
	run, trials := fixture()
	b := open(t, startBrowser(t), render(t, run, trials), 1280, "light")
	b.unroll()
	chosen := `document.querySelector('#chart-heat [data-choice=contender]').value`
	cells := `document.querySelectorAll('#plot-heat svg path, #plot-heat svg rect').length`
	got := eval[string](b, chosen)
	testenv.Need(t, got == "0", "contender %s", got)
	b.click("#legend [data-contender='0']")
	testenv.Equal(t, eval[string](b, chosen), "1", "contender")
	full := eval[int](b, cells)
	b.click("#legend [data-all='false']")
	if got := eval[int](b, cells); got > full/2 {
		t.Errorf("%d shapes with every contender switched off, %d before", got, full)
	}
	b.click("#legend [data-all='true']")
	if got := eval[int](b, cells); got < full/2 {
		t.Errorf("%d shapes with every contender switched on again, %d before", got, full)
	}
}

// The choice of colors is kept for the next report that is opened.
func TestChoiceOfColorsIsKept(t *testing.T) {
	run, trials := fixture()
	doc, browser := render(t, run, trials[:2]), startBrowser(t)
	b := open(t, browser, doc, 1280, "light")
	if !eval[bool](b, `(() => { try { localStorage.setItem('x', '1'); return true; } catch { return false; } })()`) {
		t.Skip("this browser lets files keep no data")
	}
	eval[bool](b, `(() => { const s = document.getElementById('theme'); s.value = 'dark'; s.dispatchEvent(new Event('change')); return true; })()`)
	next := open(t, browser, doc, 1280, "light")
	got := eval[string](next, `document.documentElement.dataset.theme + ' ' + document.getElementById('theme').value`)
	testenv.Check(t, strings.HasPrefix(got, "dark dark"), "the next report is %q", got)
	eval[bool](next, `(() => { localStorage.setItem('locbench-colors', 'unknown'); return true; })()`)
	last := open(t, browser, doc, 1280, "light")
	testenv.Equal(t, eval[string](last, `document.getElementById('theme').value`), "auto", "an unknown choice gives")
}
