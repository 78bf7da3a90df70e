//go:build acceptance

package seed_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/store/dataset"
	"github.com/locbench/locbench/internal/store/seed"
	"github.com/locbench/locbench/internal/testenv"
)

// BenchmarkSeed compares seeding with a bare client that posts the very same bulk bodies, made
// beforehand, with the same number of workers to an index with the same mapping and settings. The
// two alternate. Seeding's time is from the first document made to the last one taken.
//
// A first round is not counted.
//
//   - ratio: the rate of seeding over that of the bare client, all rounds together; median-ratio:
//     the median of the rounds', which a disturbance from outside moves less.
//   - parallel-ratio: in the end both run at the same time; documents of seeding over those of the
//     bare client when the first of them is done (bodies are counted, so it needs some tens of
//     thousands). On a busy machine rely on this one: whatever disturbs one disturbs the other.
//   - cpu-us/doc and bare-cpu-us/doc: CPU time of this process for a document, which says what a
//     client costs next to a server on the same machine.
//   - peak-MB: the largest memory of the process after the first seeding, before there are any
//     bodies.
//
// LOCBENCH_SEED_CITIES (of one round), _ROUNDS, _WORKERS and _BATCH (bytes) change what is done.
func BenchmarkSeed(b *testing.B) {
	url, cities := testenv.Elasticsearch(b), setting("CITIES", 100_000)
	generated := testenv.Must(dataset.Generated(cities, 60, 1))(b)
	set := renamed{DataSet: generated, prefix: prefix(b, url), only: dataset.CityIndex}
	rounds := setting("ROUNDS", 4)
	workers, batch := setting("WORKERS", seed.DefaultWorkers), setting("BATCH", seed.DefaultBatch)
	for b.Loop() {
		var bodies [][]byte
		var ours, bare, oursCPU, bareCPU time.Duration
		var ratios []float64
		peak := 0.0
		// One round more than counted: the first one meets a server that has not compiled its own
		// hot code yet.
		for round := range rounds + 1 {
			var oursNow, bareNow time.Duration
			for i := range 2 {
				cpu := testenv.CPUTime(b, os.Getpid())
				if (round+i)%2 == 0 {
					set.hash = strconv.Itoa(round)
					r, err := seed.Run(b.Context(), seed.Options{URL: url, Set: set, Workers: workers, Batch: batch})
					testenv.OK(b, err)
					if peak == 0 {
						peak = testenv.PeakMiB(b)
					}
					one := r.Indices[0]
					oursNow = one.Elapsed
					oursCPU += testenv.CPUTime(b, os.Getpid()) - cpu
					fmt.Printf("round %d of %d: seeding     %6.0f documents/s (%v; with index, refresh, count and swap %v; %d bytes, %d retries)\n",
						round, rounds, one.PerSecond(), one.Elapsed.Round(time.Millisecond), r.Elapsed.Round(time.Millisecond), one.Bytes, one.Retries)
					continue
				}
				if bodies == nil {
					bodies = makeBodies(b, set, batch)
					cpu = testenv.CPUTime(b, os.Getpid())
				}
				took := post(b, url, set, bodies, workers, nil)
				bareNow = took
				bareCPU += testenv.CPUTime(b, os.Getpid()) - cpu
				fmt.Printf("round %d of %d: bare client %6.0f documents/s (%v)\n", round, rounds, float64(cities)/took.Seconds(), took.Round(time.Millisecond))
			}
			if round == 0 {
				oursCPU, bareCPU = 0, 0
				continue
			}
			ours, bare = ours+oursNow, bare+bareNow
			ratios = append(ratios, bareNow.Seconds()/oursNow.Seconds())
		}
		set.hash = "parallel"
		b.ReportMetric(parallel(b, seed.Options{URL: url, Set: set, Workers: workers, Batch: batch}, set, bodies), "parallel-ratio")
		all := float64(cities * rounds)
		b.ReportMetric(all/ours.Seconds(), "docs/s")
		b.ReportMetric(all/bare.Seconds(), "bare-docs/s")
		b.ReportMetric(bare.Seconds()/ours.Seconds(), "ratio")
		slices.Sort(ratios)
		b.ReportMetric((ratios[(rounds-1)/2]+ratios[rounds/2])/2, "median-ratio")
		b.ReportMetric(float64(oursCPU.Microseconds())/all, "cpu-us/doc")
		b.ReportMetric(float64(bareCPU.Microseconds())/all, "bare-cpu-us/doc")
		b.ReportMetric(peak, "peak-MB")
	}
}

func setting(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv("LOCBENCH_SEED_" + name)); err == nil {
		return n
	}
	return otherwise
}

// makeBodies splits the documents exactly as seeding does.
func makeBodies(b *testing.B, set bench.DataSet, batch int) (bodies [][]byte) {
	var body []byte
	for doc, err := range set.Documents(set.Indices()[0].Name) {
		testenv.OK(b, err)
		one := append(append(doc.AppendAction(nil, "create"), doc.Source...), '\n')
		if len(body)+len(one) > batch && len(body) > 0 {
			bodies, body = append(bodies, body), nil
		}
		body = append(body, one...)
	}
	return append(bodies, body)
}

