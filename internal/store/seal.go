package store

import (
	"context"
	"fmt"
	"net/http"

	"locbench/internal/text/safe"
)

// Seal has a container's store refuse whatever would change it, once it is filled: contenders only
// read, and one that writes would change what its competitors are asked for. It is a setting that a
// contender could take back if it knew of it. An embedded store takes no such calls anyway, and
// somebody else's is left alone.
func (s *Store) Seal(ctx context.Context) error { return s.seal(ctx, true) }

// Unseal lets a container's store be filled again.
func (s *Store) Unseal(ctx context.Context) error { return s.seal(ctx, false) }

func (s *Store) seal(ctx context.Context, on bool) error {
	if s.container == nil {
		return nil
	}
	// Not index.blocks.write: an index that cannot be written to can still be deleted, and its alias moved.
	body := fmt.Sprintf(`{"persistent":{"cluster.blocks.read_only":%v}}`, on)
	status, response, err := call(ctx, http.MethodPut, s.url+"/_cluster/settings", body)
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("it answered with %d %s", status, safe.Line(string(response), 200))
	}
	if err != nil {
		return fmt.Errorf("set cluster.blocks.read_only of the store to %v: %w", on, err)
	}
	return nil
}
