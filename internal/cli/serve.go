package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/locbench/locbench/internal/store/dataset"
	"github.com/locbench/locbench/internal/store/embedded"
	"github.com/locbench/locbench/internal/text/console"
	"github.com/locbench/locbench/services/go-nethttp/locations"
)

func newServe(env Env) *cobra.Command {
	var withStore bool
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve the built-in contender (the locations API)",
		Long: `Serves the locations API as contender go-nethttp does, configured by environment variables:

  LISTEN             IP address to listen on (default 0.0.0.0)
  PORT               port to listen on (default 8080)
  ELASTICSEARCH_URL  URL of the store (required)
  ACCESS_LOG         "off" disables the request log

With --embedded-store it starts its own store with the bundled cities, to try the API by hand.`,
		Example: `  locbench serve --embedded-store
  curl 'http://127.0.0.1:8080/city/v1/get?id=3067696&language=cs'
  PORT=9000 ELASTICSEARCH_URL=http://127.0.0.1:9200 locbench serve`,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			getenv := env.Getenv
			if withStore {
				s := embedded.New(embedded.Options{})
				defer s.Close()
				url, err := s.Listen("127.0.0.1:0")
				if err != nil {
					return err
				}
				data, err := dataset.Bundled()
				if err != nil {
					return err
				}
				if err := s.Fill(ctx, data, nil); err != nil {
					return err
				}
				getenv = func(key string) string {
					if key == "ELASTICSEARCH_URL" {
						return url
					}
					return env.Getenv(key)
				}
			}
			log := env.Stdout
			if !console.IsTerminal(log) { // escaping would cost CPU time that is measured; the reader escapes
				log = console.Terminal(log)
			}
			cfg, err := locations.ConfigFromEnv(getenv, log)
			if err != nil {
				return fmt.Errorf("serve: %w", err)
			}
			// SIGTERM is the normal end of a service, not a failure.
			return locations.Run(ctx, cfg)
		},
	}
	cmd.Flags().BoolVar(&withStore, "embedded-store", false, "start a store with the bundled cities")
	return cmd
}
