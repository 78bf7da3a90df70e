package ui

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	tea "charm.land/bubbletea/v2"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/internal/text/secret"
)

// maxCommand is the most bytes that are copied to the clipboard.
const maxCommand = 4000

// Again returns the arguments with which "locbench run" starts run once more, and the command line
// to show before it is done, or to copy. The command must be recorded whole, without the options of its
// output. Records may be hostile, so it must be "locbench run", and its arguments must not hold
// invisible characters.
func Again(run bench.Run) (args []string, command string, err error) {
	words := run.Given
	if len(words) < 2 || words[0] != "locbench" || words[1] != "run" {
		return nil, "", errors.New("its record has no command of 'locbench run'")
	}
	if slices.ContainsFunc(words, func(w string) bool { return strings.Contains(w, secret.Mask) }) {
		return nil, "", errors.New("its command has a secret, which the record does not keep")
	}
	command, err = shell(words)
	return words[2:], command, err
}

// ResumeCommand returns the command line that resumes the run in dir.
func ResumeCommand(dir string) (string, error) {
	return shell([]string{"locbench", "run", "--resume", argument(dir)})
}

// CompareCommand returns the command line that compares two folders, or two contenders of one.
func CompareCommand(dir string, others ...string) (string, error) {
	words := []string{"locbench", "compare", argument(dir)}
	for _, other := range others {
		words = append(words, argument(other))
	}
	return shell(words)
}

// argument returns the path of a folder, or a label, that is not read as an option.
func argument(dir string) string {
	if strings.HasPrefix(dir, "-") {
		return "." + string(filepath.Separator) + dir
	}
	return dir
}

func shell(words []string) (string, error) {
	for _, w := range words {
		if strings.ToValidUTF8(w, "") != w || strings.ContainsFunc(w, func(r rune) bool {
			return unicode.In(r, unicode.C, unicode.Zl, unicode.Zp) || r == unicode.ReplacementChar
		}) {
			return "", fmt.Errorf("an argument holds invisible characters: %s", strconv.QuoteToASCII(w[:min(len(w), 100)]))
		}
	}
	text := safe.Shell(words)
	if len(text) > maxCommand {
		return "", fmt.Errorf("the command is longer than %d bytes", maxCommand)
	}
	return text, nil
}

// AskStart is the question before a command of a results folder is started. Another user may have written it, so
// the question has the whole command; one that is too long for it is not started.
func AskStart(title, command string, err error, start tea.Msg, size Size) tea.Cmd {
	switch {
	case err != nil:
		return Cmd(Outcome("", err))
	case len(Wrap(command, min(72, size.Width-8))) > size.Height-6:
		return Cmd(TellMsg{Text: "the command is too long to ask about in this terminal", Bad: true})
	}
	return Cmd(AskMsg{Ask: Ask{Title: title, Text: command, Choices: []Choice{
		{Name: "start", Msg: start}, {Name: "copy the command", Msg: CopyMsg{Text: command, What: "command"}},
	}}})
}

// Before returns the last run of a profile before a moment that has results; nil: none.
func Before(entries []results.Entry, profile string, at time.Time) (found *results.Entry) {
	for i := range entries {
		e := &entries[i]
		if e.Err == nil && !e.Live && e.Complete > 0 && e.Profile == profile && e.Time().Before(at) &&
			(found == nil || e.Time().After(found.Time())) {
			found = e
		}
	}
	return found
}
