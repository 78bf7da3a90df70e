package container

import (
	"regexp"
	"strings"
	"sync"

	"github.com/locbench/locbench/internal/text/safe"
)

// client is a program of a server that says in its output that a statement failed, and exits with 0
// all the same. A line of it is an error only in the form in which the program itself writes one:
// other output may contain the word.
type client struct{ runs, fails *regexp.Regexp }

var clients = []client{
	{program("psql"), regexp.MustCompile(`^(?:psql:\S*:\d+: )?(?:ERROR|FATAL|PANIC):\s`)},
	{program("redis-cli|valkey-cli"), regexp.MustCompile(`^(?:\d+\) )*\(error\) |^(?:ERR \S|WRONGTYPE Operation|WRONGPASS invalid|` +
		`NOAUTH Auth|NOPERM |NOSCRIPT No|OOM command|READONLY You|MISCONF |LOADING \S+ is|EXECABORT Trans|CROSSSLOT Keys|CLUSTERDOWN |` +
		`BUSY \S+ is|BUSYGROUP Consumer|BUSYKEY Target|NOGROUP No)`)},
	{program("mysql|mariadb"), regexp.MustCompile(`^ERROR \d{4} \([0-9A-Z]{5}\)`)},
}

// program matches a command that runs one of these programs, also in a line for a shell.
func program(names string) *regexp.Regexp {
	return regexp.MustCompile("(?:^|[\\s;&|(\"'`/])(?:" + names + ")(?:[\\s;&|)\"'<>]|$)")
}

// heardError keeps the first line of a command's output that is an error.
type heardError struct {
	clients []client // that the command runs

	mu   sync.Mutex // of line: the output has two streams
	line string
}

func listen(command []string) *heardError {
	t := &heardError{}
	for _, c := range clients {
		if c.runs.MatchString(strings.Join(command, "\n")) {
			t.clients = append(t.clients, c)
		}
	}
	return t
}

// hear reads a line of the output.
func (t *heardError) hear(line string) {
	for _, c := range t.clients {
		if c.fails.MatchString(line) {
			t.mu.Lock()
			defer t.mu.Unlock()
			if t.line == "" {
				t.line = strings.TrimSpace(line)
			}
			return
		}
	}
}

// err returns the error of the output; nil for none.
func (t *heardError) err() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.line == "" {
		return nil
	}
	return toldError(safe.Line(t.line, rowBytes))
}

// toldError is a line of output that is an error, of a command that exits with 0.
type toldError string

func (e toldError) Error() string {
	return string(e) + "\n  (exit code 0, but this line is an error; a command that may fail discards it: `sh -c \"… >/dev/null 2>&1\"`)"
}
