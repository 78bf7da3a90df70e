//go:build acceptance && engine

package launch

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"locbench/internal/docker"
	"locbench/internal/docker/dockertest"
)

// TestNeighboursOnAnEngine: a container that another run has started is that run's sign of life,
// also where its record cannot be seen, and is named as one that takes CPU time.
func TestNeighboursOnAnEngine(t *testing.T) {
	e := dockertest.Engine(t)
	alien := self()
	alien.space = "1"
	mine := runID(t)
	for kind, owner := range map[string]string{"mine": owner(), "theirs": alien.String(), "dead": deadOwner(), "none": "somebody"} {
		run := kind + "-" + mine
		labels := Labels(run, "t")
		labels[docker.LabelOwner] = owner
		c, _, err := e.Run(t.Context(), docker.ContainerSpec{Name: "t", Image: dockertest.Image(t, e), Command: []string{"sleep"}, Labels: labels})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if _, err := c.Stop(context.Background(), 0); err != nil {
				t.Error(err)
			}
		})
	}
	all, err := NeighboursOn(t.Context(), e, "mine-"+mine)
	var found []string
	for _, n := range all {
		if strings.HasSuffix(n.Run, mine) { // this engine may have others
			found = append(found, n.String())
		}
	}
	want := fmt.Sprintf("run theirs-%s, process %d, which cannot be seen from here and may have ended", mine, os.Getpid())
	if err != nil || len(found) != 1 || found[0] != want {
		t.Errorf("%q, %v, want %q", found, err, want)
	}
	names, err := e.Running(t.Context(), "mine-"+mine)
	var running []string
	for _, n := range names {
		if rest, ok := strings.CutPrefix(n, "locbench-"); ok && strings.Contains(n, mine) {
			kind, _, _ := strings.Cut(rest, "-")
			running = append(running, kind)
		}
	}
	slices.Sort(running)
	if err != nil || strings.Join(running, " ") != "dead none theirs" {
		t.Errorf("%q of %q, %v", running, names, err)
	}
}
