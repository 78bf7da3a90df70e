package store

import (
	"context"
	"fmt"
	"net/http"

	"github.com/locbench/locbench/internal/text/safe"
)

// Seal makes a container's store refuse changes once it is filled. Contenders only read; one that
// writes would change the data of the others. It is a setting, which a contender could undo if it
// knew of it. An embedded store refuses changes anyway; an external store is left alone.
func (s *Store) Seal(ctx context.Context) error { return s.seal(ctx, true) }

// Unseal makes a container's store accept changes again.
func (s *Store) Unseal(ctx context.Context) error { return s.seal(ctx, false) }

func (s *Store) seal(ctx context.Context, on bool) error {
	if s.container == nil {
		return nil
	}
	// Not index.blocks.write: that still allows to delete the index and to move its alias.
	body := fmt.Sprintf(`{"persistent":{"cluster.blocks.read_only":%v}}`, on)
	status, response, err := call(ctx, http.MethodPut, s.url+"/_cluster/settings", body)
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("it returned %d %s", status, safe.Line(string(response), 200))
	}
	if err != nil {
		return fmt.Errorf("set cluster.blocks.read_only of the store to %v: %w", on, err)
	}
	return nil
}
