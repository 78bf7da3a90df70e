package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/locbench/locbench/internal/app"
	"github.com/locbench/locbench/internal/app/contenders"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/contender"
	"github.com/locbench/locbench/internal/docker"
	"github.com/locbench/locbench/internal/text/console"
	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/internal/text/secret"
	"github.com/locbench/locbench/internal/text/table"
)

func newServices(env Env) *cobra.Command {
	var dirs []string
	cmd := &cobra.Command{
		Use:   "services",
		Short: "List, show, create, validate, build and verify contenders",
		Long: `A contender is a folder with a service.yaml, a Dockerfile and sources: one implementation of a service, often in several
variants. Adding one needs no Go: see services/go-nethttp and 'locbench services show go-nethttp'.`,
		Example: `  locbench services list
  locbench services show go-nethttp
  locbench services validate ./my-contenders
  locbench services build go-nethttp:release`,
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
			Long: `Reports every mistake in manifests, what in their Dockerfiles the engine cannot build, and what is outside of the folder.
It contacts an engine only if a Dockerfile needs BuildKit.

Exit codes: 0 all valid; 2 at least one is not.`,
			Example: "  locbench services validate ./my-contenders",
			Args:    args(cobra.MinimumNArgs(1)),
			RunE:    func(cmd *cobra.Command, folders []string) error { return validateServices(cmd.Context(), env, folders) },
		},
		newServicesBuild(env, &dirs, complete),
		newServicesVerify(env, &dirs, complete),
		newServicesNew(env, &dirs, complete),
	)
	return cmd
}

