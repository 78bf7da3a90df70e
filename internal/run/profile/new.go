package profile

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/locbench/locbench/internal/text/console"
	"github.com/locbench/locbench/internal/text/safe"
)

const standardOutput = "-"

// New writes a profile for the user's API to the new file, and its schema next to it; "-" is
// standard output, and "" a file in the working folder. Without a request in d it sends GET /.
func New(env console.Env, file string, d Draft) error {
	file = cmp.Or(file, draftName+".yaml")
	if err := free(file); err != nil {
		return console.WithCode(console.ExitUsage, err)
	}
	if d.Get == "" && d.Post == "" && d.Targets == "" {
		d.Get = draftGet
	}
	return write(env, file, d)
}

// free returns an error for a file that exists, or whose name is not that of a profile.
func free(file string) error {
	if file == standardOutput {
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
	if err := safe.CreateFile(file, text); errors.Is(err, fs.ErrExist) {
		return console.WithCode(console.ExitUsage, exists(file))
	} else if err != nil {
		return fmt.Errorf("write profile %s: %w", file, err)
	}
	fmt.Fprintln(env.Stdout, file)
	if err := Schema.Leave(filepath.Dir(file), schemaFile); err != nil {
		env.Warn(err)
	}
	fmt.Fprintln(env.Stderr, "Comments explain each key; "+schemaFile+" is for editors.")
	fmt.Fprintln(env.Stderr, took+" Next:")
	for i, command := range next {
		fmt.Fprintf(env.Stderr, "  %d. %s\n", i+1, command)
	}
	return nil
}