// parallel runs both at the same time and compares the bytes taken when the first of them is done.
func parallel(b *testing.B, o seed.Options, set bench.DataSet, bodies [][]byte) float64 {
	var seeded, posted, seededThen, postedThen atomic.Int64
	var first sync.Once
	done := func() {
		first.Do(func() {
			seededThen.Store(seeded.Load())
			postedThen.Store(posted.Load())
		})
	}
	var total int64
	for _, body := range bodies {
		total += int64(len(body))
	}
	o.OnProgress = func(p seed.Progress) {
		if seeded.Store(p.Bytes); p.Bytes == total {
			done()
		}
	}
	var wait sync.WaitGroup
	wait.Go(func() {
		testenv.OK(b, testenv.Err(seed.Run(b.Context(), o)))
	})
	post(b, o.URL, set, bodies, o.Workers, &posted)
	done()
	wait.Wait()
	fmt.Printf("in parallel: %d bytes accepted of seeding, %d of the bare client\n", seededThen.Load(), postedThen.Load())
	return float64(seededThen.Load()) / float64(postedThen.Load())
}

// post is the bare client. It adds the bytes that were accepted to taken, unless that is nil.
func post(b *testing.B, url string, set bench.DataSet, bodies [][]byte, workers int, taken *atomic.Int64) time.Duration {
	index := url + "/" + createBare(b, url, set)
	transport := &http.Transport{MaxIdleConnsPerHost: workers}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport}
	g, ctx := errgroup.WithContext(context.Background())
	queue := make(chan []byte)
	started := time.Now()
	g.Go(func() error {
		defer close(queue)
		for _, body := range bodies {
			select {
			case queue <- body:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	for range workers {
		g.Go(func() error {
			for body := range queue {
				resp, err := client.Post(index+"/_bulk?filter_path=errors,items.*.status,items.*.error", "application/x-ndjson", bytes.NewReader(body))
				if err != nil {
					return err
				}
				response, err := io.ReadAll(resp.Body)
				resp.Body.Close()
				if err != nil || !bytes.Contains(response, []byte(`"errors":false`)) {
					return fmt.Errorf("bare client: %.200s: %w", response, err)
				}
				if taken != nil {
					taken.Add(int64(len(body)))
				}
			}
			return nil
		})
	}
	testenv.OK(b, g.Wait())
	took := time.Since(started)
	request(b, http.MethodDelete, index, "")
	return took
}

// createBare creates an index with the mapping and the settings that seeding uses.
func createBare(b *testing.B, url string, set bench.DataSet) (index string) {
	index = set.Indices()[0].Name + "-bare"
	var create struct {
		Settings struct {
			Index map[string]any `json:"index"`
		} `json:"settings"`
		Mappings json.RawMessage `json:"mappings"`
	}
	testenv.OK(b, json.Unmarshal(set.Indices()[0].Mapping, &create))
	create.Settings.Index["refresh_interval"] = "-1"
	body := testenv.Must(json.Marshal(create))(b)
	request(b, http.MethodPut, url+"/"+index, string(body))
	return index
}

// renamed is a data set whose index names have a test's prefix, so it can share an Elasticsearch
// with others.
type renamed struct {
	bench.DataSet
	prefix string
	only   string // the only index; "": all
	hash   string // appended to the set's hash
}

func (r renamed) Info() bench.DataInfo {
	info := r.DataSet.Info()
	info.Hash += r.hash
	return info
}

func (r renamed) Indices() (all []bench.Index) {
	for _, index := range r.DataSet.Indices() {
		if r.only == "" || r.only == index.Name {
			index.Name = r.prefix + index.Name
			all = append(all, index)
		}
	}
	return all
}

func (r renamed) Documents(index string) iter.Seq2[bench.Document, error] {
	return r.DataSet.Documents(strings.TrimPrefix(index, r.prefix))
}

// prefix returns a prefix for index names of one test, and removes those indices at its end.
func prefix(t testing.TB, url string) string {
	p := fmt.Sprintf("locbench-test-%d-", rand.Uint32())
	t.Cleanup(func() {
		for index := range request(t, http.MethodGet, url+"/"+p+"*/_alias", "") { // by name: a cluster may forbid to delete by pattern
			response := request(t, http.MethodDelete, url+"/"+index, "")
			testenv.Check(t, response["acknowledged"] == true, "index %s stays: %v", index, response)
		}
	})
	return p
}

func request(t testing.TB, method, url, body string) map[string]any {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	req := testenv.Must(http.NewRequestWithContext(ctx, method, url, strings.NewReader(body)))(t)
	req.Header.Set("Content-Type", "application/json")
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp := testenv.Must(client.Do(req))(t)
	defer resp.Body.Close()
	data := testenv.Must(io.ReadAll(resp.Body))(t)
	var response map[string]any
	err := json.Unmarshal(data, &response)
	testenv.Need(t, err == nil, "%s %s: %q: %v", method, url, data, err)
	return response
}

func hits(t testing.TB, url, query string) (ids []string) {
	t.Helper()
	response := request(t, http.MethodPost, url, query)
	outer, ok := response["hits"].(map[string]any)
	testenv.Need(t, ok, "search: %v", response)
	for _, hit := range outer["hits"].([]any) {
		ids = append(ids, hit.(map[string]any)["_id"].(string))
	}
	return ids
}