func validateServices(ctx context.Context, env Env, folders []string) error {
	var sources []contender.Source
	for _, d := range folders {
		sources = append(sources, contender.Folder(d))
	}
	found, err := contender.Discover(sources...)
	failures := []error{err}
	engine := sync.OnceValues(func() (docker.Info, error) {
		e, err := docker.Connect(ctx)
		if err != nil {
			return docker.Info{}, err
		}
		defer e.Close()
		return e.Info(), nil
	})
	for _, s := range found {
		if err := contender.CheckContext(s); err != nil {
			failures = append(failures, err)
			continue
		}
		if where := contender.NeedsBuildKit(s); where != "" {
			info, err := engine()
			if err != nil {
				env.Warn(fmt.Errorf("%s needs BuildKit; cannot tell if the engine has it: %w", where, err))
			} else if err := contender.CheckBuilder(s, info); err != nil {
				failures = append(failures, err)
				continue
			}
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
	env = maskedFor(env, []bench.Service{svc})
	_, err = fmt.Fprintf(env.Stdout, "# %s\n%s", safe.Line(svc.Dir, 1000), text)
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

// maxJobs bounds --jobs: each job is a compiler that needs CPUs and memory.
const maxJobs = 64

func newServicesBuild(env Env, dirs *[]string, complete cobra.CompletionFunc) *cobra.Command {
	var runtimeName string
	var o contenders.BuildOptions
	cmd := &cobra.Command{
		Use:   "build {NAME[:VARIANT]... | --all}",
		Short: "Build contenders before a run",
		Long: `Builds the Docker image of each contender, or with --runtime process its binary. 'locbench run' does the same when
needed. Unchanged contenders are not rebuilt; caches of the engine and tools are kept.

--all builds every variant that can be built here and lists the rest with the reason. Contenders build in parallel, the
variants of one contender one after the other. Build time and size are saved in your cache folder.

Exit codes: 0 all built; 2 wrong usage; 3 at least one failed (the others are built); 130 interrupted.`,
		Example: `  locbench services build go-nethttp:release
  locbench services build --all --jobs 2
  locbench services build rs-actix rs-axum --runtime process`,
		Args:              args(cobra.ArbitraryArgs),
		ValidArgsFunction: complete,
		RunE: func(cmd *cobra.Command, names []string) error {
			o.Names, o.Runtime, o.Dirs = names, bench.Runtime(runtimeName), *dirs
			if cmd.Flags().Changed("jobs") && (o.Jobs < 1 || o.Jobs > maxJobs) {
				return console.Usagef("--jobs %d: must be 1 to %d", o.Jobs, maxJobs)
			}
			return contenders.Build(cmd.Context(), env, o)
		},
	}
	cmd.Flags().BoolVar(&o.All, "all", false, "every variant that this machine can build")
	cmd.Flags().BoolVar(&o.Defaults, "defaults", false, "with --all: only the default variant of each")
	cmd.Flags().StringVar(&runtimeName, "runtime", string(bench.RuntimeDocker), "docker or process")
	cmd.Flags().BoolVar(&o.Rebuild, "rebuild", false, "rebuild unchanged contenders too (base images may differ)")
	cmd.Flags().IntVarP(&o.Jobs, "jobs", "j", 0, "parallel builds (default: half the CPUs, at most 4)")
	_ = cmd.RegisterFlagCompletionFunc("runtime", fixed("docker", "process"))
	return cmd
}

func newServicesVerify(env Env, dirs *[]string, complete cobra.CompletionFunc) *cobra.Command {
	var o contenders.VerifyOptions
	at := addresses{}
	cmd := &cobra.Command{
		Use:   "verify NAME[:VARIANT]...",
		Short: "Run lifecycle checks, HTTP checks and a short load",
		Long: `Starts each contender of the locations API in a container under 1.5 CPUs and 512 MiB and runs: the lifecycle checks
(exits without a store, logs port and requests, stops gracefully), all HTTP checks of its endpoint groups, and 30 s of
load with up to 2,048 connections, which must cause no errors. The store is embedded unless --elastic names one; the
load then stops at 64 connections, because Elasticsearch rejects searches beyond its queue of 1,000.

For another service, use 'locbench try PROFILE'.

The results folder is kept.

Exit codes: 0 all passed; 1 could not start; 2 wrong usage; 3 at least one failed; 130 interrupted.`,
		Example: `  locbench services verify go-nethttp
  locbench services verify my-contender --services ./my-contenders
  locbench services verify go-nethttp --elastic http://127.0.0.1:9200`,
		Args:              args(cobra.MinimumNArgs(1)),
		ValidArgsFunction: complete,
		RunE: func(cmd *cobra.Command, names []string) error {
			o.Names, o.Dirs, o.Command = names, *dirs, env.Args
			o.Needs = at.changes()
			return contenders.Verify(cmd.Context(), env, o)
		},
	}
	at.bind(cmd, "use")
	cmd.Flags().StringVarP(&o.Out, "out", "o", "", "results `DIR` (default results/<time>-verify)")
	return cmd
}

func newServicesNew(env Env, dirs *[]string, complete cobra.CompletionFunc) *cobra.Command {
	o := contenders.NewOptions{Parent: "."}
	cmd := &cobra.Command{
		Use:   "new NAME [DIR]",
		Short: "Create a contender: a new manifest, or a copy",
		Long: `Writes DIR/NAME/service.yaml (default DIR: working folder) with a comment on each key, and DIR/service.schema.json for
editors. If the folder exists and has a Dockerfile, the manifest uses it.

--from copies a contender's folder to DIR/NAME instead and replaces its name in manifest, Dockerfile and sources. The
bundled contenders serve the locations API.

Existing files are never changed.`,
		Example: `  locbench services new my-service ./my-contenders
  locbench services new go-mine --from go-nethttp ./my-contenders
  locbench services new rs-mine --from rs-axum`,
		Args: args(cobra.RangeArgs(1, 2)),
		RunE: func(_ *cobra.Command, words []string) error {
			if o.Name, o.Dirs = words[0], *dirs; len(words) == 2 {
				o.Parent = words[1]
			}
			return contenders.New(env, o)
		},
	}
	cmd.Flags().StringVar(&o.From, "from", "", "the `contender` to copy (see 'locbench services list')")
	_ = cmd.RegisterFlagCompletionFunc("from", complete)
	return cmd
}
