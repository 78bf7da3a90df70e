package ui

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/internal/text/secret"
)

// maxCommand is the most bytes that are copied to the clipboard.
const maxCommand = 4000

// RepeatCommand returns the command line that repeats run: the recorded one with the recorded seed,
// without options of that run's folder or process. Records may be hostile and the user may run the
// copy, so the command must be "locbench run" and its arguments must not hold invisible characters.
func RepeatCommand(run bench.Run) (string, error) {
	words, err := RepeatArgs(run)
	if err != nil {
		return "", err
	}
	return shell(append([]string{"locbench", "run"}, words...))
}

// RepeatArgs returns the arguments of RepeatCommand after "locbench run".
func RepeatArgs(run bench.Run) (words []string, err error) {
	args := run.Command
	if len(args) < 2 || strings.TrimSuffix(filepath.Base(args[0]), ".exe") != "locbench" || args[1] != "run" {
		return nil, errors.New("the recorded command is not a locbench run")
	}
	seed := false
	for i := 2; i < len(args); i++ {
		name, _, inline := strings.Cut(args[i], "=")
		switch name {
		case "--controlled":
			continue
		case "-o", "--out", "--resume":
			if !inline {
				i++ // skip its value
			}
			continue
		case "--seed":
			seed = true
		}
		if strings.HasPrefix(args[i], "-o") && !strings.HasPrefix(args[i], "--") && len(args[i]) > 2 {
			continue // -oFOLDER
		}
		words = append(words, args[i])
	}
	if !seed {
		words = append(words, "--seed", strconv.FormatUint(run.Seed, 10))
	}
	return words, nil
}

// Again returns the arguments with which "locbench run" starts run once more, and the command line
// to show before it is done. The command must be recorded whole, without the options of its output.
func Again(run bench.Run) (args []string, command string, err error) {
	words := run.Given
	if len(words) < 2 || words[0] != "locbench" || words[1] != "run" {
		return nil, "", errors.New("cannot start it again: its record has no command of 'locbench run'")
	}
	if slices.ContainsFunc(words, func(w string) bool { return strings.Contains(w, secret.Mask) }) {
		return nil, "", errors.New("cannot start it again: its command has a secret, which the record does not keep")
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
