package cli

import (
	"cmp"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/locbench/locbench/internal/text/console"
	"github.com/locbench/locbench/internal/text/fit"
)

// widestHelp is the most columns of a help text: longer lines are hard to read.
const widestHelp = 120

// flagSections are the groups of flags in the help of commands with many, in the order of
// profile.Section. Options of a run that are not named here have the place of "".
var flagSections = []struct {
	title string
	flags []string
}{
	{"What to run", []string{
		"profile", "target", "targets", "method", "header", "body", "only", "services", "", "accept-failed-checks",
		"retry-not-ready", "resume", "from", "allow-files", "cacert", "insecure",
	}},
	{"Limits", []string{"", "limits"}},
	{"Load", []string{
		"slo", "connections", "", "probe", "warm-up", "resolution", "confirm", "guess", "max-rate", "max-probes",
	}},
	{"Needs and data", []string{""}},
	{"Output", []string{
		"out", "headless", "quiet", "verbose", "json", "metrics-listen", "theme", "ascii", "mouse", "help",
	}},
}

// inSection returns the flags of all that the section at i has.
func inSection(all []*pflag.Flag, i int) (list []*pflag.Flag) {
	s := flagSections[i]
	for _, name := range s.flags {
		for _, f := range all {
			o, isOption := f.Value.(optionFlag)
			rest := name == "" && isOption && int(o.option.Section) == i && !slices.Contains(s.flags, f.Name)
			if f.Name == name || rest {
				list = append(list, f)
			}
		}
	}
	return list
}

// manyFlags is the number of flags from which help has them in sections.
const manyFlags = 12

// printHelp prints the help of cmd, as wide as the terminal.
func printHelp(env Env, cmd *cobra.Command) {
	width := max(40, min(widestHelp, console.Columns(env.Stdout)))
	fmt.Fprint(env.Stdout, helpText(cmd, width))
}

// helpText returns the help of cmd in lines of at most width columns.
func helpText(cmd *cobra.Command, width int) string {
	var b strings.Builder
	section := func(title, text string) {
		if text != "" {
			fmt.Fprintf(&b, "\n%s:\n%s", title, text)
		}
	}
	b.WriteString(prose(strings.TrimSpace(cmp.Or(cmd.Long, cmd.Short)), width))
	usage := ""
	if cmd.Runnable() {
		usage = "  " + cmd.UseLine() + "\n"
	}
	if cmd.HasAvailableSubCommands() {
		usage += "  " + cmd.CommandPath() + " [command]\n"
	}
	section("Usage", usage)
	section("Examples", examples(cmd.Example, width))
	for _, group := range cmd.Groups() {
		section(strings.TrimSuffix(group.Title, ":"), commands(cmd, group.ID, width))
	}
	other := "Available commands"
	if len(cmd.Groups()) > 0 {
		other = "Additional commands"
	}
	section(other, commands(cmd, "", width))
	local := shownFlags(cmd.LocalFlags())
	if len(local) < manyFlags {
		section("Flags", flags(local, width))
	} else {
		for i, s := range flagSections {
			section(s.title, flags(inSection(local, i), width))
		}
	}
	section("Global flags", flags(shownFlags(cmd.InheritedFlags()), width))
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "\nUse \"%s [command] --help\" for more about a command.\n", cmd.CommandPath())
	}
	return b.String()
}

// prose wraps paragraphs. Indented lines stay apart, and their own next lines are indented further.
func prose(text string, width int) string {
	var b strings.Builder
	for i, paragraph := range strings.Split(text, "\n\n") {
		if i > 0 {
			b.WriteString("\n")
		}
		var words []string
		flush := func() {
			if len(words) > 0 {
				b.WriteString(fit.Paragraph(strings.Join(words, " "), width, "") + "\n")
			}
			words = nil
		}
		for line := range strings.SplitSeq(paragraph, "\n") {
			text := strings.TrimLeft(line, " \t")
			if text == line {
				words = append(words, strings.TrimSpace(line))
				continue
			}
			flush()
			indent := line[:len(line)-len(text)]
			if at := column.FindStringIndex(text); at != nil { // a term, and what it means
				indent += strings.Repeat(" ", at[1])
			}
			b.WriteString(fit.Paragraph(line, width, indent) + "\n")
		}
		flush()
	}
	return b.String()
}

