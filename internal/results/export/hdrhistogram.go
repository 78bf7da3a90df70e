package export

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/hdr"
)

func hgrmFiles(_ bench.Run, trials []bench.TrialResult) (files []File) {
	for _, trial := range trials {
		for _, s := range trial.Steps {
			if l := s.Load.Latency; l.Count > 0 {
				files = append(files, File{stepFile(trial, s) + ".hgrm", func(w io.Writer) error { return writeHGRM(w, l) }})
			}
		}
	}
	return files
}

// ticksPerHalf is the number of lines per halving of the distance to 100%, as in HdrHistogram.
const ticksPerHalf = 5

// writeHGRM writes percentiles in ms for HdrHistogram's plotter, with locbench's quantiles.
func writeHGRM(w io.Writer, l bench.Latencies) error {
	h, err := hdr.Decode(l)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%12s %14s %10s %14s\n\n", "Value", "Percentile", "TotalCount", "1/(1-Percentile)")
	bars, total := h.Bars(), h.Count()
	next, counted := 0, int64(0)
	for p := 0.0; p < 1; {
		v := h.Quantile(p)
		for next < len(bars) && bars[next].From <= v {
			counted += bars[next].Count
			next++
		}
		if counted >= total {
			break
		}
		fmt.Fprintf(&b, "%12.6f %2.12f %10d %14.2f\n", milliseconds(v), p, counted, 1/(1-p))
		ticks := ticksPerHalf * math.Exp2(math.Floor(math.Log2(1/(1-p)))+1)
		p += 1 / ticks
	}
	fmt.Fprintf(&b, "%12.6f %2.12f %10d\n", milliseconds(h.Max()), 1.0, total)
	fmt.Fprintf(&b, "#[Mean    = %12.6f, StdDeviation   = %12.6f]\n", milliseconds(l.Mean), milliseconds(l.SD))
	fmt.Fprintf(&b, "#[Max     = %12.6f, Total count    = %12d]\n", milliseconds(l.Max), total)
	fmt.Fprintf(&b, "#[Buckets = %12d, SubBuckets     = %12d]\n", 30, 2048) // from 1 ns to 10 min with 3 digits
	_, err = w.Write(b.Bytes())
	return err
}

// writeHLog writes an interval log of format 1.3 with one interval per step: the start in seconds
// since StartTime, the length in seconds, the maximum in milliseconds and the histogram (V2,
// compressed, base64, unit 1 ns).
func writeHLog(w io.Writer, trial bench.TrialResult) error {
	start := trial.Steps[0].Load.Started
	var b bytes.Buffer
	b.WriteString("#[Histogram log format version 1.3]\n")
	fmt.Fprintf(&b, "#[Trial %s: one interval per step]\n", fileName(trial.Trial.String()))
	fmt.Fprintf(&b, "#[StartTime: %.3f (seconds since epoch), %s]\n",
		float64(start.UnixMilli())/1000, start.UTC().Format(time.RFC3339))
	b.WriteString("\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n")
	for _, s := range trial.Steps {
		l := s.Load.Latency
		if l.Count == 0 {
			continue
		}
		if _, err := hdr.Decode(l); err != nil {
			return fmt.Errorf("step %d: %w", s.Index+1, err)
		}
		began := s.Load.Started.Sub(start).Seconds()
		fmt.Fprintf(&b, "%.3f,%.3f,%.6f,%s\n", began, s.Load.Elapsed.Seconds(), milliseconds(l.Max), l.HDR)
	}
	_, err := w.Write(b.Bytes())
	return err
}

func milliseconds(d time.Duration) float64 { return float64(d) / 1e6 }
