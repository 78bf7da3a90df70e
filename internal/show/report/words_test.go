package report

import (
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/analysis/conclusion"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/table"
)

// The report has the command with its seed; URLs have no user names and passwords.
func TestReproduce(t *testing.T) {
	run, _ := fixture()
	run.Profile.Needs[0].From, run.Profile.Needs[0].URL = bench.NeedExternal, "http://elastic:secret@10.0.0.5:9200"
	run.Command = append(run.Command, "--elastic", "http://elastic:secret@10.0.0.5:9200")
	run.ProfileFile, run.Profile.Needs[0].Of = "/home/u/svc/bench.yaml", bench.FormFrom([]byte(`{"environment": {"PASS": "${PGPASSWORD}"}}`))
	run.Profile.Settings = []bench.Settings{{Selection: bench.Selection{Contender: "rs-actix"}, Dir: "/home/u/base/rs-actix", Env: map[string]string{"KEY": "${TOKEN}"}}}
	r := newReproduction(run)
	testenv.Equal(t, r.Env, "TOKEN, PGPASSWORD", "variables of the profile")
	testenv.Contains(t, r.Command, "--seed 42", "!secret")
	run.Given = []string{"locbench", "run", "--seed=7"}
	testenv.Equal(t, newReproduction(run).Command, "locbench run --seed 7")
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

// sectionOf returns the table of a section.
func sectionOf(run bench.Run, trials []bench.TrialResult, id string) (t table.Table) {
	a := analysis.Of(run, trials)
	for _, s := range conclusion.Sections(a, conclusion.Of(a, nil), nil) {
		if s.ID == id {
			t = s.Table
		}
	}
	return t
}

// resultsOf returns the table of all results, and its texts by row and contender.
func resultsOf(run bench.Run, trials []bench.TrialResult) (table.Table, map[string][]string) {
	t := sectionOf(run, trials, "results")
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
