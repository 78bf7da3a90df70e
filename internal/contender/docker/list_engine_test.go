//go:build acceptance && engine

package docker_test

import (
	"context"
	"slices"
	"testing"

	"github.com/locbench/locbench/internal/contender/docker"
	"github.com/locbench/locbench/internal/contender/docker/dockertest"
)

func TestImagesAreListed(t *testing.T) {
	e := dockertest.Engine(t)
	ref := "locbench-test/listed:" + runID(t)[5:9]
	if _, err := e.BuildImage(t.Context(), dockertest.Tar(t, map[string]string{"Dockerfile": "FROM scratch\nCOPY Dockerfile /\n"}),
		docker.BuildOptions{Tag: ref, Labels: map[string]string{"listed": "yes"}}, nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.RemoveImage(context.Background(), ref); err != nil {
			t.Error(err)
		}
	})
	list, err := e.Images(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(list, func(i docker.ListedImage) bool { return slices.Contains(i.Refs, ref) && i.Labels["listed"] == "yes" }) {
		t.Errorf("%s is not among %d images", ref, len(list))
	}
}
