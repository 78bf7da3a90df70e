package contenders

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/locbench/locbench/internal/app"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/contender"
	"github.com/locbench/locbench/internal/text/console"
	"github.com/locbench/locbench/internal/text/safe"
)

// NewOptions are the options of New.
type NewOptions struct {
	Name   string
	From   string   // the contender to copy; "": write only a manifest
	Parent string   // the folder to create the contender's folder in
	Dirs   []string // folders with more contenders
}

// New creates a contender and prints the next steps.
func New(env console.Env, o NewOptions) error {
	all, err := app.Discover(o.Dirs)
	if err != nil {
		return console.WithCode(console.ExitUsage, err)
	}
	if other, err := contender.Find(all, o.Name); err == nil {
		return console.Usagef("contender %s already exists in %s: choose another name", o.Name, other.Dir)
	}
	var svc bench.Service
	what := "has a manifest; schema for editors: " + filepath.Join(o.Parent, contender.SchemaName)
	if o.From == "" {
		svc, err = contender.Blank(o.Name, o.Parent)
	} else {
		template, missing := contender.Find(all, o.From)
		if missing != nil {
			return console.WithCode(console.ExitUsage, missing)
		}
		what = "is a copy of " + template.Name
		svc, err = contender.Scaffold(template, o.Name, o.Parent)
	}
	if err != nil {
		return console.WithCode(console.ExitUsage, err)
	}
	dir := filepath.Join(o.Parent, o.Name)
	fmt.Fprintln(env.Stdout, dir)
	fmt.Fprintf(env.Stderr, "%s %s. Next:\n", svc.Name, what)
	for i, step := range nextSteps(svc, dir) {
		fmt.Fprintf(env.Stderr, "  %d. %s\n", i+1, step)
	}
	return nil
}

// nextSteps returns the next steps with a new contender in dir. The bundled suite and profiles fit
// only a contender that serves the locations API.
func nextSteps(svc bench.Service, dir string) []string {
	manifest := filepath.Join(dir, contender.ManifestName)
	command := func(words ...string) string { return safe.Shell(append([]string{"locbench"}, words...)) }
	ofLocations := func(group string) bool { return slices.Contains(contender.Groups(), group) }
	if slices.ContainsFunc(svc.Endpoints, ofLocations) {
		return []string{
			"edit title, framework, version, endpoints in " + manifest,
			command("services", "verify", svc.Name, "--services", dir),
			command("run", svc.Name, "--services", dir),
		}
	}
	profile := svc.Name + ".yaml"
	return []string{
		"edit " + manifest + ": start command, port, ready",
		command("services", "validate", dir),
		command("profiles", "new", profile) + "   # which requests to send",
		command("run", svc.Name, "--services", dir, "--profile", profile),
	}
}
