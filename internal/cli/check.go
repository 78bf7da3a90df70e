package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/contender"
	"github.com/locbench/locbench/internal/contender/check"
	"github.com/locbench/locbench/internal/needs"
	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/text/console"
	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/internal/text/secret"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

func newCheck(env Env) *cobra.Command {
	var suite string
	var endpoints, allowed []string
	var timeout time.Duration
	var verbose bool
	cmd := &cobra.Command{
		Use:   "check URL",
		Short: "Run HTTP checks against a running service",
		Long: `Runs a check suite against the service at URL and prints each failed check (all with --verbose) and a summary. It starts
nothing, sends no load and changes nothing.

The bundled suite "locations" expects the bundled data (see 'locbench seed'); your own suite is a YAML file.
Exit codes: 0 all checks passed; 4 a check failed; 1 the service did not respond.`,
		Example: `  locbench check http://127.0.0.1:8080
  locbench check http://127.0.0.1:8080 --endpoints get,benchmark
  locbench check https://cities.example.org --suite my-cities.yaml --verbose`,
		Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, target []string) error {
			base, err := needs.ServiceURL(target[0])
			if err != nil {
				return err
			}
			s, err := check.LoadSuite(suite, allowed...)
			if err != nil {
				return console.WithCode(console.ExitUsage, err)
			}
			for _, e := range endpoints {
				if groups := s.GroupNames(); !slices.Contains(groups, e) {
					return console.Usagef("--endpoints: suite %s has no group %q; groups: %s", s.Name, e, strings.Join(groups, " "))
				}
			}
			if err := reachable(cmd.Context(), base, timeout); err != nil {
				return err
			}
			opts := check.Options{BaseURL: base, Suite: s, Endpoints: endpoints, Timeout: timeout}
			return runChecks(cmd.Context(), env, opts, verbose)
		},
	}
	cmd.Flags().StringVar(&suite, "suite", "locations",
		"bundled suite ("+strings.Join(check.SuiteNames(), ", ")+") or YAML `FILE`")
	bindAllowed(cmd, &allowed)
	cmd.Flags().StringSliceVar(&endpoints, "endpoints", nil, "check only these `groups` of the suite (default all)")
	cmd.Flags().DurationVar(&timeout, "timeout", check.DefaultTimeout, "timeout per check")
	cmd.Flags().BoolVarP(&verbose, "verbose", "v", false, "also print passed and skipped checks")
	return cmd
}

// reachable returns an error if there is no response at base: a service that is down has no failed
// checks.
func reachable(ctx context.Context, base string, timeout time.Duration) error {
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("no response within %v", timeout))
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/", nil)
	if err != nil {
		return fmt.Errorf("GET %s: %w", secret.WithoutUser(base), err)
	}
	resp, err := (&http.Transport{Proxy: secret.Proxy, DisableKeepAlives: true}).RoundTrip(req)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return fmt.Errorf("no checks run: %s does not respond: %w", secret.WithoutUser(base), err)
	}
	return resp.Body.Close()
}

// runChecks runs the checks and prints their results.
func runChecks(ctx context.Context, env Env, opts check.Options, verbose bool) error {
	counts := map[bench.CheckStatus]int{}
	opts.OnResult = func(c bench.CheckResult) {
		counts[c.Status]++
		if c.Status != bench.CheckFailed && !verbose {
			return
		}
		line := fmt.Sprintf("%-7s %s/%s", c.Status, safe.Line(c.Group, 60), safe.Line(c.Name, 200))
		if c.Detail != "" {
			line += "\n        " + safe.Line(c.Request, 300) + "\n        " + safe.Line(c.Detail, 1000)
		}
		fmt.Fprintln(env.Stdout, line)
	}
	_, err := check.HTTP(ctx, opts)
	passed, failed := counts[bench.CheckPassed], counts[bench.CheckFailed]
	fmt.Fprintf(env.Stdout, "%d passed, %d failed, %d skipped\n", passed, failed, counts[bench.CheckSkipped])
	if err != nil {
		return fmt.Errorf("check %s: %w", secret.WithoutUser(opts.BaseURL), err)
	}
	if failed > 0 {
		return console.WithCode(console.ExitThreshold, fmt.Errorf("%d of %d checks failed", failed, passed+failed))
	}
	return nil
}

func newValidate(env Env) *cobra.Command {
	var allowed []string
	cmd := &cobra.Command{
		Use:   "validate FILE...",
		Short: "Check profiles and manifests: each mistake with its line and fix",
		Long: `Checks profiles and manifests. A manifest is a ` + contender.ManifestName + `, its folder, or a folder of such folders; any other file is a
profile. The same as 'locbench profiles validate' and 'locbench services validate'.

Exit codes: 0 all valid; 2 at least one is not.`,
		Example: `  locbench validate bench.yaml
  locbench validate bench.yaml ./my-contenders
  locbench validate orders/service.yaml`,
		Args: args(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, files []string) error {
			var named, folders []string
			for _, file := range files {
				info, err := os.Stat(file)
				switch {
				case err == nil && info.IsDir():
					folders = append(folders, file)
				case filepath.Base(file) == contender.ManifestName:
					folders = append(folders, filepath.Dir(file))
				default:
					named = append(named, file)
				}
			}
			return errors.Join(validateServices(env, folders), validateProfiles(env, named, allowed))
		},
	}
	bindAllowed(cmd, &allowed)
	return cmd
}

// schemas are the kinds of files that users write.
var schemas = []struct {
	kind, what string
	schema     strictyaml.Schema
}{
	{"profile", "profiles, as in profiles/*.yaml", profile.Schema},
	{"manifest", "the service.yaml of contenders", contender.Schema},
	{"suite", "suites of HTTP checks", check.Schema},
}

func newSchema(env Env) *cobra.Command {
	return &cobra.Command{
		Use:   "schema profile|manifest|suite",
		Short: "Print the JSON Schema of profiles, manifests or suites",
		Long: `Prints the JSON Schema (draft 2020-12) of profiles, manifests (service.yaml) or check suites, for completion and checks
in an editor. 'locbench profiles validate' and 'locbench services validate' check more than the schema can.

Editors with the YAML language server (VS Code, Neovim, Helix and others) use the schema that a comment in the file
names. 'locbench profiles new' and 'locbench services new' write that comment, and the schema next to the file.`,
		Example: `  locbench schema profile > profile.schema.json   # first line of a profile next to it:
                                                  # yaml-language-server: $schema=profile.schema.json
  locbench schema manifest > service.schema.json
  locbench schema suite > suite.schema.json`,
		Args:              args(cobra.ExactArgs(1)),
		ValidArgsFunction: completeSchemas,
		RunE: func(_ *cobra.Command, kinds []string) error {
			var known []string
			for _, s := range schemas {
				if s.kind == kinds[0] {
					_, err := io.WriteString(env.Stdout, string(s.schema))
					return err
				}
				known = append(known, s.kind)
			}
			return console.Usagef("%q has no schema; choose one of %s", kinds[0], strings.Join(known, ", "))
		},
	}
}

func completeSchemas(*cobra.Command, []string, string) (all []string, _ cobra.ShellCompDirective) {
	for _, s := range schemas {
		all = append(all, s.kind+"\t"+s.what)
	}
	return all, cobra.ShellCompDirectiveNoFileComp
}
