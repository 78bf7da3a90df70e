package store

import (
	"context"
	"fmt"
	"net/http"

	"locbench/internal/safe"
)

// Seal has a store of this run's refuse whatever would change it, once it is filled: contenders only
// read, and one that writes would change what its competitors are asked for. Somebody else's store
// is left alone (see Documents). The seal of an embedded store is out of reach of contenders; the
// one of a container is a setting that a contender could take back if it knew of it.
func (s *Store) Seal(ctx context.Context) error { return s.seal(ctx, true) }

// Unseal lets a store of this run's be filled again.
func (s *Store) Unseal(ctx context.Context) error { return s.seal(ctx, false) }

func (s *Store) seal(ctx context.Context, on bool) error {
	switch {
	case s.embedded != nil && on:
		s.embedded.Seal()
	case s.embedded != nil:
		s.embedded.Unseal()
	case s.container != nil:
		// Not index.blocks.write: an index that cannot be written to can still be deleted, and its alias moved.
		body := fmt.Sprintf(`{"persistent":{"cluster.blocks.read_only":%v}}`, on)
		status, answer, err := call(ctx, http.MethodPut, s.url+"/_cluster/settings", body)
		if err == nil && status != http.StatusOK {
			err = fmt.Errorf("it answered with %d %s", status, safe.Line(string(answer), 200))
		}
		if err != nil {
			return fmt.Errorf("set cluster.blocks.read_only of the store to %v: %w", on, err)
		}
	}
	return nil
}
