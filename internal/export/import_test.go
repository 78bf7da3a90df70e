package export

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"locbench/internal/bench"
)

// outputs of the tools, shortened where they repeat themselves.
const (
	wrkOutput = `Running 10s test @ http://127.0.0.1:8080/city
  4 threads and 64 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     5.80ms    1.56ms 302.00ms   76.92%
    Req/Sec     2.72k    81.58     3.94k    74.00%
  Latency Distribution
     50%    5.26ms
     75%    6.10ms
     90%    7.02ms
     99%   12.75ms
  108874 requests in 10.03s, 3.21MB read
  Socket errors: connect 0, read 3, write 1, timeout 12
  Non-2xx or 3xx responses: 74
Requests/sec:  10854.84
Transfer/sec:    327.70KB
`
	heyOutput = `
Summary:
  Total:	2.0012 secs
  Slowest:	0.0105 secs
  Fastest:	0.0002 secs
  Average:	0.0011 secs
  Requests/sec:	101.4391
  
  Total data:	1030 bytes

Response time histogram:
  0.000 [1]	|
  0.001 [199]	|■■■■

Latency distribution:
  10% in 0.0003 secs
  50% in 0.0010 secs
  90% in 0.0021 secs
  99% in 0.0090 secs

Status code distribution:
  [200]	198 responses
  [503]	2 responses

Error distribution:
  [3]	Get "http://127.0.0.1:8080/": dial tcp 127.0.0.1:8080: connect: connection refused
`
	ohaOutput = `{"summary":{"successRate":0.98,"total":2.5,"slowest":0.05,"fastest":0.0001,"average":0.002,"requestsPerSec":400,"totalData":5000,"sizePerRequest":5,"sizePerSec":2000},
"responseTimeHistogram":{"0.0001":1},"latencyPercentiles":{"p10":0.0005,"p50":0.0015,"p75":0.002,"p90":0.003,"p95":0.004,"p99":0.01,"p99.9":0.04,"p99.99":null},
"statusCodeDistribution":{"200":980,"500":15},"errorDistribution":{"aborted due to deadline":5}}`
	k6Output = `{"metrics":{"http_reqs":{"count":1000,"rate":99.9},"http_req_duration":{"avg":1.5,"min":0.2,"med":1.2,"max":80.5,"p(90)":2.5,"p(95)":3.75},
"http_req_failed":{"value":0.02,"passes":20,"fails":980},"vus_max":{"value":50,"min":50,"max":50},"data_received":{"count":123456,"rate":12345}},"root_group":{}}`
	k6Handle      = `{"metrics":{"http_reqs":{"type":"counter","contains":"default","values":{"count":1000,"rate":99.9}},"http_req_duration":{"type":"trend","values":{"med":1.2,"max":80.5,"p(90)":2.5,"avg":1.5}},"http_req_failed":{"values":{"rate":0.02,"passes":20,"fails":980}}}}`
	gatlingOutput = `
================================================================================
---- Global Information --------------------------------------------------------
> request count                                       8000 (OK=7990   KO=10    )
> min response time                                      1 (OK=1      KO=60000 )
> max response time                                    995 (OK=995    KO=60001 )
> mean response time                                   120 (OK=119    KO=60000 )
> std deviation                                         88 (OK=88     KO=-     )
> response time 50th percentile                        100 (OK=99     KO=60000 )
> response time 75th percentile                        180 (OK=180    KO=60000 )
> response time 95th percentile                        290 (OK=290    KO=60000 )
> response time 99th percentile                        420 (OK=420    KO=60000 )
> mean requests/sec                                888.889 (OK=887.78 KO=1.11  )
`
	gatlingStatsOutput = `{"type":"GROUP","name":"All Requests","path":"","stats":{"name":"All Requests","numberOfRequests":{"total":"8000","ok":"7990","ko":"10"},"minResponseTime":{"total":"1","ok":"1","ko":"-"},
"maxResponseTime":{"total":"995","ok":"995","ko":"-"},"meanResponseTime":{"total":"120","ok":"119","ko":"-"},"standardDeviation":{"total":"88","ok":"88","ko":"-"},"percentiles1":{"total":"100","ok":"99","ko":"-"},
"percentiles2":{"total":"180","ok":"180","ko":"-"},"percentiles3":{"total":"290","ok":"290","ko":"-"},"percentiles4":{"total":"420","ok":"420","ko":"-"},"meanNumberOfRequestsPerSecond":{"total":"888.889","ok":"887.78","ko":"1.11"}},"contents":{}}`
	jtlOutput = `timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,bytes,sentBytes,grpThreads,allThreads,URL,Latency,IdleTime,Connect
1600000000000,10,get,200,OK,t 1-1,text,true,,100,120,1,1,http://x/,9,0,1
1600000000500,20,get,200,"OK, really",t 1-1,text,true,,100,120,1,1,http://x/,9,0,1
1600000001000,30,get,500,Error,t 1-1,text,false,,100,120,1,1,http://x/,9,0,1
1600000001970,30,get,Non HTTP response code: java.net.SocketTimeoutException,Non HTTP response message: Read timed out,t,text,false,,0,120,1,1,http://x/,9,0,1
`
	aggregateOutput = `Label,# Samples,Average,Median,90% Line,95% Line,99% Line,Min,Max,Error %,Throughput,Received KB/sec,Std. Dev.
get,1000,12,10,20,25,40,1,99,1.00%,100.0,50.2,5.5
TOTAL,1000,12,10,20,25,40,1,99,1.00%,100.0,50.2,5.5
`
)

