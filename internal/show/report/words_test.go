package report

import (
	"bytes"
	"encoding/json"
	"html"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/analysis/compare"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/table"
)

// The report has the command with its seed, and the plan; URLs have no user names and passwords, and no paths of this
// machine.
func TestReproduce(t *testing.T) {
	run, _ := fixture()
	run.Profile.Needs[0].From, run.Profile.Needs[0].URL = bench.NeedExternal, "http://elastic:secret@10.0.0.5:9200"
	run.Command = append(run.Command, "--elastic", "http://elastic:secret@10.0.0.5:9200")
	run.ProfileFile, run.Profile.Needs[0].Of = "/home/u/svc/bench.yaml", bench.FormFrom([]byte(`{"environment": {"PASS": "${PGPASSWORD}"}}`))
	run.Profile.Settings = []bench.Settings{{Selection: bench.Selection{Contender: "rs-actix"}, Dir: "/home/u/base/rs-actix", Env: map[string]string{"KEY": "${TOKEN}"}}}
	r := newReproduction(run)
	testenv.Equal(t, r.Env, "TOKEN, PGPASSWORD", "variables of the profile")
	testenv.Contains(t, r.Plan, `"dir": "../base/rs-actix"`, "http://10.0.0.5:9200", "!/home/u", "!secret")
	testenv.Contains(t, r.Command, "--seed 42", "!secret")
	var p bench.Profile
	testenv.OK(t, json.Unmarshal([]byte(r.Plan), &p))
	testenv.Equal(t, p.Limits, run.Profile.Limits)
	run.Given = []string{"locbench", "run", "--seed=7"}
	testenv.Equal(t, newReproduction(run).Command, "locbench run --seed 7")
	run.Profile = bench.Profile{}
	testenv.Equal(t, newReproduction(run).Plan, "")
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

// three returns rounds with a third contender, which is like the second one.
func three(n int) (bench.Run, []bench.TrialResult) {
	run, trials := rounds(n)
	for _, t := range trials {
		if t.Trial.Contender != "rs-actix" {
			t.Trial.Contender, t.Service.Name = "third", "third"
			trials = append(trials, t)
		}
	}
	return run, trials
}

// From six rounds on there are leaders and intervals. A noise floor above the difference removes the
// leaders.
func TestLeadersFromSixRounds(t *testing.T) {
	run, trials := three(6)
	page := func(opts Options) string {
		var b bytes.Buffer
		testenv.OK(t, HTML(&b, analysis.Of(run, trials), opts))
		return string(withoutScripts(t, b.Bytes()))
	}
	const leader = `<td data-label="rs-actix" class="strong">`
	got := page(Options{})
	testenv.Contains(t, got, "rs-actix has the highest throughput", leader, "Bold: the leader")
	for _, v := range regexp.MustCompile(`data-value="([^"]*)"`).FindAllStringSubmatch(got, -1) {
		testenv.OK(t, testenv.Err(strconv.ParseFloat(html.UnescapeString(v[1]), 64)))
	}
	testenv.Check(t, regexp.MustCompile(`<small>[0-9,]+ to [0-9,]+</small>`).MatchString(got),
		"the throughput has no interval")
	var floors []compare.MeasureFloor
	for _, m := range measure.View(measure.Ranked) {
		floors = append(floors, compare.MeasureFloor{Measure: m.ID, Floor: 1e6})
	}
	floor := &compare.Floor{Schema: compare.FloorSchema, Contender: "rs-actix", Rounds: 6, Made: time.Now(), Measures: floors}
	testenv.Contains(t, page(Options{Floor: floor}), "!has the highest throughput", "!"+leader, "Differences below the noise floor are ignored")
	run, trials = three(5)
	testenv.Contains(t, page(Options{}), "5 rounds per contender, 6 needed", "!"+leader)
}

// resultsOf returns the table of all results, and its texts by row and contender.
func resultsOf(run bench.Run, trials []bench.TrialResult) (table.Table, map[string][]string) {
	t := newResults(newLayout(analysis.Of(run, trials)), nil, nil)
	rows := map[string][]string{}
	for _, r := range t.Rows {
		for _, c := range r.Cells[1:] {
			rows[r.Cells[0].Text] = append(rows[r.Cells[0].Text], c.Text)
		}
	}
	return t, rows
}

// Every measure that a contender has is in the table, with the text of the measure and its unit.
func TestResults(t *testing.T) {
	run, trials := rounds(2)
	_, rows := resultsOf(run, trials)
	for _, m := range measure.All() {
		name := m.Name
		if m.ID == measure.Cost {
			name += " per 1B requests"
		}
		for i, c := range analysis.Of(run, trials).Ordered() {
			if r := m.Contender(c.Contender); r.Known {
				testenv.Contains(t, rows[name][i], m.Text(r))
			}
		}
	}
	testenv.Equal(t, rows["complete rounds"], []string{"2 of 2", "2 of 2"})
	testenv.Check(t, strings.HasSuffix(rows["throughput"][0], "/s"), "%s has no unit", rows["throughput"][0])
	testenv.Check(t, rows["peak memory of the step"] == nil, "a row without any value: %q", rows["peak memory of the step"])
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
			testenv.Contains(t, text, "still warming up in 2 of 6 rounds", "time to peak", "7.00 s")
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
	want := map[string]string{"a": "~5.26%", "b": "5.00%"}
	for _, r := range (analysis.Contender{}).Requests(stats.Step{Results: []bench.StepResult{step, step}}) {
		testenv.Equal(t, errorRate(bench.Load{Succeeded: r.Succeeded, Failed: r.Failed, Checked: r.Checked}),
			want[r.Name], r.Name)
	}
}

// The results say how many bodies were compared, and mark error rates that are estimates from these.
func TestComparedBodiesInResults(t *testing.T) {
	run, trials := grown(10, 0)
	load := &trials[1].Steps[1].Load
	load.Failed, load.Checked = map[bench.ErrorKind]int64{bench.ErrWrong: 3}, 1140
	trials[0].Steps[1].Load.Unread = map[bench.ErrorKind]int64{bench.UnreadLong: 1000, bench.UnreadBroken: 200}
	got, rows := resultsOf(run, trials)
	testenv.Contains(t, strings.Join(got.Footnotes, "\n"), "compared with the expected ones: a 0 (1,200 not looked at), b 1,140.")
	testenv.Equal(t, rows["error rate"], []string{"0.500%", "~0.331%"})
}

// A step with too many unexpected bodies has no bottleneck.
func TestNoBottleneckOfUnexpectedBodies(t *testing.T) {
	for unexpected, want := range map[int64]bool{0: true, 3: false} {
		run, trials := grown(10, 0)
		load := &trials[1].Steps[1].Load
		load.Failed, load.Checked = map[bench.ErrorKind]int64{bench.ErrWrong: unexpected}, 1140
		l := newLayout(analysis.Of(run, trials))
		got := bottlenecks(l).Rows[0].Cells[2].Text
		testenv.Equal(t, got != missing, want, unexpected, got)
		for _, row := range newResults(l, nil, nil).Rows {
			if strings.HasSuffix(row.Cells[0].Text, "per 1B requests") {
				testenv.Equal(t, row.Cells[2].Text != missing, want, "its cost", unexpected, row.Cells)
			}
		}
	}
}
