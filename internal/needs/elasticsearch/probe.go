package elasticsearch

import (
	"cmp"
	"context"
	"errors"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/needs"
	"github.com/locbench/locbench/internal/store"
	"github.com/locbench/locbench/internal/store/dataset"
)

// probe opens the store as a run would, for both to report the same.
func probe(ctx context.Context, url string) (p needs.Probe) {
	s, err := store.Open(ctx, store.Spec{From: bench.NeedExternal, URL: url}, store.Options{})
	if err != nil {
		return needs.Probe{Err: err}
	}
	p.Version, p.Warning = s.Info().Version, s.Warnings().Join("; ")
	p.Remedy = "use version 7; the contenders' queries need it"
	if p.Size, err = s.Count(ctx, dataset.CityIndex); errors.Is(err, store.ErrNoIndex) {
		p.Size, err = 0, nil
	}
	p.Err = cmp.Or(err, s.Close())
	return p
}
