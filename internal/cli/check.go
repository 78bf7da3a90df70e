package cli

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"locbench/internal/app"
	"locbench/internal/bench"
	"locbench/internal/check"
	"locbench/internal/contender"
	"locbench/internal/elastic/store"
	"locbench/internal/exit"
	"locbench/internal/safe"
)

func newCheck(env Env) *cobra.Command {
	var (
		suite     string
		endpoints []string
		timeout   time.Duration
		verbose   bool
	)
	cmd := &cobra.Command{
		Use:   "check URL",
		Short: "Run the HTTP checks against a service that already runs",
		Long: `Asks the service at URL every question of a check suite and tells which answers are wrong: one line for each check
that failed (all with --verbose) and a summary. Nothing is started, loaded or changed.

The bundled suite "locations" knows the bundled data (see 'locbench seed'); a suite of one's own is a YAML file.
Exit code 0 when every check passed, 4 when one failed, 1 when the service could not be asked.`,
		Example: `  locbench check http://127.0.0.1:8080
  locbench check http://127.0.0.1:8080 --endpoints get,benchmark
  locbench check https://cities.example.org --suite my-cities.yaml --verbose`,
		Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, target []string) error {
			base, err := app.ServiceURL(target[0])
			if err != nil {
				return err
			}
			s, err := check.LoadSuite(suite)
			if err != nil {
				return exit.With(exit.Usage, err)
			}
			if len(endpoints) == 0 {
				endpoints = nil
			}
			for _, e := range endpoints {
				if !slices.Contains(contender.Groups(), e) {
					return exit.Usagef("--endpoints: there is no group %q; there are %s", e, strings.Join(contender.Groups(), " "))
				}
			}
			if err := answers(cmd.Context(), base, timeout); err != nil {
				return err
			}
			t := checkTeller{env: env, verbose: verbose}
			opts := check.Options{BaseURL: base, Suite: s, Endpoints: endpoints, Timeout: timeout, OnResult: t.tell}
			return t.finish(cmd.Context(), base, opts)
		},
	}
	cmd.Flags().StringVar(&suite, "suite", "locations", "bundled suite ("+strings.Join(check.SuiteNames(), ", ")+") or YAML `FILE`")
	cmd.Flags().StringSliceVar(&endpoints, "endpoints", nil, "check only these `groups` (default all): "+strings.Join(contender.Groups(), ","))
	cmd.Flags().DurationVar(&timeout, "timeout", check.DefaultTimeout, "time that one check may take")
	cmd.Flags().BoolVarP(&verbose, "verbose", "v", false, "tell the checks that passed or were skipped, too")
	return cmd
}

// answers tells whether anything answers at base: a service that is down is not a service that
// answers wrongly.
func answers(ctx context.Context, base string, timeout time.Duration) error {
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("no answer within %v", timeout))
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/", nil)
	if err != nil {
		return fmt.Errorf("ask %s: %w", store.Redact(base), err)
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return fmt.Errorf("nothing was checked, %s does not answer: %w", store.Redact(base), err)
	}
	return resp.Body.Close()
}

type checkTeller struct {
	env                     Env
	verbose                 bool
	passed, failed, skipped int
}

func (t *checkTeller) tell(c bench.CheckResult) {
	switch c.Status {
	case bench.CheckFailed:
		t.failed++
	case bench.CheckSkipped:
		t.skipped++
	default:
		t.passed++
	}
	if c.Status == bench.CheckFailed || t.verbose {
		line := fmt.Sprintf("%-7s %s/%s", c.Status, safe.Line(c.Group, 60), safe.Line(c.Name, 200))
		if c.Detail != "" {
			line += "\n        " + safe.Line(c.Request, 300) + "\n        " + safe.Line(c.Detail, 1000)
		}
		fmt.Fprintln(t.env.Stdout, line)
	}
}

func (t *checkTeller) finish(ctx context.Context, base string, opts check.Options) error {
	_, err := check.HTTP(ctx, opts)
	fmt.Fprintf(t.env.Stdout, "%d passed, %d failed, %d skipped\n", t.passed, t.failed, t.skipped)
	if err != nil {
		return fmt.Errorf("check %s: %w", store.Redact(base), err)
	}
	if t.failed > 0 {
		return exit.With(exit.Threshold, fmt.Errorf("%d of %d checks failed", t.failed, t.passed+t.failed))
	}
	return nil
}
