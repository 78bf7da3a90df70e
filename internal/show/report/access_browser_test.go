//go:build acceptance && browser

package report

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/locbench/locbench/internal/testenv"
)

// axe-core finds nothing serious or critical, in light and dark, narrow and wide, with everything
// unfolded.
func TestAccessibility(t *testing.T) {
	path := testenv.Named(t, "axe", "LOCBENCH_TEST_AXE", "script of axe-core, an accessibility checker (.ci/axe brings it)")
	script, err := os.ReadFile(path)
	testenv.Need(t, err == nil, "axe-core cannot be read: %v", err)
	run, trials := shortened(fixtureOf(3, 6))
	doc := render(t, run, trials)
	shared := startBrowser(t)
	for _, c := range []struct {
		name, scheme string
		width        int64
	}{{"light", "light", 1280}, {"dark", "dark", 1280}, {"narrow", "light", 375}} {
		t.Run(c.name, func(t *testing.T) {
			b := open(t, shared, doc, c.width, c.scheme)
			b.unroll()
			eval[int](b, `(() => { const all = document.querySelectorAll('details'); for (const d of all) d.open = true; return all.length; })()`)
			b.click(`[data-contender="2"]`) // also with a button that is not pressed
			b.until("the tables that the script makes", `document.querySelectorAll('.values-of table').length === 3`)
			// The page's policy does not apply to the protocol's evaluation, only to the page's
			// scripts.
			testenv.OK(t,
				testenv.Err(chromedp.Call(b.ctx, runtime.Evaluate, runtime.EvaluateParams{Expression: string(script)})))
			out, err := chromedp.Call(b.ctx, runtime.Evaluate, runtime.EvaluateParams{AwaitPromise: new(true), ReturnByValue: new(true), Expression: `
				axe.run(document, { resultTypes: ['violations'], preload: false }).then((r) => JSON.stringify({
					passes: r.passes.length,
					violations: r.violations.map((v) => ({ id: v.id, impact: v.impact, help: v.help, nodes: v.nodes.slice(0, 4).map((n) => n.html.slice(0, 160) + ' | ' + (n.failureSummary ?? '').slice(0, 200)) })),
				}))`})
			testenv.OK(t, err)
			var text string
			if err := json.Unmarshal(out.Result.Value, &text); err != nil {
				t.Fatalf("%v: %+v", err, out.ExceptionDetails)
			}
			var found struct {
				Passes     int
				Violations []struct {
					ID, Impact, Help string
					Nodes            []string
				}
			}
			testenv.OK(t, json.Unmarshal([]byte(text), &found))
			testenv.Check(t, found.Passes >= 20, "only %d rules were checked", found.Passes)
			// It finds a button without a name.
			nameless := runtime.EvaluateParams{AwaitPromise: new(true), ReturnByValue: new(true), Expression: `
				document.querySelector('main').append(document.createElement('button')), axe.run(document, { runOnly: ['button-name'], preload: false }).then((r) => r.violations.length)`}
			if out, err := chromedp.Call(b.ctx, runtime.Evaluate, nameless); err != nil || string(out.Result.Value) != "1" {
				t.Errorf("a button without a name is not found: %v, %v", out, err)
			}
			for _, v := range found.Violations {
				if v.Impact == "serious" || v.Impact == "critical" {
					t.Errorf("%s, %s: %s\n  %s", v.Impact, v.ID, v.Help, strings.Join(v.Nodes, "\n  "))
				} else {
					t.Logf("%s, %s: %s (%d and more places)", v.Impact, v.ID, v.Help, len(v.Nodes))
				}
			}
		})
	}
}
