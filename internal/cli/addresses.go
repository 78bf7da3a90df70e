package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/locbench/locbench/internal/needs"
	"github.com/locbench/locbench/internal/needs/kinds"
	"github.com/locbench/locbench/internal/run/profile"
)

// addresses are the URLs of needs that run already, by their kinds.
type addresses map[string]*string

// bind gives cmd the option of each kind for the URL of a need, with what the command does with it.
func (all addresses) bind(cmd *cobra.Command, what string) {
	for _, k := range kinds.All {
		if k.AddressOption != "" {
			all[k.Name] = cmd.Flags().String(k.AddressOption, "", fmt.Sprintf("`URL` of an %s to %s", k.Title, what))
		}
	}
}

// changes returns those that were given, as options of a run.
func (all addresses) changes() profile.Changes {
	c := profile.Changes{}
	for _, k := range kinds.All {
		if url := all[k.Name]; url != nil && *url != "" {
			c[k.AddressOption] = []string{*url}
		}
	}
	return c
}

// urls returns those that were given, with variables of the environment filled in.
func (all addresses) urls(getenv func(string) string) (map[string]string, error) {
	urls := map[string]string{}
	for _, k := range kinds.All {
		if text := all.changes().Text(k.AddressOption); text != "" {
			url, err := needs.URL(k.AddressOption, text, getenv)
			if err != nil {
				return nil, err
			}
			urls[k.Name] = url
		}
	}
	return urls, nil
}