// column finds the end of a term before its explanation.
var column = regexp.MustCompile(`^\S+(?: \S+)* {2,}`)

// commands returns the list of the commands of a group; "" are those of no group.
func commands(cmd *cobra.Command, group string, width int) string {
	var b strings.Builder
	for _, c := range cmd.Commands() {
		if c.GroupID == group && (c.IsAvailableCommand() || c.Name() == "help") {
			entry(&b, "  "+c.Name(), c.NamePadding()+3, c.Short, width)
		}
	}
	return b.String()
}

// nameColumns are the columns for the names of flags; a longer name has a line alone.
const nameColumns = 30

func flags(list []*pflag.Flag, width int) string {
	var b strings.Builder
	for _, f := range list {
		name := "      --" + f.Name
		if f.Shorthand != "" {
			name = "  -" + f.Shorthand + ", --" + f.Name
		}
		value, usage := pflag.UnquoteUsage(f)
		if value != "" {
			name += " " + value
		}
		switch {
		case slices.Contains([]string{"", "0", "0s", "false", "[]"}, f.DefValue):
		case f.Value.Type() == "string":
			usage += fmt.Sprintf(" (default %q)", f.DefValue)
		default:
			usage += " (default " + f.DefValue + ")"
		}
		entry(&b, name, nameColumns, usage, width)
	}
	return b.String()
}

// entry writes a name, and its explanation in the columns from at on.
func entry(w io.Writer, name string, at int, about string, width int) {
	indent := strings.Repeat(" ", at)
	lines := fit.Wrap(about, width-at)
	if fit.Width(name) > at-2 {
		fmt.Fprintln(w, name)
		name = ""
	}
	fmt.Fprintf(w, "%s%s\n", fit.Left(name, at), strings.Join(lines, "\n"+indent))
}

// examples returns example commands. One that is too wide has its comment in the line before, and
// continues in the next lines as a shell reads them.
func examples(text string, width int) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if fit.Width(line) <= width {
			b.WriteString(line + "\n")
			continue
		}
		command, comment, _ := strings.Cut(line, " # ")
		command = strings.TrimRight(command, " ")
		if near := command + "  # " + comment; comment != "" && fit.Width(near) <= width {
			b.WriteString(near + "\n")
			continue
		}
		if comment != "" {
			fmt.Fprintf(&b, "  # %s\n", fit.Paragraph(comment, width-4, "  # "))
		}
		row := ""
		for _, part := range shellParts(command) {
			switch {
			case row == "":
				row = "  " + part
			case fit.Width(row+" "+part) > width-2:
				b.WriteString(row + " \\\n")
				row = "      " + part
			default:
				row += " " + part
			}
		}
		b.WriteString(row + "\n")
	}
	return b.String()
}

var shellWord = regexp.MustCompile(`(?:'[^']*'|"[^"]*"|[^\s'"])+`)

// shellParts splits a command between its words, but not between an option and its value.
func shellParts(command string) (parts []string) {
	for _, word := range shellWord.FindAllString(command, -1) {
		if last := len(parts) - 1; last >= 0 && word[0] != '-' &&
			strings.HasPrefix(parts[last], "-") && !strings.ContainsAny(parts[last], " =") {
			parts[last] += " " + word
			continue
		}
		parts = append(parts, word)
	}
	return parts
}

// shownFlags returns the flags that the help has.
func shownFlags(fl *pflag.FlagSet) (list []*pflag.Flag) {
	fl.VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			list = append(list, f)
		}
	})
	return list
}
