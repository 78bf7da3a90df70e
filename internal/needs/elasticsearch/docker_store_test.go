//go:build acceptance && store

package elasticsearch

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/docker"
	"github.com/locbench/locbench/internal/needs"
	"github.com/locbench/locbench/internal/testenv"
)

// TestContainerInDocker starts a real Elasticsearch in a real container.
func TestContainerInDocker(t *testing.T) {
	testenv.Docker(t)
	image := testenv.ElasticsearchImage(t)
	e := testenv.Must(docker.Connect(t.Context()))(t)
	defer e.Close()
	run := fmt.Sprintf("store-test-%d", os.Getpid())
	group := testenv.Must(e.NewGroup(t.Context(), run, "", false))(t)
	defer func() {
		testenv.OK(t, testenv.Err(e.Clean(context.Background(), run, nil)))
	}()
	place := at("")
	place.Containers = needs.Of{Group: group}
	n := opened(t, &Need{name: Name, from: bench.NeedContainer, spec: spec{Image: image}}, place)
	testenv.Check(t, strings.HasPrefix(n.Info().Version, "7.") && strings.Contains(get(t, n.Address().URL), n.Info().Version),
		"%+v", n.Info())
	testenv.OK(t, n.Close(t.Context()))
	left := testenv.Must(e.List(t.Context(), run))(t)
	for _, l := range left {
		testenv.Equal(t, l.Kind, "network", l)
	}
}

// TestRealElasticsearch opens the one that the tests have.
func TestRealElasticsearch(t *testing.T) {
	n := opened(t, external(testenv.Elasticsearch(t)), at(second(t)))
	testenv.Check(t, strings.HasPrefix(n.Info().Version, "7.") &&
		strings.Contains(get(t, n.Address().URL+"/_cluster/health"), `"status"`), "%+v", n.Info())
}
