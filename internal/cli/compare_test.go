package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/console"
)

// resultsFolder writes a run of n rounds of the contenders in rates, with their throughput ± 1%.
func resultsFolder(t *testing.T, n int, cpus float64, rates map[string]int64) string {
	t.Helper()
	dir := t.TempDir()
	run := bench.Run{Schema: bench.SchemaVersion, ID: "r", State: bench.RunComplete, Profile: bench.Profile{Limits: bench.Limits{CPUs: cpus}}}
	for _, name := range []string{"b", "a"} {
		if rates[name] > 0 {
			run.Profile.Contenders = append(run.Profile.Contenders, bench.Selection{Contender: name})
		}
	}
	write := func(name string, v any) {
		data, err := json.Marshal(v)
		testenv.OK(t, err)
		testenv.OK(t, os.WriteFile(filepath.Join(dir, name), data, 0o644))
	}
	for round := 1; round <= n; round++ {
		for _, name := range []string{"a", "b", "c"} {
			rate, ok := rates[name]
			if !ok {
				continue
			}
			rate += rate * int64(round%3-1) / 100
			trial := bench.Trial{Contender: name, Round: round}
			file := fmt.Sprintf("%s.json", trial)
			run.Trials = append(run.Trials, bench.TrialEntry{Trial: trial, State: bench.TrialComplete, File: file})
			write(file, bench.TrialResult{Schema: bench.SchemaVersion, Trial: trial, State: bench.TrialComplete, Steps: []bench.StepResult{{
				Step: bench.Step{Name: "8 connections", Connections: 8, Duration: 10 * time.Second},
				Load: bench.Load{Succeeded: rate * 10, Sent: rate * 10, Elapsed: 10 * time.Second},
			}}})
		}
	}
	write(results.RunFile, run)
	return dir
}

