package capacity

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

func TestOutcome(t *testing.T) {
	at := func(cpu time.Duration) *bench.Usage { return &bench.Usage{CPU: cpu} }
	res := bench.StepResult{
		Index: 4, Before: at(time.Second), After: at(3 * time.Second),
		Load: bench.Load{Elapsed: 4 * time.Second, Wall: 4 * time.Second, Outcomes: bench.Outcomes{Succeeded: 4000, Failed: map[bench.ErrorKind]int64{bench.ErrTimeout: 500}}, Counts: bench.Counts{Late: 3, Dropped: 500}, Latency: bench.Latencies{P50: 1, P99: 2}},
	}
	probe := Probe{Number: 3, Rate: 1000, Phase: Confirm, Try: 1}
	got := Verdict{Client: true}.Outcome(probe, res, []string{"x"})
	want := Outcome{Probe: probe, Step: 4, Client: true, Why: []string{"x"}, Achieved: 1000, P50: 1, P99: 2,
		Errors: .2, Late: 3, Dropped: 500, CPU: .5, CPUEach: 500 * time.Microsecond}
	testenv.Check(t, reflect.DeepEqual(got, want), "%+v", got)
	data, err := json.Marshal(got)
	testenv.OK(t, err)
	var back Outcome
	err = json.Unmarshal(data, &back)
	testenv.Check(t, err == nil && reflect.DeepEqual(back, want), "%s came back as %+v, %v", data, back, err)
}

func TestConfirming(t *testing.T) {
	outcome := func(rate float64, phase Phase, sustained bool, p99 time.Duration, why ...string) Outcome {
		return Outcome{Probe: Probe{Rate: rate, Phase: phase}, Sustained: sustained, P99: p99, Why: why}
	}
	p := Point{Result: Result{Rate: 100, Above: 103}, Outcomes: []Outcome{
		outcome(100, Narrow, true, 1), outcome(100, Confirm, true, 9), outcome(100, Confirm, false, 8),
		outcome(100, Confirm, true, 7), outcome(100, Confirm, true, 5),
		outcome(103, Confirm, false, 50, "slow"), outcome(103, Confirm, false, 60, "p99", "late"),
		outcome(103, Confirm, true, 1),
	}}
	o, ok := p.Confirming()
	testenv.Check(t, ok && o.P99 == 7, "%+v %t", o, ok)
	testenv.Equal(t, p.Refusal(), "p99; late")
	_, ok = (Point{}).Confirming()
	testenv.Check(t, !ok && (Point{}).Refusal() == "", "an empty point has a confirming probe or a refusal")
}

func TestValid(t *testing.T) {
	limited := func(all ...float64) (points []Point) {
		for _, cpus := range all {
			points = append(points, Point{Dir: ".", Limits: bench.Limits{CPUs: cpus}})
		}
		return points
	}
	most := slices.Repeat([]Point{{Dir: "."}}, maxPoints)
	for want, r := range map[string]Record{
		"": {Schema: Schema, Points: append(most[:999:999], Point{Dir: "cpus-0.5"})},
		"point 2: 9e-07 is not a rate, a price or a number of CPUs":   {Schema: Schema, Points: limited(0, 9e-7)},
		"point 3: 1.1e+09 is not a rate, a price or a number of CPUs": {Schema: Schema, Points: limited(1e-6, 1e9, 1.1e9)},
		"point 1: -1 is not a rate, a price or a number of CPUs":      {Schema: Schema, Price: -1, Points: limited(1)},
		"is missing":                   {},
		"this locbench reads schema 2": {Schema: 1},
		`point 2: folder "../x" is outside the record's folder`: {Schema: Schema, Points: []Point{{Dir: "."}, {Dir: "../x"}}},
		"2000 points: expected at most 1000":                    {Schema: Schema, Points: append(most, most...)},
	} {
		t.Run(want, func(t *testing.T) {
			err := r.Valid()
			if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
				t.Errorf("%v, want %q", err, want)
			}
		})
	}
}
