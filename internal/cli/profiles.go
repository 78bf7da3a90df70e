package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/locbench/locbench/internal/app"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/needs/kinds"
	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/text/console"
	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/internal/text/secret"
	"github.com/locbench/locbench/internal/text/strictyaml"
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
	cmd.AddCommand(
		&cobra.Command{
			Use: "list", Short: "List the bundled profiles",
			Example: "  locbench profiles list",
			Args:    args(cobra.NoArgs),
			RunE:    func(*cobra.Command, []string) error { return listProfiles(env) },
		},
		&cobra.Command{
			Use: "show NAME|FILE", Short: "Print a profile as YAML with all defaults",
			Example:           "  locbench profiles show locations > mine.yaml",
			Args:              args(cobra.ExactArgs(1)),
			ValidArgsFunction: completeProfiles,
			RunE: func(_ *cobra.Command, names []string) error {
				p, err := profile.Load(names[0], profiles.FS, allowed...)
				if err != nil {
					return console.WithCode(console.ExitUsage, err)
				}
				text, err := profile.Format(withoutSecrets(p))
				if err != nil {
					return err
				}
				if _, err = env.Stdout.Write(text); err != nil {
					return err
				}
				return showManifestNeeds(env, p, names[0])
			},
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
		if name := sub.Name(); name == "show" || name == "validate" {
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
		for _, text := range profile.LiteralBraces(p) {
			fmt.Fprintf(env.Stdout, "%s: warning: %s\n", name, safe.Line(text, 1000))
		}
	}
	return console.WithCode(console.ExitUsage, errors.Join(broken...))
}

// showManifestNeeds prints what a run of a profile has in addition, as comments.
func showManifestNeeds(env Env, p bench.Profile, file string) error {
	all, err := app.ManifestNeeds(p, file)
	if err != nil {
		return console.WithCode(console.ExitUsage, err)
	}
	all = withoutSecrets(bench.Profile{Needs: all}).Needs
	for len(all) > 0 {
		service := all[0].Service
		var own kinds.List
		for _, n := range all {
			if n.Service == service {
				n.Manifest = false
				own = append(own, n)
			}
		}
		all = slices.DeleteFunc(all, func(n bench.NeedSpec) bool { return n.Service == service })
		text, err := strictyaml.Encode(map[string]any{"needs": own})
		if err != nil {
			return err
		}
		title := "# From manifests:"
		if service != "" {
			title = "# From the manifest of " + safe.Line(service, 120) + ":"
		}
		fmt.Fprintln(env.Stdout, title)
		for line := range strings.Lines(string(text)) {
			fmt.Fprint(env.Stdout, "# "+line)
		}
	}
	return nil
}

// withoutSecrets masks the values of a profile, not its text, which is to be read again: places
// such as {token} and `save: {token: PATH}` stay.
func withoutSecrets(p bench.Profile) bench.Profile {
	run := bench.Run{Profile: p}
	p = secret.New(secret.Of(run, nil)...).Run(run).Profile
	for _, all := range [][]bench.Request{p.Setup, p.Requests, p.Teardown} {
		for i, r := range all {
			if r.Encoding == bench.JSONBody && !json.Valid([]byte(r.Body)) { // a number was masked
				all[i].Body = maskedNumber.ReplaceAllString(r.Body, `$1"`+secret.Mask+`"`)
			}
		}
	}
	return p
}

var maskedNumber = regexp.MustCompile(`([:,[]\s*)` + regexp.QuoteMeta(secret.Mask))

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

--targets names vegeta's target file, in its HTTP or JSON format, in the profile: it sends one request for each different
target, with a weight. 'locbench run --targets FILE' sends the same ones.

The profile compares two versions: contenders are interleaved, in 8 rounds. Standard error gets the estimated time of
that, and the next commands.

Exit codes: 0 written; 2 wrong usage, or FILE exists.`,
		Example: `  locbench profiles new                                     # writes my-api.yaml
  locbench profiles new shop.yaml --get '/items/{item}'
  locbench profiles new small.yaml --get '/items/{item} 1..99' --connections 256
  locbench profiles new orders.yaml --post '/orders {"item": "{item:number}"}'
  locbench profiles new - --get /me --login '/login access_token'    # or cookie:sid, or header:X-Token
  locbench profiles new mix.yaml --targets targets.txt      # of vegeta
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
	cmd.Flags().Var(once{&d.Targets}, "targets", "vegeta's target `FILE`, in place of --get, --post and --login")
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
