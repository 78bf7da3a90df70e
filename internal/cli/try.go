package cli

import (
	"github.com/spf13/cobra"

	"locbench/internal/app"
	"locbench/internal/text/console"
)

func newTry(env Env) *cobra.Command {
	var o app.RunOptions
	cmd := &cobra.Command{
		Use:   "try PROFILE [CONTENDER[:VARIANT]...]",
		Short: "Send each request of a profile once and show the exchange",
		Long: `Starts each contender of the profile, sends the setup requests, each request and session once, and the teardown
requests, then stops it. It prints requests and responses as sent over the wire (secrets masked) and everything the
profile does not expect. It measures nothing, runs no suites and saves nothing.

'locbench run' does the same before each load, without printing.

Exit codes: 0 all as expected; 1 could not start; 2 wrong usage; 3 a contender failed or a response was unexpected; 130
interrupted.`,
		Example: `  locbench try bench.yaml                                  # each of its contenders
  locbench try bench.yaml orders --services ./svc
  locbench try bench.yaml --target http://127.0.0.1:8080   # a running service`,
		Args: args(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, given []string) error {
			o.Profile, o.ProfileNamed, o.Contenders, o.Command = given[0], true, given[1:], env.Args
			return app.Try(cmd.Context(), console.Env(env), o)
		},
		ValidArgsFunction: func(cmd *cobra.Command, given []string, typed string) ([]string, cobra.ShellCompDirective) {
			if len(given) == 0 {
				return completeProfiles(cmd, given, typed)
			}
			return completeContenders(&o.Services)(cmd, given, typed)
		},
	}
	bindSite(cmd, &o)
	return cmd
}
