package cli

import (
	"github.com/spf13/cobra"

	"locbench/internal/app/contenders"
	"locbench/internal/bench"
)

func newServicesVerify(env Env, dirs *[]string, complete cobra.CompletionFunc) *cobra.Command {
	var o contenders.VerifyOptions
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
