package profile

import (
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

func TestParseConditions(t *testing.T) {
	for text, want := range map[string]string{
		"p99<50ms,errors<0.1%":                  "",
		" p99 < 50ms , errors <= 0% ":           "p99<50ms,errors<=0%",
		"p99.9<=1.5s,mean<2ms,max<1m,p50<250us": "p99.9<=1.5s,mean<2ms,max<1m0s,p50<250µs",
		"throughput>=1000,errors<100%":          "throughput>=1000/s,errors<100%",
		"throughput > 12.5/s":                   "throughput>12.5/s",
		"p75<1ms,p90<1ms,p95<1ms":               "",
	} {
		t.Run(text, func(t *testing.T) {
			if want == "" {
				want = text
			}
			o, err := ParseConditions(text)
			if err != nil || o.String() != want {
				t.Errorf("%q: %q, %v; want %q", text, o, err, want)
				return
			}
			again, err := ParseConditions(o.String())
			testenv.OK(t, err)
			testenv.Equal(t, again.String(), o.String(), o, again)
		})
	}
}

func TestParseConditionsMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"":                        "a condition is missing",
		"  ":                      "a condition is missing",
		"p99<50":                  `condition "p99<50": invalid value "50" for p99; write a time with its unit`,
		"p99<50ms,":               "a condition is missing",
		",p99<50ms":               "a condition is missing",
		"p99<50ms, errors<0.1":    `invalid value "0.1" for errors; write a share`,
		"p98<1ms":                 `no measure "p98"; choose one of p50, p75`,
		"p99<50ms,p99<1ms":        "p99 given twice",
		"p99>50ms":                `p99 does not take ">"; write p99< or p99<=`,
		"throughput<5/s":          `throughput does not take "<"; write throughput> or throughput>=`,
		"errors<0%":               `invalid value "0%" for errors; must be above 0%`,
		"errors<101%":             `invalid value "101%" for errors`,
		"errors<-1%":              `invalid value "-1%" for errors`,
		"errors<1e1%":             `invalid value "1e1%" for errors`,
		"p99":                     `"p99": expected measure, sign and value`,
		"<50ms":                   `no measure ""`,
		"p99<>50ms":               `p99 does not take "<>"`,
		"p99<-5ms":                `invalid value "-5ms" for p99`,
		"p99<0s":                  `invalid value "0s" for p99`,
		"p99<":                    `invalid value "" for p99`,
		"žluť<1ms":                `no measure "žluť"`,
		"p99<1ms,ž<1ms":           `no measure "ž"`,
		"mean<1ms,\xff":           "condition longer than 500 bytes or not UTF-8",
		strings.Repeat("x", 1000): "condition longer than 500 bytes or not UTF-8",
	} {
		t.Run(text, func(t *testing.T) {
			_, err := ParseConditions(text)
			testenv.Fails(t, err, want)
		})
	}
}

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
