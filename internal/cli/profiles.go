package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/locbench/locbench/internal/app"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/text/console"
	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/internal/text/secret"
	"github.com/locbench/locbench/internal/text/table"
	"github.com/locbench/locbench/profiles"
)

func newProfiles(env Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "profiles",
		Short: "List, show, validate and create profiles",
		Long: `A profile is a repeatable benchmark: contenders, limits, store, data, requests, checks, steps and rounds. Use a bundled
profile by name, or any YAML file by path.`,
		Example: `  locbench profiles list
  locbench profiles new
  locbench profiles show locations > mine.yaml
  locbench profiles validate mine.yaml
  locbench run --profile mine.yaml`,
		Args: noSubcommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	var allowed []string
	var asJSON bool
	cmd.AddCommand(
		&cobra.Command{
			Use: "list", Short: "List the bundled profiles",
			Example: "  locbench profiles list",
			Args:    args(cobra.NoArgs),
			RunE:    func(*cobra.Command, []string) error { return listProfiles(env) },
		},
		&cobra.Command{
			Use: "show NAME|FILE", Short: "Print the file of a profile, or with --json all that a run makes of it",
			Example: "  locbench profiles show locations > mine.yaml\n  locbench profiles show mine.yaml --json",
			Args:    args(cobra.ExactArgs(1)), ValidArgsFunction: completeProfiles,
			RunE: func(_ *cobra.Command, names []string) error { return showProfile(env, names[0], allowed, asJSON) },
		},
		&cobra.Command{
			Use: "validate FILE...", Short: "Check profiles: each mistake with its line and fix",
			Example:           "  locbench profiles validate mine.yaml",
			Args:              args(cobra.MinimumNArgs(1)),
			ValidArgsFunction: completeProfiles,
			RunE: func(_ *cobra.Command, names []string) error {
				return validateProfiles(env, names, allowed)
			},
		},
		newProfilesNew(env),
	)
	for _, sub := range cmd.Commands() {
		switch sub.Name() {
		case "show":
			sub.Flags().BoolVar(&asJSON, "json", false, "print what a run makes of it, with all defaults")
			fallthrough
		case "validate":
			bindAllowed(sub, &allowed)
		}
	}
	return cmd
}

// validateProfiles reports the mistakes of profiles, or what they run.
func validateProfiles(env Env, names, allowed []string) error {
	var broken []error
	for _, name := range names {
		p, err := profile.Load(name, profiles.FS, allowed...)
		if err == nil {
			p, err = app.WithManifests(p, name)
		}
		if err != nil {
			broken = append(broken, err)
			continue
		}
		env := env.Masked(secret.New(secret.Of(bench.Run{Profile: p}, nil)...))
		contenders := cmp.Or(joinSelections(p.Contenders), "no contenders")
		fmt.Fprintf(env.Stdout, "%s: ok: %s; rounds: %s; steps: %d; load per trial: %s%s\n", name,
			contenders, settledRounds(p), len(p.Steps), units.Approx(p.LoadDuration()), environmentOf(p, name))
	}
	return console.WithCode(console.ExitUsage, errors.Join(broken...))
}

// showProfile prints the file of a profile or, as JSON, what a run makes of it: with all defaults, and the needs of
// manifests. Secrets are masked.
func showProfile(env Env, name string, allowed []string, asJSON bool) error {
	p, err := profile.Load(name, profiles.FS, allowed...)
	if err == nil {
		p, err = app.WithManifests(p, name)
	}
	if err != nil {
		return console.WithCode(console.ExitUsage, err)
	}
	masker := secret.New(secret.Of(bench.Run{Profile: p}, nil)...)
	if asJSON {
		text, err := json.MarshalIndent(masker.Run(bench.Run{Profile: p}).Profile, "", "  ")
		if err != nil {
			return err
		}
		_, err = env.Stdout.Write(append(safe.JSON(text), '\n'))
		return err
	}
	text, err := profile.Text(name, profiles.FS)
	if err != nil {
		return err
	}
	_, err = io.WriteString(env.Stdout, masker.Keyed(string(text)))
	return err
}

