package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"locbench/internal/bench"
	"locbench/internal/bench/units"
	"locbench/internal/run/profile"
	"locbench/internal/store"
	"locbench/internal/store/dataset"
	"locbench/internal/store/seed"
	"locbench/internal/text/console"
	"locbench/internal/text/safe"
)

type seedFlags struct {
	elastic      string
	data         bench.DataSpec
	workers      int
	force, quiet bool
}

// maxWorkers bounds the bulk requests at a time: an Elasticsearch refuses what its queue of writes
// (200 by default) does not hold.
const maxWorkers = 256

func newSeed(env Env) *cobra.Command {
	var f seedFlags
	cmd := &cobra.Command{
		Use:   "seed",
		Short: "Load city and region data into an Elasticsearch 7",
		Long: `Loads a data set into an Elasticsearch 7: each index as a new version (city_v1), in bulk, with several
workers; counts it; and then moves the aliases (city, region) to the new versions in one call. Until then the store
answers as before.

Running it again changes nothing, unless the data differ or --force is given. It never touches an index that it did
not make. What Elasticsearch or a proxy before it turns away for the moment (a full queue, a restart) is sent again
for up to a minute; what is too large for the way is sent in smaller parts. What stays (a full disk, a read-only
index, a missing privilege) ends the loading at once, with the reason and what to do. Documents that are rejected one
by one are listed with their reasons for some seconds. In all these cases no alias is moved, and the exit code is 1.
Redirects are not followed.

Without further options it loads the bundled data: 14,945 cities of CZ, SK, PL, DE and AT (GeoNames, CC BY 4.0) and
their regions (CLDR); their shapes are made up. --cities generates as many as wanted instead. --from loads an existing
dump; for every index it has a file of documents and one of its mapping:

  INDEX.ndjson                INDEX.mapping.json           documents as _bulk takes them, the body of "PUT /INDEX"
  INDEX.json or INDEX.ndjson  INDEX.mapping.json or        as elasticdump writes them; INDEX.settings.json and
                              INDEX_mapping.json           INDEX.analyzer.json (or with _) are read too
  index-data-INDEX.ndjson     index-mapping-INDEX_v1.json  with any number of a version

Values stand on lines or in one array; files may be compressed by gzip. A mapping type, as of Elasticsearch 6, is left
out with a warning.`,
		Example: `  locbench seed --elastic http://127.0.0.1:9200
  locbench seed --elastic http://127.0.0.1:9200 --cities 100000 --vertices 60 --random-seed 1
  locbench seed --elastic 'http://${ES_USER}:${ES_PASSWORD}@10.0.0.5:9200' --from ./dump --force

  elasticdump --input=http://10.0.0.5:9200/city --output=dump/city.json --type=data
  elasticdump --input=http://10.0.0.5:9200/city --output=dump/city.mapping.json --type=mapping
  locbench seed --elastic http://127.0.0.1:9200 --from ./dump`,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.elastic == "" {
				return console.Usagef("--elastic URL is missing; for example: locbench seed --elastic http://127.0.0.1:9200")
			}
			var err error
			if f.elastic, err = profile.StoreURL(f.elastic, env.Getenv); err != nil {
				return err
			}
			changed := cmd.Flags().Changed
			switch {
			case f.data.Dir != "" && changed("cities"):
				return console.Usagef("--from loads a dump, --cities generates data: choose one")
			case changed("cities") && (f.data.Cities < 1 || f.data.Cities > dataset.MaxGenerated):
				return console.Usagef("--cities %d: from 1 to 1,000,000", f.data.Cities)
			case !changed("cities") && (changed("vertices") || changed("random-seed")):
				return console.Usagef("--vertices and --random-seed go with --cities: the bundled data are what they are")
			case f.workers < 1 || f.workers > maxWorkers:
				return console.Usagef("--workers %d: from 1 to %d", f.workers, maxWorkers)
			}
			return runSeed(cmd.Context(), env, f)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.elastic, "elastic", "",
		"`URL` of the Elasticsearch (required); ${NAME} in it is a variable of the environment")
	fl.StringVar(&f.data.Dir, "from", "", "load the dump in this `DIR`")
	fl.IntVar(&f.data.Cities, "cities", 0, "generate so many cities (1 to 1,000,000)")
	fl.IntVar(&f.data.Vertices, "vertices", 60, "of each generated shape")
	fl.Uint64Var(&f.data.Seed, "random-seed", 1, "of the generated data; the same seed gives the same data")
	fl.BoolVar(&f.force, "force", false, "make a new version even if the same data is there")
	fl.IntVar(&f.workers, "workers", seed.DefaultWorkers, "bulk requests at a time")
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
		fmt.Fprintf(env.Stderr, "%s → %s\n", safe.Line(set.Info().Name, 300), store.Redact(f.elastic))
		opts.OnProgress = p.tell
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
		tellSeeded(env.Stdout, res)
	} else if ctx.Err() != nil {
		err = errors.Join(context.Cause(ctx), err)
	}
	return err
}

func tellSeeded(w io.Writer, res seed.Result) {
	for _, i := range res.Indices {
		if res.Unchanged {
			fmt.Fprintf(w, "%s → %s: %s documents, there already and unchanged\n", i.Alias, i.Index, units.Count(i.Documents))
			continue
		}
		retries := ""
		if i.Retries > 0 {
			retries = fmt.Sprintf(", %s sent again", units.Count(i.Retries))
		}
		fmt.Fprintf(w, "%s → %s: %s documents counted, %s in %s, %s documents/s%s\n", i.Alias, i.Index,
			units.Count(i.Documents), units.Bytes(i.Bytes), units.Duration(i.Elapsed), units.Rate(i.PerSecond()), retries)
	}
	for _, r := range res.Removed {
		fmt.Fprintf(w, "removed %s\n", safe.Line(r, 200))
	}
}

// seedProgress is a line that rewrites itself on a terminal, and one every few seconds elsewhere.
type seedProgress struct {
	w           io.Writer
	live, shown bool
	width       int
	last        time.Duration
}

const seedEvery = 5 * time.Second

func (p *seedProgress) tell(s seed.Progress) {
	text := fmt.Sprintf("%s  %s", safe.Line(s.Index, 60), units.Count(s.Done))
	if s.Total > 0 {
		text += fmt.Sprintf(" of %s (%d %%)", units.Count(s.Total), 100*s.Done/s.Total)
	}
	text += fmt.Sprintf("  %s documents/s  %s", units.Rate(s.PerSecond), units.Approx(s.Elapsed))
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
