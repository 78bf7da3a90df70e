package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/locbench/locbench/internal/app"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/contender"
	"github.com/locbench/locbench/internal/text/console"
	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/internal/text/secret"
	"github.com/locbench/locbench/internal/text/table"
)

func newServices(env Env) *cobra.Command {
	var dirs []string
	cmd := &cobra.Command{
		Use:   "services",
		Short: "List, show, create and validate contenders",
		Long: `A contender is a folder with a service.yaml, a Dockerfile and sources: one implementation of a service, often in several
variants. Adding one needs no Go: see services/go-nethttp and 'locbench services show go-nethttp'. 'locbench run' builds
and checks what it runs.`,
		Example: `  locbench services list
  locbench services show go-nethttp
  locbench services validate ./my-contenders
  locbench services new my-service ./my-contenders`,
		Args: noSubcommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.PersistentFlags().StringSliceVar(&dirs, "services", nil, "`DIR` of contender folders; repeatable")
	complete := completeContenders(&dirs)
	cmd.AddCommand(
		&cobra.Command{
			Use: "list", Short: "List the contenders and their variants",
			Example: "  locbench services list --services ./my-contenders",
			Args:    args(cobra.NoArgs),
			RunE:    func(*cobra.Command, []string) error { return listServices(env, dirs) },
		},
		&cobra.Command{
			Use: "show NAME", Short: "Print a contender's manifest",
			Example:           "  locbench services show go-nethttp",
			Args:              args(cobra.ExactArgs(1)),
			ValidArgsFunction: complete,
			RunE:              func(_ *cobra.Command, names []string) error { return showService(env, dirs, names[0]) },
		},
		&cobra.Command{
			Use: "validate DIR...", Short: "Check manifests: each mistake with its line and fix",
			Long: `Reports every mistake in manifests, and links out of the folder that a build would not follow. It contacts no engine.

Exit codes: 0 all valid; 2 at least one is not.`,
			Example: "  locbench services validate ./my-contenders",
			Args:    args(cobra.MinimumNArgs(1)),
			RunE:    func(_ *cobra.Command, folders []string) error { return validateServices(env, folders) },
		},
		newServicesNew(env, &dirs),
	)
	return cmd
}

func validateServices(env Env, folders []string) error {
	var sources []contender.Source
	for _, d := range folders {
		sources = append(sources, contender.Folder(d))
	}
	found, err := contender.Discover(sources...)
	failures := []error{err}
	for _, s := range found {
		if err := contender.CheckContext(s); err != nil {
			failures = append(failures, err)
			continue
		}
		text := s.Dir + ": ok: " + s.Name
		if framework := framework(s); framework != "" {
			text += ", " + framework
		}
		if names := variablesOf(s); len(names) > 0 {
			text += "; from the environment: " + strings.Join(names, ", ")
		}
		fmt.Fprintln(maskedFor(env, found).Stdout, safe.Line(text, 1000))
	}
	return console.WithCode(console.ExitUsage, errors.Join(failures...))
}

// variablesOf returns the variables of the environment that a manifest takes.
func variablesOf(s bench.Service) []string {
	var texts []string
	for _, env := range append([]map[string]string{s.Env}, variantEnvs(s)...) {
		for _, key := range slices.Sorted(maps.Keys(env)) {
			texts = append(texts, env[key])
		}
	}
	for _, n := range s.Needs {
		texts = append(texts, n.Texts()...)
	}
	return bench.EnvNames(texts...)
}

func variantEnvs(s bench.Service) (all []map[string]string) {
	for _, v := range s.Variants {
		all = append(all, v.Env)
	}
	return all
}

func listServices(env Env, dirs []string) error {
	all, err := app.Discover(dirs)
	env = maskedFor(env, all)
	t := table.Table{Columns: []table.Column{
		{Title: "NAME", Left: true}, {Title: "LANGUAGE", Left: true, Drop: 1}, {Title: "FRAMEWORK", Left: true},
		{Title: "VARIANTS", Left: true, Wrap: true}, {Title: "ENDPOINTS", Drop: 3},
		{Title: "TAGS", Left: true, Drop: 2},
	}}
	for _, s := range all {
		var variants []string
		if s.Unverified != "" {
			variants = append(variants, "(unverified)")
		}
		for _, v := range s.Variants {
			if v.Unverified != "" {
				v.Name += " (unverified)"
			}
			variants = append(variants, v.Name)
		}
		addRow(&t, s.Name, cmp.Or(s.Language, "–"), cmp.Or(framework(s), "–"), strings.Join(variants, ", "),
			strconv.Itoa(len(s.Endpoints)), strings.Join(s.Tags, " "))
	}
	_, writeErr := io.WriteString(env.Stdout, t.Text(console.Columns(env.Stdout)))
	return errors.Join(writeErr, console.WithCode(console.ExitUsage, err))
}

// addRow adds a row, each cell as one line without control characters.
func addRow(t *table.Table, cells ...string) *table.Row {
	for i, cell := range cells {
		cells[i] = safe.Line(cell, 1000)
	}
	return t.Add(cells...)
}

// framework returns a contender's framework and version; "" if its manifest has none.
func framework(s bench.Service) string { return strings.TrimSpace(s.Framework + " " + s.Version) }

// maskedFor returns env with writers that mask the secrets of contenders.
func maskedFor(env Env, services []bench.Service) Env {
	return env.Masked(secret.New(secret.Of(bench.Run{}, services)...))
}

func showService(env Env, dirs []string, name string) error {
	all, err := app.Discover(dirs)
	if err != nil {
		env.Warn(err)
	}
	svc, err := contender.Find(all, name)
	if err != nil {
		return console.WithCode(console.ExitUsage, err)
	}
	text, err := fs.ReadFile(svc.Files, contender.ManifestName)
	if err != nil {
		return fmt.Errorf("read the manifest of %s: %w", svc.Name, err)
	}
	known := secret.New(secret.Of(bench.Run{}, []bench.Service{svc})...)
	_, err = fmt.Fprintf(env.Stdout, "# %s\n%s", safe.Line(svc.Dir, 1000), known.Keyed(string(text)))
	return err
}

// completeContenders completes contenders and variants, including those in dirs.
func completeContenders(dirs *[]string) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) (names []string, _ cobra.ShellCompDirective) {
		all, _ := app.Discover(*dirs)
		known := secret.New(secret.Of(bench.Run{}, all)...)
		with := func(name, about string) string {
			return strings.TrimSuffix(name+"\t"+safe.Line(known.Text(about), 200), "\t")
		}
		for _, s := range all {
			names = append(names, with(s.Name, cmp.Or(s.Framework, s.Title)))
			for _, v := range s.Variants {
				names = append(names, with(s.Name+":"+v.Name, v.Title))
			}
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}

// completeProfileFirst also completes files, of which the first word may be a profile.
func completeProfileFirst(dirs *[]string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, done []string, word string) ([]string, cobra.ShellCompDirective) {
		names, directive := completeContenders(dirs)(cmd, done, word)
		if len(done) == 0 {
			directive = cobra.ShellCompDirectiveDefault
		}
		return names, directive
	}
}

