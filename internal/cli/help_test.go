package cli

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/fit"
)

// everyCommand calls do with each command that the help lists.
func everyCommand(cmd *cobra.Command, do func(*cobra.Command)) {
	cmd.InitDefaultHelpFlag()
	do(cmd)
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			everyCommand(c, do)
		}
	}
}

func noWider(t *testing.T, text string, width int) {
	t.Helper()
	for line := range strings.Lines(text) {
		if line = strings.TrimSuffix(line, "\n"); fit.Width(line) > width {
			t.Errorf("%d columns: %s", fit.Width(line), line)
		}
	}
}

func TestHelp_FitsItsWidth(t *testing.T) {
	everyCommand(newRoot(Env{Getenv: func(string) string { return "" }}), func(cmd *cobra.Command) {
		t.Run(cmd.CommandPath(), func(t *testing.T) {
			for _, width := range []int{80, 120} {
				text := helpText(cmd, width)
				noWider(t, text, width)
				words := strings.Fields(text)
				for _, f := range shownFlags(cmd.Flags()) {
					testenv.Equal(t, slices.Contains(words, "--"+f.Name), true, f.Name)
				}
			}
		})
	})
}

// Each flag of a command with many is in one section.
func TestHelp_Sections(t *testing.T) {
	used := map[string]bool{"": true}
	everyCommand(newRoot(Env{Getenv: func(string) string { return "" }}), func(cmd *cobra.Command) {
		local := shownFlags(cmd.LocalFlags())
		if len(local) < manyFlags {
			return
		}
		var names []string
		for i := range flagSections {
			for _, f := range inSection(local, i) {
				names = append(names, f.Name)
			}
		}
		for _, f := range local {
			used[f.Name] = true
			testenv.Equal(t, slices.Contains(names, f.Name), true, cmd.CommandPath(), f.Name)
		}
		testenv.Equal(t, len(names), len(local), cmd.CommandPath())
	})
	for _, s := range flagSections {
		for _, name := range s.flags {
			testenv.Equal(t, used[name], true, name)
		}
	}
}

func TestExamples(t *testing.T) {
	const tui = "  locbench tui      # set up\n"
	const text = "  locbench run --target http://127.0.0.1:8080 --body '{\"item\": 7}'      # one request\n" + tui
	for _, row := range []struct {
		name  string
		width int
		want  string
	}{
		{"all fits", 100, text},
		{"without the space before a comment", 84,
			"  locbench run --target http://127.0.0.1:8080 --body '{\"item\": 7}'  # one request\n" + tui},
		{"in several lines", 60, "  # one request\n  locbench run --target http://127.0.0.1:8080 \\\n" +
			"      --body '{\"item\": 7}'\n" + tui},
	} {
		t.Run(row.name, func(t *testing.T) { testenv.Equal(t, examples(text, row.width), row.want) })
	}
}

// What is piped has 80 columns.
func TestListings_Fit80Columns(t *testing.T) {
	t.Setenv("DOCKER_HOST", "unix:///nonexistent/docker.sock")
	for _, args := range []string{"services list", "profiles list", "doctor", "--help", "run --help"} {
		t.Run(args, func(t *testing.T) {
			var out, stderr bytes.Buffer
			env := Env{Args: strings.Fields(args), Stdin: strings.NewReader(""), Stdout: &out, Stderr: &stderr,
				Getenv: func(string) string { return "" }}
			testenv.Equal(t, command(t.Context(), env), 0, stderr.String())
			noWider(t, out.String(), 80)
		})
	}
}
