package cli

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"locbench/internal/bench"
	"locbench/internal/bench/units"
	"locbench/internal/run/profile"
	"locbench/internal/text/console"
	"locbench/internal/text/secret"
	"locbench/profiles"
)

func newProfiles(env Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "profiles",
		Short: "List, show, validate and begin profiles",
		Long: `A profile is a benchmark that can be repeated: contenders, limits, store, data, requests, checks, steps,
rounds. Some come with locbench; any YAML file of the same form works wherever a profile is named.`,
		Example: `  locbench profiles list
  locbench profiles new
  locbench profiles show locations > mine.yaml
  locbench profiles validate mine.yaml
  locbench run --profile mine.yaml`,
		Args: noSubcommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(
		&cobra.Command{
			Use: "list", Short: "List the profiles that come with locbench",
			Example: "  locbench profiles list",
			Args:    args(cobra.NoArgs),
			RunE:    func(*cobra.Command, []string) error { return listProfiles(env) },
		},
		&cobra.Command{
			Use: "show NAME|FILE", Short: "Print a profile as YAML, with every default filled in",
			Example:           "  locbench profiles show locations > mine.yaml",
			Args:              args(cobra.ExactArgs(1)),
			ValidArgsFunction: completeProfiles,
			RunE: func(_ *cobra.Command, names []string) error {
				p, err := profile.Load(names[0], profiles.FS)
				if err != nil {
					return console.WithCode(console.ExitUsage, err)
				}
				text, err := profile.Format(p)
				if err != nil {
					return err
				}
				known := secret.New(secret.Of(bench.Run{Profile: p}, nil)...)
				_, err = env.Masked(known).Stdout.Write(text)
				return err
			},
		},
		&cobra.Command{
			Use: "validate FILE...", Short: "Report every mistake in profiles, with its line and what would be right",
			Example:           "  locbench profiles validate mine.yaml",
			Args:              args(cobra.MinimumNArgs(1)),
			ValidArgsFunction: completeProfiles,
			RunE: func(_ *cobra.Command, names []string) error {
				var broken []string
				for _, name := range names {
					p, err := profile.Load(name, profiles.FS)
					if err != nil {
						broken = append(broken, err.Error())
						continue
					}
					who := cmp.Or(joinSelections(p.Contenders), "names no contender")
					fmt.Fprintf(env.Stdout, "%s: ok: %s; rounds: %d; steps: %d; load of a leg: %s\n", name,
						who, p.Rounds, len(p.Steps), units.Approx(p.LoadDuration()))
				}
				if len(broken) > 0 {
					return console.Usagef("%s", strings.Join(broken, "\n"))
				}
				return nil
			},
		},
		newProfilesNew(env),
	)
	return cmd
}

func newProfilesNew(env Env) *cobra.Command {
	var d profile.Draft
	cmd := &cobra.Command{
		Use:   "new [FILE]",
		Short: "Begin a profile for an API of your own, with a comment on each key",
		Long: `Writes a profile for an API of your own into FILE, with a comment on each key.
Without FILE it is NAME.yaml in the working folder, my-api.yaml where no name is
asked for; - is standard output. For editors its schema, profile.schema.json, is
left next to it. What exists is never changed.

On a terminal it asks a few questions, and Enter takes the default of each. With
an option, and without a terminal, it asks nothing; without --get and --post the
profile asks GET /. In paths and bodies {item} stands for a number from a range,
another one in each request; {item:number} stands in JSON without the quotes.

Exit codes: 0 it is written; 2 wrong usage, or FILE exists; 130 interrupted.`,
		Example: `  locbench profiles new
  locbench profiles new shop.yaml --get '/items/{item}'
  locbench profiles new shop.yaml --get '/items/{item} 1..99' --connections 256
  locbench profiles new shop.yaml --post '/orders {"item": "{item:number}"}'
  locbench profiles new - --get /me --login '/login access_token'`,
		Args: args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, files []string) error {
			return profile.New(cmd.Context(), env, strings.Join(files, ""), d)
		},
	}
	cmd.Flags().Var(once{&d.Get}, "get", "`PATH` to GET, and the ids: '/items/{item} 1..10000'")
	cmd.Flags().Var(once{&d.Post}, "post", "`PATH` to POST to, and the body in JSON")
	cmd.Flags().Var(once{&d.Login}, "login", "`PATH` of a login, and where its answer has the token")
	cmd.Flags().Var(once{&d.Connections}, "connections", "`N` connections at most (default 64)")
	return cmd
}

// once is a text that an option gives, which a second one would silently replace.
type once struct{ text *string }

// Set implements pflag.Value.
func (o once) Set(text string) error {
	if *o.text != "" {
		return errors.New("it is given twice; add more to the file that is written")
	}
	*o.text = text
	return nil
}

// String implements pflag.Value.
func (o once) String() string {
	if o.text == nil {
		return ""
	}
	return *o.text
}

// Type implements pflag.Value.
func (o once) Type() string { return "string" }

func listProfiles(env Env) error {
	list, err := profile.List(profiles.FS)
	rows := [][]string{{"NAME", "WHAT", "ROUNDS", "STEPS", "LOAD OF A LEG", "TITLE"}}
	for _, p := range list {
		rows = append(rows, []string{
			p.Name, joinSelections(p.Contenders), strconv.Itoa(p.Rounds), strconv.Itoa(len(p.Steps)),
			units.Approx(p.LoadDuration()), p.Title,
		})
	}
	return cmp.Or(writeTable(env.Stdout, rows), err)
}

func joinSelections(s []bench.Selection) string {
	names := make([]string, len(s))
	for i, c := range s {
		names[i] = c.String()
	}
	return strings.Join(names, " ")
}

func completeProfiles(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	list, _ := profile.List(profiles.FS)
	var names []string
	for _, p := range list {
		names = append(names, p.Name+"\t"+p.Title)
	}
	return names, cobra.ShellCompDirectiveDefault // files too
}
