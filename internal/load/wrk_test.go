package load

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"testing"
	"time"

	"locbench/internal/stats"
	"locbench/internal/testenv"
)

// BenchmarkWrk runs a step against wrk on the same server with the same connections, in alternating pairs, and reports both
// rates and the median of their ratios. It asserts nothing: the machine decides. Run it with
//
//	go test -run '^$' -bench Wrk -benchtime 1x ./internal/load
//
// Each of its iterations is five pairs of 2 s. The server is a process of its own, since one that shared ours would be closer
// to us than to wrk.
func BenchmarkWrk(b *testing.B) {
	wrk := testenv.Wrk(b)
	url := benchServer(b)
	const duration = 2 * time.Second
	for _, connections := range []int{1, 8, 64, 512} {
		b.Run(fmt.Sprint(connections), func(b *testing.B) {
			var ours, theirs, ratios []float64
			for range b.N {
				for pair := range 5 {
					measure := []func() float64{
						func() float64 {
							l, err := Engine{}.Run(b.Context(), plan(url, connections, duration), nil)
							if err != nil || l.FailedTotal() > 0 {
								b.Fatalf("%v, failed: %v", err, l.Failed)
							}
							return l.Throughput()
						},
						func() float64 { return wrkRate(b, wrk, url, connections, duration) },
					}
					var rates [2]float64
					for i := range measure {
						// Which of them is first changes from pair to pair.
						which := (i + pair) % 2
						rates[which] = measure[which]()
					}
					ours, theirs = append(ours, rates[0]), append(theirs, rates[1])
					ratios = append(ratios, rates[0]/rates[1])
				}
			}
			for name, xs := range map[string][]float64{"load-req/s": ours, "wrk-req/s": theirs, "load/wrk": ratios} {
				median, _ := stats.Median(xs)
				b.ReportMetric(median, name)
			}
			b.ReportMetric(0, "ns/op") // would be the time of the pairs
		})
	}
}

func wrkRate(b *testing.B, wrk, url string, connections int, duration time.Duration) float64 {
	b.Helper()
	out, err := exec.CommandContext(b.Context(), wrk, "-t", strconv.Itoa(min(2, connections)), "-c", strconv.Itoa(connections),
		"-d", duration.String(), url+"/city?id=1").CombinedOutput()
	if err != nil {
		b.Fatalf("wrk: %v: %s", err, out)
	}
	match := regexp.MustCompile(`Requests/sec:\s+([0-9.]+)`).FindSubmatch(out)
	if match == nil {
		b.Fatalf("wrk: no rate in %s", out)
	}
	rate, err := strconv.ParseFloat(string(match[1]), 64)
	if err != nil {
		b.Fatal(err)
	}
	return rate
}

// serverEnv makes the test binary the server of BenchmarkWrk.
const serverEnv = "LOCBENCH_LOAD_TEST_SERVER"

// benchServer starts the server; it ends with its standard input, hence with us in any case.
func benchServer(b *testing.B) (url string) {
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

// serve is the server, in the process that benchServer starts.
func serve() error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println("http://" + listener.Addr().String())
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"countryIso":"CZ","id":101748111,"isFeatured":true,"name":"Praha","regionName":"Praha"}`)
	})}
	go func() {
		io.Copy(io.Discard, os.Stdin)
		server.Close()
	}()
	return server.Serve(listener)
}
