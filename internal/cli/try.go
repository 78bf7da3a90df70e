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
		Short: "Make each request of a profile once, and show what was sent and what came",
		Long: `Starts each contender of the profile, makes the requests of the set-up, then each kind of request and each
session once, and those of the teardown, and stops it. Shown are requests and answers as they went over the wire
(without secrets), and what of them is not as the profile expects. Nothing is measured, checked by suites, or kept.

'locbench run' does the same before each load, silently.

Exit codes: 0 all was as expected; 1 nothing could be begun; 2 wrong usage; 3 something was not; 130 interrupted.`,
		Example: `  locbench try bench.yaml                                   # each of its contenders
  locbench try bench.yaml orders --services ./svc
  locbench try bench.yaml --target http://127.0.0.1:8080     # a service that already runs`,
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
