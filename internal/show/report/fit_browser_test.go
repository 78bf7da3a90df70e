//go:build acceptance && browser

package report

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/benchtest"
	"github.com/locbench/locbench/internal/testenv"
)

// bookings returns eight interleaved rounds of two versions with long names, and of several kinds of
// requests, some of which fail.
func bookings() (bench.Run, []bench.TrialResult) {
	var trials []bench.TrialResult
	for round := range 8 {
		since := benchtest.Start().Add(time.Duration(round) * time.Hour)
		for i, label := range []string{"bookings-go", "bookings-go:cpu10"} {
			n := int64(16_000 + 100*(round*3%7) - 900*i)
			var steps []bench.StepResult
			for at, connections := range []int{4, 16, 64} {
				n := n
				if at == 1-i { // the peaks: their row has both steps
					n += n / 4
				}
				s := benchtest.Step(n, benchtest.Of(benchtest.Closed(connections)), benchtest.CPU(time.Duration(float64(n)*2.5e5*(1+.1*float64(i)))),
					benchtest.Latency(time.Duration(connections)*time.Duration(round+4)*100*time.Microsecond), benchtest.Interleaved(since, "bookings-go", "bookings-go:cpu10"))
				s.Index = at
				for _, name := range []string{"POST /login", "GET /bookings/{id}", "GET /bookings?guest={guest}&limit=20", "POST /bookings"} {
					r := bench.RequestLoad{Name: name, Outcomes: bench.Outcomes{Succeeded: n / 4}, Latency: s.Load.Latency}
					if name == "POST /bookings" {
						r.Failed = map[bench.ErrorKind]int64{bench.ErrTimeout: 3}
						r.Examples = map[bench.ErrorKind]string{bench.ErrTimeout: "POST /bookings/5f0c7a86-1c43-4f7f-9f4e-6f3a2f0f8f11: no response within 5s; the last byte of the " +
							"headers came after 4.9 s, and of the 1,204 bytes of the body 804 had arrived, the first of them 3 ms after the headers"}
					}
					s.Load.Requests = append(s.Load.Requests, r)
				}
				s.Load.Failed = map[bench.ErrorKind]int64{bench.ErrTimeout: 3}
				s.Load.Statuses = bench.Statuses{200: 3 * n / 4, 201: n / 8, 204: n / 8}
				from := s.Before.At
				s.HostBefore = &bench.HostReading{Needs: map[string]*bench.NeedUsage{"db": {At: from, Source: "cgroup v2"}}}
				s.HostAfter = &bench.HostReading{Needs: map[string]*bench.NeedUsage{"db": {At: from.Add(10 * time.Second), Source: "cgroup v2",
					CPU: time.Duration(n) * 90 * time.Microsecond}}}
				steps = append(steps, s)
			}
			for i := range steps {
				for _, u := range []*bench.Usage{steps[i].Before, steps[i].After} {
					u.Switches = &bench.Switches{Source: "x", Voluntary: int64(u.CPU / 50_000)}
					u.Memory = &bench.Memory{Used: 15 << 20, Peak: 16 << 20, PeakSource: "memory.peak"}
				}
			}
			t := benchtest.Trial(label, round+1, steps...)
			t.StartUp = new(18 * time.Millisecond)
			trials = append(trials, t)
		}
	}
	run := benchtest.Run(trials...)
	run.Profile.Needs = []bench.NeedSpec{{Name: "db", Own: true}}
	run.Profile.Title = "Bookings with login, list and create"
	return run, trials
}

