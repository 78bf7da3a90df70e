package setup

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/internal/text/secret"
)

// Choice is a setup, in the terms of the command line.
type Choice struct {
	Profile    string            // name or file
	Contenders []bench.Selection // nil: the profile's
	Set        profile.Changes   // options that change the profile
	Extra      []string          // other options of locbench run, unchanged
}

func (c Choice) clone() Choice {
	c.Contenders, c.Extra = slices.Clone(c.Contenders), slices.Clone(c.Extra)
	if c.Set = maps.Clone(c.Set); c.Set == nil {
		c.Set = profile.Changes{}
	}
	return c
}

// Changes returns all changes to the profile.
func (c Choice) Changes() profile.Changes { return c.Set.With("contenders", names(c.Contenders)...) }

// Args returns the equivalent arguments of "locbench run".
func (c Choice) Args() []string {
	args := append([]string{"--profile", c.Profile}, names(c.Contenders)...)
	for _, o := range profile.Options() {
		for _, text := range c.Set[o.Name] {
			if o.Type == "bool" {
				args = append(args, "--"+o.Name+"="+text)
			} else {
				args = append(args, "--"+o.Name, text)
			}
		}
	}
	return append(args, c.Extra...)
}

func names(list []bench.Selection) (all []string) {
	for _, sel := range list {
		all = append(all, sel.String())
	}
	return all
}

// Command returns the command line, for a shell.
func (c Choice) Command() string { return commandLine("run", c.Args()) }

func (c Choice) shown() string { return commandLine("run", secret.Masker{}.Args(c.Args())) }

func commandLine(command string, args []string) string {
	return safe.Shell(append([]string{"locbench", command}, args...))
}

// reason returns the mistakes that err joins, without the name of the profile.
func reason(err error) string {
	var joined interface{ Unwrap() []error }
	if errors.As(err, &joined) {
		err = errors.Join(joined.Unwrap()...)
	}
	return text(err)
}

// text returns an error in one line.
func text(err error) string {
	if err == nil {
		return ""
	}
	return outside(strings.Join(strings.Fields(err.Error()), " "))
}
