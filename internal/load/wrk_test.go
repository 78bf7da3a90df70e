//go:build acceptance

package load

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	vegeta "github.com/tsenart/vegeta/v12/lib"
	"go.uber.org/goleak"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/host/thread"
	"github.com/locbench/locbench/internal/testenv"
)

func TestMain(m *testing.M) {
	if os.Getenv(serverEnv) != "" {
		if err := serve(); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		return
	}
	if words := os.Getenv(clientEnv); words != "" {
		if err := client(words); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		return
	}
	thread.Tune(0) // as in every process that drives load
	goleak.VerifyTestMain(m)
}

// BenchmarkWrk runs a step against wrk on the same server with the same connections and threads,
// each in its own process, in alternating pairs. It reports the medians of both rates, of the
// requests per CPU second of both clients, and of the ratios within the pairs. Once it also reports
// those of our loop without io_uring, of engine vegeta and of vegeta's library. It asserts nothing. In the cells called "own CPU" the server has one CPU and the
// client another one. Run it with
//
//	make bench-load
//
// or, for one cell, with go test -run '^$' -bench 'Wrk/100B/64$' -benchtime 1x ./internal/load.
// Each iteration is five pairs of 2 s.
func BenchmarkWrk(b *testing.B) {
	wrk := testenv.Program(b, "wrk", "wrk")
	for _, pinned := range []bool{false, true} {
		name, server, client := "", "", ""
		if pinned {
			if _, err := exec.LookPath("taskset"); err != nil || runtime.NumCPU() < 2 {
				continue
			}
			name, server, client = "own CPU/", "0", "1"
		}
		url := benchServer(b, server)
		if !pinned {
			// No values are used up here: both clients must get what the server gives.
			// They take long enough for the start of a process not to matter.
			b.Run("waiting/32", func(b *testing.B) {
				contest{url: url + "/wait", connections: 32, threads: 1, seconds: 10}.run(b, wrk)
			})
			b.Run("long wait/256", func(b *testing.B) {
				contest{url: url + "/long", connections: 256, threads: 1, seconds: 10}.run(b, wrk)
			})
			b.Run("short wait/1", func(b *testing.B) {
				contest{url: url + "/short", connections: 1, threads: 1, seconds: 10}.run(b, wrk)
			})
		}
		for _, size := range []string{"100B", "10kB"} {
			for _, connections := range []int{8, 64, 512, 2048} {
				b.Run(fmt.Sprintf("%s%s/%d", name, size, connections), func(b *testing.B) {
					c := contest{url: url + "/" + size, cpu: client, connections: connections, threads: max(thread.Cores()/2, 1)}
					if pinned {
						c.threads = 1
					}
					c.run(b, wrk)
				})
			}
		}
	}
}

// contest is a cell of the table.
type contest struct {
	url, cpu             string
	connections, threads int
	seconds              int // of a run; 0: 2
}

func (c contest) run(b *testing.B, wrk string) {
	figures := map[string][]float64{}
	note := func(name string, x float64) { figures[name] = append(figures[name], x) }
	n, threads := strconv.Itoa(c.connections), strconv.Itoa(min(c.threads, c.connections))
	seconds := strconv.Itoa(cmp.Or(c.seconds, 2))
	self := func(engine string) func() (rate, perCPU float64) {
		return func() (rate, perCPU float64) {
			return c.measure(b, `rate ([0-9.]+)`, `succeeded ([0-9]+) failed 0`, clientEnv+"="+engine+" "+c.url+" "+n+" "+seconds, os.Args[0])
		}
	}
	for range b.N {
		for pair := range 5 {
			measure := []func() (rate, perCPU float64){self("locbench"), func() (rate, perCPU float64) {
				return c.measure(b, `Requests/sec:\s+([0-9.]+)`, `([0-9]+) requests in`, "", wrk, "-t", threads, "-c", n, "-d", seconds+"s", c.url)
			}}
			var rate, perCPU [2]float64
			for i := range measure {
				// The first one changes from pair to pair.
				which := (i + pair) % 2
				rate[which], perCPU[which] = measure[which]()
			}
			note("load-req/s", rate[0])
			note("wrk-req/s", rate[1])
			note("load/wrk", rate[0]/rate[1])
			note("load-req/CPUs", perCPU[0])
			note("wrk-req/CPUs", perCPU[1])
			note("load/wrk-CPU", perCPU[0]/perCPU[1])
		}
		for _, engine := range []string{"epoll", "engine-vegeta", "vegeta"} {
			_, perCPU := self(engine)()
			note(engine+"-req/CPUs", perCPU)
		}
	}
	for name, xs := range figures {
		median, _ := stats.Median(xs)
		b.ReportMetric(median, name)
	}
	b.ReportMetric(0, "ns/op") // otherwise the time of the pairs
}

