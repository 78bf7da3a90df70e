package docker

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
)

func env(m map[string]string) func(string) string { return func(k string) string { return m[k] } }

func writeFile(t *testing.T, content string, elem ...string) {
	t.Helper()
	path := filepath.Join(elem...)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func contextID(name string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(name))) }

func TestResolve(t *testing.T) {
	home := t.TempDir()
	meta := func(name, content string) {
		writeFile(t, content, home, ".docker", "contexts", "meta", contextID(name), "meta.json")
	}
	writeFile(t, `{"currentContext":"far","auths":{}}`, home, ".docker", "config.json")
	meta("far", `{"Name":"far","Endpoints":{"docker":{"Host":"tcp://10.0.0.5:2376","SkipTLSVerify":false}}}`)
	meta("near", `{"Name":"near","Endpoints":{"docker":{"Host":"unix:///run/user/1000/docker.sock"}}}`)
	meta("shell", `{"Name":"shell","Endpoints":{"docker":{"Host":"ssh://me@box"}}}`)
	meta("empty", `{"Name":"empty","Endpoints":{}}`)
	meta("broken", `{`)
	other := t.TempDir()
	for _, tt := range []struct {
		name      string
		env       map[string]string
		home      string
		host, err string
	}{
		{"nothing set", nil, other, "unix:///var/run/docker.sock", ""},
		{"DOCKER_HOST wins", map[string]string{"DOCKER_HOST": "tcp://h:1", "DOCKER_CONTEXT": "near"}, home, "tcp://h:1", ""},
		{"DOCKER_CONTEXT", map[string]string{"DOCKER_CONTEXT": "near"}, home, "unix:///run/user/1000/docker.sock", ""},
		{"current context", nil, home, "tcp://10.0.0.5:2376", ""},
		{"DOCKER_CONFIG", map[string]string{"DOCKER_CONFIG": filepath.Join(home, ".docker")}, other, "tcp://10.0.0.5:2376", ""},
		{"the default one by name", map[string]string{"DOCKER_CONTEXT": "default"}, home, "unix:///var/run/docker.sock", ""},
		{"absent context", map[string]string{"DOCKER_CONTEXT": "nowhere"}, home, "", `docker context "nowhere" (of DOCKER_CONTEXT): context not found`},
		{"context without an endpoint", map[string]string{"DOCKER_CONTEXT": "empty"}, home, "", "has no docker endpoint"},
		{"broken context", map[string]string{"DOCKER_CONTEXT": "broken"}, home, "", "unexpected end of JSON"},
		{"ssh", map[string]string{"DOCKER_CONTEXT": "shell"}, home, "", "cannot reach container ports"},
		{"no address", map[string]string{"DOCKER_HOST": "box"}, home, "", "not an address"},
		{"strange scheme", map[string]string{"DOCKER_HOST": "ftp://box"}, home, "", `unknown scheme "ftp"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ep, err := resolve(env(tt.env), tt.home)
			if tt.err != "" {
				if e, ok := errors.AsType[*ConnectError](err); !ok || e.Fix == "" || !strings.Contains(err.Error(), tt.err) {
					t.Fatalf("error %v, want %q", err, tt.err)
				}
				return
			}
			if err != nil || ep.host != tt.host {
				t.Errorf("%q, %v; want %q", ep.host, err, tt.host)
			}
		})
	}
}

// engineStub responds to the two requests of Connect, as an engine of the API version does.
func engineStub(t *testing.T, version string) *httptest.Server {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Api-Version", version)
		w.Header().Set("Ostype", "linux")
		if strings.HasSuffix(r.URL.Path, "/info") {
			json.NewEncoder(w).Encode(map[string]any{
				"ServerVersion": "20.10.24", "NCPU": 4, "OSType": "linux", "Architecture": "aarch64", "CgroupVersion": "2",
				"SecurityOptions": []string{"name=seccomp", "name=rootless"}, "SystemTime": time.Now().Add(time.Hour).Format(time.RFC3339Nano),
			})
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func TestConnectTLSContext(t *testing.T) {
	s := engineStub(t, "1.41")
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // for the handshake that fails
	s.StartTLS()
	home := t.TempDir()
	id := contextID("secure")
	addr := "tcp://" + s.Listener.Addr().String()
	writeFile(t, `{"currentContext":"secure"}`, home, ".docker", "config.json")
	writeFile(t, `{"Endpoints":{"docker":{"Host":"`+addr+`"}}}`, home, ".docker", "contexts", "meta", id, "meta.json")
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	writeFile(t, string(ca), home, ".docker", "contexts", "tls", id, "docker", "ca.pem")
	e, err := connect(t.Context(), env(nil), home)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if i := e.Info(); i.APIVersion != "1.41" || i.Arch != "arm64" || i.CgroupVersion != 2 || !i.Rootless || e.Local() {
		t.Errorf("%+v, local %v", i, e.Local())
	}
	if ahead, err := e.ClockOffset(t.Context()); err != nil || ahead < 59*time.Minute || ahead > 61*time.Minute {
		t.Errorf("clock offset %v, %v", ahead, err)
	}
	if e.PublishedHost() != "127.0.0.1" {
		t.Errorf("published at %s", e.PublishedHost())
	}
	// From the environment: DOCKER_CERT_PATH with verification, and without any certificate, which
	// must fail.
	certs := filepath.Join(home, ".docker", "contexts", "tls", id, "docker")
	byEnv := map[string]string{"DOCKER_HOST": addr, "DOCKER_TLS_VERIFY": "1", "DOCKER_CERT_PATH": certs}
	if e, err := connect(t.Context(), env(byEnv), home); err != nil {
		t.Error(err)
	} else {
		e.Close()
	}
	byEnv["DOCKER_CERT_PATH"] = t.TempDir()
	if _, err := connect(t.Context(), env(byEnv), home); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("unknown authority: %v", err)
	}
}

// TestConnectAgrees connects to engines of all versions: both sides use the newest common API
// version.
func TestConnectAgrees(t *testing.T) {
	for _, tt := range []struct{ name, engine, asked, spoken, err string }{
		{"oldest", "1.40", "", "1.40", ""},
		{"20.10", "1.41", "", "1.41", ""},
		{"29", "1.52", "", "1.52", ""},
		{"newer than the client", "1.999", "", "its own", ""},
		{"DOCKER_API_VERSION", "1.52", "1.43", "1.43", ""},
		{"too old", "1.39", "", "", "the minimum supported API version is 1.40"},
		{"no version", "1.52", "new", "", "invalid API version (new)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := engineStub(t, tt.engine)
			s.Start()
			e, err := connect(t.Context(), env(map[string]string{
				"DOCKER_HOST": "tcp://" + s.Listener.Addr().String(), "DOCKER_API_VERSION": tt.asked,
			}), t.TempDir())
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Fatalf("error %v, want %q", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			i, own := e.Info(), tt.spoken == "its own"
			if (i.APIVersion != tt.spoken) != own || own && i.APIVersion == tt.engine || i.CPUs != 4 {
				t.Errorf("%+v", i)
			}
		})
	}
}

func TestConnectAbsent(t *testing.T) {
	socket := "unix://" + filepath.Join(t.TempDir(), "no.sock")
	left, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	left.Close()
	for _, host := range []string{socket, "tcp://" + left.Addr().String()} {
		_, err := connect(t.Context(), env(map[string]string{"DOCKER_HOST": host}), t.TempDir())
		if want := "docker engine " + host + " (of DOCKER_HOST): nothing listening; start it (Linux: sudo systemctl start docker"; err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v", err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := connect(ctx, env(map[string]string{"DOCKER_HOST": socket}), t.TempDir()); err == nil {
		t.Error("connected although canceled")
	}
}

// TestConnectError: the reason and the fix of each failure to connect are in fields.
func TestConnectError(t *testing.T) {
	dial := func(network string, err error) *net.OpError { return &net.OpError{Op: "dial", Net: network, Err: err} }
	failed := errors.New("words of the client")
	for name, tt := range map[string]struct {
		host        string
		err         error
		dialed      *net.OpError
		reason, fix string // fix: part of it
	}{
		"no socket":         {"unix:///x.sock", failed, dial("unix", syscall.ENOENT), "nothing listening", "start it"},
		"port closed":       {"tcp://h:1", failed, dial("tcp", os.NewSyscallError("connect", syscall.ECONNREFUSED)), "nothing listening", "start it"},
		"no permission":     {"unix:///x.sock", failed, dial("unix", os.NewSyscallError("connect", syscall.EACCES)), failed.Error(), "usermod"},
		"silent":            {"tcp://h:1", context.DeadlineExceeded, nil, "no response", "start it"},
		"no route":          {"tcp://h:1", failed, dial("tcp", syscall.EHOSTUNREACH), failed.Error(), "start it"},
		"no pipe":           {"npipe:////./pipe/x", fmt.Errorf("open: %w", os.ErrNotExist), nil, "nothing listening", "start it"},
		"pipe refused":      {"npipe:////./pipe/x", errors.New("permission denied while trying"), nil, "permission denied while trying", "usermod"},
		"words of a server": {"tcp://h:1", errors.New("permission denied by a plugin"), nil, "permission denied by a plugin", "start it"},
	} {
		t.Run(name, func(t *testing.T) {
			err := unreachable(endpoint{host: tt.host, from: "DOCKER_HOST"}, tt.err, tt.dialed)
			e, ok := errors.AsType[*ConnectError](err)
			if !ok || e.Reason.Error() != tt.reason || !strings.Contains(e.Fix, tt.fix) {
				t.Fatalf("%v, want %q and %q", err, tt.reason, tt.fix)
			}
			problem := "docker engine " + tt.host + " (of DOCKER_HOST): " + tt.reason
			if e.Problem() != problem || err.Error() != problem+"; "+e.Fix {
				t.Errorf("%q, %q", e.Problem(), err)
			}
		})
	}
}

func frame(stream byte, text string) []byte {
	head := []byte{stream, 0, 0, 0, 0, 0, 0, 0}
	binary.BigEndian.PutUint32(head[4:], uint32(len(text)))
	return append(head, text...)
}

func TestCopyLog(t *testing.T) {
	var got []string
	emit := func(l bench.LogLine) { got = append(got, l.Stream+":"+l.Text) }
	in := bytes.Join([][]byte{frame(1, "a\nb"), frame(2, "err\n"), frame(1, "c\n"), frame(1, ""), frame(0, "end")}, nil)
	if err := copyLog(bytes.NewReader(in), time.Now, emit); err != nil {
		t.Error(err)
	}
	if s := strings.Join(got, " "); s != "stdout:a stderr:err stdout:bc stdout:end" {
		t.Error(s)
	}
	if err := copyLog(bytes.NewReader(frame(9, "x")), time.Now, emit); err == nil {
		t.Error("stream 9 accepted")
	}
	if err := copyLog(bytes.NewReader(frame(1, "abc")[:9]), time.Now, emit); err == nil {
		t.Error("half a frame accepted")
	}
}

func FuzzCopyLog(f *testing.F) {
	f.Add(frame(1, "a\nb"))
	f.Add([]byte{1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 'x'})
	f.Add([]byte{2, 0, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		copyLog(bytes.NewReader(data), time.Now, func(l bench.LogLine) {
			if len(l.Text) > 9<<10 {
				t.Fatalf("a line of %d bytes", len(l.Text))
			}
		})
	})
}

func TestFollow(t *testing.T) {
	for _, tt := range []struct{ name, in, out, err string }{
		{"build", `{"stream":"Step 1/2 : FROM scratch\n"}` + "\r\n" + `{"stream":" ---\u003e 12"}` + "\n" + `{"stream":"34\n"}` + "\n" + `{"aux":{"ID":"sha256:1"}}`,
			"Step 1/2 : FROM scratch\n ---> 1234\n", ""},
		{"pull", `{"status":"Pulling from x","id":"5"}` + "\n" + `{"status":"Downloading","id":"a","progress":"[=>  ]"}` + "\n" + `{"status":"Pull complete","id":"a"}` + "\n" + `{"status":"Digest: sha256:1"}`,
			"5: Pulling from x\n0 of 1 layers ready\n1 of 1 layers ready\nDigest: sha256:1\n", ""},
		{"failed", `{"stream":"RUN false\n"}` + "\n" + `{"errorDetail":{"code":1,"message":"exit 1"},"error":"exit 1"}`, "RUN false\n", "exit 1; last lines:\n  RUN false"},
		{"no JSON", "<html>", "", "invalid character"},
		{"BuildKit", `{"id":"moby.buildkit.trace","aux":"` + buildKitTrace() + `"}` + "\n" + `{"id":"moby.image.id","aux":{"ID":"sha256:1"}}`,
			"[2/3] RUN make\nall made\n[3/3] COPY a /: \"/a\" not found\n", ""},
		{"aux of another shape", `{"aux":"x"}` + "\n" + `{"stream":"on\n"}`, "on\n", ""},
		{"endless message", `{"stream":"` + strings.Repeat("x", maxMessage+1), "", "too long"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out bytes.Buffer
			err := follow(strings.NewReader(tt.in), &out, nil)
			if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Errorf("error %v, want %q", err, tt.err)
			}
			if out.String() != tt.out {
				t.Errorf("%q, want %q", out.String(), tt.out)
			}
		})
	}
}

