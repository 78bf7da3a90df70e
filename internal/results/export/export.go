// Package export writes results in other formats: vegeta, HdrHistogram, CSV and flat JSON.
//
// It converts values to bytes; package cli opens files. It leaves out what a format cannot hold.
// docs/formats.md describes the formats.
package export

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	vegeta "github.com/tsenart/vegeta/v12/lib"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/hdr"
	"github.com/locbench/locbench/internal/text/safe"
)

// Format is a format in which results can be written.
type Format struct {
	Name  string // value of --format
	Title string // purpose in a few words
	Note  string // what is missing; "" for nothing
	Many  bool   // it has a file for each trial or step, so it needs a folder
	files filesOf
	none  string // why results may have no file; "": they have no step
}

type filesOf func(bench.Run, []bench.TrialResult) []File

// File is one file of an export.
type File struct {
	Name  string // a plain name, safe in every file system
	Write func(io.Writer) error
}

// Formats returns all formats, in the order in which they are reported.
func Formats() []Format {
	return []Format{
		{Name: "csv", Title: "one row per trial and step", files: single("results.csv", writeCSV)},
		{Name: "json", Title: "the same rows as a list of flat objects", files: single("results.flat.json", writeJSON)},
		{Name: "hgrm", Title: "percentile distribution of each step, for HdrHistogram's plotter",
			Many: true, files: hgrmFiles},
		{Name: "hlog", Title: "HdrHistogram log of each trial",
			Note: "one interval per step: windows have quantiles, no histograms", Many: true,
			files: perTrial(".hlog", writeHLog)},
		{Name: "vegeta", Title: "vegeta's binary results, one file per step", Many: true, files: vegetaFiles,
			Note: "only requests that were kept one by one: those of steps with keep_requests, and first_requests",
			none: "no single requests were kept: add `keep_requests: 1000` to a step of the profile, " +
				"such as {connections: 64, keep_requests: 1000}, or `first_requests: {requests: 10}`, and run it again"},
	}
}

// FormatNames returns the names of all formats.
func FormatNames() (names []string) {
	for _, f := range Formats() {
		names = append(names, f.Name)
	}
	return names
}

// Lookup finds a format by its name.
func Lookup(name string) (Format, error) {
	for _, f := range Formats() {
		if f.Name == name {
			return f, nil
		}
	}
	return Format{}, fmt.Errorf("unknown format %q; expected one of %s", safe.Line(name, 40),
		strings.Join(FormatNames(), ", "))
}

// Files returns the files of an export. File.Write writes a file.
func (f Format) Files(run bench.Run, trials []bench.TrialResult) ([]File, error) {
	files := f.files(run, trials)
	if len(files) == 0 {
		return nil, fmt.Errorf("export as %s: %s", f.Name, cmp.Or(f.none, "these results have no finished step"))
	}
	for i, file := range files {
		files[i].Write = func(w io.Writer) error {
			switch {
			case strings.HasSuffix(file.Name, ".bin"):
			case strings.HasSuffix(file.Name, ".json"):
				w = safe.JSONWriter(w)
			default:
				w = safe.NewWriter(w, nil)
			}
			return file.Write(w)
		}
	}
	return files, nil
}

func single(name string, write func(io.Writer, bench.Run, []bench.TrialResult) error) filesOf {
	return func(run bench.Run, trials []bench.TrialResult) []File {
		return []File{{name, func(w io.Writer) error { return write(w, run, trials) }}}
	}
}

// perTrial makes a file for each trial with a step: "rs-actix-1.hlog".
func perTrial(suffix string, write func(io.Writer, bench.TrialResult) error) filesOf {
	return func(_ bench.Run, trials []bench.TrialResult) (files []File) {
		for _, trial := range trials {
			if len(trial.Steps) > 0 {
				files = append(files, File{fileName(trial.Trial.String()) + suffix,
					func(w io.Writer) error { return write(w, trial) }})
			}
		}
		return files
	}
}

// stepFile is the name of a step's file without its ending: "rs-actix-1.03-64-connections".
func stepFile(trial bench.TrialResult, s bench.StepResult) string {
	return fmt.Sprintf("%s.%02d-%s", fileName(trial.Trial.String()), s.Index+1, fileName(s.Step.Name))
}