// measure runs a client and returns the rate it reports, and its requests per CPU second.
func (c contest) measure(b *testing.B, rate, requests, env string, command ...string) (perSecond, perCPU float64) {
	b.Helper()
	if c.cpu != "" {
		command = append([]string{"taskset", "-c", c.cpu}, command...)
	}
	cmd := exec.CommandContext(b.Context(), command[0], command[1:]...)
	cmd.Env = append(os.Environ(), env, "GODEBUG=asyncpreemptoff=1") // as in the process of the load
	out, err := cmd.CombinedOutput()
	testenv.Need(b, err == nil, "%s: %v: %s", command, err, out)
	figure := func(pattern string) float64 {
		match := regexp.MustCompile(pattern).FindSubmatch(out)
		testenv.Need(b, match != nil, "%s: no %s in %s", command, pattern, out)
		x := testenv.Must(strconv.ParseFloat(string(match[1]), 64))(b)
		return x
	}
	cpu := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return figure(rate), figure(requests) / cpu.Seconds()
}

// clientEnv makes the test binary a client: "locbench URL CONNECTIONS SECONDS", or epoll
// (without io_uring), engine-vegeta or vegeta (its library alone) instead. It prints its results and its peak memory.
const clientEnv = "LOCBENCH_LOAD_TEST_CLIENT"

func client(words string) error {
	var engine, url string
	var connections, seconds int
	if _, err := fmt.Sscan(words, &engine, &url, &connections, &seconds); err != nil {
		return err
	}
	if engine == "vegeta" {
		attacker := vegeta.NewAttacker(vegeta.Workers(uint64(connections)), vegeta.MaxWorkers(uint64(connections)), vegeta.Connections(connections))
		var m vegeta.Metrics
		for r := range attacker.Attack(vegeta.NewStaticTargeter(vegeta.Target{Method: "GET", URL: url}), vegeta.Rate{}, time.Duration(seconds)*time.Second, "") {
			m.Add(r)
		}
		m.Close()
		fmt.Printf("rate %f succeeded %d failed 0\n", m.Throughput, m.StatusCodes["200"])
		return nil
	}
	thread.Tune(0)
	var before, after runtime.MemStats
	p := plan(url, connections, time.Duration(seconds)*time.Second)
	p.OnStart, p.OnEnd = func() { runtime.ReadMemStats(&before) }, func() { runtime.ReadMemStats(&after) }
	name := map[string]bench.Engine{"epoll": bench.EngineEpoll, "engine-vegeta": bench.EngineVegeta}[engine]
	l, err := Engine{Name: name}.Run(context.Background(), p, nil)
	if err != nil {
		return err
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return err
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	peak, _, _ := strings.Cut(rest, "kB")
	fmt.Printf("rate %f succeeded %d failed %d peak %s allocations %d\n", l.Throughput(), l.AllSucceeded(), l.FailedTotal(),
		strings.TrimSpace(peak), after.Mallocs-before.Mallocs)
	return nil
}

// serverEnv makes the test binary the server of BenchmarkWrk.
const serverEnv = "LOCBENCH_LOAD_TEST_SERVER"

// benchServer starts the server; it ends with its standard input, so always with this process.
func benchServer(b testing.TB, cpu string) (url string) {
	b.Helper()
	command := exec.Command(os.Args[0])
	if cpu != "" {
		command = exec.Command("taskset", "-c", cpu, os.Args[0])
	}
	command.Env = append(os.Environ(), serverEnv+"=1")
	command.Stderr = os.Stderr
	stdin := testenv.Must(command.StdinPipe())(b)
	stdout := testenv.Must(command.StdoutPipe())(b)
	testenv.OK(b, command.Start())
	b.Cleanup(func() {
		stdin.Close()
		command.Wait()
	})
	testenv.OK(b, testenv.Err(fmt.Fscan(stdout, &url)))
	return url
}

// How long the server waits before it responds to GET /wait, GET /long and GET /short.
const (
	benchWait      = 12 * time.Millisecond
	benchLongWait  = 100 * time.Millisecond
	benchShortWait = 600 * time.Microsecond
)

// serve runs the server in the process that benchServer starts. It does as little as possible, to
// leave the machine to the clients: it sends a response of the length at the start of the path.
func serve() error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println("http://" + listener.Addr().String())
	go func() {
		io.Copy(io.Discard, os.Stdin)
		listener.Close()
	}()
	short, long := benchResponse(100), benchResponse(10_000)
	for {
		conn, err := listener.Accept()
		if err != nil {
			return nil
		}
		go func() {
			defer conn.Close()
			r := bufio.NewReaderSize(conn, 1024)
			for {
				response := short
				for first := true; ; first = false {
					line, err := r.ReadSlice('\n')
					if err != nil {
						return
					}
					switch {
					case first && strings.HasPrefix(string(line), "GET /10kB"):
						response = long
					case first && strings.HasPrefix(string(line), "GET /wait"):
						time.Sleep(benchWait)
					case first && strings.HasPrefix(string(line), "GET /long"):
						time.Sleep(benchLongWait)
					case first && strings.HasPrefix(string(line), "GET /short"):
						time.Sleep(benchShortWait)
					}
					if len(line) == 2 {
						break
					}
				}
				if _, err := conn.Write(response); err != nil {
					return
				}
			}
		}()
	}
}

// benchResponse returns a response with a JSON body of that length.
func benchResponse(size int) []byte {
	begin, end := `{"id":7,"data":{"token":"0123456789abcdef"},"pad":"`, `"}`
	body := begin + strings.Repeat("x", size-len(begin)-len(end)) + end
	return fmt.Appendf(nil, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nDate: Sat, 21 Nov 2026 12:00:00 GMT\r\nContent-Length: %d\r\n\r\n%s",
		size, body)
}