// TestTablesFit: no table is cut, small print is smaller than the values, and a narrow page has the
// values of all tables in sight.
func TestTablesFit(t *testing.T) {
	run, trials := bookings()
	doc, browser := render(t, run, trials), startBrowser(t)
	for _, width := range []int64{1280, 420} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			b := open(t, browser, doc, width, "light")
			b.until("drawn charts", `document.querySelector('.plot svg text') !== null`)
			if os.Getenv("LOCBENCH_SHOTS") != "" {
				b.photograph(fmt.Sprintf("bookings-%d", width))
			}
			cut := eval[[]string](b, `[...document.querySelectorAll('main .wide')].filter((e) => e.offsetParent && e.scrollWidth > e.clientWidth + 1)
				.map((e) => (e.closest('section')?.id ?? 'first') + ' ' + e.scrollWidth + ' of ' + e.clientWidth)`)
			testenv.Check(t, width != 1280 || len(cut) <= 0, "cut tables: %q", cut)
			cut = eval[[]string](b, `[...document.querySelectorAll('main table')].filter((e) => e.offsetParent &&
				e.getBoundingClientRect().right > e.parentElement.getBoundingClientRect().right + 1).map((e) => e.innerText.slice(0, 60))
				.concat([...document.querySelectorAll('main :is(th, td)')].filter((e) => e.offsetParent && e.scrollWidth > e.clientWidth + 1).map((e) => e.innerText))`)
			testenv.Check(t, width != 1280 || len(cut) <= 0, "cut tables and cells: %q", cut)
			large := eval[[]string](b, `[...document.querySelectorAll('td small')].filter((e) => e.offsetParent &&
				parseFloat(getComputedStyle(e).fontSize) >= parseFloat(getComputedStyle(e.parentElement).fontSize)).map((e) => e.textContent)`)
			if len(large) > 0 {
				t.Errorf("small print as large as its value: %d, such as %q", len(large), large[0])
			}
			apart := eval[[]string](b, `[...document.querySelectorAll('td small')].filter((e) => e.offsetParent).map((e) => e.textContent).filter((s) => /\d (µs|ms|s|MiB|KiB)\b/.test(s))`)
			if len(apart) > 0 {
				t.Errorf("a line may end before a unit: %q", apart[0])
			}
			heads := eval[[]float64](b, `[...document.querySelectorAll('header > *')].filter((e) => e.offsetParent).map((e) => e.getBoundingClientRect().top)`)
			testenv.Check(t, width != 1280 || slices.Max(heads) <= 40, "the header has several lines: %v", heads)
			order := eval[[]string](b, `[...document.querySelectorAll('main > section')].map((e) => e.id)`)
			if slices.Index(order, "requests") > slices.Index(order, "results") || !slices.Contains(order, "requests") {
				t.Errorf("order: %s", strings.Join(order, " "))
			}
			for _, section := range []string{"requests", "failed-requests", "statuses"} {
				seen := eval[int](b, fmt.Sprintf(`[...document.querySelectorAll('#%s td')].filter((e) => e.offsetParent && e.getBoundingClientRect().right <= innerWidth).length`, section))
				all := eval[int](b, fmt.Sprintf(`document.querySelectorAll('#%s td').length`, section))
				testenv.Check(t, seen == all && all != 0, "%s: %d of %d cells in sight", section, seen, all)
			}
			for selector, name := range map[string]string{"#conclusion dt, .below": "Next step", "#results th": "peak memory", ".first th, .first td": "start-up"} {
				if !eval[bool](b, fmt.Sprintf(`[...document.querySelectorAll(%q)].some((e) => e.offsetParent && e.innerText.includes(%q))`, selector, name)) {
					t.Errorf("%s is not on the page", name)
				}
			}
			if charts := eval[int](b, `[...document.querySelectorAll(':is(.pair, .side) .plot')].filter((e) => e.offsetParent).length`); charts != 2 {
				t.Errorf("%d charts", charts)
			}
			labels := eval[[]string](b, `[...document.querySelectorAll('.plot svg text')].filter((e) => e.textContent.includes('…') ||
				e.getBoundingClientRect().right > e.closest('svg').getBoundingClientRect().right + 1).map((e) => e.textContent)`)
			testenv.Check(t, len(labels) <= 0, "cut labels: %q", labels)
		})
	}
}
