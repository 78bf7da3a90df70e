package cli

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/contender/check"
	"github.com/locbench/locbench/internal/needs"
	"github.com/locbench/locbench/internal/text/console"
	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/internal/text/secret"
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
