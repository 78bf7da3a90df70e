//go:build acceptance

package hostusage_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/contender/launch"
	"github.com/locbench/locbench/internal/contender/ready"
	"github.com/locbench/locbench/internal/docker"
	"github.com/locbench/locbench/internal/docker/dockertest"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/host/hostusage"
	"github.com/locbench/locbench/internal/testenv"
)

// BenchmarkSamplingReading measures the cost of one reading of a container: time, CPU time, and
// system calls. A reading only opens the files of new threads, so its calls are reads, which the
// kernel counts for this process.
func BenchmarkSamplingReading(b *testing.B) {
	o := newObedient(b)
	inst := o.start(b, bench.Limits{CPUs: 1, Memory: 128 << 20})
	first := testenv.Must(hostusage.BeginInstance(b.Context(), inst))(b)
	const readings = 2000
	var took []float64
	before := readCalls(b)
	for range readings {
		u := testenv.Must(hostusage.ReadInstance(b.Context(), inst))(b)
		took = append(took, float64(u.Took))
	}
	calls := readCalls(b) - before
	slices.Sort(took)
	b.ReportMetric(took[readings/2], "ns/reading")
	b.ReportMetric(took[readings*99/100], "p99-ns/reading")
	b.ReportMetric(float64(calls)/readings, "syscalls/reading")
	if first.Threads != nil {
		b.ReportMetric(float64(*first.Threads), "threads")
	}
	b.ReportMetric(0, "ns/op")
}

// readCalls returns the number of read calls of this process so far. The two of this call
// are the same each time.
func readCalls(b *testing.B) int64 {
	data, err := os.ReadFile("/proc/self/io")
	if err != nil {
		b.Skip(err)
	}
	for line := range bytes.Lines(data) {
		if rest, ok := bytes.CutPrefix(line, []byte("syscr: ")); ok {
			n, _ := strconv.ParseInt(string(bytes.TrimSpace(rest)), 10, 64)
			return n
		}
	}
	b.Skip("this kernel does not count reads")
	return 0
}

// often is how many times more readings there are than in a run: the effect of one reading per
// second would be lost in the noise of any machine.
const often = 100

// BenchmarkSamplingContender loads a container in alternating pairs, with a hundred readings every
// second and with none, and compares throughput and CPU time for each request. A run reads once a
// second, so its cost is a hundredth of the difference. LOCBENCH_BENCH_PAIRS is the number of
// pairs.
func BenchmarkSamplingContender(b *testing.B) {
	pairs, err := strconv.Atoi(os.Getenv("LOCBENCH_BENCH_PAIRS"))
	if err != nil || pairs < 1 {
		pairs = 6
	}
	o := newObedient(b)
	inst := o.start(b, bench.Limits{CPUs: 1, Memory: 128 << 20})
	drive(b, inst, time.Second)
	var rates, cpus []float64
	readings := 0
	for pair := range pairs {
		var rate, cpu [2]float64
		for i := range 2 {
			with := (i + pair) % 2 // the order alternates, too
			before, err1 := hostusage.ReadInstance(b.Context(), inst)
			var s *hostusage.Sampler
			if with == 1 {
				s = hostusage.Sample(b.Context(), inst, time.Second/often, nil)
			}
			n, took := drive(b, inst, 4*time.Second)
			if s != nil {
				readings += len(s.Stop())
			}
			after, err2 := hostusage.ReadInstance(b.Context(), inst)
			testenv.Need(b, err1 == nil && err2 == nil, "%v %v", err1, err2)
			rate[with] = float64(n) / took.Seconds()
			cpu[with] = float64(after.CPU-before.CPU) / float64(n)
		}
		b.Logf("pair %d: %.0f req/s and %.0f ns of CPU time each without, %.0f and %.0f with readings", pair+1, rate[0], cpu[0], rate[1], cpu[1])
		rates, cpus = append(rates, rate[1]/rate[0]), append(cpus, cpu[1]/cpu[0])
	}
	for name, ratios := range map[string][]float64{"throughput": rates, "cpu/request": cpus} {
		slices.Sort(ratios)
		b.ReportMetric(ratios[0], name+"-ratio-min")
		b.ReportMetric((ratios[(len(ratios)-1)/2]+ratios[len(ratios)/2])/2, name+"-ratio-median")
		b.ReportMetric(ratios[len(ratios)-1], name+"-ratio-max")
		if interval, ok := stats.MedianInterval(ratios, 0.95); ok {
			b.Logf("%s: 95%% interval of the median ratio %.4f to %.4f; for one reading a second, changed by %+.4f to %+.4f%%", name, interval.Low, interval.High,
				100*(interval.Low-1)/often, 100*(interval.High-1)/often)
		}
	}
	b.ReportMetric(float64(readings)/float64(pairs)/4, "readings/s")
	b.ReportMetric(0, "ns/op")
}

// drive sends requests over eight connections for a time.
func drive(b *testing.B, inst bench.Instance, d time.Duration) (requests int64, took time.Duration) {
	ctx, cancel := context.WithTimeout(b.Context(), d)
	defer cancel()
	client := http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 8}}
	defer client.CloseIdleConnections()
	var n atomic.Int64
	var wg sync.WaitGroup
	began := time.Now()
	for range 8 {
		wg.Go(func() {
			for {
				req, err := http.NewRequestWithContext(ctx, http.MethodGet, inst.BaseURL()+"/burn?n=50", nil)
				if err != nil {
					return
				}
				resp, err := client.Do(req)
				if err != nil {
					return // the time has passed
				}
				io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
				n.Add(1)
			}
		})
	}
	wg.Wait()
	return n.Load(), time.Since(began)
}

// obedient starts containers of the helper that does what it is asked to, on a local engine.
type obedient struct {
	engine *docker.Engine
	docker *launch.Docker
	image  string
}

func newObedient(t testing.TB) *obedient {
	t.Helper()
	e := dockertest.Engine(t)
	if !e.SameHost() {
		t.Skip("the engine is not on this machine: its cgroup files cannot be read by hand")
	}
	o := &obedient{engine: e, image: dockertest.Image(t, e)}
	var err error
	if o.docker, err = launch.NewDocker(t.Context(), e, "sample-"+strconv.Itoa(os.Getpid())+"-"+strconv.FormatInt(time.Now().UnixNano(), 36), false); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		testenv.OK(t, o.docker.Close(context.Background()))
	})
	return o
}

func (o *obedient) start(t testing.TB, limits bench.Limits) bench.Instance {
	t.Helper()
	inst, err := o.docker.Launch(t.Context(), bench.LaunchSpec{
		RunID: "sample", Name: "trial", Artifact: bench.Artifact{Image: o.image, Command: []string{"obey", "8080"}}, Port: 8080, Limits: limits,
	})
	testenv.OK(t, err)
	t.Cleanup(func() {
		testenv.OK(t, testenv.Err(inst.Stop(context.Background(), 0)))
	})
	testenv.OK(t,
		testenv.Err(ready.Wait(t.Context(), inst, ready.Question{Lenient: true, Timeout: 30 * time.Second}, nil)))
	return inst
}

func ask(t testing.TB, inst bench.Instance, what string, n int) {
	t.Helper()
	resp := testenv.Must(http.Get(inst.BaseURL() + "/" + what + "?n=" + strconv.Itoa(n)))(t)
	defer resp.Body.Close()
	if text, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s %d: %s %.200s, %v", what, n, resp.Status, text, err)
	}
}
