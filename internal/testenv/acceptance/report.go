//go:build unix

package main

import (
	"cmp"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench/units"
)

// report is acceptance.json.
type report struct {
	Commit string       `json:"commit"` // ends with "-dirty" if the checkout has changes
	Date   time.Time    `json:"date"`
	System string       `json:"system"` // as uname says it
	CPUs   int          `json:"cpus"`
	Go     string       `json:"go"`
	Parts  []partReport `json:"parts"`
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

// read adds the results in a JUnit file of gotestsum.
func (p *partReport) read(file string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var junit struct {
		Suites []struct {
			Tests []struct {
				Package string  `xml:"classname,attr"`
				Name    string  `xml:"name,attr"`
				Failure *string `xml:"failure"`
				Skipped *struct {
					Message string `xml:"message,attr"`
				} `xml:"skipped"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal(data, &junit); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	for _, suite := range junit.Suites {
		below := map[string]string{} // reasons of failed subtests, by test
		for _, test := range suite.Tests {
			if top, _, sub := strings.Cut(test.Name, "/"); sub && test.Failure != nil {
				below[top] = cmp.Or(below[top], reason(*test.Failure))
			}
		}
		for _, test := range suite.Tests {
			name := strings.TrimPrefix(test.Package, "github.com/locbench/locbench/") + " " + test.Name
			switch top := !strings.Contains(test.Name, "/"); {
			case test.Skipped != nil:
				p.skip(name, reason(test.Skipped.Message))
			case test.Failure != nil && top:
				p.fail(name, cmp.Or(reason(*test.Failure), below[test.Name]))
			case test.Failure == nil && top:
				p.Passed++
			}
		}
	}
	return nil
}

// reason returns the last line of a test's own output.
func reason(output string) string {
	var last string
	for line := range strings.Lines(output) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "===") && !strings.HasPrefix(line, "---") && line != "FAIL" {
			last = line
		}
	}
	if _, rest, ok := strings.Cut(last, "_test.go:"); ok {
		_, last, _ = strings.Cut(rest, ": ")
	}
	return last
}

func newReport() *report {
	return &report{
		Commit: output("git", "describe", "--always", "--abbrev=40", "--exclude=*", "--dirty"), Date: time.Now().UTC().Truncate(time.Second),
		System: output("uname", "-srm"), CPUs: runtime.NumCPU(), Go: runtime.Version(),
	}
}

func output(name string, args ...string) string {
	out, _ := exec.Command(name, args...).Output()
	return strings.TrimSpace(string(out))
}

// finish prints the table, writes acceptance.json and returns the exit code. want is the number of
// planned parts.
func (r *report) finish(want int) (code int, err error) {
	var failures, skips strings.Builder
	fmt.Printf("\n%s on %s, %s, %s\n", r.Commit, r.System, units.Plural(r.CPUs, "CPU"), r.Go)
	fmt.Printf("%-11s %7s %7s %7s %8s\n", "part", "passed", "failed", "skipped", "seconds")
	for _, p := range r.Parts {
		fmt.Printf("%-11s %7d %7d %7d %8.0f\n", p.Name, p.Passed, p.Failed, p.Skipped, p.Seconds)
		for _, o := range p.Failures {
			fmt.Fprintf(&failures, "failed   %s: %s: %s\n", p.Name, o.Test, o.Reason)
		}
		for _, o := range p.Skips {
			fmt.Fprintf(&skips, "skipped  %s: %s: %s\n", p.Name, o.Test, o.Reason)
		}
	}
	if missing := want - len(r.Parts); missing > 0 {
		fmt.Fprintf(&failures, "not run  %d parts: interrupted\n", missing)
	}
	fmt.Print(failures.String(), skips.String())
	if failures.Len() > 0 {
		code = 1
	}
	data, err := json.MarshalIndent(r, "", "  ")
	if err == nil {
		err = os.WriteFile("acceptance.json", append(data, '\n'), 0o644)
	}
	if err != nil {
		return 1, err
	}
	return code, nil
}
