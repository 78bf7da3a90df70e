package cli

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/locbench/locbench/internal/run/worker"
)

// ofOutput are options of 'locbench run' that change neither what is measured nor how.
var ofOutput = append([]string{"out", "verbose", "metrics-listen", worker.Flag[2:]}, ofScreen...)

// given returns a command line of 'locbench run' after parsing: options as --name=value, without
// those of the output, then contenders: what suggested commands change or leave out.
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
		if list && strings.ContainsAny(text, `,"`) {
			text = `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
		}
		args = append(args, "--"+f.Name+"="+text)
	}
	return args
}
