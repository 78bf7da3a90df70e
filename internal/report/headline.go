package report

import (
	"slices"
	"strconv"
	"time"

	"locbench/internal/bench"
	"locbench/internal/stats"
	"locbench/internal/verdict"
)

// headline is one row a contender: what package stats makes of its rounds, in words.
type headline struct {
	Corner  string // title of the first column; "" is "Contender"
	Columns []string
	Rows    []headlineRow
	Notes   []string
}

type headlineRow struct {
	Label, About string
	Color        int
	Cells        []cell
}

// cell is a figure and, smaller, what goes with it.
type cell struct {
	Main  string
	Small []string
}

func newHeadline(run bench.Run, l layout, sums []stats.Contender) headline {
	h := headline{
		Columns: []string{"Peak throughput", "Latency there", "Start-up", "Peak memory", "CPU per request", "Cost of 10⁹ requests", "Errors", "Checks", "Whole legs"},
		Notes: []string{
			"Medians of the rounds; below them the lowest and the highest round, or, from " + strconv.Itoa(stats.MinInterval) + " rounds on, a 95 % interval of the median. Latency: p50 of all rounds together, p99 below. " +
				"The peak is the best of the steps that were run, warm-up apart. Memory: the highest of all rounds. CPU per request and cost: of the whole life, start-up, checks and warm-up included; the median round by cost, and below it its parts.",
		},
	}
	sampled := false
	for i, s := range sums {
		c := l.contenders[i]
		h.Rows = append(h.Rows, headlineRow{Label: c.Label, About: c.About, Color: c.Color(), Cells: []cell{
			peakCell(s, c.verdicts(run)), latencyCell(s), durationCell(s.StartUp), memoryCell(s), cpuCell(s), costCell(s), errorsCell(s), checksCell(s), legsCell(s),
		}})
		sampled = sampled || s.MemoryPeak > 0 && s.MemoryPeakIsSample
	}
	if sampled {
		h.Notes = append(h.Notes, "“≥” marks an estimate: no high-water mark could be read, so that the largest sample is shown; the true peak may be higher.")
	}
	if run.Profile.PriceVCPUHr <= 0 && len(sums) > 0 {
		h.Notes = append(h.Notes, "The profile names no price; a vCPU-hour counts as $"+plain(stats.DefaultPrice)+".")
	}
	return h
}

// spread is what goes below a median; nothing where there was one round.
func spread(v stats.Value, words func(float64) string) []string {
	switch {
	case v.Interval != nil:
		return []string{words(v.Interval.Low) + " to " + words(v.Interval.High) + " (" + percent(v.Interval.Confidence) + ")"}
	case len(v.Values) > 1:
		return []string{words(slices.Min(v.Values)) + " to " + words(slices.Max(v.Values))}
	}
	return nil
}

func nanoseconds(v float64) string { return duration(time.Duration(v)) }

func durationCell(v stats.Value) cell {
	if !v.Known() {
		return cell{Main: missing}
	}
	return cell{duration(v.Duration()), spread(v, nanoseconds)}
}

func peakCell(s stats.Contender, bound map[int]verdict.Summary) cell {
	peak, ok := s.PeakStep()
	if !ok {
		return cell{Main: missing}
	}
	at := []string{"at " + newRow(peak.Step, 0).Title}
	small := append(at, spread(peak.Throughput, significant)...)
	if v := bound[peak.Index]; v.Bound != "" && v.Bound != verdict.Unclear {
		small = append(small, "bound by "+string(v.Bound))
	}
	return cell{significant(peak.Throughput.Median) + "/s", small}
}

func latencyCell(s stats.Contender) cell {
	peak, ok := s.PeakStep()
	if !ok || peak.Latency.Count == 0 {
		return cell{Main: missing}
	}
	return cell{duration(peak.Latency.P50), []string{"p99 " + duration(peak.Latency.P99)}}
}

func memoryCell(s stats.Contender) cell {
	if s.MemoryPeak <= 0 {
		return cell{Main: missing}
	}
	return cell{Main: peak(bench.Memory{Peak: s.MemoryPeak, PeakIsSample: s.MemoryPeakIsSample})}
}

func cpuCell(s stats.Contender) cell {
	c := cell{Main: missing}
	if s.Cost != nil && s.Cost.Successes > 0 {
		c.Main = duration(s.Cost.CPU / time.Duration(s.Cost.Successes))
	}
	if peak, ok := s.PeakStep(); ok && peak.CPURequest.Known() {
		c.Small = []string{"at the peak " + duration(peak.CPURequest.Duration())}
	}
	return c
}

func costCell(s stats.Contender) cell {
	if s.Cost == nil {
		return cell{Main: missing}
	}
	var parts []string
	for _, p := range []struct {
		name    string
		dollars float64
	}{{"start-up", s.Cost.StartUp}, {"checks, pauses", s.Cost.Other}, {"warm-up", s.Cost.WarmUp}, {"steady", s.Cost.Steady}} {
		if p.dollars > 0 {
			parts = append(parts, p.name+" "+dollars(p.dollars))
		}
	}
	return cell{dollars(s.Cost.Total), parts}
}

func errorsCell(s stats.Contender) cell {
	var succeeded int64
	for _, step := range s.Steps {
		succeeded += step.Succeeded
	}
	failed := s.ErrorsTotal()
	if failed+succeeded == 0 {
		return cell{Main: missing}
	}
	return cell{percent(float64(failed) / float64(failed+succeeded)), errorKinds(s.Errors)}
}

func checksCell(s stats.Contender) cell {
	passed, failed := s.Checks[bench.CheckPassed], s.Checks[bench.CheckFailed]
	if passed+failed == 0 {
		return cell{Main: missing}
	}
	c := cell{Main: count(int64(passed)) + " ✓"}
	if failed > 0 {
		c.Main = count(int64(failed)) + " ✗"
		c.Small = []string{count(int64(passed)) + " passed"}
	}
	return c
}

func legsCell(s stats.Contender) cell {
	return cell{Main: count(int64(s.Complete)) + " of " + count(int64(s.Legs))}
}
