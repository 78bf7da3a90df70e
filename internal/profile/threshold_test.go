package profile_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"locbench/internal/bench"
	"locbench/internal/profile"
)

const withThresholds = `contenders: [a, "b:x"]
requests: [{path: /}]
step_duration: 10s
steps: [1x5 warm-up, 4, 8]
thresholds:
`

func TestThresholds(t *testing.T) {
	p, err := profile.Parse("x.yaml", []byte(withThresholds+`  - p99 < 50ms, errors<0.1%
  - errors<20% window=5s stop=true contender=b:x
  - {objective: throughput>1000, from_step: 6, stop: run}
  - {objective: "p90<=20ms,max<1s", window: 3s, stop: step, contender: a}
`))
	if err != nil {
		t.Fatal(err)
	}
	want := []bench.Threshold{
		{Objective: "p99<50ms,errors<0.1%"},
		{Objective: "errors<20%", Window: 5 * time.Second, Stop: bench.ScopeLeg, Contender: "b:x"},
		{Objective: "throughput>1000/s", FromStep: 6, Stop: bench.ScopeRun},
		{Objective: "p90<=20ms,max<1s", Window: 3 * time.Second, Stop: bench.ScopeStep, Contender: "a"},
	}
	if !reflect.DeepEqual(p.Thresholds, want) {
		t.Errorf("%+v", p.Thresholds)
	}
	text, err := profile.Format(p)
	if err != nil {
		t.Fatal(err)
	}
	again, err := profile.Parse("x.yaml", text)
	if err != nil || !reflect.DeepEqual(again, p) {
		t.Errorf("written as\n%s\nand read as %+v, %v", text, again.Thresholds, err)
	}
}

// All mistakes are reported at once, each with its line and a remedy.
func TestThresholdMistakes(t *testing.T) {
	_, err := profile.Parse("x.yaml", []byte(withThresholds+`  - p98<50ms
  - {objective: "p99<50"}
  - {objective: "p95<50ms", window: 5s}
  - {objective: "p99<50ms", window: 1500ms}
  - {objective: "p99<50ms", stop: step}
  - {objective: "p99<50ms", stop: everything}
  - {objective: "p99<50ms", contender: c}
  - {objective: "p99<50ms", from_step: 8}
  - {objective: "p99<50ms", window: 11s}
  - {window: 5s}
  - p99<50ms windw=5s
  - p99<50ms window=5s window=6s
  - window=5s p99<50ms
  - [1]
  - p99<50ms stop=leg contender=A
`))
	if err == nil {
		t.Fatal("nothing is wrong")
	}
	lines := strings.Split(err.Error(), "\n")
	wants := []string{
		`x.yaml:6: threshold "p98<50ms": objective "p98<50ms", column 1: there is no measure "p98"; there are p50`,
		`x.yaml:7: objective "p99<50", column 5: "50" is no value for p99; write a time`,
		`x.yaml:8: windows of a step do not know p95; there are p50, p90, p99, max, errors and throughput`,
		"x.yaml:9: `window: 1.5s` is of no whole number of seconds; ",
		`x.yaml:10: without a window the step is over when it is judged; add`,
		"x.yaml:11: `thresholds[5].stop` is \"everything\"; write `step`",
		`x.yaml:12: no contender of this profile is "c"; name one of`,
		`x.yaml:13: from_step is 8, and there are 7 steps; `,
		`x.yaml:14: its window of 11s is longer than every step that it judges; `,
		"x.yaml:15: `thresholds[9].objective` is missing; for example",
		`x.yaml:16: threshold "p99<50ms windw=5s": unknown option windw=; there are window`,
		`x.yaml:17: threshold "p99<50ms window=5s window=6s": window= is here again; say it once`,
		`x.yaml:18: threshold "window=5s p99<50ms": "p99<50ms" stands behind the options; write an objective`,
		"x.yaml:19: `thresholds[13]` is a list; write an objective",
		`x.yaml:20: threshold "p99<50ms stop=leg contender=A": contender=A; write the name`,
	}
	for i, want := range wants {
		if i >= len(lines) || !strings.HasPrefix(lines[i], want) {
			t.Errorf("want %s…\ngot\n%s", want, err)
			break
		}
	}
	if len(lines) != len(wants) {
		t.Errorf("%d mistakes, want %d:\n%s", len(lines), len(wants), err)
	}
}

func FuzzParseThreshold(f *testing.F) {
	f.Add("p99<50ms,errors<0.1% window=5s stop=leg from_step=3 contender=a:b")
	f.Add("throughput >= 10 stop=true")
	f.Fuzz(func(t *testing.T, text string) {
		th, err := profile.ParseThreshold(text)
		if err != nil {
			return
		}
		if again, err := profile.ParseThreshold(th.Objective); err != nil || again.Objective != th.Objective {
			t.Fatalf("%q is written as %q, which is read as %+v: %v", text, th.Objective, again, err)
		}
	})
}