func TestImport(t *testing.T) {
	const ms, us = time.Millisecond, time.Microsecond
	for _, c := range []struct {
		name, data, reader string
		succeeded          int64
		failed             map[bench.ErrorKind]int64
		throughput         float64
		p50, p99, most     time.Duration
	}{
		{"wrk-1.txt", wrkOutput, "wrk", 108800, map[bench.ErrorKind]int64{"connection reset": 4, "timeout": 12, "other": 74}, 108800 / 10.03, 5260 * us, 12750 * us, 302 * ms},
		{"hey-1.txt", heyOutput, "hey", 198, map[bench.ErrorKind]int64{"5xx": 2, "connect refused": 3}, 198 / 2.0012, ms, 9 * ms, 10500 * us},
		{"oha-1.json", ohaOutput, "oha", 980, map[bench.ErrorKind]int64{"5xx": 15, "timeout": 5}, 980 / 2.5, 1500 * us, 10 * ms, 50 * ms},
		{"k6-1.json", k6Output, "k6", 980, map[bench.ErrorKind]int64{"other": 20}, 97.902, 1200 * us, 0, 80500 * us},
		{"k6h-1.json", k6Handle, "k6", 980, map[bench.ErrorKind]int64{"other": 20}, 97.902, 1200 * us, 0, 80500 * us},
		{"gatling-1.txt", gatlingOutput, "gatling", 7990, map[bench.ErrorKind]int64{"other": 10}, 887.7778, 99 * ms, 420 * ms, 995 * ms},
		{"stats-1.json", gatlingStatsOutput, "gatling", 7990, map[bench.ErrorKind]int64{"other": 10}, 887.7778, 99 * ms, 420 * ms, 995 * ms},
		{"jmeter-1.jtl", jtlOutput, "jmeter", 2, map[bench.ErrorKind]int64{"5xx": 1, "timeout": 1}, 1, 10 * ms, 20 * ms, 20 * ms},
		{"aggregate-1.csv", aggregateOutput, "jmeter", 990, map[bench.ErrorKind]int64{"other": 10}, 99, 10 * ms, 40 * ms, 99 * ms},
	} {
		t.Run(c.name, func(t *testing.T) {
			run, legs, err := Import([]Source{{Name: c.name, Data: []byte(c.data)}}, "", time.Unix(0, 0))
			if err != nil {
				t.Fatal(err)
			}
			leg := legs[0]
			if w := leg.Warnings[0].Text; !strings.HasPrefix(w, "imported from "+c.reader+", which does not tell: ") {
				t.Errorf("warning %q", w)
			}
			l := leg.Steps[0].Load
			if len(leg.Steps) != 1 || l.Succeeded != c.succeeded || math.Abs(l.Throughput()/c.throughput-1) > 1e-4 {
				t.Errorf("%d steps, %d successes, %v/s; want 1, %d, %v", len(leg.Steps), l.Succeeded, l.Throughput(), c.succeeded, c.throughput)
			}
			near := func(got, want time.Duration) bool { return math.Abs(float64(got-want)) <= float64(want)/1000 }
			if !near(l.Latency.P50, c.p50) || !near(l.Latency.P99, c.p99) || l.Latency.Max != c.most {
				t.Errorf("latency %+v, want p50 %v, p99 %v, max %v", l.Latency, c.p50, c.p99, c.most)
			}
			for kind, n := range c.failed {
				if l.Failed[kind] != n {
					t.Errorf("failed %v, want %v", l.Failed, c.failed)
				}
			}
			if len(l.Failed) != len(c.failed) || len(run.Legs) != 1 || run.Legs[0].File != leg.Leg.String()+".json" {
				t.Errorf("failed %v, legs %v", l.Failed, run.Legs)
			}
		})
	}
}

