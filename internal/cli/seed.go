package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/needs"
	"github.com/locbench/locbench/internal/store/dataset"
	"github.com/locbench/locbench/internal/store/seed"
	"github.com/locbench/locbench/internal/text/console"
	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/internal/text/secret"
)

type seedFlags struct {
	elastic      string
	data         dataset.Spec
	workers      int
	force, quiet bool
}

// maxWorkers bounds the parallel bulk requests: Elasticsearch rejects requests beyond its queue of
// writes (200 by default).
const maxWorkers = 256

func newSeed(env Env, runF work[seedFlags]) *cobra.Command {
	var f seedFlags
	cmd := &cobra.Command{
		Use:   "seed",
		Short: "Load city and region data into an Elasticsearch or OpenSearch",
		Long: `Loads a data set into an Elasticsearch or OpenSearch: each index as a new version (city_v1), in bulk, with
several workers. It counts the documents, then moves the aliases (city, region) to the new versions in one call. Until
then queries see the old data. What the server lacks for the data is named, with the requests that need it.

Running it again changes nothing unless the data differs or --force is given. It never touches an index that it did not
create. Temporary rejections (full queue, restart) are retried for up to a minute. Permanent ones (disk full, read-only
index, missing privilege) stop it at once, with the store's reasons. Rejected documents are listed. In all these cases
no alias moves and the exit code is 1. Redirects are not followed.

By default it loads the bundled data: 14,945 cities of CZ, SK, PL, DE and AT (GeoNames, CC BY 4.0) and their regions
(CLDR); the shapes are made up. --cities N generates N cities instead. --from DIR loads a dump, with a file of documents
and a mapping for each index:

  INDEX.ndjson or INDEX.json  INDEX.mapping.json or        documents as elasticdump writes them or _bulk takes them;
                              INDEX_mapping.json           elasticdump's mapping, or the body of "PUT /INDEX"
  index-data-INDEX.ndjson     index-mapping-INDEX_v1.json  with any number of a version`,
		Example: `  locbench seed --elastic http://127.0.0.1:9200
  locbench seed --elastic http://127.0.0.1:9200 --cities 100000 --vertices 60 --data-seed 1
  locbench seed --elastic 'http://${ES_USER}:${ES_PASSWORD}@10.0.0.5:9200' --from ./dump --force
  SSL_CERT_FILE=http_ca.crt locbench seed --elastic 'https://elastic:${ES_PASSWORD}@10.0.0.5:9200'

  elasticdump --input=http://10.0.0.5:9200/city --output=dump/city.json --type=data
  elasticdump --input=http://10.0.0.5:9200/city --output=dump/city.mapping.json --type=mapping
  locbench seed --elastic http://127.0.0.1:9200 --from ./dump`,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.elastic == "" {
				return console.Usagef("--elastic is missing, such as: locbench seed --elastic http://127.0.0.1:9200")
			}
			var err error
			if f.elastic, err = needs.URL("elastic", f.elastic, env.Getenv); err != nil {
				return err
			}
			changed := cmd.Flags().Changed
			switch {
			case f.data.Dir != "" && changed("cities"):
				return console.Usagef("use either --from (a dump) or --cities (generated)")
			case changed("cities") && (f.data.Cities < 1 || f.data.Cities > dataset.MaxGenerated):
				return console.Usagef("--cities %d: must be 1 to 1,000,000", f.data.Cities)
			case !changed("cities") && (changed("vertices") || changed("data-seed")):
				return console.Usagef("--vertices and --data-seed need --cities")
			case f.workers < 1 || f.workers > maxWorkers:
				return console.Usagef("--workers %d: must be 1 to %d", f.workers, maxWorkers)
			}
			return runF(cmd.Context(), env, f)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.elastic, "elastic", "",
		"Elasticsearch `URL` (required); ${NAME} is an environment variable")
	fl.StringVar(&f.data.Dir, "from", "", "load the dump in this `DIR`")
	fl.IntVar(&f.data.Cities, "cities", 0, "generate N cities (1 to 1,000,000)")
	fl.IntVar(&f.data.Vertices, "vertices", 60, "vertices per shape")
	fl.Uint64Var(&f.data.Seed, "data-seed", 1, "seed for --cities; the same seed gives the same data")
	fl.BoolVar(&f.force, "force", false, "reload even if the data is unchanged")
	fl.IntVar(&f.workers, "workers", seed.DefaultWorkers, "parallel bulk requests")
	fl.BoolVarP(&f.quiet, "quiet", "q", false, "no progress")
	_ = cmd.MarkFlagDirname("from")
	return cmd
}

