// Othertools puts the same load of several load tools on one server with known behavior, and writes
// what each reports next to what the server did. By hand, on an idle machine, it takes five minutes:
//
//	go run ./internal/testenv/othertools [-docs docs/other-tools.md]
//
// It finds locbench and the tools in PATH, and leaves out and names those that are not there.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/testenv/loadtools"
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
	if err := loadtools.Write(*docs, text); err != nil {
		fmt.Fprintln(os.Stderr, "othertools:", err)
		os.Exit(1)
	}
}

// measured returns the tables.
func measured(ctx context.Context, only string) string {
	var b strings.Builder
	var here []loadtools.Tool
	var versions, missing []string
	for _, t := range loadtools.All {
		if only != "" && t.Name != only {
			continue
		}
		if version := t.Find(ctx); version != "" {
			here = append(here, t)
			versions = append(versions, t.Name+" "+version)
		} else {
			missing = append(missing, t.Name)
		}
	}
	fmt.Fprintf(&b, "Measured %s: %s.\n", time.Now().Format(time.DateOnly), strings.Join(versions, ", "))
	if missing != nil {
		fmt.Fprintf(&b, "Not installed there: %s.\n", strings.Join(missing, ", "))
	}
	b.WriteString("\n**Closed loop**, 1 or 4 connections for 1 to 3 s: p99 / max; responses per second; requests counted as good + errors.\n\n")
	table(ctx, &b, here, closed)
	b.WriteString("\n**Open loop**: requests the server got; p99.\n\n")
	table(ctx, &b, here, open)
	return b.String()
}

// table runs each tool against a server of each mode, and writes a row for each.
func table(ctx context.Context, b *strings.Builder, here []loadtools.Tool, modes []mode) {
	b.WriteString("| tool |")
	for _, m := range modes {
		fmt.Fprintf(b, " %s |", m.title)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(modes)) + "\n")
	for _, t := range here {
		if t.Command(loadtools.Load{Rate: modes[0].rate}) == "" {
			continue
		}
		fmt.Fprintf(b, "| %s |", t.Name)
		for _, m := range modes {
			fmt.Fprintf(os.Stderr, "%s, %s\n", t.Name, m.title)
			fmt.Fprintf(b, " %s |", strings.ReplaceAll(on(ctx, t, m), "|", `\|`))
		}
		b.WriteString("\n")
	}
}

// on returns what the tool reports of a server, and what the server did.
func on(ctx context.Context, t loadtools.Tool, m mode) string {
	s := m.serve()
	defer s.Close()
	dir, err := os.MkdirTemp("", "othertools-")
	if err != nil {
		return err.Error()
	}
	defer os.RemoveAll(dir)
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, "sh", "-c", t.Command(loadtools.Load{
		URL: s.URL + "/", Connections: m.connections, Rate: m.rate, Seconds: m.seconds,
	}))
	c.Dir, c.WaitDelay = dir, time.Second
	out, err := c.CombinedOutput()
	if err != nil && len(out) == 0 {
		return err.Error()
	}
	return m.shows(t.Read(out), s)
}

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

func latency(r loadtools.Report, _ *server) string { return duration(r.P99) + " / " + duration(r.Max) }

func late(r loadtools.Report, s *server) string {
	rate := units.Missing
	if r.Rate >= 0 {
		rate = fmt.Sprintf("%.0f/s", r.Rate)
	}
	return latency(r, s) + "; " + rate
}

func counts(r loadtools.Report, _ *server) string { return count(r.Good) + " + " + count(r.Errors) }

func against(truth func(*server) int64, words string) func(loadtools.Report, *server) string {
	return func(r loadtools.Report, s *server) string {
		return counts(r, s) + fmt.Sprintf(" (%s %s)", units.Count(truth(s)), words)
	}
}

func sentAnd(r loadtools.Report, s *server) string {
	return units.Count(s.begun.Load()) + "; " + duration(r.P99)
}

func asksGzip(s *server) string {
	if s.gzip.Load() {
		return "yes"
	}
	return "no"
}
