package cli

import (
	"bytes"
	"encoding/csv"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/locbench/locbench/internal/run/worker"
)

// ofOutput are options of 'locbench run' that change neither what is measured nor how.
var ofOutput = append([]string{"out", "verbose", "metrics-listen", worker.Flag[2:]}, ofScreen...)

// given returns a command line of 'locbench run' after parsing: options as --name=value, without
// those of the output, then contenders. Paths in the working directory are relative to it.
func given(flags *pflag.FlagSet, contenders []string) []string {
	args := []string{"locbench", "run"}
	flags.Visit(func(f *pflag.Flag) {
		if !slices.Contains(ofOutput, f.Name) {
			args = append(args, written(f)...)
		}
	})
	return append(args, contenders...)
}

// written returns an option as arguments that give it its value.
func written(f *pflag.Flag) (args []string) {
	texts := []string{f.Value.String()}
	list := false
	switch v := f.Value.(type) {
	case optionFlag:
		texts = v.given[v.option.Name]
	case pflag.SliceValue:
		texts, list = v.GetSlice(), v.(pflag.Value).Type() == "stringSlice"
	}
	for _, text := range texts {
		text = relative(text)
		switch {
		case list:
			text = quoteCSV(text)
		case text == f.NoOptDefVal && text != "":
			args = append(args, "--"+f.Name)
			continue
		}
		args = append(args, "--"+f.Name+"="+text)
	}
	return args
}

// relative returns an absolute path, or @FILE, in the working directory relative to it, and any
// other text unchanged.
func relative(text string) string {
	path, isFile := strings.CutPrefix(text, "@")
	dir, err := os.Getwd()
	if err != nil || !filepath.IsAbs(path) {
		return text
	}
	rel, err := filepath.Rel(dir, path)
	if err != nil || !filepath.IsLocal(rel) {
		return text
	}
	if isFile {
		rel = "@" + rel
	}
	return rel
}

// quoteCSV quotes a value for flags that take a comma-separated list.
func quoteCSV(value string) string {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	_ = w.Write([]string{value}) // a buffer does not fail
	w.Flush()
	return strings.TrimSuffix(b.String(), "\n")
}
