package profile_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/testenv"
)

const withThresholds = `contenders: [a, "b:x"]
requests: [{path: /}]
step_duration: 10s
steps: [1x5 warm-up, 4, 8]
thresholds:
`

func TestThresholds(t *testing.T) {
	p, err := profile.Parse("x.yaml", []byte(withThresholds+`  - p99 < 50ms, errors<0.1%
  - errors<20% from_step=7 stop=true
  - {condition: throughput>1000, from_step: 6, stop: run}
  - {condition: "p90<=20ms,max<1s", stop: true}
  - {condition: "p50<1s", stop: false}
`))
	testenv.OK(t, err)
	want := []bench.Threshold{
		{Condition: "p99<50ms,errors<0.1%"},
		{Condition: "errors<20%", FromStep: 7, Stop: bench.ScopeTrial},
		{Condition: "throughput>1000/s", FromStep: 6, Stop: bench.ScopeRun},
		{Condition: "p90<=20ms,max<1s", Stop: bench.ScopeTrial},
		{Condition: "p50<1s"},
	}
	if !reflect.DeepEqual(p.Thresholds, want) {
		t.Errorf("%+v", p.Thresholds)
	}
	text, err := profile.Format(p)
	testenv.OK(t, err)
	again, err := profile.Parse("x.yaml", text)
	if err != nil || !reflect.DeepEqual(again, p) {
		t.Errorf("written as\n%s\nand read back as %+v, %v", text, again.Thresholds, err)
	}
}

// TestThresholdMistakes expects all mistakes at once, each with its line and a remedy.
func TestThresholdMistakes(t *testing.T) {
	_, err := profile.Parse("x.yaml", []byte(withThresholds+`  - p98<50ms
  - {condition: "p99<50"}
  - {condition: "p99<50ms", stop: step}
  - {condition: "p99<50ms", stop: everything}
  - {condition: "p99<50ms", window: 5s, contender: a}
  - {condition: "p99<50ms", from_step: 8}
  - {stop: trial}
  - p99<50ms window=5s
  - stop=run p99<50ms
  - [1]
  - p99<50ms stop=step
  - p99<50ms from_step=0
  - stop=trial
  - p99<50ms stop=trial stop=run
`))
	if err == nil {
		t.Fatal("no mistake reported")
	}
	lines := strings.Split(err.Error(), "\n")
	wants := []string{
		`x.yaml:6: threshold "p98<50ms": condition "p98<50ms": no measure "p98"; choose one of p50`,
		`x.yaml:7: condition "p99<50": invalid value "50" for p99; write a time`,
		"x.yaml:8: `thresholds[2].stop` is \"step\"; one of: trial, true, run, false",
		"x.yaml:9: `thresholds[3].stop` is \"everything\"; one of: trial, true, run, false",
		"x.yaml:10: unknown key `thresholds[4].window`; ",
		"x.yaml:10: unknown key `thresholds[4].contender`; ",
		`x.yaml:11: from_step is 8; there are only 7 steps; `,
		"x.yaml:12: `thresholds[6].condition` is missing; write it, such as",
		`x.yaml:13: threshold "p99<50ms window=5s": unexpected window=5s; options are from_step (1 to 1000) and stop=trial (or true) or stop=run`,
		`x.yaml:14: threshold "stop=run p99<50ms": condition "stop=run p99<50ms": no measure "stop"; choose one of`,
		"x.yaml:15: `thresholds[9]` is a list; write a condition",
		`x.yaml:16: threshold "p99<50ms stop=step": unexpected stop=step; options are`,
		`x.yaml:17: threshold "p99<50ms from_step=0": unexpected from_step=0; options are`,
		`x.yaml:18: threshold "stop=trial": condition "": a condition is missing; write conditions such as`,
		`x.yaml:19: threshold "p99<50ms stop=trial stop=run": unexpected stop=trial; options are`,
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
	f.Add("p99<50ms,errors<0.1% stop=trial from_step=3")
	f.Add("throughput >= 10 stop=true")
	f.Fuzz(func(t *testing.T, text string) {
		th, err := profile.ParseThreshold(text)
		if err != nil {
			return
		}
		if again, err := profile.ParseThreshold(th.Condition); err != nil || again.Condition != th.Condition {
			t.Fatalf("%q is written as %q and read back as %+v: %v", text, th.Condition, again, err)
		}
	})
}
