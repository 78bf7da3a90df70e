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

	"locbench/internal/text/console"
	"locbench/internal/text/safe"
)

const (
	standardOutput = "-"
	nothing        = "none" // the response that leaves something out
)

// New writes a profile for your own API into file, which must not be there yet, and its schema next to it; "-"
// is standard output, and "" a file of the working folder. What d says is not asked; where it says nothing at all, it
// is asked for on a terminal.
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
	if d.Get == "" && d.Post == "" {
		d.Get = draftGet
	}
	return write(env, cmp.Or(file, draftName+".yaml"), d)
}

// free refuses a file that is there already, or that no command would take for a profile.
func free(file string) error {
	if file == "" || file == standardOutput {
		return nil
	}
	if err := checkResponse(file); err != nil {
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
	text, err := d.Text(name)
	if err != nil {
		return console.WithCode(console.ExitUsage, err)
	}
	if file == standardOutput {
		_, err := env.Stdout.Write(text)
		return err
	}
	if err := free(file); err != nil { // also the one that nobody has named
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
	fmt.Fprintln(env.Stderr, "Each key has a comment; "+schemaFile+" is for editors. Next:")
	for i, command := range nextCommands(file, strings.TrimSpace(d.Login) != "") {
		fmt.Fprintf(env.Stderr, "  %d. %s\n", i+1, command)
	}
	return nil
}

// question asks for one part of a draft.
type question struct {
	text, standard string
	part           func(*Draft) *string
	more, usual    string // asks for what follows the path, where wanted says so
	wanted         func(path string) bool
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
		"Path of the token in its JSON response", draftToken, isPath,
	},
	{"Most connections", draftLadder, func(d *Draft) *string { return &d.Connections }, "", "", nil},
}

// ask asks for a draft, and for its name where file is "". A wrong response is asked again. The end of in, or of ctx, is
// an error.
func ask(ctx context.Context, in io.Reader, out io.Writer, file string) (string, Draft, error) {
	a := asker{ctx: ctx, out: out, lines: readLines(ctx, in)}
	var d Draft
	fmt.Fprintln(out, "Enter accepts the value in brackets.")
	for file == "" {
		_, err := a.until("Name of the API", draftName, func(name string) error {
			if !namePattern.MatchString(name) || len(name) > maxName {
				return fmt.Errorf("%.200q is not a name: write lower-case letters, digits, -, _ and ., %d at most", name, maxName)
			}
			file = name + ".yaml"
			return free(file)
		})
		if err != nil {
			return "", d, err
		}
	}
	for i, q := range questions {
		// try is d with a response, if that is right.
		try := func(response string) error {
			next := d
			*q.part(&next) = response
			_, err := next.Text(draftName + ".yaml")
			if i == 0 && errors.Is(err, errNoRequest) { // there may be one to POST
				err = nil
			}
			if err == nil {
				d = next
			}
			return err
		}
		response, err := a.until(q.text, q.standard, func(response string) error {
			if response == nothing && q.wanted != nil {
				response = ""
			}
			return try(response)
		})
		if err == nil && q.wanted != nil && response != nothing && !strings.Contains(response, " ") && q.wanted(response) {
			_, err = a.until(q.more, q.usual, func(more string) error { return try(response + " " + more) })
		}
		if err != nil {
			return "", d, err
		}
	}
	return file, d, nil
}

// asker talks with who sits at the terminal.
type asker struct {
	ctx   context.Context
	out   io.Writer
	lines <-chan string
}

// until asks until the response is right.
func (a asker) until(text, standard string, right func(string) error) (string, error) {
	for {
		fmt.Fprintf(a.out, "%s [%s]: ", text, standard)
		var response string
		var more bool
		select {
		case <-a.ctx.Done():
		case response, more = <-a.lines:
		}
		if !more {
			fmt.Fprintln(a.out)
			err := errors.New("cancelled: nothing written")
			return "", console.WithCode(console.ExitInterrupted, err)
		}
		err := checkResponse(strings.TrimRight(response, "\r\n"))
		response = cmp.Or(strings.TrimSpace(response), standard)
		if err == nil {
			err = right(response)
		}
		if err == nil {
			return response, nil
		}
		for line := range strings.Lines(err.Error()) {
			fmt.Fprintf(a.out, "  %s\n", safe.Line(strings.TrimSpace(line), maxResponse))
		}
	}
}

// readLines hands on the lines of in until its end or that of ctx; half a line was never said. Nobody waits for it:
// nothing ends a Read that waits for a terminal, and the process ends soon after the questions.
func readLines(ctx context.Context, in io.Reader) <-chan string {
	lines := make(chan string)
	go func() {
		defer close(lines)
		for r := bufio.NewReader(in); ; {
			var line []byte
			part, err := r.ReadSlice('\n')
			for ; errors.Is(err, bufio.ErrBufferFull); part, err = r.ReadSlice('\n') {
				line = append(line[:0], part...) // this much is too long already: what it was does not matter
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
