package report

import (
	"bytes"
	"fmt"
	"html"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/analysis/compare"
	"github.com/locbench/locbench/internal/analysis/summary"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/table"
)

// The profile in the report can be read again, and its URLs have no user names and passwords.
func TestReproduce(t *testing.T) {
	run, _ := fixture()
	run.Profile.Store = bench.StoreSpec{Kind: bench.StoreExternal, URL: "http://elastic:secret@10.0.0.5:9200"}
	run.Command = append(run.Command, "--elastic", "http://elastic:secret@10.0.0.5:9200")
	r := newReproduction(run)
	if strings.Contains(r.Command+r.Profile+r.Again, "secret") || !strings.Contains(r.Profile, "http://10.0.0.5:9200") {
		t.Errorf("%+v", r)
	}
	p, err := profile.Parse(r.File, []byte(r.Profile))
	testenv.Need(t, err == nil, "%v in\n%s", err, r.Profile)
	if p.Name != "locations" || p.Rounds != 3 || len(p.Steps) != 16 || p.Steps[15].Connections != 2048 || p.Limits != run.Profile.Limits {
		t.Errorf("read back: %+v", p)
	}
	want := "locbench run --profile locations.yaml --headless --seed 42"
	testenv.Check(t, r.Again == want, "%s, want %s", r.Again, want)
	other := run
	other.Profile = bench.Profile{}
	r = newReproduction(other)
	testenv.Check(t, r.Profile == "" && r.Again == "", "a run without steps can be reproduced: %+v", r)
	run.Profile.Name = "../../etc/`passwd`"
	r = newReproduction(run)
	testenv.Check(t, regexp.MustCompile(`^[A-Za-z0-9._-]+\.yaml$`).MatchString(r.File), "file %q", r.File)
}

// rounds returns the fixture with n rounds, which differ in throughput.
func rounds(n int) (bench.Run, []bench.TrialResult) {
	run, all := small()
	var trials []bench.TrialResult
	for round := range n {
		for _, trial := range all[:2] {
			trial.Trial.Round, trial.Checks = round+1, nil
			trial.Steps = append([]bench.StepResult(nil), trial.Steps...)
			for i := range trial.Steps {
				trial.Steps[i].Load.Succeeded += trial.Steps[i].Load.Succeeded * int64(round) / 200
			}
			trials = append(trials, trial)
		}
	}
	run.State, run.Profile.Rounds, run.Trials = bench.RunComplete, n, nil
	return run, trials
}

// From six rounds on there are tiers and intervals, and the page, the table and the sentences
// agree. A noise floor above the difference removes the tiers.
func TestTiersFromSixRounds(t *testing.T) {
	run, trials := rounds(6)
	page := func(opts Options) string {
		var b bytes.Buffer
		testenv.OK(t, HTML(&b, analysis.Of(run, trials), opts))
		return string(withoutScripts(t, b.Bytes()))
	}
	got := page(Options{})
	// Holm's correction is for the larger of two families: the pairs of contenders, of which there
	// is one, and the measures that both contenders have.
	tests := 0
	for _, m := range measure.Tested() {
		missing := func(p analysis.Place) bool { return len(p.Value.Values) == 0 }
		if !slices.ContainsFunc(analysis.Of(run, trials).Standing(m.ID, stats.Rule{}).Places, missing) {
			tests++
		}
	}
	testenv.Need(t, tests >= 2, "%d measures", tests)
	testenv.Contains(t, got, "<li>rs-actix has the highest throughput: ",
		fmt.Sprintf(" (Holm, %d tests), 6 and 6 rounds.</li>", tests), `<table class="results" data-sort>`,
		`<td data-label="Tier" data-value="1">1</td>`,
		`<td data-label="Tier" data-value="2">2</td>`)
	for _, v := range regexp.MustCompile(`data-value="([^"]*)"`).FindAllStringSubmatch(got, -1) {
		testenv.OK(t, testenv.Err(strconv.ParseFloat(html.UnescapeString(v[1]), 64)))
	}
	testenv.Check(t, regexp.MustCompile(`<small>[0-9,]+ to [0-9,]+</small>`).MatchString(got),
		"the throughput has no interval")
	floor := &compare.Floor{Schema: compare.FloorSchema, Contender: "rs-actix", Rounds: 6, Made: time.Now(), Measures: []compare.MeasureFloor{{Measure: measure.Throughput, Floor: 4}}}
	testenv.Contains(t, page(Options{Floor: floor}), "!has the highest throughput: 1", "below the noise floor (400%)")
	run, trials = rounds(5)
	testenv.Contains(t, page(Options{}), "5 rounds per contender, 6 needed", "5 of 6 rounds",
		`!data-label="Tier" data-value`)
}

// Values to sort by are in base units.
func TestValuesAreInBaseUnits(t *testing.T) {
	run, trials := rounds(2)
	l := newLayout(analysis.Of(run, trials))
	who := l.contenders[1].of
	h := newResults(run, l, summary.New(analysis.Of(run, trials), Options{}.rules()), nil)
	for i, want := range map[int]float64{5: who.StartUp.Median, 7: float64(who.MemoryPeak), 9: who.Cost.Total} {
		testenv.Equal(t, *h.Rows[1].Cells[i].Sort, want, h.Columns[i])
	}
	testenv.Equal(t, len(h.Rows[0].Cells), len(h.Columns))
	d, _ := stats.CostPerBillion(560*time.Millisecond, 1000, stats.DefaultPrice)
	testenv.Check(t, units.Dollars(d) == "$4.28", "560 µs cost %s", units.Dollars(d))
}

