//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"
)

// report is acceptance.json.
type report struct {
	Commit  string       `json:"commit"` // ends with "+" if the checkout has changes
	Date    time.Time    `json:"date"`
	Machine machine      `json:"machine"`
	Parts   []partReport `json:"parts"`
}

type machine struct {
	System string `json:"system"`
	Kernel string `json:"kernel"`
	CPU    string `json:"cpu"`
	CPUs   int    `json:"cpus"`
	Memory string `json:"memory"` // from /proc/meminfo, in kB
	Go     string `json:"go"`
}

type partReport struct {
	Name     string    `json:"name"`
	Passed   int       `json:"passed"` // tests, not subtests
	Failed   int       `json:"failed"`
	Skipped  int       `json:"skipped"` // subtests too
	Seconds  float64   `json:"seconds"`
	Prepared float64   `json:"prepared_seconds"` // the preparation, as a part of Seconds
	Failures []outcome `json:"failures,omitempty"`
	Skips    []outcome `json:"skips,omitempty"`
}

type outcome struct {
	Test   string `json:"test"`
	Reason string `json:"reason"`
}

func (p *partReport) fail(test, reason string) {
	p.Failed++
	p.Failures = append(p.Failures, outcome{test, reason})
}

func (p *partReport) skip(test, reason string) {
	p.Skipped++
	p.Skips = append(p.Skips, outcome{test, reason})
}

// failedIn reports whether a test of the package has failed: the package's own failure says no
// more.
func (p *partReport) failedIn(pkg string) bool {
	name := strings.TrimPrefix(pkg, "github.com/locbench/locbench/") + " "
	return slices.ContainsFunc(p.Failures, func(f outcome) bool { return strings.HasPrefix(f.Test, name) })
}

func (p *partReport) line() string {
	return fmt.Sprintf("%-11s %6d passed %4d failed %4d skipped %7.0f s", p.Name, p.Passed, p.Failed, p.Skipped, p.Seconds)
}

func newReport() *report {
	r := &report{Date: time.Now().UTC().Truncate(time.Second), Commit: output("git", "rev-parse", "HEAD")}
	r.Machine = machine{
		System: runtime.GOOS + "/" + runtime.GOARCH, CPUs: runtime.NumCPU(), Go: runtime.Version(),
		Kernel: output("uname", "-r"), CPU: field("/proc/cpuinfo", "model name"), Memory: field("/proc/meminfo", "MemTotal"),
	}
	if output("git", "status", "--porcelain") != "" {
		r.Commit += "+"
	}
	return r
}

func output(name string, args ...string) string {
	out, _ := exec.Command(name, args...).Output()
	return strings.TrimSpace(string(out))
}

// field returns the value of the first line of a file of the form "name : value".
func field(file, name string) string {
	data, _ := os.ReadFile(file)
	for line := range bytes.Lines(data) {
		if key, value, ok := strings.Cut(string(line), ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

func (r *report) list(word string, of func(partReport) []outcome) {
	for _, p := range r.Parts {
		for _, o := range of(p) {
			fmt.Printf("%-8s %s: %s: %s\n", word, p.Name, o.Test, o.Reason)
		}
	}
}

// finish prints the table, writes acceptance.json and returns the exit code. want is the number of
// planned parts.
func (r *report) finish(want int) int {
	var failed int
	var seconds float64
	fmt.Printf("\n%s on %s, %d CPUs, %s\n", r.Commit, r.Machine.Kernel, r.Machine.CPUs, r.Machine.Go)
	fmt.Printf("%-11s %7s %7s %7s %8s\n", "part", "passed", "failed", "skipped", "seconds")
	for _, p := range r.Parts {
		fmt.Printf("%-11s %7d %7d %7d %8.0f\n", p.Name, p.Passed, p.Failed, p.Skipped, p.Seconds)
		failed += p.Failed
		seconds += p.Seconds
	}
	fmt.Printf("%-11s %32.0f\n", "all", seconds)
	r.list("failed", func(p partReport) []outcome { return p.Failures })
	r.list("skipped", func(p partReport) []outcome { return p.Skips })
	if missing := want - len(r.Parts); missing > 0 {
		fmt.Printf("not run  %d parts: interrupted\n", missing)
		failed++
	}
	data, err := json.MarshalIndent(r, "", "  ")
	if err == nil {
		err = os.WriteFile("acceptance.json", append(data, '\n'), 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "acceptance: acceptance.json:", err)
		failed++
	}
	if failed > 0 {
		return 1
	}
	return 0
}
