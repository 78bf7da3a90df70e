package cli

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"locbench/internal/bench"
	"locbench/internal/contender"
	"locbench/internal/results"
	"locbench/internal/safe"
)

// verifyProfile is what a contender is put through to count as verified.
//
//go:embed verify.yaml
var verifyProfile []byte

func newServicesVerify(env Env, dirs *[]string, complete cobra.CompletionFunc) *cobra.Command {
	var sel selection
	var elastic, record, out string
	cmd := &cobra.Command{
		Use:   "verify {NAME[:VARIANT]... | --all}",
		Short: "Put contenders through the process contract, all checks and a short load",
		Long: `Starts each contender named in a container under 1.5 CPUs and 512 MiB, as its Dockerfile builds it, and looks at: the
process contract (without a store it must end, port and requests in the log, graceful stop), every HTTP check of the groups
that it serves, and half a minute of load with up to 2,048 connections, the most of any profile, without errors. The store
is the one inside locbench unless --elastic names one. Then the load has up to 64 connections: an Elasticsearch refuses
searches beyond the 1,000 that it queues, which is no fault of the contender.

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
			sel.names, sel.runtime = names, bench.RuntimeDocker
			list, err := sel.choose(env, *dirs)
			if err != nil {
				return err
			}
			f := runFlags{headless: true, services: *dirs, elastic: elastic, out: out}
			if elastic != "" {
				f.connections = []string{"1 warm-up for 2s", "4 for 3s", "64 for 3s"}
			}
			return verifyServices(cmd.Context(), env, list, f, record)
		},
	}
	sel.bind(cmd)
	cmd.Flags().StringVar(&elastic, "elastic", "", "`URL` of an Elasticsearch 7 to use (see 'locbench seed')")
	cmd.Flags().StringVar(&record, "record", "", "also put what was seen into this `FILE`")
	cmd.Flags().StringVarP(&out, "out", "o", "", "results `DIR` (default results/<time>-verify)")
	_ = cmd.MarkFlagFilename("record", "json")
	return cmd
}

func verifyServices(ctx context.Context, env Env, list []bench.Service, f runFlags, record string) error {
	if len(list) == 0 {
		return usage("no contender is left to verify")
	}
	dir, err := os.MkdirTemp("", "locbench-verify-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	f.profile = filepath.Join(dir, "verify.yaml")
	if err := os.WriteFile(f.profile, verifyProfile, 0o600); err != nil {
		return err
	}
	if f.out == "" {
		f.out = filepath.Join("results", time.Now().Format("20060102-150405")+"-verify")
	}
	names := make([]string, len(list))
	for i, svc := range list {
		names[i] = selected(svc)
	}
	quiet := env
	quiet.Stdout = io.Discard // the table is one of throughput, which is not what was asked for
	set := func(flag string) bool { return flag == "elastic" && f.elastic != "" }
	runErr := execute(ctx, quiet, f, names, set, nil)
	run, legs, err := results.Read(f.out)
	if err != nil {
		return cmp.Or(runErr, err) // where nothing ran nothing was kept
	}
	states, wrong := map[string]contender.Verified{}, 0
	for _, svc := range list {
		leg, ok := legOf(legs, svc)
		if !ok || leg.State == bench.LegAborted {
			fmt.Fprintf(env.Stdout, "%s: not looked at\n", selected(svc))
			continue
		}
		v, err := verifiedState(run, leg, svc)
		if err != nil {
			return err
		}
		if v.Failure != "" {
			wrong++
		}
		tellVerdict(env.Stdout, leg, v)
		states[selected(svc)] = v
	}
	if err := keepStates(states, record); err != nil {
		return err
	}
	if runErr != nil && (exitCode(ctx, runErr) != ExitContender || wrong == 0) {
		return runErr
	}
	if wrong > 0 {
		return withCode(ExitContender, fmt.Errorf("%d of %d are not as they should be", wrong, len(list)))
	}
	return nil
}

func keepStates(states map[string]contender.Verified, record string) error {
	if len(states) == 0 {
		return nil
	}
	err := contender.KeepStates("", states, contender.BuildOptions{})
	if record != "" {
		err = errors.Join(err, contender.KeepStates(record, states, contender.BuildOptions{}))
	}
	if err != nil {
		return fmt.Errorf("keep what was seen: %s", safe.Line(err.Error(), 1000))
	}
	return nil
}

func legOf(legs []bench.LegResult, svc bench.Service) (bench.LegResult, bool) {
	for _, l := range legs {
		if l.Leg.Contender == svc.Name && l.Leg.Variant == svc.Variant {
			return l, true
		}
	}
	return bench.LegResult{}, false
}
