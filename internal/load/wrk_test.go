package load

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"locbench/internal/stats"
	"locbench/internal/testenv"
)

// BenchmarkWrk runs a step against wrk on the same server with the same connections and threads, in alternating pairs, and
// reports the medians of both rates, both rates per CPU second of the client, and of the ratios within the pairs. It asserts nothing: the machine
// decides. Run it with
//
//	make bench-load
//
// or, for one cell, with go test -run '^$' -bench 'Wrk/100B/64$' -benchtime 1x ./internal/load. Each iteration is five pairs of 1 s.
// The server is a process of its own, since one that shared ours would be closer to us than to wrk.
func BenchmarkWrk(b *testing.B) {
	wrk := testenv.Wrk(b)
	url := benchServer(b)
	const duration = time.Second
	for _, size := range []string{"100B", "10kB"} {
		for _, connections := range []int{8, 64, 512, 2048} {
			b.Run(fmt.Sprintf("%s/%d", size, connections), func(b *testing.B) {
				figures := map[string][]float64{}
				note := func(name string, x float64) { figures[name] = append(figures[name], x) }
				threads := shards(Engine{})
				for range b.N {
					for pair := range 5 {
						measure := []func() (rate, perCPU float64){
							func() (rate, perCPU float64) {
								p := plan(url+"/"+size, connections, duration)
								l, err := Engine{}.Run(b.Context(), p, nil)
								if err != nil || l.FailedTotal() > 0 {
									b.Fatalf("%v, failed: %v", err, l.Failed)
								}
								return l.Throughput(), float64(l.Succeeded) / l.ClientCPU.Seconds()
							},
							func() (rate, perCPU float64) {
								return wrkRate(b, wrk, url+"/"+size, connections, threads, duration)
							},
						}
						var rate, perCPU [2]float64
						for i := range measure {
							// Which of them is first changes from pair to pair.
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
				}
				for name, xs := range figures {
					median, _ := stats.Median(xs)
					b.ReportMetric(median, name)
				}
				b.ReportMetric(0, "ns/op") // would be the time of the pairs
			})
		}
	}
}

// wrkRate is the rate that wrk tells, and its requests per CPU second.
func wrkRate(b *testing.B, wrk, url string, connections, threads int, duration time.Duration) (rate, perCPU float64) {
	b.Helper()
	command := exec.CommandContext(b.Context(), wrk, "-t", strconv.Itoa(min(threads, connections)), "-c", strconv.Itoa(connections),
		"-d", duration.String(), url+"/city?id=1")
	out, err := command.CombinedOutput()
	if err != nil {
		b.Fatalf("wrk: %v: %s", err, out)
	}
	figure := func(pattern string) float64 {
		match := regexp.MustCompile(pattern).FindSubmatch(out)
		if match == nil {
			b.Fatalf("wrk: no %s in %s", pattern, out)
		}
		x, err := strconv.ParseFloat(string(match[1]), 64)
		if err != nil {
			b.Fatal(err)
		}
		return x
	}
	cpu := command.ProcessState.UserTime() + command.ProcessState.SystemTime()
	return figure(`Requests/sec:\s+([0-9.]+)`), figure(`([0-9]+) requests in`) / cpu.Seconds()
}

// serverEnv makes the test binary the server of BenchmarkWrk.
const serverEnv = "LOCBENCH_LOAD_TEST_SERVER"

// benchServer starts the server; it ends with its standard input, hence with us in any case.
func benchServer(b testing.TB) (url string) {
	b.Helper()
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), serverEnv+"=1")
	command.Stderr = os.Stderr
	stdin, err := command.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	stdout, err := command.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := command.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		stdin.Close()
		command.Wait()
	})
	if _, err := fmt.Fscan(stdout, &url); err != nil {
		b.Fatal(err)
	}
	return url
}

// serve is the server, in the process that benchServer starts. It does as little as it can, so that more of the machine is left to
// the clients: an answer of the length that the path begins with.
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
	short, long := benchAnswer(100), benchAnswer(10_000)
	for {
		conn, err := listener.Accept()
		if err != nil {
			return nil
		}
		go func() {
			defer conn.Close()
			r := bufio.NewReaderSize(conn, 1024)
			for {
				answer := short
				for first := true; ; first = false {
					line, err := r.ReadSlice('\n')
					if err != nil {
						return
					}
					if first && strings.HasPrefix(string(line), "GET /10kB") {
						answer = long
					}
					if len(line) == 2 {
						break
					}
				}
				if _, err := conn.Write(answer); err != nil {
					return
				}
			}
		}()
	}
}

func benchAnswer(size int) []byte {
	return fmt.Appendf(nil, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nDate: Sat, 21 Nov 2026 12:00:00 GMT\r\nContent-Length: %d\r\n\r\n%s",
		size, strings.Repeat("x", size))
}
