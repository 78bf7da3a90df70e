package profile

import (
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

func TestConditionsCheck(t *testing.T) {
	load := bench.Load{
		Elapsed: 10 * time.Second, Outcomes: bench.Outcomes{Succeeded: 9980, Failed: map[bench.ErrorKind]int64{bench.ErrTimeout: 5}}, Counts: bench.Counts{Dropped: 15},
		Latency: bench.Latencies{Count: 9980, Mean: time.Millisecond, P50: time.Millisecond, P75: 2 * time.Millisecond, P90: 3 * time.Millisecond,
			P95: 4 * time.Millisecond, P99: 50 * time.Millisecond, P999: 60 * time.Millisecond, Max: 70 * time.Millisecond},
	}
	for text, want := range map[string]string{
		"p99<50ms":           "p99 is 50ms, not <50ms",
		"p99<=50ms":          "",
		"p50<1001us":         "",
		"p75<2ms":            "p75 is 2ms, not <2ms",
		"p90<3ms":            "p90 is 3ms, not <3ms",
		"p95<4ms":            "p95 is 4ms, not <4ms",
		"p99.9<60ms":         "p99.9 is 60ms, not <60ms",
		"mean<1ms":           "mean is 1ms, not <1ms",
		"max<70ms":           "max is 70ms, not <70ms",
		"errors<0.2%":        "errors is 0.2%, not <0.2%", // 5 failed and 15 never sent, of 10,000
		"errors<=0.2%":       "",
		"throughput>998/s":   "throughput is 998/s, not >998/s",
		"throughput>=998/s":  "",
		"throughput>=1000/s": "throughput is 998/s, not >=1000/s",
	} {
		t.Run(text, func(t *testing.T) {
			o, err := ParseConditions(text)
			testenv.OK(t, err)
			testenv.Equal(t, strings.Join(o.Missed(load), ""), want, text)
			if all := o.Check(load); len(all) != 1 || all[0].Passed != (want == "") || all[0].Condition != o.String() || all[0].Value == nil {
				t.Errorf("results: %+v", all)
			}
		})
	}
}

// A step without any success meets no condition.
func TestConditionsCheckWithoutSuccess(t *testing.T) {
	o, _ := ParseConditions("p99<50ms,errors<100%,throughput>=0/s")
	if missed := o.Missed(bench.Load{}); len(missed) != 3 {
		t.Errorf("an empty step misses only %v", missed)
	} else if missed[0] != "p99 is unknown: no success" {
		t.Error(missed[0])
	}
}

func FuzzParseConditions(f *testing.F) {
	f.Add("p99<50ms,errors<0.1%")
	f.Add("throughput>=1/s , p99.9 <= 1h")
	f.Fuzz(func(t *testing.T, text string) {
		o, err := ParseConditions(text)
		if err != nil {
			return
		}
		again, err := ParseConditions(o.String())
		testenv.Need(t, err == nil && len(again) == len(o),
			"%q is written as %q and read back as %q: %v", text, o, again, err)
	})
}

func TestErrorsAreEstimatedFromComparedBodies(t *testing.T) {
	conditions, err := ParseConditions("errors<0.1%")
	testenv.OK(t, err)
	load := bench.Load{Outcomes: bench.Outcomes{Succeeded: 9997, Checked: 114, Failed: map[bench.ErrorKind]int64{bench.ErrWrong: 3}}}
	testenv.Check(t, len(conditions.Missed(load)) == 1,
		"3 of 114 compared bodies are unexpected, and errors<0.1%% is met")
}
