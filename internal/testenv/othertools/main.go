// Othertools puts the same load of several load tools on one server with known behavior, and writes
// what each reports next to what the server did. By hand, on an idle machine, it takes five minutes:
//
//	go run ./internal/testenv/othertools [-docs docs/other-tools.md]
//
// It finds locbench and the tools in PATH, and leaves out and names those that are not there.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/text/safe"
)

func main() {
	only := flag.String("only", "", "`NAME` of the only tool")
	docs := flag.String("docs", "", "Markdown `FILE` whose tables are replaced")
	flag.Parse()
	text := measured(context.Background(), *only)
	if *docs == "" {
		fmt.Print(text)
		return
	}
	if err := write(*docs, text); err != nil {
		fmt.Fprintln(os.Stderr, "othertools:", err)
		os.Exit(1)
	}
}

// between are the marks around the tables in the docs.
var between = regexp.MustCompile(`(?s)(<!-- measured -->\n).*(<!-- end -->\n)`)

func write(file, text string) error {
	old, err := safe.ReadFile(file, 1<<20)
	if err != nil {
		return err
	}
	if !between.Match(old) {
		return errors.New(file + ": no place for the tables")
	}
	return os.WriteFile(file, between.ReplaceAll(old, []byte("${1}"+text+"${2}")), 0o644)
}

// measured returns the tables.
func measured(ctx context.Context, only string) string {
	var b strings.Builder
	var here []tool
	var versions, missing []string
	for _, t := range tools {
		if only != "" && t.name != only {
			continue
		}
		if version := t.find(ctx); version != "" {
			here = append(here, t)
			versions = append(versions, t.name+" "+version)
		} else {
			missing = append(missing, t.name)
		}
	}
	fmt.Fprintf(&b, "Measured %s: %s.\n", time.Now().Format(time.DateOnly), strings.Join(versions, ", "))
	if missing != nil {
		fmt.Fprintf(&b, "Not installed there: %s.\n", strings.Join(missing, ", "))
	}
	b.WriteString("\n**Closed loop**, 1 or 4 connections for 1 to 3 s: p99 / max; responses per second; requests counted as good + errors.\n\n")
	table(ctx, &b, here, closed, func(t tool) string { return t.closed })
	b.WriteString("\n**Open loop**: requests the server got; p99.\n\n")
	table(ctx, &b, here, open, func(t tool) string { return t.open })
	return b.String()
}

// table runs each tool against a server of each mode, and writes a row for each.
func table(ctx context.Context, b *strings.Builder, here []tool, modes []mode, command func(tool) string) {
	b.WriteString("| tool |")
	for _, m := range modes {
		fmt.Fprintf(b, " %s |", m.title)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(modes)) + "\n")
	for _, t := range here {
		if command(t) == "" {
			continue
		}
		fmt.Fprintf(b, "| %s |", t.name)
		for _, m := range modes {
			fmt.Fprintf(os.Stderr, "%s, %s\n", t.name, m.title)
			fmt.Fprintf(b, " %s |", strings.ReplaceAll(t.on(ctx, m, command(t)), "|", `\|`))
		}
		b.WriteString("\n")
	}
}

// find returns the version of an installed tool; "" if it is not there.
func (t tool) find(ctx context.Context) string {
	out, err := exec.CommandContext(ctx, "sh", "-c", t.version).CombinedOutput()
	found := regexp.MustCompile(`\d+\.\d+[\w.~+-]*`).Find(out)
	if found == nil && err == nil && len(bytes.TrimSpace(out)) > 0 {
		return "of an unknown version"
	}
	return string(found)
}

// on returns what the tool reports of a server, and what the server did.
func (t tool) on(ctx context.Context, m mode, command string) string {
	s := m.serve()
	defer s.Close()
	command = strings.NewReplacer("URL", s.URL+"/", "CONNECTIONS", fmt.Sprint(m.connections), "SECONDS", fmt.Sprint(m.seconds),
		"RATE", fmt.Sprint(m.rate), "EACH", fmt.Sprint(max(m.rate/max(m.connections, 1), 1))).Replace(command)
	dir, err := os.MkdirTemp("", "othertools-")
	if err != nil {
		return err.Error()
	}
	defer os.RemoveAll(dir)
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, "sh", "-c", command)
	c.Dir, c.WaitDelay = dir, time.Second
	out, err := c.CombinedOutput()
	if err != nil && len(out) == 0 {
		return err.Error()
	}
	got := t.read(out)
	return m.shows(got, s)
}

// report is what a tool reports; negative: nothing.
type report struct{ p99, max, rate, good, errors float64 }

func duration(seconds float64) string {
	if seconds < 0 {
		return units.Missing
	}
	return units.Duration(time.Duration(seconds * 1e9))
}

func count(n float64) string {
	if n < 0 {
		return units.Missing
	}
	return units.Count(int64(n))
}

func latency(r report, _ *server) string { return duration(r.p99) + " / " + duration(r.max) }

func late(r report, s *server) string {
	rate := units.Missing
	if r.rate >= 0 {
		rate = fmt.Sprintf("%.0f/s", r.rate)
	}
	return latency(r, s) + "; " + rate
}

func counts(r report, _ *server) string { return count(r.good) + " + " + count(r.errors) }

func against(truth func(*server) int64, words string) func(report, *server) string {
	return func(r report, s *server) string {
		return counts(r, s) + fmt.Sprintf(" (%s %s)", units.Count(truth(s)), words)
	}
}

func sentAnd(r report, s *server) string { return units.Count(s.begun.Load()) + "; " + duration(r.p99) }

func asksGzip(s *server) string {
	if s.gzip.Load() {
		return "yes"
	}
	return "no"
}
