package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"
	"sync"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"locbench/internal/app"
	"locbench/internal/app/contenders"
	"locbench/internal/bench"
	"locbench/internal/contender"
	"locbench/internal/contender/docker"
	"locbench/internal/text/console"
	"locbench/internal/text/safe"
	"locbench/internal/text/secret"
)

func newServices(env Env) *cobra.Command {
	var dirs []string
	cmd := &cobra.Command{
		Use:   "services",
		Short: "List, show, validate, build, verify and begin contenders",
		Long: `A contender is a folder with a service.yaml, a Dockerfile and sources: one implementation of the locations
service, often in several variants. Adding one needs no Go: see services/go-nethttp and 'locbench services show
go-nethttp'.`,
		Example: `  locbench services list
  locbench services show go-nethttp
  locbench services validate ./my-contenders
  locbench services build go-nethttp:release`,
		Args: noSubcommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.PersistentFlags().StringSliceVar(&dirs, "services", nil, "`DIR` with more contenders; may be repeated")
	complete := completeContenders(&dirs)
	cmd.AddCommand(
		&cobra.Command{
			Use: "list", Short: "List the contenders and their variants",
			Example: "  locbench services list --services ./my-contenders",
			Args:    args(cobra.NoArgs),
			RunE:    func(*cobra.Command, []string) error { return listServices(env, dirs) },
		},
		&cobra.Command{
			Use: "show NAME", Short: "Print what a contender's manifest says",
			Example:           "  locbench services show go-nethttp",
			Args:              args(cobra.ExactArgs(1)),
			ValidArgsFunction: complete,
			RunE:              func(_ *cobra.Command, names []string) error { return showService(env, dirs, names[0]) },
		},
		&cobra.Command{
			Use: "validate DIR...", Short: "Report every mistake in manifests, with its line and what would be right",
			Long: `Reports every mistake in the manifests of contenders, and what in their Dockerfiles the Docker engine cannot
build. An engine is asked only where a Dockerfile needs BuildKit.

Exit codes: 0 all are as they should be; 2 at least one is not.`,
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
		if where := contender.NeedsBuildKit(s); where != "" {
			info, err := engine()
			if err != nil {
				env.Warn(fmt.Errorf("%s needs BuildKit; whether the engine has it cannot be known: %w", where, err))
			} else if err := contender.CheckBuilder(s, info); err != nil {
				failures = append(failures, err)
				continue
			}
		}
		text := s.Dir + ": ok: " + s.Name
		if framework := framework(s); framework != "" {
			text += ", " + framework
		}
		fmt.Fprintln(maskedFor(env, found).Stdout, safe.Line(text, 1000))
	}
	return console.WithCode(console.ExitUsage, errors.Join(failures...))
}

func listServices(env Env, dirs []string) error {
	all, err := app.Discover(dirs)
	known, knownErr := contenders.KnownStates()
	if knownErr != nil {
		env.Warn(knownErr)
	}
	env = maskedFor(env, all)
	rows := [][]string{{"NAME", "LANGUAGE", "FRAMEWORK", "ENDPOINTS", "VERIFIED", "VARIANTS", "TAGS"}}
	for _, s := range all {
		variants := make([]string, len(s.Variants))
		for i, v := range s.Variants {
			variants[i] = v.Name
		}
		note := strings.Join(s.Tags, " ")
		if s.Unverified != "" {
			note += " UNVERIFIED"
		}
		rows = append(rows, []string{
			s.Name, cmp.Or(s.Language, "–"), cmp.Or(framework(s), "–"), strconv.Itoa(len(s.Endpoints)),
			contenders.VerifiedText(s, known), strings.Join(variants, " "), note,
		})
	}
	return errors.Join(writeTable(env.Stdout, rows), console.WithCode(console.ExitUsage, err))
}

// framework is what a contender is written with, "" where its manifest does not say.
func framework(s bench.Service) string { return strings.TrimSpace(s.Framework + " " + s.Version) }

// maskedFor is env with writers that mask the secrets of contenders.
func maskedFor(env Env, services []bench.Service) Env {
	return env.Masked(secret.New(secret.Of(bench.Run{}, services)...))
}

// writeTable writes rows in columns, each cell as one harmless line.
func writeTable(w io.Writer, rows [][]string) error {
	tw := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	for _, cells := range rows {
		line := make([]string, len(cells))
		for i, cell := range cells {
			line[i] = safe.Line(cell, 1000)
		}
		fmt.Fprintln(tw, strings.Join(line, "\t"))
	}
	return tw.Flush()
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

// completeContenders offers the contenders and their variants, with those in dirs.
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

// maxJobs bounds --jobs: each is a compiler that wants CPUs and memory of its own.
const maxJobs = 64

func newServicesBuild(env Env, dirs *[]string, complete cobra.CompletionFunc) *cobra.Command {
	var runtimeName string
	var o contenders.BuildOptions
	cmd := &cobra.Command{
		Use:   "build {NAME[:VARIANT]... | --all}",
		Short: "Build contenders ahead of a run",
		Long: `Builds the Docker image of each contender named, or with --runtime process its binary. 'locbench run' does
the same when needed; an unchanged contender is not built again, and what the engine or the tools keep stays.

With --all every contender in every variant is built that can be built here; what is left out is shown, with the reason.
Contenders are built at the same time, the variants of one after each other, since they share what is kept. How long a
build took and how large its outcome is goes into the user's cache folder.

Exit codes: 0 all are built; 2 wrong usage; 3 at least one failed (all others are built); 130 interrupted.`,
		Example: `  locbench services build go-nethttp:release
  locbench services build --all --jobs 2
  locbench services build rs-actix rs-axum --runtime process`,
		Args:              args(cobra.ArbitraryArgs),
		ValidArgsFunction: complete,
		RunE: func(cmd *cobra.Command, names []string) error {
			o.Names, o.Runtime, o.Dirs = names, bench.Runtime(runtimeName), *dirs
			if cmd.Flags().Changed("jobs") && (o.Jobs < 1 || o.Jobs > maxJobs) {
				return console.Usagef("--jobs %d: a number from 1 to %d", o.Jobs, maxJobs)
			}
			return contenders.Build(cmd.Context(), env, o)
		},
	}
	bindSelection(cmd, &o.Selection)
	cmd.Flags().StringVar(&runtimeName, "runtime", string(bench.RuntimeDocker), "docker or process")
	cmd.Flags().BoolVar(&o.Rebuild, "rebuild", false, "build even what is unchanged: its base images may not be")
	cmd.Flags().IntVarP(&o.Jobs, "jobs", "j", 0,
		"contenders that are built at the same time (default one for two CPUs, at most 4)")
	_ = cmd.RegisterFlagCompletionFunc("runtime", fixed("docker", "process"))
	return cmd
}

// bindSelection gives cmd the options that select contenders without naming them.
func bindSelection(cmd *cobra.Command, s *contenders.Selection) {
	cmd.Flags().BoolVar(&s.All, "all", false, "every contender in every variant, as far as this machine can build it")
	cmd.Flags().BoolVar(&s.Defaults, "defaults", false, "with --all: only the default variant of each")
}

func newServicesVerify(env Env, dirs *[]string, complete cobra.CompletionFunc) *cobra.Command {
	var o contenders.VerifyOptions
	cmd := &cobra.Command{
		Use:   "verify {NAME[:VARIANT]... | --all}",
		Short: "Put contenders through the process contract, all checks and a short load",
		Long: `Starts each contender named in a container under 1.5 CPUs and 512 MiB, as its Dockerfile builds it, and looks
at: the process contract (without a store it must end, port and requests in the log, graceful stop), every HTTP check
of the groups that it serves, and half a minute of load with up to 2,048 connections, the most of any profile, without
errors. The store is the one inside locbench unless --elastic names one. Then the load has up to 64 connections: an
Elasticsearch refuses searches beyond the 1,000 that it queues, which is no fault of the contender.

What was seen, and of which sources, is kept in the user's cache folder; 'locbench services list' shows it, until the
sources change. --record also puts it into a file that travels with the sources, for the bundled contenders
services/verified.json. The results of the run stay as those of any other.

Exit codes: 0 all are as they should be; 1 nothing could be begun; 2 wrong usage; 3 at least one is not; 130 interrupted
(what was finished is kept).`,
		Example: `  locbench services verify go-nethttp
  locbench services verify my-contender --services ./my-contenders
  locbench services verify --all --record services/verified.json
  locbench services verify go-nethttp --elastic http://127.0.0.1:9200`,
		Args:              args(cobra.ArbitraryArgs),
		ValidArgsFunction: complete,
		RunE: func(cmd *cobra.Command, names []string) error {
			o.Names, o.Runtime, o.Dirs = names, bench.RuntimeDocker, *dirs
			o.Command = env.Args
			return contenders.Verify(cmd.Context(), env, o)
		},
	}
	bindSelection(cmd, &o.Selection)
	cmd.Flags().StringVar(&o.Elastic, "elastic", "", "`URL` of an Elasticsearch 7 to use (see 'locbench seed')")
	cmd.Flags().StringVar(&o.Record, "record", "", "also put what was seen into this `FILE`")
	cmd.Flags().StringVarP(&o.Out, "out", "o", "", "results `DIR` (default results/<time>-verify)")
	_ = cmd.MarkFlagFilename("record", "json")
	return cmd
}

func newServicesNew(env Env, dirs *[]string, complete cobra.CompletionFunc) *cobra.Command {
	o := contenders.NewOptions{Parent: "."}
	cmd := &cobra.Command{
		Use:   "new NAME [DIR]",
		Short: "Begin a contender of your own: a manifest, or a copy of another",
		Long: `Writes DIR/NAME/service.yaml (DIR is the working folder by default), with a
comment on each key, and for editors DIR/service.schema.json. The folder may be
there already: a Dockerfile in it is then what the manifest names.

With --from it copies the folder of a contender to DIR/NAME instead, with its
name replaced in manifest, Dockerfile and sources, ready to build and run. Those
that come with locbench serve the locations API.

What exists is never changed.`,
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
