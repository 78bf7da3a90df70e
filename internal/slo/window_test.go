package slo

import (
	"testing"
	"time"

	"locbench/internal/bench"
)

func window(i int, good, bad int64, p99 time.Duration) bench.Window {
	return bench.Window{Start: time.Duration(i) * time.Second, Length: time.Second, Succeeded: good, Failed: map[bench.ErrorKind]int64{"5xx": bad}, P99: p99, Max: 2 * p99}
}

func TestWatch(t *testing.T) {
	ms := time.Millisecond
	for name, c := range map[string]struct {
		condition string
		span      time.Duration
		windows   []bench.Window
		text      string // "" when there was no whole span
		at        time.Duration
	}{
		// Two bad seconds in a row miss a span of two; one alone does not.
		"one bad second":    {"p99<10ms", 2 * time.Second, []bench.Window{window(0, 9, 0, 5*ms), window(1, 9, 0, 50*ms), window(2, 9, 0, 6*ms)}, "p99 is 6ms, <10ms", 0},
		"two in a row":      {"p99<10ms", 2 * time.Second, []bench.Window{window(0, 9, 0, 5*ms), window(1, 9, 0, 50*ms), window(2, 9, 0, 20*ms), window(3, 9, 0, ms)}, "p99 is 20ms, not <10ms", 3 * time.Second},
		"nothing succeeds":  {"p99<10ms", 2 * time.Second, []bench.Window{window(0, 0, 9, 0), window(1, 0, 9, 0)}, "p99 is not known, since nothing succeeded", 2 * time.Second},
		"a hole":            {"p99<10ms", 2 * time.Second, []bench.Window{window(0, 9, 0, 5*ms), window(1, 0, 0, 0)}, "p99 is 5ms, <10ms", 0},
		"the greatest":      {"max<10ms", 2 * time.Second, []bench.Window{window(0, 9, 0, 5*ms), window(1, 9, 0, 2*ms)}, "max is 10ms, not <10ms", 2 * time.Second},
		"errors together":   {"errors<10%", 2 * time.Second, []bench.Window{window(0, 100, 0, ms), window(1, 100, 20, ms)}, "errors is 9.09%, <10%", 0},
		"errors missed":     {"errors<9%", 2 * time.Second, []bench.Window{window(0, 100, 0, ms), window(1, 100, 20, ms), window(2, 100, 0, ms), window(3, 100, 0, ms)}, "errors is 9.09%, not <9%", 2 * time.Second},
		"rate together":     {"throughput>=100", 2 * time.Second, []bench.Window{window(0, 150, 0, ms), window(1, 60, 0, ms)}, "throughput is 105/s, >=100/s", 0},
		"rate missed":       {"throughput>100", 2 * time.Second, []bench.Window{window(0, 150, 0, ms), window(1, 60, 0, ms), window(2, 30, 0, ms)}, "throughput is 45/s, not >100/s", 3 * time.Second},
		"too short a step":  {"p99<10ms", 5 * time.Second, []bench.Window{window(0, 9, 0, 50*ms)}, "", 0},
		"drain is no load":  {"throughput>100", time.Second, []bench.Window{window(0, 150, 0, ms), {Start: time.Second, Length: time.Second, Drain: true}}, "throughput is 150/s, >100/s", 0},
		"a fragment is not": {"p99<10ms", time.Second, []bench.Window{window(0, 9, 0, ms), {Start: time.Second, Length: time.Second / 10, P99: time.Second, Succeeded: 1}}, "p99 is 1ms, <10ms", 0},
	} {
		t.Run(name, func(t *testing.T) {
			o, err := Parse(c.condition)
			if err != nil {
				t.Fatal(err)
			}
			all := o.Judge(c.span, bench.StepResult{Load: bench.Load{Windows: c.windows}})
			if c.text == "" {
				if len(all) != 0 {
					t.Errorf("%s: judged %+v", name, all)
				}
				return
			}
			if len(all) != 1 || all[0].Text != c.text || all[0].At != c.at || all[0].Passed != (c.at == 0) {
				t.Errorf("%s: %+v", name, all)
			}
		})
	}
}

// A step that was cut short says nothing about the whole; its windows do.
func TestJudgeAbortedStep(t *testing.T) {
	o, _ := Parse("errors<1%")
	step := bench.StepResult{Aborted: "skipped", Load: bench.Load{Succeeded: 10, Failed: map[bench.ErrorKind]int64{"5xx": 5}, Elapsed: time.Second, Windows: []bench.Window{window(0, 10, 5, 1)}}}
	if all := o.Judge(0, step); len(all) != 0 {
		t.Errorf("judged as a whole: %+v", all)
	}
	if all := o.Judge(time.Second, step); len(all) != 1 || all[0].Passed {
		t.Errorf("windows: %+v", all)
	}
}
