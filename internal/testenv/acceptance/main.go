//go:build unix

// Command acceptance runs locbench's acceptance suite, or parts of it (.ci/acceptance PART…; see
// docs/testing.md). Each part installs what it needs, and gotestsum runs its tests; a failed part
// does not stop the others. The end is a table, which is also in acceptance.json. The exit code is
// 0 if every part passed, 1 if one failed, 2 for wrong arguments.
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

	"github.com/locbench/locbench/internal/testenv"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	code, err := run(ctx, os.Args[1:])
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "acceptance:", err)
	}
	os.Exit(code)
}

func run(ctx context.Context, args []string) (code int, err error) {
	flags := flag.NewFlagSet("acceptance", flag.ContinueOnError)
	list := flags.Bool("list", false, "print the tests of the parts, and exit")
	only := flags.String("run", "", "run only the tests whose name this regular expression matches")
	flags.Usage = func() { usage(flags) }
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return 0, err
	} else if err != nil {
		return 2, err
	}
	parts, err := chosen(flags.Args())
	if err != nil {
		return 2, err
	}
	if *list {
		return 0, printTests(parts)
	}
	dir, err := os.MkdirTemp("", "locbench-acceptance-")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(dir)
	binary := filepath.Join(dir, "locbench") // which all tests start
	build := bash(ctx, []string{"CGO_ENABLED=0"}, "mkdir -p "+logs+" && go build -buildvcs=false -trimpath -o '"+binary+"' ./cmd/locbench")
	build.Stdout, build.Stderr = os.Stderr, os.Stderr
	if err := build.Run(); err != nil {
		return 1, fmt.Errorf("build locbench: %w", err)
	}
	r := newReport()
	for _, part := range parts {
		if ctx.Err() == nil {
			r.Parts = append(r.Parts, runPart(ctx, part, *only, binary))
		}
	}
	return r.finish(len(parts))
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
	var all []string
	for _, p := range testenv.Parts {
		all = append(all, p.Name)
		if len(names) == 0 || slices.Contains(names, p.Name) {
			parts = append(parts, p)
		}
	}
	for _, name := range names {
		if !slices.Contains(all, name) {
			return nil, fmt.Errorf("%q is not a part (use one of: %s)", name, strings.Join(all, ", "))
		}
	}
	return parts, nil
}

func printTests(parts []testenv.Part) error {
	for _, part := range parts {
		for _, step := range part.Run {
			fmt.Printf("%s\t%s\n", part.Name, step.Command)
		}
		tests, err := testsOf(part)
		if err != nil {
			return err
		}
		for _, test := range tests {
			fmt.Printf("%s\t%s\t%s\n", part.Name, test.dir, test.name)
		}
	}
	return nil
}
