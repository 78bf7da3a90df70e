//go:build acceptance

package embedded_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/store/dataset"
	"github.com/locbench/locbench/internal/store/embedded"
	"github.com/locbench/locbench/internal/testenv"
)

// serveVariable makes the test binary serve an embedded store until its standard input ends.
const serveVariable = "LOCBENCH_TEST_SERVE_EMBEDDED"

func TestMain(m *testing.M) {
	if os.Getenv(serveVariable) != "" {
		if err := serve(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func serve() error {
	server := embedded.New(embedded.Options{})
	set, err := dataset.Bundled()
	if err == nil {
		err = server.Fill(context.Background(), set, nil)
	}
	var base string
	if err == nil {
		base, err = server.Listen("127.0.0.1:0")
	}
	if err != nil {
		return errors.Join(err, server.Close())
	}
	fmt.Println(base)
	_, err = io.Copy(io.Discard, os.Stdin)
	return errors.Join(err, server.Close())
}

// BenchmarkSourceCPU prints the CPU time of one _source call at 64 connections: of a real
// Elasticsearch, of the embedded store in its own process, and their ratio, measured in
// alternating pairs. The Elasticsearch should have nothing else to do.
func BenchmarkSourceCPU(b *testing.B) {
	const pairs, window, connections = 5, 3 * time.Second, 64
	real := testenv.Elasticsearch(b)
	realPID, err := elasticsearchPID(real)
	if err != nil {
		b.Skip(err)
	}
	set, cities := bundled(b)
	fake, fakePID := startServing(b)
	index := fmt.Sprintf("locbench-store-bench-%d", os.Getpid())
	defer call(b, http.MethodDelete, real+"/"+index, "")
	seed(b, real, index, set)
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: connections, DisableCompression: true}}
	defer client.CloseIdleConnections()
	measure := func(base string, pid int, d time.Duration) float64 {
		before := testenv.CPUTime(b, pid)
		calls := ask(b, client, base+"/_source/", cities, connections, d)
		return float64((testenv.CPUTime(b, pid) - before).Microseconds()) / float64(calls)
	}
	for _, who := range []struct {
		base string
		pid  int
	}{{real + "/" + index, realPID}, {fake + "/city", fakePID}} { // the JVM has to compile first
		measure(who.base, who.pid, 4*window)
	}
	for b.Loop() {
		var sumReal, sumFake float64
		for i := range pairs {
			es, em := measure(real+"/"+index, realPID, window), measure(fake+"/city", fakePID, window)
			b.Logf("pair %d: Elasticsearch %.1f µs, embedded %.1f µs of CPU time a call", i+1, es, em)
			sumReal, sumFake = sumReal+es, sumFake+em
		}
		b.ReportMetric(sumReal/pairs, "µs-elasticsearch")
		b.ReportMetric(sumFake/pairs, "µs-embedded")
		b.ReportMetric(sumReal/sumFake, "times-less")
	}
}

// startServing runs this test binary as a store.
func startServing(tb testing.TB) (base string, pid int) {
	tb.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), serveVariable+"=1")
	cmd.Stderr = os.Stderr
	stdin := testenv.Must(cmd.StdinPipe())(tb)
	stdout := testenv.Must(cmd.StdoutPipe())(tb)
	testenv.OK(tb, cmd.Start())
	tb.Cleanup(func() {
		stdin.Close()
		cmd.Wait()
	})
	line := testenv.Must(bufio.NewReader(stdout).ReadString('\n'))(tb)
	return strings.TrimSpace(line), cmd.Process.Pid
}

// ask requests documents over connections for about d and returns the number of responses.
func ask(tb testing.TB, client *http.Client, prefix string, cities []city, connections int, d time.Duration) int64 {
	tb.Helper()
	var calls, failed atomic.Int64
	var wg sync.WaitGroup
	end := time.Now().Add(d)
	for worker := range connections {
		wg.Go(func() {
			for i := worker; time.Now().Before(end); i += connections {
				resp, err := client.Get(prefix + strconv.FormatInt(cities[i%len(cities)].ID, 10) + "?_source_excludes=geometry%2Cpopulation")
				if err != nil {
					failed.Add(1)
					return
				}
				io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
				if resp.StatusCode != http.StatusOK {
					failed.Add(1)
				}
				calls.Add(1)
			}
		})
	}
	wg.Wait()
	testenv.Need(tb, failed.Load() == 0 && calls.Load() != 0, "%d of %d calls failed", failed.Load(), calls.Load())
	return calls.Load()
}

// elasticsearchPID finds the process that .ci/elasticsearch has started for this URL.
func elasticsearchPID(base string) (int, error) {
	port := base[strings.LastIndexByte(base, ':')+1:]
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		return 0, err
	}
	for _, f := range files {
		line, err := os.ReadFile(f)
		if err == nil && strings.Contains(string(line), "org.elasticsearch.bootstrap.Elasticsearch") && strings.Contains(string(line), "http.port="+port+"\x00") {
			return strconv.Atoi(filepath.Base(filepath.Dir(f)))
		}
	}
	return 0, fmt.Errorf("the process of Elasticsearch on port %s is not on this machine", port)
}

// seed creates the index in an Elasticsearch and loads the cities with a single worker, since ties
// are ordered by arrival.
func seed(t testing.TB, base, index string, set dataset.Set) {
	t.Helper()
	mapping := bytes.Replace(dataset.CityMapping(), []byte(`"number_of_replicas":0`), []byte(`"number_of_replicas":0,"refresh_interval":"-1"`), 1)
	mustCall(t, http.MethodPut, base+"/"+index, string(mapping))
	var body strings.Builder
	load := func() {
		testenv.Contains(t, mustCall(t, http.MethodPost, base+"/"+index+"/_bulk?filter_path=errors", body.String()),
			`"errors":false`)
		body.Reset()
	}
	for doc, err := range set.Documents(dataset.CityIndex) {
		testenv.OK(t, err)
		fmt.Fprintf(&body, `{"create":{"_id":%q}}`+"\n%s\n", doc.ID, doc.Source)
		if body.Len() > 4<<20 {
			load()
		}
	}
	load()
	mustCall(t, http.MethodPost, base+"/"+index+"/_refresh", "")
}

func call(t testing.TB, method, url, body string) (int, string) {
	t.Helper()
	req := testenv.Must(http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body)))(t)
	req.Header.Set("Content-Type", "application/json")
	if strings.Contains(url, "_bulk") {
		req.Header.Set("Content-Type", "application/x-ndjson")
	}
	resp := testenv.Must(http.DefaultClient.Do(req))(t)
	defer resp.Body.Close()
	response := testenv.Must(io.ReadAll(resp.Body))(t)
	return resp.StatusCode, string(response)
}

func mustCall(t testing.TB, method, url, body string) string {
	t.Helper()
	status, response := call(t, method, url, body)
	testenv.Need(t, status/100 == 2, "%s %s: %d %.500s", method, url, status, response)
	return response
}
