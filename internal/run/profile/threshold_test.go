package profile_test

import (
	"reflect"
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
