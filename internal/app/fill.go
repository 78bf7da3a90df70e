package app

import (
	"context"
	"errors"
	"fmt"

	"locbench/internal/bench"
	"locbench/internal/elastic/store"
	"locbench/internal/locations/seed"
	"locbench/internal/units"
)

// fillStore brings the data into a store that belongs to this run, and looks whether it is there in
// one that does not: somebody else's Elasticsearch is only written to by 'locbench seed'.
func (s *site) fillStore(ctx context.Context, progress func(bench.Progress)) (string, error) {
	if s.store.Info().Kind.Traits().ByURL {
		return s.verifyData(ctx)
	}
	res, err := seed.Run(ctx, seed.Options{URL: s.store.URL(), Set: s.data, OnProgress: func(p seed.Progress) {
		progress(bench.Progress{Done: p.Done, Total: p.Total, Unit: "documents"})
	}})
	if err != nil {
		return "", err
	}
	var total int64
	for _, i := range res.Indices {
		total += i.Documents
	}
	return fmt.Sprintf("%s data, %s documents", s.data.Info().Name, units.Count(total)), nil
}

// verifyData compares the number of documents of each index with the data set's. Other data is a
// warning, since it may be meant; none at all is an error.
func (s *site) verifyData(ctx context.Context) (string, error) {
	var total int64
	for _, index := range s.data.Indices() {
		n, err := s.store.Count(ctx, index.Name)
		if errors.Is(err, store.ErrNoIndex) || err == nil && n == 0 {
			return "", fmt.Errorf("the store has no data in index %q; load it by:  locbench seed --elastic %s", index.Name, s.store.Info().URL)
		}
		if err != nil {
			return "", err
		}
		if n != index.Count {
			s.warn(bench.Finding{Text: fmt.Sprintf(
				"index %q holds %s documents, the data set %s has %s: ids may be missed and checks fail (locbench seed --elastic %s brings it in line)",
				index.Name, units.Count(n), s.data.Info().Name, units.Count(index.Count), s.store.Info().URL)})
		}
		total += n
	}
	return fmt.Sprintf("found %s documents", units.Count(total)), nil
}
