//go:build acceptance && store

package store_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/docker"
	"github.com/locbench/locbench/internal/needs"
	"github.com/locbench/locbench/internal/store"
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
	s := mustOpen(t, store.Spec{From: bench.NeedContainer, Image: image}, store.Options{Containers: needs.Of{Group: group}})
	seen := testenv.Must(s.Listen("127.0.0.1:0"))(t)
	testenv.Check(t, strings.HasPrefix(s.Info().Version, "7.") && strings.Contains(get(t, seen), s.Info().Version),
		"%+v", s.Info())
	testenv.OK(t, s.Close())
	left := testenv.Must(e.List(t.Context(), run))(t)
	for _, l := range left {
		testenv.Equal(t, l.Kind, "network", l)
	}
}

// TestRealElasticsearch opens the one that the tests have.
func TestRealElasticsearch(t *testing.T) {
	s := mustOpen(t, store.Spec{From: bench.NeedExternal, URL: testenv.Elasticsearch(t)}, store.Options{})
	seen := testenv.Must(s.Listen("127.0.0.1:0"))(t)
	if !strings.HasPrefix(s.Info().Version, "7.") || !strings.Contains(get(t, seen+"/_cluster/health"), `"status"`) {
		t.Errorf("%+v", s.Info())
	}
}
