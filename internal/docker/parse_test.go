package docker

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/testenv/fakedocker"
	"github.com/locbench/locbench/internal/text/safe"
)

func env(m map[string]string) func(string) string { return func(k string) string { return m[k] } }

func writeFile(t *testing.T, content string, elem ...string) {
	t.Helper()
	path := filepath.Join(elem...)
	testenv.OK(t, os.MkdirAll(filepath.Dir(path), 0o755))
	testenv.OK(t, os.WriteFile(path, []byte(content), 0o600))
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
			testenv.Check(t, err == nil && ep.host == tt.host, "%q, %v; want %q", ep.host, err, tt.host)
		})
	}
}

// engineStub is a fake of the API version, which is still to be started.
func engineStub(t *testing.T, version string) *httptest.Server {
	f := fakedocker.New()
	f.API, f.Ahead = version, time.Hour
	f.Info["Architecture"], f.Info["SecurityOptions"] = "aarch64", []string{"name=seccomp", "name=rootless"}
	s := httptest.NewUnstartedServer(f)
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
	e := testenv.Must(connect(t.Context(), env(nil), home))(t)
	defer e.Close()
	if i := e.Info(); i.APIVersion != "1.41" || i.Arch != "arm64" || i.CgroupVersion != 2 || !i.Rootless || e.Local() {
		t.Errorf("%+v, local %v", i, e.Local())
	}
	if ahead, err := e.ClockOffset(t.Context()); err != nil || ahead < 59*time.Minute || ahead > 61*time.Minute {
		t.Errorf("clock offset %v, %v", ahead, err)
	}
	testenv.Equal(t, e.PublishedHost(), "127.0.0.1")
}

// TestResolve_TLS: how the certificate of an engine is verified.
func TestResolve_TLS(t *testing.T) {
	s := httptest.NewTLSServer(nil)
	defer s.Close()
	key := testenv.Must(x509.MarshalPKCS8PrivateKey(s.TLS.Certificates[0].PrivateKey))(t)
	files := map[string]string{
		"ca.pem":   string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})),
		"key.pem":  string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})),
		"cert.pem": string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})),
	}
	const none, skip, verify = "none", "skip false, authorities false, certificates 0", "skip false, authorities true, certificates 0"
	const trust = "skip true, authorities false, certificates 0"
	for name, tt := range map[string]struct {
		host, files, broken string // "HOME/.docker" has the files
		env                 map[string]string
		context             string
		want                string
	}{
		"no TLS":                {"tcp://h:1", "ca.pem", "", nil, "", none},
		"verified":              {"tcp://h:1", "ca.pem", "", map[string]string{"DOCKER_TLS_VERIFY": "1"}, "", verify},
		"with certificates":     {"tcp://h:1", "ca.pem", "", map[string]string{"DOCKER_CERT_PATH": "HOME/.docker"}, "", trust},
		"with its own":          {"tcp://h:1", "cert.pem key.pem", "", map[string]string{"DOCKER_TLS_VERIFY": "1"}, "", "skip false, authorities false, certificates 1"},
		"only a key":            {"tcp://h:1", "key.pem", "", map[string]string{"DOCKER_TLS_VERIFY": "1"}, "", skip},
		"a socket":              {"unix:///x", "ca.pem", "", map[string]string{"DOCKER_TLS_VERIFY": "1"}, "", none},
		"no certificate":        {"tcp://h:1", "", "ca.pem", map[string]string{"DOCKER_TLS_VERIFY": "1"}, "", "certificates of DOCKER_CERT_PATH: "},
		"a context":             {"", "", "", nil, `{"Host":"tcp://h:1"}`, none},
		"one that skips":        {"", "", "", nil, `{"Host":"tcp://h:1","SkipTLSVerify":true}`, trust},
		"one with certificates": {"", "context/ca.pem", "", nil, `{"Host":"tcp://h:1"}`, verify},
		"one with both":         {"", "context/ca.pem", "", nil, `{"Host":"tcp://h:1","SkipTLSVerify":true}`, trust},
		"one with broken ones":  {"", "", "context/ca.pem", nil, `{"Host":"tcp://h:1"}`, "docker context \"c\" (of DOCKER_CONTEXT): certificates: "},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			dir := filepath.Join(home, ".docker")
			place := func(file string) string {
				return filepath.Join(dir, strings.Replace(file, "context/", "contexts/tls/"+contextID("c")+"/docker/", 1))
			}
			for _, file := range strings.Fields(tt.files) {
				writeFile(t, files[filepath.Base(file)], place(file))
			}
			if tt.broken != "" {
				writeFile(t, "x", place(tt.broken))
			}
			vars := map[string]string{"DOCKER_HOST": tt.host}
			for k, v := range tt.env {
				vars[k] = strings.Replace(v, "HOME", home, 1)
			}
			if tt.context != "" {
				vars["DOCKER_CONTEXT"] = "c"
				writeFile(t, `{"Endpoints":{"docker":`+tt.context+`}}`, dir, "contexts", "meta", contextID("c"), "meta.json")
			}
			ep, err := resolve(env(vars), home)
			got := none
			switch {
			case err != nil:
				got = err.Error()[:min(len(tt.want), len(err.Error()))]
			case ep.tls != nil:
				got = fmt.Sprintf("skip %v, authorities %v, certificates %d", ep.tls.InsecureSkipVerify, ep.tls.RootCAs != nil, len(ep.tls.Certificates))
			}
			testenv.Equal(t, got, tt.want, err)
		})
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
				testenv.Need(t, err != nil && strings.Contains(err.Error(), tt.err), "error %v, want %q", err, tt.err)
				return
			}
			testenv.OK(t, err)
			defer e.Close()
			i, own := e.Info(), tt.spoken == "its own"
			testenv.Check(t, (i.APIVersion != tt.spoken) == own && (!own || i.APIVersion != tt.engine) && i.CPUs == 4,
				"%+v", i)
		})
	}
}

