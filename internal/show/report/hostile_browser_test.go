//go:build acceptance && browser

package report

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/testenv"
)

func TestHostileTextStaysText(t *testing.T) {
	run, trials := hostile()
	trials = trials[:5] // enough for every kind of text, and quick on a busy machine
	doc := render(t, run, trials)
	browser := startBrowser(t)
	b := open(t, browser, doc, 1280, "light")
	b.unroll()
	want := 3 // time line, distribution, heat map
	for _, c := range newCharts(run, newLayout(analysis.Of(run, trials))) {
		if !c.Empty {
			want++
		}
	}
	testenv.Equal(t, eval[int](b, `document.querySelectorAll('.chart svg').length`), want)
	if os.Getenv("LOCBENCH_SHOTS") != "" {
		b.photograph("hostile")
	}
	// Exercise the tooltips of every chart, which are made when they are shown; the legend, by
	// hiding and showing all contenders; the tables that the script makes; and every choice.
	shown := eval[int](b, `(() => {
		let shown = 0;
		for (const el of document.querySelectorAll('.chart')) {
			const chart = echarts.getInstanceByDom(el);
			chart.getOption().series.forEach((s, i) => (s.data ?? []).forEach((_, j) => {
				if (j > 2) return;
				chart.dispatchAction({ type: 'showTip', seriesIndex: i, dataIndex: j });
				shown++;
			}));
		}
		for (const b of document.querySelectorAll('[data-all]')) b.click();
		document.querySelector('[data-all]').click();
		for (const d of document.querySelectorAll('details')) d.open = true;
		for (const s of document.querySelectorAll('[data-choice]')) for (const o of s.options) {
			s.value = o.value;
			s.dispatchEvent(new Event('change'));
		}
		return shown;
	})()`)
	// Read the saved pictures as a browser does.
	if bad := eval[[]string](b, `page.charts.flatMap((chart) => {
		const { option, height } = portrait(chart);
		const drawn = echarts.init(null, null, { renderer: 'svg', ssr: true, width: 1200, height });
		drawn.setOption(option);
		const text = drawn.renderToSVGString();
		drawn.dispose();
		const svg = new DOMParser().parseFromString(text, 'image/svg+xml');
		const bad = [...svg.querySelectorAll('*')].filter((e) => /^(script|image|img|foreignObject|a|parsererror)$/i.test(e.localName) || [...e.attributes].some((a) => /^on|href/i.test(a.name)));
		if (!/^locbench-[a-z0-9-]*$/.test(page.file)) bad.push(svg.documentElement);
		csvOf(chart);
		return bad.map((e) => chart.id + ' ' + e.localName);
	})`); len(bad) > 0 {
		t.Errorf("saved pictures hold %v", bad)
	}
	testenv.Check(t, shown >= 40, "only %d tooltips were shown", shown)
	time.Sleep(300 * time.Millisecond) // injected content would load or run after this script
	testenv.Check(t, !eval[bool](b, `'pwned' in window`), "text from outside was run")
	for selector, want := range map[string]int{"img": 0, "iframe": 0, "link": 0, "[onerror]": 0, "[onload]": 0, "body b": 0, "script": 3, "style": 1, "title": 1} {
		t.Run(selector, func(t *testing.T) {
			testenv.Equal(t, eval[int](b, fmt.Sprintf(`document.querySelectorAll(%q).length`, selector)), want,
				selector)
		})
	}
	if n := eval[int](b, `[...document.querySelectorAll('a')].filter((a) => !a.getAttribute('href').startsWith('#')).length`); n != 0 {
		t.Errorf("%d links leave the page", n)
	}
	if text := eval[string](b, `document.querySelector('#checks tbody th').textContent`); !strings.Contains(text, "<script>") && !strings.Contains(text, "</script>") {
		t.Errorf("the attack is not shown as text: %q", text)
	}
}
