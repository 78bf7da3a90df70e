// Command pages writes what packages of locbench bring next to the binary: a man page of each
// command, and the completions of three shells. The release builds run it; locbench does not.
//
//	go run ./internal/cli/pages DIR
package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"

	"github.com/locbench/locbench/internal/app"
	"github.com/locbench/locbench/internal/cli"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: pages DIR")
		os.Exit(2)
	}
	if err := write(os.Args[1], app.Built()); err != nil {
		fmt.Fprintln(os.Stderr, "pages:", err)
		os.Exit(1)
	}
}

// write writes DIR/man/*.1 and DIR/completions/*.
func write(dir string, build app.Build) error {
	man, completions := filepath.Join(dir, "man"), filepath.Join(dir, "completions")
	for _, d := range []string{man, completions} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return err
		}
	}
	root := cli.Command(cli.Env{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard})
	root.InitDefaultHelpCmd()
	date := build.Date
	if date.IsZero() {
		date = time.Unix(0, 0).UTC() // two builds of the same sources are equal
	}
	literal(root)
	file := func(name string) string { return filepath.Join(completions, name) }
	return cmp.Or(
		doc.GenManTree(root, &doc.GenManHeader{Section: "1", Date: &date, Source: "locbench " + build.Version, Manual: "locbench"}, man),
		root.GenBashCompletionFileV2(file("locbench.bash"), true),
		root.GenZshCompletionFile(file("_locbench")),
		root.GenFishCompletionFile(file("locbench.fish"), true),
	)
}

// markdown are the characters that Markdown, the format in between, would take for its own.
var markdown = strings.NewReplacer("\\", "\\\\", "<", "\\<", "*", "\\*", "_", "\\_", "`", "\\`", "[", "\\[", "#", "\\#")

// literal prepares the texts of a command and of those below it for Markdown. Examples are printed
// literally anyway.
func literal(cmd *cobra.Command) {
	cmd.DisableAutoGenTag = true
	cmd.Short, cmd.Long = markdown.Replace(cmd.Short), markdown.Replace(cmd.Long)
	cmd.NonInheritedFlags().VisitAll(func(f *pflag.Flag) {
		_, usage := pflag.UnquoteUsage(f)
		f.Usage = markdown.Replace(usage)
	})
	for _, c := range cmd.Commands() {
		literal(c)
	}
}