func newServicesNew(env Env, dirs *[]string) *cobra.Command {
	return &cobra.Command{
		Use:   "new NAME [DIR]",
		Short: "Create a contender: a new manifest",
		Long: `Writes DIR/NAME/service.yaml (default DIR: working folder) with a comment on each key, and DIR/service.schema.json for
editors. If the folder exists and has a Dockerfile, the manifest uses it. Existing files are never changed.`,
		Example: "  locbench services new my-service ./my-contenders",
		Args:    args(cobra.RangeArgs(1, 2)),
		RunE: func(_ *cobra.Command, words []string) error {
			return newService(env, *dirs, words[0], append(words, ".")[1])
		},
	}
}

// newService creates a contender in a folder of parent and prints the next steps.
func newService(env Env, dirs []string, name, parent string) error {
	all, err := app.Discover(dirs)
	if err != nil {
		return console.WithCode(console.ExitUsage, err)
	}
	if other, err := contender.Find(all, name); err == nil {
		return console.Usagef("contender %s already exists in %s: choose another name", name, other.Dir)
	}
	if err := contender.Blank(name, parent); err != nil {
		return console.WithCode(console.ExitUsage, err)
	}
	dir := filepath.Join(parent, name)
	fmt.Fprintln(env.Stdout, dir)
	command := func(words ...string) string { return safe.Shell(append([]string{"locbench"}, words...)) }
	fmt.Fprintf(env.Stderr, "%s has a manifest; schema for editors: %s. Next:\n", name, filepath.Join(parent, contender.SchemaName))
	for i, step := range []string{
		"edit " + filepath.Join(dir, contender.ManifestName) + ": start command, port, ready",
		command("services", "validate", dir),
		command("profiles", "new", name+".yaml") + "   # which requests to send",
		command("run", name, "--services", dir, "--profile", name+".yaml"),
	} {
		fmt.Fprintf(env.Stderr, "  %d. %s\n", i+1, step)
	}
	return nil
}