func TestConnectAbsent(t *testing.T) {
	socket := "unix://" + filepath.Join(t.TempDir(), "no.sock")
	left, err := net.Listen("tcp", "127.0.0.1:0")
	testenv.OK(t, err)
	left.Close()
	for _, host := range []string{socket, "tcp://" + left.Addr().String()} {
		_, err := connect(t.Context(), env(map[string]string{"DOCKER_HOST": host}), t.TempDir())
		if want := "docker engine " + host + " (of DOCKER_HOST): nothing listening; start it (Linux: sudo systemctl start docker"; err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v", err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = connect(ctx, env(map[string]string{"DOCKER_HOST": socket}), t.TempDir())
	testenv.Check(t, err != nil, "connected although canceled")
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
			testenv.Need(t, ok && e.Reason.Error() == tt.reason && strings.Contains(e.Fix, tt.fix),
				"%v, want %q and %q", err, tt.reason, tt.fix)
			problem := "docker engine " + tt.host + " (of DOCKER_HOST): " + tt.reason
			testenv.Check(t, e.Problem() == problem && err.Error() == problem+"; "+e.Fix, "%q, %q", e.Problem(), err)
		})
	}
}

func TestCopyLog(t *testing.T) {
	var got []string
	emit := func(l bench.LogLine) { got = append(got, l.Stream+":"+l.Text) }
	in := bytes.Join([][]byte{frame(1, "a\nb"), frame(2, "err\n"), frame(1, "c\n"), frame(1, ""), frame(3, "e\n"), frame(0, "end")}, nil)
	var size safe.LogSize
	testenv.OK(t, copyLog(bytes.NewReader(in), &size, time.Now, emit))
	testenv.Equal(t, *size.Log(), (bench.Log{Bytes: 14, Lines: 4}))
	testenv.Equal(t, strings.Join(got, " "), "stdout:a stderr:err stdout:bc stderr:e stdout:end")
	err := copyLog(bytes.NewReader(frame(4, "x")), new(safe.LogSize), time.Now, emit)
	testenv.Check(t, err != nil, "stream 4 accepted")
	err = copyLog(bytes.NewReader(frame(1, "abc")[:9]), new(safe.LogSize), time.Now, emit)
	testenv.Check(t, err != nil, "half a frame accepted")
}

func FuzzCopyLog(f *testing.F) {
	f.Add(frame(1, "a\nb"))
	f.Add([]byte{1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 'x'})
	f.Add([]byte{2, 0, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		copyLog(bytes.NewReader(data), new(safe.LogSize), time.Now, func(l bench.LogLine) {
			testenv.Need(t, len(l.Text) <= 9<<10, "a line of %d bytes", len(l.Text))
		})
	})
}

