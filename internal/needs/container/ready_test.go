package container

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/docker"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/secret"
)

// TestReady: which checks a service must pass, and when it has.
func TestReady(t *testing.T) {
	exposes := docker.Image{Ports: []int{5432}}
	for name, c := range map[string]struct {
		yaml    string
		image   docker.Image
		started func(c *fakeServed)
		exec    func(c *fakeServed, command []string) (string, int, error)
		calls   string // commands that were run
		want    string // "": it becomes ready
	}{
		"port of the image": {yaml: "image: a", image: exposes},
		"nothing listens": {yaml: "image: a\nready: {timeout: 1s}", image: exposes, started: func(c *fakeServed) { c.address = "127.0.0.1:1" },
			want: "not ready after 200ms: port 5432: dial tcp"},
		"closes at once (R1)": {yaml: "image: a\nready: {timeout: 1s}", image: exposes,
			started: func(c *fakeServed) { c.listenOn(func(conn net.Conn) { conn.Close() }) }, want: "port 5432: it closes connections at once"},
		"health check of the image": {yaml: "image: a", image: docker.Image{Ports: []int{5432}, Healthcheck: []string{"check", "x"}},
			calls: "check x, check x"},
		"times": {yaml: "image: a\nready: {command: [x], times: 3}", calls: "x, x, x"},
		"in a row": {yaml: "image: a\nready: {command: [x]}", calls: "x, x, x, x",
			exec: func(c *fakeServed, _ []string) (string, int, error) {
				c.seen++
				return "", map[bool]int{true: 1}[c.seen == 2], nil
			}},
		"command on a socket (R1)": {yaml: "image: a\nports: 5432\nready: {command: [pg_isready], timeout: 1s}",
			started: func(c *fakeServed) { c.address = "127.0.0.1:1" },
			want:    "not ready after 200ms: pg_isready: dial tcp 127.0.0.1:1"},
		"command fails": {yaml: "image: a\nready: {command: [x], timeout: 1s}",
			want: "not ready after 200ms: x: exit code 2\n  no response; its log is empty",
			exec: func(*fakeServed, []string) (string, int, error) { return "no response\n", 2, nil }},
		"not in the image (R8)": {yaml: "image: a\nready: {command: [curl]}",
			want: "curl: its image does not have this command (exit code 127)", calls: "curl",
			exec: func(*fakeServed, []string) (string, int, error) { return "", 127, nil }},
		"not in the image, says the engine (R8)": {yaml: "image: a\nready: {command: [curl]}",
			want: "curl: its image does not have this command (exit code 126)", calls: "curl",
			exec: func(*fakeServed, []string) (string, int, error) {
				return `OCI runtime exec failed: exec: "curl": executable file not found in $PATH: unknown`, 126, nil
			}},
		"ends while a command starts (R7)": {yaml: "image: a\nready: {command: [x]}",
			want: "ended before it was ready: exit code 3",
			exec: func(c *fakeServed, _ []string) (string, int, error) {
				if c.seen++; c.seen > 1 {
					c.end(bench.Exit{Code: 3})
				}
				return "OCI runtime exec failed: cannot exec in a stopped container: unknown", 126, nil
			}},
		"log twice (R2)": {yaml: "image: a\nports: 1\nready: {log: {line: ready to, times: 2}}", started: func(c *fakeServed) {
			c.listen()
			c.log("1 is ready to serve")
			c.log("2 is ready to serve")
		}},
		"log once (R2)": {yaml: "image: a\nports: 1\nready: {log: {line: ready to, times: 2}, timeout: 1s}", started: func(c *fakeServed) {
			c.listen()
			c.log("1 is ready to serve")
		}, want: `"ready to" in its log: found 1 of 2 times; its last lines:` + "\n  1 is ready to serve"},
		"log without a port": {yaml: "image: a\nports: 1\nready: {log: {line: ready}, timeout: 1s}", started: func(c *fakeServed) {
			c.address = "127.0.0.1:1"
			c.log("ready")
		}, want: `"ready" in its log: dial tcp`},
		"HTTP": {yaml: "image: a\nports: 1\nready: {http: {path: /h, status: 204}}",
			started: func(c *fakeServed) { c.serve("HTTP/1.1 204 No Content\r\n\r\n") }},
		"another status": {yaml: "image: a\nports: 1\nready: {http: {path: /h}, timeout: 1s}",
			started: func(c *fakeServed) { c.serve("HTTP/1.1 503 x\r\n\r\n") }, want: "/h: status 503, expected 200"},
		"Elasticsearch without its health": {yaml: "image: elasticsearch", started: func(c *fakeServed) {
			c.serve("HTTP/1.1 200 OK\r\n\r\n", "GET /_cluster/", "HTTP/1.1 404 Not Found\r\n\r\n")
		}},
		"Elasticsearch, its health": {yaml: "image: elasticsearch\nready: {timeout: 1s}", started: func(c *fakeServed) {
			c.serve("HTTP/1.1 200 OK\r\n\r\n", "GET /_cluster/", "HTTP/1.1 408 Request Timeout\r\n\r\n")
		}, want: "yellow&timeout=1s: status 408, expected 200"},
		"another path that is missing": {yaml: "image: elasticsearch\nready: {http: {path: /_cluster/x}, timeout: 1s}", started: func(c *fakeServed) {
			c.serve("HTTP/1.1 200 OK\r\n\r\n", "GET /_cluster/", "HTTP/1.1 404 Not Found\r\n\r\n")
		}, want: "/_cluster/x: status 404, expected 200"},
		"a published port": {yaml: "image: a\nports: 1\nready: {tcp: 2}", started: func(c *fakeServed) {
			c.listen()
			c.inside = "172.18.0.3:1"
		}, want: "this machine does not reach port 2"},
		"ends (R7)": {yaml: "image: a\nports: 1", started: func(c *fakeServed) {
			c.log("bad option")
			c.end(bench.Exit{Code: 3})
		}, want: "ended before it was ready: exit code 3; its last lines:\n  bad option"},
		"ends during its check": {yaml: "image: a\nready: {command: [x], times: 1}", exec: func(c *fakeServed, _ []string) (string, int, error) {
			defer c.end(bench.Exit{Code: 4})
			return "", 0, nil
		}, want: "exit code 4"},
		"out of memory": {yaml: "image: a\nports: 1\nlimits: {memory: 8M}", started: func(c *fakeServed) {
			c.end(bench.Exit{Code: 137, Signal: "SIGKILL", OOMKilled: true})
		},
			want: "(out of memory), its limit is 8 MiB"},
		"disk full": {yaml: "image: a\nports: 1", started: func(c *fakeServed) {
			c.log("could not write: No space left on device")
			c.end(bench.Exit{Code: 1})
		}, want: "exit code 1; its disk is full: free disk space on the machine of the container engine; its last lines:"},
		"a line of a file": {yaml: "image: postgres\nseed: [schema.sql]", started: func(c *fakeServed) {
			c.log("psql:/docker-entrypoint-initdb.d/01-schema.sql:7: ERROR:  syntax error")
			c.end(bench.Exit{Code: 3})
		}, want: "seed failed in schema.sql, line 7: exit code 3"},
		"a line of MySQL": {yaml: "image: mysql\nseed: [schema.sql]", started: func(c *fakeServed) {
			c.log("running /docker-entrypoint-initdb.d/01-schema.sql")
			c.log("ERROR 1064 (42000) at line 3: You have an error")
			c.end(bench.Exit{Code: 1})
		}, want: "seed failed in schema.sql, line 3: exit code 1"},
		"a file fails (R7)": {yaml: "image: postgres\nseed: [schema.sql, more.sh]", started: func(c *fakeServed) {
			c.log("running /docker-entrypoint-initdb.d/02-more.sh")
			c.log("CREATE USER app")
			c.end(bench.Exit{Code: 1})
		}, want: "db: seed failed in more.sh: exit code 1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, c.yaml)
			f.engine.image, f.engine.started, f.engine.exec = c.image, c.started, c.exec
			err := f.Open(t.Context(), f.place)
			err = secret.New(*f.hidden...).Error(err) // as the run says it
			testenv.Fails(t, err, c.want)
			testenv.Equal(t, c.want != "" && len(f.engine.left()) > 0, false, "left:", f.engine.left())
			if c.want == "" {
				testenv.OK(t, err)
			} else if strings.Contains(err.Error(), "hunter22") {
				t.Errorf("shows a password: %v", err)
			}
			var calls []string
			for line := range strings.Lines(f.engine.since()) {
				if command, ok := strings.CutPrefix(strings.TrimSpace(line), "exec "); ok {
					calls = append(calls, command)
				}
			}
			if c.calls != "" {
				testenv.Equal(t, strings.Join(calls, ", "), c.calls)
			}
		})
	}
}