func TestWhatWasNotToldIsNotZero(t *testing.T) {
	run, legs, err := Import([]Source{{Name: "wrk-1.txt", Data: []byte(wrkOutput)}}, "", time.Unix(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	var objects []map[string]any
	if err := json.Unmarshal(written(t, "json", run, legs, Options{})["results.flat.json"], &objects); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"p95_ns", "p999_ns", "min_ns", "cpu_ns", "memory_peak_bytes", "start_up_ns"} {
		if v, there := objects[0][key]; !there || v != nil {
			t.Errorf("%s is %v, want null", key, v)
		}
	}
	if out := string(written(t, "prometheus", run, legs, Options{})["results.prom"]); strings.Contains(out, `quantile="0.95"`) || !strings.Contains(out, `quantile="0.99"`) {
		t.Errorf("quantiles of wrk:\n%s", out)
	}
}

func TestImportTellsWhere(t *testing.T) {
	for _, c := range []struct{ name, data, from, want string }{
		{"a.txt", "hello", "", "a.txt: of no known format"},
		{"a.txt", "hello", "nc", `unknown format "nc"`},
		{"a.txt", strings.Replace(wrkOutput, "5.26ms", "5.26mx", 1), "", `line 7: "5.26mx" is no duration`},
		{"a.txt", strings.Replace(wrkOutput, "108874", "99999999999999999999", 1), "", "line 11: "},
		{"a.json", strings.Replace(ohaOutput, `"p75":0.002`, `"p75":"x"`, 1), "", "line 2: "},
		{"a.json", strings.Replace(k6Output, `"rate":99.9`, `"rate":-1`, 1), "", "metrics.http_reqs.rate"},
		{"a.csv", strings.Replace(jtlOutput, "500,20,", "500,-20,", 1), "", `line 3: elapsed "-20"`},
		{"a.hlog", "#[Histogram log format version 1.3]\n0,1,1,HISTFAAA\n", "", "line 2: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := Import([]Source{{Name: c.name, Data: []byte(c.data)}}, c.from, time.Unix(0, 0))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%.40q: %v, want %q", c.data, err, c.want)
			}
		})
	}
	two := []Source{{Name: "x/wrk-1.txt", Data: []byte(wrkOutput)}, {Name: "y/wrk-1.txt", Data: []byte(wrkOutput)}}
	if _, _, err := Import(two, "", time.Unix(0, 0)); err == nil || !strings.Contains(err.Error(), "leg wrk-1 is that of x/wrk-1.txt already") {
		t.Errorf("two files of one leg: %v", err)
	}
}