// environmentOf returns which variables of the environment a profile in a file uses, and the
// manifests of its contenders; "" for none.
func environmentOf(p bench.Profile, file string) string {
	names := p.EnvNames()
	for _, name := range app.ManifestVariables(p, file) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "; sent from the environment: " + strings.Join(names, ", ")
}

func newProfilesNew(env Env) *cobra.Command {
	var d profile.Draft
	cmd := &cobra.Command{
		Use:   "new [FILE]",
		Short: "Create a commented profile for your own API",
		Long: `Writes a commented profile for your own API to FILE (default NAME.yaml, my-api.yaml without a name; - is standard
output) and profile.schema.json, for editors, next to it. Existing files are never changed.

Without --get and --post the profile sends GET /. In paths and bodies {item} is a number from a range, a new one for
each request; {item:number} in JSON has no quotes.

The profile compares two versions: contenders are interleaved, in 8 rounds. Standard error gets the estimated time of
that, and the next commands.

Exit codes: 0 written; 2 wrong usage, or FILE exists.`,
		Example: `  locbench profiles new                                     # writes my-api.yaml
  locbench profiles new shop.yaml --get '/items/{item}'
  locbench profiles new small.yaml --get '/items/{item} 1..99' --connections 256
  locbench profiles new orders.yaml --post '/orders {"item": "{item:number}"}'
  locbench profiles new - --get /me --login '/login access_token'    # or cookie:sid, or header:X-Token
  locbench run --profile shop.yaml --target old=http://127.0.0.1:8080 --target new=http://127.0.0.1:8081`,
		Args: args(cobra.MaximumNArgs(1)),
		RunE: func(_ *cobra.Command, files []string) error {
			return profile.New(env, strings.Join(files, ""), d)
		},
	}
	cmd.Flags().Var(once{&d.Get}, "get", "`PATH` to GET, and the ids: '/items/{item} 1..10000'")
	cmd.Flags().Var(once{&d.Post}, "post", "`PATH` to POST to, and the body in JSON")
	cmd.Flags().Var(once{&d.Login}, "login", "login `PATH`, and the place of the token in its response: a path in JSON, cookie:NAME or header:NAME")
	cmd.Flags().Var(once{&d.Connections}, "connections", "most connections (default 64)")
	return cmd
}

// once is the text of an option that may be given only once.
type once struct{ text *string }

// Set implements pflag.Value.
func (o once) Set(text string) error {
	if *o.text != "" {
		return errors.New("given twice; add more in the written file")
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
	t := table.Table{Columns: []table.Column{
		{Title: "NAME", Left: true}, {Title: "TITLE", Left: true, Wrap: true}, {Title: "ROUNDS"}, {Title: "STEPS"},
		{Title: "LOAD/TRIAL"},
	}}
	for _, p := range list {
		row := addRow(&t, p.Name, p.Title, settledRounds(p), strconv.Itoa(len(p.Steps)), units.Approx(p.LoadDuration()))
		row.Below = []string{safe.Line(joinSelections(p.Contenders), 1000)}
	}
	_, writeErr := io.WriteString(env.Stdout, t.Text(console.Columns(env.Stdout)))
	return cmp.Or(writeErr, err)
}

// settledRounds returns the rounds of p on a machine with enough memory: "8", or, if p names
// neither rounds nor contenders, those for one and for more.
func settledRounds(p bench.Profile) string {
	one, _ := profile.Settle(p, 0)
	if len(p.Contenders) > 0 {
		return strconv.Itoa(one.Rounds)
	}
	p.Contenders = make([]bench.Selection, 2)
	more, _ := profile.Settle(p, 0)
	if one.Rounds == more.Rounds {
		return strconv.Itoa(one.Rounds)
	}
	how := ""
	if more.Interleave > 0 {
		how = ", interleaved"
	}
	return fmt.Sprintf("%d (%d%s, with two contenders or more)", one.Rounds, more.Rounds, how)
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