func FuzzFollow(f *testing.F) {
	f.Add([]byte(`{"stream":"a\n"}{"error":"x"}`))
	f.Add([]byte(`{"status":"s","id":"i","aux":{"ID":1}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := follow(bytes.NewReader(data), nil, func(message) {}); err != nil {
			_ = err.Error()
		}
	})
}

func TestStatsUsage(t *testing.T) {
	read := func(text string) bench.Usage {
		raw, err := parseStats(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		return statsUsage(raw, time.Time{})
	}
	cpu := `"cpu_stats":{"cpu_usage":{"total_usage":5000000000},"throttling_data":{"periods":10,"throttled_periods":4,"throttled_time":7}}`
	v1 := read(`{` + cpu + `,"memory_stats":{"usage":1000,"max_usage":2000,"limit":4000,"stats":{"total_cache":300,"cache":1,"inactive_file":2}},"pids_stats":{"current":9}}`)
	if v1.CPU != 5*time.Second || *v1.Throttling != (bench.Throttling{Periods: 10, Throttled: 4, Time: 7}) ||
		*v1.Memory != (bench.Memory{Used: 700, Peak: 2000, PeakSource: "max_usage", Limit: 4000}) || *v1.Threads != 9 {
		t.Errorf("v1: %+v %+v", v1, v1.Memory)
	}
	v2 := read(`{` + cpu + `,"memory_stats":{"usage":1000,"limit":4000,"stats":{"inactive_file":200,"file":500}}}`)
	if *v2.Memory != (bench.Memory{Used: 800, Peak: 800, PeakSource: "largest sample", Limit: 4000, PeakIsSample: true}) || v2.Threads != nil {
		t.Errorf("v2: %+v", v2.Memory)
	}
}

func TestUniqueName(t *testing.T) {
	for _, wish := range []string{"", "go:lto/1 é\n", strings.Repeat("x", 500), "locbench-a"} {
		name := uniqueName(wish, wish)
		if !strings.HasPrefix(name, "locbench-") || len(name) > 128 || strings.ContainsAny(name, ":/ é\n") {
			t.Errorf("%q: %q", wish, name)
		}
		if name == uniqueName(wish, wish) {
			t.Errorf("%q twice", name)
		}
		if labels := map[string]string{LabelRun: wish}; named(labels, name) != (wish != "") {
			t.Errorf("%q: its name %q", wish, name)
		}
	}
}

// TestKill_Exited responds as an engine on which the container was removed, or has exited.
func TestKill_Exited(t *testing.T) {
	for _, tt := range []struct {
		name   string
		status int
		fails  bool
	}{{"gone", http.StatusNotFound, false}, {"ended", http.StatusConflict, false}, {"broken", http.StatusInternalServerError, true}} {
		t.Run(tt.name, func(t *testing.T) {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Api-Version", "1.41")
				if strings.HasSuffix(r.URL.Path, "/kill") {
					w.WriteHeader(tt.status)
				}
			}))
			defer s.Close()
			cli, err := endpoint{host: "tcp://" + s.Listener.Addr().String()}.client()
			if err != nil {
				t.Fatal(err)
			}
			defer cli.Close()
			c := &Container{engine: &Engine{cli: cli}, id: "x"}
			if err := c.kill(t.Context(), "SIGTERM"); (err != nil) != tt.fails {
				t.Error(err)
			}
		})
	}
}