// serve responds to each connection; to one whose request begins with the first of others, with the
// second.
func (c *fakeServed) serve(response string, others ...string) {
	c.listenOn(func(conn net.Conn) {
		go func() {
			request := make([]byte, 4096)
			n, _ := conn.Read(request)
			text := response
			if len(others) > 0 && strings.HasPrefix(string(request[:n]), others[0]) {
				text = others[1]
			}
			_, _ = conn.Write([]byte(text))
			conn.Close()
		}()
	})
}

// TestReady_AfterRestore: a line of the log that comes only in the first start is not expected
// again (R3).
func TestReady_AfterRestore(t *testing.T) {
	f := newFixture(t, "image: a\nports: 1\nready: {log: {line: initialized}, times: 1}")
	f.engine.started = func(c *fakeServed) {
		c.listen()
		if len(f.engine.running) == 1 {
			c.log("initialized")
		}
	}
	f.open(t)
	f.restore(t)
}

// TestReady_Interrupted: an interruption ends the wait at once, with its cause.
func TestReady_Interrupted(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "image: a\nports: 1")
	ctx, cancel := context.WithCancelCause(t.Context())
	f.engine.started = func(c *fakeServed) { c.address = "127.0.0.1:1" }
	f.place.Progress = func(p bench.Progress) {
		if p.Text == "starting a" {
			return
		}
		testenv.Check(t, strings.HasPrefix(p.Text, "db: waited ") && strings.HasSuffix(p.Text, " of 60 s"), "%s", p.Text)
		cancel(errors.New("Ctrl-C"))
	}
	testenv.Fails(t, f.Open(ctx, f.place), "Ctrl-C")
}

// TestResponds_WithoutProxy: a check over HTTP goes to the need itself, whatever proxy the environment
// has for other addresses.
func TestResponds_WithoutProxy(t *testing.T) {
	proxy := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer proxy.Close()
	t.Setenv("HTTP_PROXY", proxy.URL)
	testenv.Check(t, responds(t.Context(), "http://need.invalid/", "", http.StatusOK) != nil, "the proxy responded")
}
