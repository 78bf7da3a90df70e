//go:build unix

// Command acceptance runs locbench's acceptance suite, or parts of it (.ci/acceptance PART…; see
// docs/testing.md). Each part installs what it needs; a failed one does not stop the others. The
// end is a table, which is also in acceptance.json; the output of the tests is in
// acceptance/PART.log. The exit code is 0 if every part passed, 1 if one failed, 2 for wrong
// arguments.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/locbench/locbench/internal/testenv"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:]))
}

func run(ctx context.Context, args []string) int {
	flags := flag.NewFlagSet("acceptance", flag.ContinueOnError)
	tags := flags.Bool("tags", false, "print the build tags of all parts, for go vet, and exit")
	list := flags.Bool("list", false, "print the tests of the parts, and exit")
	only := flags.String("run", "", "run only the tests whose name this regular expression matches")
	flags.Usage = func() { usage(flags) }
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return 0
	} else if err != nil {
		return 2
	}
	if *tags {
		fmt.Println(strings.Join(allTags(), ","))
		return 0
	}
	parts, err := chosen(flags.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "acceptance:", err)
		return 2
	}
	tests, err := testsOf(".", parts)
	if err != nil {
		fmt.Fprintln(os.Stderr, "acceptance:", err)
		return 1
	}
	if *list {
		printTests(parts, tests)
		return 0
	}
	s := &suite{tests: tests, only: *only, report: newReport()}
	if err := s.begin(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "acceptance:", err)
		return 1
	}
	defer s.end()
	for _, part := range parts {
		if ctx.Err() != nil {
			break
		}
		s.report.Parts = append(s.report.Parts, s.runPart(ctx, part))
	}
	return s.report.finish(len(parts))
}

func usage(flags *flag.FlagSet) {
	fmt.Fprint(os.Stderr, "usage: .ci/acceptance [PART...]\n\nParts, in the order in which they run (without any: all):\n")
	for _, p := range testenv.Parts {
		fmt.Fprintf(os.Stderr, "  %-11s %2d min  %s\n", p.Name, p.Minutes, p.Shows)
	}
	fmt.Fprint(os.Stderr, "\nOptions:\n")
	flags.PrintDefaults()
}

// chosen returns the parts with those names, in the order in which they run.
func chosen(names []string) (parts []testenv.Part, err error) {
	for _, name := range names {
		if _, ok := testenv.PartOf(name); !ok {
			return nil, fmt.Errorf("%q is not a part (use one of: %s)", name, strings.Join(partNames(), ", "))
		}
	}
	for _, p := range testenv.Parts {
		if len(names) == 0 || slices.Contains(names, p.Name) {
			parts = append(parts, p)
		}
	}
	return parts, nil
}

func partNames() (names []string) {
	for _, p := range testenv.Parts {
		names = append(names, p.Name)
	}
	return names
}

// allTags returns the build tags with which every file of every part is built.
func allTags() []string {
	tags := []string{"acceptance"}
	for _, p := range testenv.Parts {
		if p.Tagged() {
			tags = append(tags, p.Name)
		}
	}
	return tags
}

func printTests(parts []testenv.Part, tests map[string][]packageTests) {
	for _, part := range parts {
		for _, step := range part.Run {
			fmt.Printf("%s\t%s\n", part.Name, step.Command)
		}
		for _, p := range tests[part.Name] {
			for _, name := range p.names {
				fmt.Printf("%s\t%s\t%s\n", part.Name, p.dir, name)
			}
		}
	}
}

// buildLocbench builds the binary that all acceptance tests start.
func (s *suite) buildLocbench(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "locbench-acceptance-")
	if err != nil {
		return err
	}
	s.dir = dir
	path := filepath.Join(dir, "locbench")
	began := time.Now()
	cmd := bash(ctx, []string{"CGO_ENABLED=0"}, "go build -buildvcs=false -trimpath -o '"+path+"' ./cmd/locbench")
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("build locbench: %w", err)
	}
	fmt.Fprintf(os.Stderr, "locbench is built (%s)\n", time.Since(began).Round(time.Second))
	s.env = append(s.env, testenv.BinaryVariable+"="+path)
	return nil
}
