package profile

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/locbench/locbench/internal/text/console"
	"github.com/locbench/locbench/internal/text/safe"
)

const (
	standardOutput = "-"
	nothing        = "none" // typed in to leave something out
)

// New writes a profile for the user's API to the new file, and its schema next to it; "-" is
// standard output, and "" a file in the working folder. On a terminal, questions fill in an empty
// d.
func New(ctx context.Context, env console.Env, file string, d Draft) error {
	if err := free(file); err != nil {
		return console.WithCode(console.ExitUsage, err)
	}
	if d == (Draft{}) && console.IsTerminal(env.Stdin) && console.IsTerminal(env.Stdout) {
		var err error
		if file, d, err = ask(ctx, env.Stdin, env.Stdout, file); err != nil {
			return err
		}
	}
	if d.Get == "" && d.Post == "" && d.Targets == "" {
		d.Get = draftGet
	}
	return write(env, cmp.Or(file, draftName+".yaml"), d)
}

// free returns an error for a file that exists, or whose name is not that of a profile.
func free(file string) error {
	if file == "" || file == standardOutput {
		return nil
	}
	if err := checkInput(file); err != nil {
		return err
	}
	if ext := filepath.Ext(file); ext != ".yaml" && ext != ".yml" {
		return fmt.Errorf("%s: write a name that ends with .yaml, or - for standard output", file)
	}
	if _, err := os.Lstat(file); err == nil {
		return exists(file)
	}
	return nil
}

func exists(file string) error { return fmt.Errorf("%s already exists: choose another name", file) }

func write(env console.Env, file string, d Draft) error {
	name := file
	if file == standardOutput {
		name = draftName + ".yaml"
	}
	text, next, err := d.text(name)
	if err != nil {
		return console.WithCode(console.ExitUsage, err)
	}
	if file == standardOutput {
		_, err := env.Stdout.Write(text)
		return err
	}
	took, err := comparisonTime(text)
	if err != nil {
		return err
	}
	if err := free(file); err != nil { // the default name was not checked yet
		return console.WithCode(console.ExitUsage, err)
	}
	if err := safe.CreateFile(file, text); errors.Is(err, fs.ErrExist) {
		return console.WithCode(console.ExitUsage, exists(file))
	} else if err != nil {
		return fmt.Errorf("write profile %s: %w", file, err)
	}
	fmt.Fprintln(env.Stdout, file)
	if err := Schema().Leave(filepath.Dir(file), schemaFile); err != nil {
		env.Warn(err)
	}
	fmt.Fprintln(env.Stderr, "Comments explain each key; "+schemaFile+" is for editors.")
	fmt.Fprintln(env.Stderr, took+" Next:")
	for i, command := range next {
		fmt.Fprintf(env.Stderr, "  %d. %s\n", i+1, command)
	}
	return nil
}

// question is about one field of a draft.
type question struct {
	text, standard          string
	field                   func(*Draft) *string
	followUp, followDefault string // asked after a path for which follows is true
	follows                 func(path string) bool
}

func isPath(string) bool { return true }

var questions = []question{
	{
		"Path to GET ({item} is an id); or " + nothing, draftGet, func(d *Draft) *string { return &d.Get },
		"Ids from..to", draftIDs, func(path string) bool { return strings.Contains(path, "{") },
	},
	{
		"Path to POST; or " + nothing, nothing, func(d *Draft) *string { return &d.Post },
		"Its body, as JSON on one line", "{}", isPath,
	},
	{
		"Login path (POST); or " + nothing, nothing, func(d *Draft) *string { return &d.Login },
		"The place of its token, a path in the JSON response, cookie:NAME or header:NAME", draftToken, isPath,
	},
	{"Most connections", draftConnections, func(d *Draft) *string { return &d.Connections }, "", "", nil},
}

// ask asks for a draft, and its name if file is "", until each input is valid or in or ctx ends.
func ask(ctx context.Context, in io.Reader, out io.Writer, file string) (string, Draft, error) {
	a := asker{ctx: ctx, out: out, lines: readLines(ctx, in)}
	var d Draft
	fmt.Fprintln(out, "Enter accepts the value in brackets.")
	for file == "" {
		_, err := a.until("Name of the API", draftName, func(name string) error {
			if !namePattern.MatchString(name) || len(name) > maxName {
				return fmt.Errorf("%.200q is not a name: write at most %d of: lower-case letters, digits, dots, - and _", name, maxName)
			}
			file = name + ".yaml"
			return free(file)
		})
		if err != nil {
			return "", d, err
		}
	}
	for i, q := range questions {
		// try sets the field in d if the input is valid.
		try := func(input string) error {
			next := d
			*q.field(&next) = input
			_, err := next.Text(draftName + ".yaml")
			if i == 0 && errors.Is(err, errNoRequest) { // the next question is about POST
				err = nil
			}
			if err == nil {
				d = next
			}
			return err
		}
		input, err := a.until(q.text, q.standard, func(input string) error {
			if input == nothing && q.follows != nil {
				input = ""
			}
			return try(input)
		})
		if err == nil && q.follows != nil && input != nothing && !strings.Contains(input, " ") && q.follows(input) {
			_, err = a.until(q.followUp, q.followDefault, func(more string) error { return try(input + " " + more) })
		}
		if err != nil {
			return "", d, err
		}
	}
	return file, d, nil
}

// asker puts questions to the user at the terminal.
type asker struct {
	ctx   context.Context
	out   io.Writer
	lines <-chan string
}

// until repeats the question until accept returns nil for the input, and returns the input.
func (a asker) until(text, standard string, accept func(string) error) (string, error) {
	for {
		fmt.Fprintf(a.out, "%s [%s]: ", text, standard)
		var input string
		var more bool
		select {
		case <-a.ctx.Done():
		case input, more = <-a.lines:
		}
		if !more {
			fmt.Fprintln(a.out)
			err := errors.New("canceled: nothing written")
			return "", console.WithCode(console.ExitInterrupted, err)
		}
		err := checkInput(strings.TrimRight(input, "\r\n"))
		input = cmp.Or(strings.TrimSpace(input), standard)
		if err == nil {
			err = accept(input)
		}
		if err == nil {
			return input, nil
		}
		for line := range strings.Lines(err.Error()) {
			fmt.Fprintf(a.out, "  %s\n", safe.Line(strings.TrimSpace(line), maxInput))
		}
	}
}

// readLines sends the lines of in until it or ctx ends; an incomplete last line is dropped. Its
// goroutine is not awaited: a Read of a terminal cannot be stopped, and the process ends soon.
func readLines(ctx context.Context, in io.Reader) <-chan string {
	lines := make(chan string)
	go func() {
		defer close(lines)
		for r := bufio.NewReader(in); ; {
			var line []byte
			part, err := r.ReadSlice('\n')
			for ; errors.Is(err, bufio.ErrBufferFull); part, err = r.ReadSlice('\n') {
				line = append(line[:0], part...) // already too long: its start is not needed
			}
			if err != nil {
				return
			}
			select {
			case lines <- string(append(line, part...)):
			case <-ctx.Done():
				return
			}
		}
	}()
	return lines
}