func runSeed(ctx context.Context, env Env, f seedFlags) error {
	if f.data.Cities == 0 {
		f.data.Vertices, f.data.Seed = 0, 0
	}
	set, err := dataset.Open(f.data)
	if err != nil {
		return console.WithCode(console.ExitUsage, err)
	}
	p := seedProgress{w: env.Stderr}
	if p.width, p.live = console.Width(env.Stderr); p.live {
		p.w = console.Terminal(p.w)
	}
	opts := seed.Options{URL: f.elastic, Set: set, Force: f.force, Workers: f.workers}
	if !f.quiet {
		fmt.Fprintf(env.Stderr, "%s → %s\n", safe.Line(set.Info().Name, 300), secret.WithoutUser(f.elastic))
		opts.OnProgress = p.show
	}
	res, err := seed.Run(ctx, opts)
	p.end()
	for _, w := range res.Warnings {
		fmt.Fprintf(env.Stderr, "warning: %s\n", safe.Line(w.Text, 500))
	}
	if rejected, ok := errors.AsType[*seed.RejectedError](err); ok {
		for _, r := range rejected.First {
			fmt.Fprintf(env.Stdout, "rejected %s/%s: %s\n",
				safe.Line(r.Index, 200), safe.Line(r.ID, 200), safe.Line(r.Reason, 500))
		}
	}
	if err == nil {
		printSeeded(env.Stdout, res)
	} else if ctx.Err() != nil {
		err = errors.Join(context.Cause(ctx), err)
	}
	return err
}

func printSeeded(w io.Writer, res seed.Result) {
	for _, i := range res.Indices {
		if res.Unchanged {
			fmt.Fprintf(w, "%s → %s: %s documents, unchanged\n", i.Alias, i.Index, units.Count(i.Documents))
			continue
		}
		retries := ""
		if i.Retries > 0 {
			retries = fmt.Sprintf(", %s retried", units.Count(i.Retries))
		}
		fmt.Fprintf(w, "%s → %s: %s documents counted, %s in %s, %s documents/s%s\n", i.Alias, i.Index,
			units.Count(i.Documents), units.Bytes(i.Bytes), units.Duration(i.Elapsed), units.Number(i.PerSecond()), retries)
	}
	for _, r := range res.Removed {
		fmt.Fprintf(w, "removed %s\n", safe.Line(r, 200))
	}
}

// seedProgress shows progress: one line that is rewritten on a terminal, else a line per seedEvery.
type seedProgress struct {
	w           io.Writer
	live, shown bool
	width       int
	last        time.Duration
}

const seedEvery = 5 * time.Second

func (p *seedProgress) show(s seed.Progress) {
	text := fmt.Sprintf("%s  %s", safe.Line(s.Index, 60), units.Count(s.Done))
	if s.Total > 0 {
		text += fmt.Sprintf(" of %s (%d%%)", units.Count(s.Total), 100*s.Done/s.Total)
	}
	text += fmt.Sprintf("  %s documents/s  %s", units.Number(s.PerSecond), units.Approx(s.Elapsed))
	if left := s.Remaining(); left > 0 {
		text += ", about " + units.Approx(left) + " left"
	}
	switch {
	case p.live:
		if r := []rune(text); len(r) >= p.width {
			text = string(r[:max(p.width-1, 0)])
		}
		fmt.Fprintf(p.w, "\r\x1b[K%s", text)
		p.shown = true
	case s.Elapsed-p.last >= seedEvery:
		p.last = s.Elapsed
		fmt.Fprintln(p.w, text)
	}
}

func (p *seedProgress) end() {
	if p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