// fileName returns s as a plain file name, which is never empty, hidden or longer than 80 bytes.
func fileName(s string) string {
	var b strings.Builder
	for _, r := range s {
		if !plain(r) {
			r = '-'
		}
		b.WriteRune(r)
		if b.Len() == 80 {
			break
		}
	}
	return cmp.Or(strings.TrimLeft(b.String(), "."), "unnamed")
}

// plain reports whether r is an ASCII letter or digit, or one of .-_
func plain(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(".-_", r)
}

// oneRequest is a measured request. Nothing here is made from histograms or windows.
type oneRequest struct {
	attack string
	bench.KeptRequest
	err string // "": no error
}

// vegetaFiles are one for the kept requests of each step, and one for the first requests of each trial,
// which belong to no step.
func vegetaFiles(run bench.Run, trials []bench.TrialResult) (files []File) {
	add := func(name string, since time.Time, all []oneRequest) {
		if len(all) > 0 {
			files = append(files, File{name + ".vegeta.bin", func(w io.Writer) error {
				return writeSingles(w, run.Profile.Requests, since, all)
			}})
		}
	}
	for _, trial := range trials {
		if first := trial.FirstRequests; first != nil {
			add(fileName(trial.Trial.String())+".00-first-requests", first.Started, firstSingles(trial.Trial, *first))
		}
		for _, s := range trial.Steps {
			add(stepFile(trial, s), s.Load.Started, keptSingles(trial.Trial, s))
		}
	}
	return files
}

// keptSingles returns the kept requests of a step.
func keptSingles(trial bench.Trial, s bench.StepResult) (all []oneRequest) {
	for _, k := range s.Load.Kept {
		one := oneRequest{trial.String() + " " + s.Step.Name, k, string(k.Error)}
		if byStatus := k.Error == bench.ErrorKind(fmt.Sprintf("%dxx", k.Status/100)); k.Rejected || byStatus {
			one.err = strconv.Itoa(k.Status) + " " + http.StatusText(k.Status)
		}
		all = append(all, one)
	}
	return all
}

// firstSingles returns the first requests of a trial in their order; each connection is an attack.
func firstSingles(trial bench.Trial, first bench.FirstRequests) (all []oneRequest) {
	add := func(connection string, requests ...bench.RequestPhases) {
		for _, r := range requests {
			all = append(all, oneRequest{trial.String() + " " + connection, bench.KeptRequest{
				Request: first.Request, Start: r.Start, Latency: r.Total, Status: r.Status, Bytes: r.Bytes,
			}, r.Err})
		}
	}
	add("first request", first.First)
	add("same connection", first.Kept...)
	add("new connections", first.New...)
	return all
}

// writeSingles writes requests, in their order, as results of vegeta, numbered in each attack:
// vegeta's plot waits for number 0 of each. They have method and path of the profile's request.
func writeSingles(w io.Writer, profile []bench.Request, since time.Time, all []oneRequest) error {
	out := bufio.NewWriterSize(w, 1<<16)
	encode, attack, seq := vegeta.NewEncoder(out), "", uint64(0)
	for _, s := range all {
		if s.attack != attack {
			attack, seq = s.attack, 0
		}
		r := vegeta.Result{
			Attack: safe.Line(s.attack, 100), Seq: seq, Timestamp: since.Add(s.Start), Latency: s.Latency,
			Code: uint16(s.Status), BytesIn: uint64(s.Bytes), Error: safe.Line(s.err, 300),
		}
		seq++
		if s.Latency < 0 || s.Status < 0 || s.Status > 999 || s.Bytes < 0 {
			return fmt.Errorf("%s, request %d: implausible: latency %s, status %d, %d bytes",
				r.Attack, seq, s.Latency, s.Status, s.Bytes)
		}
		if i := slices.IndexFunc(profile, func(r bench.Request) bool { return r.Name == s.Request }); i >= 0 {
			r.Method, r.URL = safe.Line(profile[i].Method, 20), safe.Line(profile[i].Path, 500)
		}
		if err := encode(&r); err != nil {
			return err
		}
	}
	return out.Flush()
}

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