// The page and the Markdown report a step that was still warming up, do not compare it, and have
// the time to peak next to the start-up.
func TestReportOfTheWarmUp(t *testing.T) {
	run, trials := rounds(6)
	for i := range trials {
		trial := &trials[i]
		trial.Instance = &bench.InstanceInfo{Runtime: bench.RuntimeDocker, LimitsEnforced: true}
		for n := range trial.Steps {
			s := &trial.Steps[n]
			if s.Step.WarmUp {
				if trial.Instance.StartedAt.IsZero() {
					trial.Instance.StartedAt = s.Load.Started.Add(-7 * time.Second)
				}
				s.Load.Windows = nil
				for at := range 12 {
					s.Load.Windows = append(s.Load.Windows, bench.Window{Start: time.Duration(at) * time.Second, Length: time.Second, Succeeded: 1000})
				}
			} else if trial.Trial.Contender == "rs-actix" && trial.Trial.Round < 3 {
				s.Drift = &bench.Drift{Throughput: &bench.Trend{Change: .12, P: .001}}
			}
		}
	}
	page, markdown := string(render(t, run, trials)), markdown(t, run, trials)
	for name, text := range map[string]string{"page": string(withoutScripts(t, []byte(page))), "Markdown": markdown} {
		t.Run(name, func(t *testing.T) {
			testenv.Contains(t, text, "rs-actix: still warming up in 2 of 6 rounds",
				"Warning “still warming up”: rs-actix at ", "Time to peak", "7.00 s")
			testenv.Contains(t, text, "!rs-actix has the highest throughput")
		})
	}
	testenv.Contains(t, page, "still warming up: throughput rose by 13% over the step")
}

// The error rate of a kind of request is that of its compared bodies, over all rounds.
func TestErrorRateOfARequestIsEstimated(t *testing.T) {
	step := bench.StepResult{Load: bench.Load{Requests: []bench.RequestLoad{
		{Name: "a", Succeeded: 4997, Checked: 57, Failed: map[bench.ErrorKind]int64{bench.ErrWrong: 3}},
		{Name: "b", Succeeded: 57, Checked: 60, Failed: map[bench.ErrorKind]int64{bench.ErrWrong: 3}},
	}}}
	var c contender
	c.of = analysis.Contender{Results: []bench.TrialResult{{Steps: []bench.StepResult{step}}, {Steps: []bench.StepResult{step}}}}
	want := map[string]string{"a": "~5.26%", "b": "5.00%"}
	for _, r := range requestLoads(c, 0) {
		testenv.Equal(t, errorRate(bench.Load{Succeeded: r.Succeeded, Failed: r.Failed, Checked: r.Checked}),
			want[r.Name], r.Name)
	}
}

// The tables of results say how many bodies were compared, and mark error rates that
// are estimates from these.
func TestComparedBodiesInResults(t *testing.T) {
	run, trials := grown(10, 0)
	load := &trials[1].Steps[1].Load
	load.Failed, load.Checked = map[bench.ErrorKind]int64{bench.ErrWrong: 3}, 1140
	trials[0].Steps[1].Load.Unread = map[bench.ErrorKind]int64{bench.UnreadLong: 1000, bench.UnreadBroken: 200}
	a := analysis.Of(run, trials)
	l := newLayout(a)
	results := newResults(run, l, summary.New(a, summary.Rules{}), nil)
	testenv.Contains(t, strings.Join(results.Footnotes, "\n"),
		"Bodies compared with the expected ones: a 0 (1,200 not looked at), b 1,140.")
	at := slices.IndexFunc(results.Columns, func(c table.Column) bool { return c.Title == "Errors" })
	for i, want := range []string{"0.500%", "~0.331%"} {
		testenv.Equal(t, results.Rows[i].Cells[at].Text, want, i)
	}
	for _, ch := range newCharts(run, l) {
		if ch.ID == "errors" && (!strings.HasPrefix(ch.Rows[1].Cells[1], "~0.263%") || strings.Contains(ch.Rows[1].Cells[0], "~")) {
			t.Errorf("chart: %+v", ch.Rows)
		}
	}
}

// A step with too many unexpected bodies has no bottleneck, in the charts and in the table.
func TestNoBottleneckOfUnexpectedBodies(t *testing.T) {
	for unexpected, want := range map[int64]bool{0: true, 3: false} {
		run, trials := grown(10, 0)
		load := &trials[1].Steps[1].Load
		load.Failed, load.Checked = map[bench.ErrorKind]int64{bench.ErrWrong: unexpected}, 1140
		a := analysis.Of(run, trials)
		l := newLayout(a)
		of, _ := bounds(l)
		testenv.Equal(t, of.Table.Rows[1].Cells[2].Text != missing, want, unexpected,
			of.Table.Rows[1].Cells[2].Text)
		testenv.Equal(t, stepMiddle(l, l.contenders[1], plottedMeasures(run.Profile)[0]).bounds[1].Bound != "", want,
			unexpected)
	}
}
