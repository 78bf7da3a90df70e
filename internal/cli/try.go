package cli

import (
	"github.com/spf13/cobra"

	"github.com/locbench/locbench/internal/app"
	"github.com/locbench/locbench/internal/text/console"
)

func newTry(env Env, runF work[app.RunOptions]) *cobra.Command {
	var o app.RunOptions
	cmd := &cobra.Command{
		Use:   "try PROFILE [CONTENDER[:VARIANT]...]",
		Short: "Send each request of a profile once and show the exchange",
		Long: `Starts each contender of the profile, sends the setup requests, each request and session once, and the teardown
requests, then stops it. It prints requests and responses as sent over the wire (secrets masked), and everything the
profile does not expect. It measures nothing, runs no suites and saves nothing.

'locbench run' does the same before each load, without printing.

Exit codes: 0 all as expected; 1 could not start; 2 wrong usage; 3 a contender failed or a response was unexpected; 130
interrupted.`,
		Example: `  locbench try bench.yaml                                  # each of its contenders
  locbench try bench.yaml orders --services ./svc
  locbench try bench.yaml --target http://127.0.0.1:8080   # a running service
  locbench try bench.yaml | grep -B 20 FAILED              # what is unexpected`,
		Args: args(cobra.ArbitraryArgs),
		RunE: func(cmd *cobra.Command, given []string) error {
			rest, err := profileFirst(cmd.Flags(), given)
			if err != nil {
				return err
			}
			if !cmd.Flags().Changed("profile") {
				if len(given) == 0 {
					return console.Usagef("no profile named; usage: %s", cmd.UseLine())
				}
				o.Profile, rest = given[0], given[1:]
			}
			o.ProfileNamed, o.Contenders, o.Command = true, rest, env.Args
			return runF(cmd.Context(), env, o)
		},
		ValidArgsFunction: func(cmd *cobra.Command, given []string, typed string) ([]string, cobra.ShellCompDirective) {
			if len(given) == 0 {
				return completeProfiles(cmd, given, typed)
			}
			return completeContenders(&o.Services)(cmd, given, typed)
		},
	}
	bindSite(cmd, &o)
	cmd.Flags().StringVarP(&o.Profile, "profile", "p", "", "the profile, as in 'locbench run'; all words are contenders")
	_ = cmd.RegisterFlagCompletionFunc("profile", completeProfiles)
	return cmd
}
