package cli

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/locbench/locbench/internal/contender"
	"github.com/locbench/locbench/internal/contender/check"
	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/text/console"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

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