func TestCompareCommand(t *testing.T) {
	base := resultsFolder(t, 6, 1.5, map[string]int64{"a": 10_000, "b": 10_000})
	again := resultsFolder(t, 6, 1.5, map[string]int64{"a": 10_000, "b": 10_000})
	slower := resultsFolder(t, 6, 1.5, map[string]int64{"a": 9_000, "b": 10_000})
	brief := resultsFolder(t, 3, 1.5, map[string]int64{"a": 5_000})
	other := resultsFolder(t, 6, 2, map[string]int64{"a": 5_000})
	three := resultsFolder(t, 1, 2, map[string]int64{"a": 5_000, "b": 5_000, "c": 5_000})
	for _, test := range []struct {
		name     string
		args     []string
		code     int
		out, err string // that standard output and standard error hold
	}{
		{"the same", []string{base, again}, console.ExitOK, "same within 3%: 0.0% (", ""},
		{"the same, gated", []string{base, again, "--fail-on", "throughput<-5%"}, console.ExitOK, "", "passed  a throughput<-5%"},
		{"a run.json", []string{filepath.Join(base, results.RunFile), again}, console.ExitOK, "6 rounds → 6 rounds", ""},
		{"slower, no gate", []string{base, slower}, console.ExitOK, "worse: −10.0% (", ""},
		{"slower, gated", []string{base, slower, "--fail-on", "throughput<-5%"}, console.ExitThreshold, "worse: −10.0% (", "1 change fails --fail-on"},
		{"slower, allowed", []string{base, slower, "--fail-on", "throughput<-15%"}, console.ExitOK, "worse", "passed  a throughput<-15%"},
		{"on the edge", []string{base, slower, "--fail-on", "throughput<-10%"}, console.ExitOK, "worse", "open    a throughput<-10%: −10.0% ("},
		{"a wide margin", []string{base, slower, "--same", "15%"}, console.ExitOK, "same within 15%", ""},
		{"below the floor", []string{base, slower, "--floor", "20%"}, console.ExitOK, "below the noise floor (20%)", ""},
		{"gated, below the floor", []string{base, slower, "--floor", "20%", "--fail-on", "throughput<-5%"}, console.ExitOK, "", "open    a throughput<-5%"},
		{"a floor of a busy machine", []string{base, slower, "--floor", "753.2%"}, console.ExitOK, "below the noise floor (753%)", ""},
		{"no floor", []string{base, slower, "--floor", "low"}, console.ExitUsage, "", "--floor: "},
		{"three rounds", []string{base, brief, "--fail-on", "throughput<-5%"}, console.ExitOK, "3 rounds, need ≥ 6: 3 more rounds per side", "open    a throughput<-5%"},
		{"two contenders", []string{slower, "a", "b"}, console.ExitOK, "a → b", ""},
		{"unknown contender", []string{slower, "a", "c"}, console.ExitFailure, "", `no contender "c"; choose one of a, b`},
		{"other limits", []string{base, other}, console.ExitOK, "limits: 1.5 CPUs → 2 CPUs: not comparable", ""},
		{"other limits, gated", []string{base, other, "--fail-on", "throughput<-5%"}, console.ExitFailure, "not comparable: −50.0%", "--fail-on not checked: "},
		{"other limits, forced", []string{base, other, "--fail-on", "throughput<-5%", "--force"}, console.ExitThreshold, "worse: −50.0%", "1 change fails --fail-on"},
		{"no folder", []string{base, t.TempDir()}, console.ExitFailure, "", "is not a results folder"},
		{"an improvement", []string{base, again, "--fail-on", "throughput>+5%"}, console.ExitUsage, "", "throughput<-5%"},
		{"no margin", []string{base, again, "--same", "3"}, console.ExitUsage, "", "expected 0% to 100%, such as 3%"},
		{"one folder with two contenders", []string{slower}, console.ExitOK, "b → a", ""},
		{"one folder with one contender", []string{other}, console.ExitUsage, "", "has one contender, a: name a second results folder"},
		{"one folder with three contenders", []string{three}, console.ExitUsage, "", "has 3 contenders: name two: c, b, a"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var out, errs bytes.Buffer
			code := Main(context.Background(), Env{Args: append([]string{"compare"}, test.args...), Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Getenv: func(string) string { return "" }})
			if code != test.code || !strings.Contains(out.String(), test.out) || !strings.Contains(errs.String(), test.err) {
				t.Errorf("%s: exit code %d, want %d\n%s\n%s", test.name, code, test.code, out.String(), errs.String())
			}
		})
	}
}

func TestCompareJSON(t *testing.T) {
	base := resultsFolder(t, 6, 1.5, map[string]int64{"a": 10_000})
	slower := resultsFolder(t, 6, 1.5, map[string]int64{"a": 9_000})
	var out, errs bytes.Buffer
	code := Main(context.Background(), Env{Args: []string{"compare", base, slower, "--json", "--fail-on", "throughput<-5%"}, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Getenv: func(string) string { return "" }})
	var got struct {
		Contenders []struct {
			New      string
			Measures []struct {
				Measure, Verdict string
				Ratio            *struct{ Low, High float64 }
			}
		}
		Gates []struct{ Contender, Gate, Outcome string }
	}
	if err := json.Unmarshal(out.Bytes(), &got); err != nil || code != console.ExitThreshold {
		t.Fatalf("%v, exit code %d\n%s", err, code, out.String())
	}
	if len(got.Contenders) != 1 || len(got.Contenders[0].Measures) != 6 || len(got.Gates) != 1 {
		t.Fatalf("%+v", got)
	}
	if m := got.Contenders[0].Measures[0]; m.Measure != "throughput" || m.Verdict != "worse" || m.Ratio == nil || m.Ratio.High > 0.95 {
		t.Errorf("%+v", m)
	}
	if g := got.Gates[0]; g.Contender != "a" || g.Gate != "throughput<-5%" || g.Outcome != "failed" {
		t.Errorf("%+v", g)
	}
}
