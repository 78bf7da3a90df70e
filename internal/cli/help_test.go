package cli

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/fit"
)

func noWider(t *testing.T, text string, width int) {
	t.Helper()
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		testenv.Check(t, fit.Width(line) <= width, "%d columns: %s", fit.Width(line), line)
	}
}

// The help of each command has examples, and fits what is piped, but for examples and lines that are indented: its
// paragraphs are wrapped, and the columns of its flags.
func TestHelp_FitsItsWidth(t *testing.T) {
	var every func(cmd *cobra.Command)
	every = func(cmd *cobra.Command) {
		for _, c := range cmd.Commands() {
			if c.IsAvailableCommand() {
				every(c)
			}
		}
		text := saying(t, append(strings.Fields(cmd.CommandPath())[1:], "--help")...)
		if !cmd.HasParent() || cmd.Parent().Name() != "completion" {
			testenv.Check(t, regexp.MustCompile(`\nExamples?:\n`).MatchString(text), "%s has no examples", cmd.CommandPath())
		}
		before, after, _ := strings.Cut(text, "\nExamples:\n")
		_, flags, _ := strings.Cut(after, "\nFlags:\n")
		noWider(t, regexp.MustCompile(`(?m)^ .*$`).ReplaceAllString(before, "")+flags, 80)
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			testenv.Check(t, f.Hidden || strings.Contains(text, " --"+f.Name+" "), "%s: no --%s", cmd.CommandPath(), f.Name)
		})
	}
	every(newRoot(Env{Getenv: func(string) string { return "" }}))
}

// What is piped has 80 columns.
func TestListings_Fit80Columns(t *testing.T) {
	t.Setenv("DOCKER_HOST", "unix:///nonexistent/docker.sock")
	for _, args := range []string{"services list", "profiles list", "doctor"} {
		t.Run(args, func(t *testing.T) {
			var out, stderr bytes.Buffer
			env := Env{Args: strings.Fields(args), Stdin: strings.NewReader(""), Stdout: &out, Stderr: &stderr,
				Getenv: func(string) string { return "" }}
			testenv.Equal(t, command(t.Context(), env), 0, stderr.String())
			noWider(t, out.String(), 80)
		})
	}
}
