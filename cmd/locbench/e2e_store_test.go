//go:build acceptance && store && linux

package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/store/dataset"
	"github.com/locbench/locbench/internal/store/seed"
	"github.com/locbench/locbench/internal/testenv"
)

// TestStore_Container starts an image of a real Elasticsearch next to the contender, seeds it,
// and runs all checks.
func TestStore_Container(t *testing.T) {
	testenv.Docker(t)
	image := testenv.ElasticsearchImage(t)
	runtimes(t, func(t *testing.T, runtime string) {
		dir := t.TempDir()
		profile := filepath.Join(dir, "container.yaml")
		text := `contenders: [go-nethttp]
runtime: ` + runtime + `
limits: {cpus: 1, memory: 128MiB}
needs: {elasticsearch: {from: container, image: "` + image + `"}}
requests:
  - path: /city/v1/get?id={id}&language={language}
    languages: [cs]
compare_bodies: 50%
checks: {lifecycle: [no-store], suites: [locations]}
step_duration: 1s
steps: [1, 4]
`
		writeFile(t, profile, text)
		succeeds(t, dir, "run", "-p", profile, "-o", "out")
		run, trials := readClean(t, filepath.Join(dir, "out"))
		last := trials[0].Steps[1]
		testenv.Check(t, len(run.Needs) == 1 && run.Needs[0].From == bench.NeedContainer && last.Load.Succeeded != 0,
			"needs %+v, steps %+v", run.Needs, trials[0].Steps)
		cpus, ok := last.NeedCPUs("elasticsearch")
		testenv.Check(t, ok && cpus > 0, "the store's CPU time is not known: %+v", last.HostAfter)
		if last.Load.Checked == 0 || last.Load.Failed[bench.ErrWrong] > 0 {
			t.Errorf("%d bodies were compared with the known responses, failed %v %v", last.Load.Checked, last.Load.Failed, last.Load.Examples)
		}
		for _, c := range trials[0].Checks {
			testenv.Check(t, c.Status != bench.CheckFailed, "check %s/%s failed: %s", c.Group, c.Name, c.Detail)
		}
	})
}

// TestStore_RealComesBack takes the container of a real Elasticsearch away and brings it back.
func TestStore_RealComesBack(t *testing.T) {
	testenv.Docker(t)
	image := testenv.ElasticsearchImage(t)
	t.Parallel()
	id := dockerDo(t, "run", "-d", "-p", "127.0.0.1:0:9200", "-e", "discovery.type=single-node", "-e", "ES_JAVA_OPTS=-Xms256m -Xmx256m", image)
	if t.Failed() {
		return
	}
	t.Cleanup(func() { dockerDo(t, "rm", "-f", "-v", id) })
	url := "http://" + strings.SplitN(dockerDo(t, "port", id, "9200/tcp"), "\n", 2)[0]
	reachable(t, url)
	data := testenv.Must(dataset.Generated(200, 12, 1))(t)
	testenv.OK(t, testenv.Err(seed.Run(t.Context(), seed.Options{URL: url, Set: data})))
	// Frozen, not stopped: it comes back at once, and a hanging store is harder to detect than one
	// that refuses connections.
	storeGoes(t, "docker", url, func() { dockerDo(t, "pause", id) }, func() { dockerDo(t, "unpause", id) })
}
