package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"locbench/internal/contender"
	"locbench/internal/contender/check"
	"locbench/internal/run/profile"
	"locbench/internal/text/console"
	"locbench/internal/text/strictyaml"
)

// schemas are the kinds of files that people write for locbench.
var schemas = []struct {
	kind, what string
	schema     func() strictyaml.Schema
}{
	{"profile", "profiles, as in profiles/*.yaml", profile.Schema},
	{"manifest", "the service.yaml of contenders", contender.Schema},
	{"suite", "suites of HTTP checks", check.Schema},
}

func newSchema(env Env) *cobra.Command {
	return &cobra.Command{
		Use:   "schema profile|manifest|suite",
		Short: "Print the JSON Schema of a kind of file, for editors",
		Long: `Prints the JSON Schema (draft 2020-12) of profiles, of the manifests of contenders (service.yaml) or of check
suites. Editors complete and check such files with it. It says less than 'locbench profiles validate' and
'locbench services validate': what it refuses is wrong, and what it accepts may still be.

Editors with the YAML language server (VS Code, Neovim, Helix and others) take the schema that a comment in the
file names, by its path or URL. 'locbench profiles new' and 'locbench services new' begin files with such a comment,
and leave the schema next to them.`,
		Example: `  locbench schema profile > profile.schema.json   # and in the first line of the profile next to it:
  # yaml-language-server: $schema=profile.schema.json

  locbench schema manifest > service.schema.json
  locbench schema suite > suite.schema.json`,
		Args:              args(cobra.ExactArgs(1)),
		ValidArgsFunction: completeSchemas,
		RunE: func(_ *cobra.Command, kinds []string) error {
			var known []string
			for _, s := range schemas {
				if s.kind == kinds[0] {
					_, err := env.Stdout.Write(s.schema().Text())
					return err
				}
				known = append(known, s.kind)
			}
			return console.Usagef("%q is not a kind of file with a schema; there are %s", kinds[0], strings.Join(known, ", "))
		},
	}
}

func completeSchemas(*cobra.Command, []string, string) (all []string, _ cobra.ShellCompDirective) {
	for _, s := range schemas {
		all = append(all, s.kind+"\t"+s.what)
	}
	return all, cobra.ShellCompDirectiveNoFileComp
}