func TestFollow(t *testing.T) {
	for _, tt := range []struct{ name, in, out, err string }{
		{"build", `{"stream":"Step 1/2 : FROM scratch\n"}` + "\r\n" + `{"stream":" ---\u003e 12"}` + "\n" + `{"stream":"34\n"}` + "\n" + `{"aux":{"ID":"sha256:1"}}`,
			"Step 1/2 : FROM scratch\n ---> 1234\n", ""},
		{"pull", `{"status":"Pulling from x","id":"5"}` + "\n" + `{"status":"Downloading","id":"a","progress":"[=>  ]"}` + "\n" + `{"status":"Pull complete","id":"a"}` + "\n" + `{"status":"Digest: sha256:1"}`,
			"5: Pulling from x\nDigest: sha256:1\n", ""},
		{"a layer", `{"status":"Downloading","id":"a","progressDetail":{"current":1048576,"total":4194304}}`, "a: Downloading, 1 MiB of 4 MiB\n", ""},
		{"failed", `{"stream":"RUN false\n"}` + "\n" + `{"errorDetail":{"code":1,"message":"exit 1"},"error":"exit 1"}`, "RUN false\n", "exit 1; last lines:\n  RUN false"},
		{"failed without a layer", `{"stream":" ---> \n\n"}` + "\n" + `{"error":"exit 2"}`, " ---> \n\n", "exit 2"},
		{"no JSON", "<html>", "", "invalid character"},
		{"BuildKit", `{"id":"moby.buildkit.trace","aux":"` + buildKitTrace() + `"}` + "\n" + `{"id":"moby.image.id","aux":{"ID":"sha256:1"}}`,
			"[1/3] FROM x (cached)\n[2/3] RUN make\nall made\n[3/3] COPY a /: \"/a\" not found\n", ""},
		{"aux of another shape", `{"aux":"x"}` + "\n" + `{"stream":"on\n"}`, "on\n", ""},
		{"endless message", `{"stream":"` + strings.Repeat("x", maxMessage+1), "", "too long"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out bytes.Buffer
			err := follow(strings.NewReader(tt.in), &out, nil)
			testenv.Check(t, (err == nil) == (tt.err == "") && (err == nil || strings.Contains(err.Error(), tt.err)),
				"error %v, want %q", err, tt.err)
			testenv.Check(t, out.String() == tt.out && (err == nil || tt.name[:6] != "failed" || err.Error() == tt.err),
				"%q, %v, want %q", out.String(), err, tt.out)
		})
	}
}

// TestFollow_Output: output that cannot be written does not end the build.
func TestFollow_Output(t *testing.T) {
	out, in := io.Pipe()
	out.CloseWithError(io.ErrShortWrite)
	seen := 0
	err := follow(strings.NewReader(`{"stream":"a\nb\n"}`+"\n"+`{"stream":"c\n"}`), in, func(message) { seen++ })
	testenv.Check(t, seen == 2 && err != nil && err.Error() == "write the engine's output: short write",
		"%d messages, %v", seen, err)
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

func TestUniqueName(t *testing.T) {
	long := strings.Repeat("x", 50)
	for _, tt := range []struct{ run, wish, want string }{
		{"", "", "locbench-none-"},
		{"r", "", "locbench-r-"},
		{"go:lto/1 é\n", "_a.z-", "locbench-go-lto-1----_a.z--"},
		{"azAZ09._-", "`{@[/:", "locbench-azAZ09._---------"},
		{long + "y", long + "z", "locbench-" + long + "-" + long + "-"},
	} {
		name := uniqueName(tt.run, tt.wish)
		testenv.Check(t, name[:len(name)-8] == tt.want && name != uniqueName(tt.run, tt.wish),
			"%q of %q: %q, want %q", tt.wish, tt.run, name, tt.want)
		if labels := map[string]string{LabelRun: tt.run}; named(labels, name) != (tt.run != "") || named(nil, name) || named(labels, name+"0") {
			t.Errorf("%q: its name %q", tt.wish, name)
		}
	}
}

// TestKill: it is not an error that the container was removed, or has exited.
func TestKill(t *testing.T) {
	for status, want := range map[int]string{404: "", 409: "", 500: "send SIGTERM: Error response from daemon: no"} {
		f := fakedocker.New()
		f.Responses["POST "+ours+"/kill"] = reply(status, `{"message":"no"}`)
		err := containerOf(t, f).kill(t.Context(), "SIGTERM")
		testenv.Check(t, (err == nil) == (want == "") && (err == nil || err.Error() == want),
			"%d: %v, want %q", status, err, want)
	}
}