func TestLegName(t *testing.T) {
	for _, c := range []struct {
		in, contender string
		round         int
	}{{"a/rs-actix-2.checks.bench.json", "rs-actix", 2}, {"wrk.txt", "wrk", 1}, {`c:\x\Go Echo-12.json`, "go-echo", 12}, {"x-007.txt", "x-007", 1}, {"-3.txt", "-3", 1}, {"run-0.txt", "run-0", 1}} {
		t.Run(c.in, func(t *testing.T) {
			if contender, round := legName(c.in); contender != c.contender || round != c.round {
				t.Errorf("%s: %s, %d; want %s, %d", c.in, contender, round, c.contender, c.round)
			}
		})
	}
}

// FuzzImport looks for inputs that crash a reader, or give results that cannot be written.
func FuzzImport(f *testing.F) {
	run, legs := fixture()
	for _, text := range []string{published, wrkOutput, heyOutput, ohaOutput, k6Output, k6Handle, gatlingOutput, gatlingStatsOutput, jtlOutput, aggregateOutput} {
		for i := range readers() {
			f.Add([]byte(text), i)
		}
	}
	for format, i := range map[string]int{"hlog": 4, "vegeta": 8, "vegeta-json": 9, "vegeta-csv": 10} {
		x, err := Lookup(format)
		if err != nil {
			f.Fatal(err)
		}
		files, err := x.Files(run, legs[:1], Options{})
		if err != nil {
			f.Fatal(err)
		}
		var b strings.Builder
		if err := files[0].Write(&b); err != nil {
			f.Fatal(err)
		}
		f.Add([]byte(b.String()[:min(b.Len(), 3000)]), i)
	}
	f.Fuzz(func(t *testing.T, data []byte, i int) {
		all := readers()
		name := all[((i%len(all))+len(all))%len(all)].name
		run, legs, err := Import([]Source{{Name: "x-1", Data: data}}, name, time.Unix(0, 0))
		if err != nil {
			return
		}
		if _, err := json.Marshal(legs); err != nil {
			t.Fatalf("%s gave a leg that cannot be written: %v", name, err)
		}
		for _, s := range legs[0].Steps {
			if s.Load.Elapsed < 0 || s.Load.Succeeded < 0 || s.Load.FailedTotal() < 0 || s.Load.Latency.P50 < 0 {
				t.Fatalf("%s gave %+v", name, s.Load)
			}
		}
		for _, format := range []string{"csv", "json", "gobench", "prometheus", "harness"} {
			written(t, format, run, legs, Options{})
		}
		if name != "harness" {
			return
		}
		out := toHarness(legs[0]).encode()
		again, err := readHarness(Source{Name: "x-1" + harnessSuffix, Data: out})
		if err != nil {
			t.Fatalf("our own file is not read: %v\n%s", err, out)
		}
		if second := toHarness(again).encode(); string(second) != string(out) {
			t.Fatalf("written again:\n%s\nwant:\n%s", second, out)
		}
	})
}

// TestWrk2Uncorrected reads what wrk2 -U prints: the latencies from when each request was due.
func TestWrk2Uncorrected(t *testing.T) {
	const output = `Running 10s test @ http://127.0.0.1:9000/
  2 threads and 16 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     2.05ms    1.41ms  21.98ms   88.10%
    Req/Sec     1.05k   160.55     1.77k    78.40%
  Latency Distribution (HdrHistogram - Recorded Latency)
 50.000%    1.71ms
 99.000%    8.20ms
----------------------------------------------------------

  Latency Distribution (HdrHistogram - Uncorrected Latency (measured without taking delayed starts into account))
 50.000%  310.00us
 99.000%    1.20ms
----------------------------------------------------------
  19998 requests in 10.00s, 2.46MB read
Requests/sec:   1999.80
`
	steps, err := readWrk(Source{Name: "wrk2.txt", Data: []byte(output)})
	if err != nil || len(steps) != 1 {
		t.Fatal(steps, err)
	}
	if l := steps[0].Load; l.Latency.P50 != 1710*time.Microsecond || l.Latency.P99 != 8200*time.Microsecond || l.Succeeded != 19998 {
		t.Errorf("%+v", l)
	}
}
