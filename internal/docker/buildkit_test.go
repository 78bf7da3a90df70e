package docker

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/containerd/errdefs"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/locbench/locbench/internal/testenv"
)

// buildKitTrace is a StatusResponse in base64: a cached step, one that begins, its output, a
// completed step and a failed one.
func buildKitTrace() string {
	field := func(to []byte, n protowire.Number, b []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(to, n, protowire.BytesType), b)
	}
	moment := []byte{8, 1}
	vertex := func(name string, also ...protowire.Number) []byte {
		v := field(field(nil, 1, []byte("sha256:5")), vertexName, []byte(name))
		for _, n := range also {
			v = field(v, n, moment)
		}
		return v
	}
	failed := field(vertex("[3/3] COPY a /", vertexStarted, vertexCompleted), vertexError, []byte(`"/a" not found`))
	cached := func(name string, v uint64) []byte {
		return protowire.AppendVarint(protowire.AppendTag(vertex(name, vertexStarted, vertexCompleted), vertexCached, protowire.VarintType), v)
	}
	var all []byte
	all = field(field(all, statusVertexes, cached("[1/3] FROM x", 1)), statusVertexes, cached("[1/3] FROM y", 0))
	all = field(all, statusVertexes, vertex("[2/3] RUN make", vertexStarted))
	all = field(all, statusLogs, field(protowire.AppendVarint(protowire.AppendTag(nil, 3, protowire.VarintType), 1), logText, []byte("all made\n")))
	all = field(all, statusVertexes, vertex("[2/3] RUN make", vertexStarted, vertexCompleted))
	all = field(all, statusVertexes, failed)
	return base64.StdEncoding.EncodeToString(all)
}

func FuzzTrace(f *testing.F) {
	data, _ := base64.StdEncoding.DecodeString(buildKitTrace())
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		aux := testenv.Must(json.Marshal(data))(t)
		trace(aux, io.Discard)
	})
}

// buildKitEngine accepts a build only while the build's session is open and responds.
type buildKitEngine struct {
	t        *testing.T
	sessions sync.Map        // *http.Transport by ID
	building func(id string) // called during a build; may be nil
	canceled chan string
}

func (e *buildKitEngine) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Api-Version", "1.47")
	w.Header().Set("Ostype", "linux")
	switch {
	case r.URL.Path == "/session":
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			e.t.Error(err)
			return
		}
		protocols := new(http.Protocols)
		protocols.SetUnencryptedHTTP2(true)
		client := &http.Transport{Protocols: protocols, DialContext: func(context.Context, string, string) (net.Conn, error) { return conn, nil }}
		e.t.Cleanup(client.CloseIdleConnections)
		e.sessions.Store(r.Header.Get("X-Docker-Expose-Session-Uuid"), client)
		// Only now: after this response the client may start a build.
		io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n")
	case strings.HasSuffix(r.URL.Path, "/build/cancel"):
		e.canceled <- r.URL.Query().Get("id")
	case strings.HasSuffix(r.URL.Path, "/build"):
		e.build(w, r)
	case strings.HasSuffix(r.URL.Path, "/info"):
		io.WriteString(w, `{"OSType":"linux","Warnings":["WARNING: bridge-nf-call-iptables is disabled","WARNING: No swap limit support"]}`)
	case strings.HasSuffix(r.URL.Path, "/version"):
		io.WriteString(w, `{"Components":[{"Name":"Engine"}]}`)
	}
}

func (e *buildKitEngine) build(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	query := r.URL.Query()
	if query.Get("version") != "2" {
		io.WriteString(w, `{"aux":{"ID":"sha256:classic"}}`)
		return
	}
	client, ok := e.sessions.Load(query.Get("session"))
	if !ok {
		io.WriteString(w, `{"error":"no active sessions"}`)
		return
	}
	if e.building != nil {
		e.building(query.Get("buildid"))
		<-r.Context().Done()
		return
	}
	for method, want := range map[string]string{"/grpc.health.v1.Health/Check": "0", "/moby.filesync.v1.Auth/Credentials": "12"} {
		if status, err := call(r.Context(), client.(*http.Transport), method); err != nil || status != want {
			fmt.Fprintf(w, `{"error":"%s: status %q, %v"}`, method, status, err)
			return
		}
	}
	io.WriteString(w, `{"id":"moby.image.id","aux":{"ID":"sha256:kit"}}`)
}

// call makes a gRPC call with an empty message and returns its status.
func call(ctx context.Context, conn *http.Transport, method string) (string, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://x"+method, bytes.NewReader(make([]byte, 5)))
	if err != nil {
		return "", err
	}
	r.Header.Set("Content-Type", "application/grpc")
	response, err := conn.RoundTrip(r)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, bufio.NewReader(response.Body)); err != nil {
		return "", err
	}
	return response.Header.Get("Grpc-Status") + response.Trailer.Get("Grpc-Status"), nil
}

func connectTo(t *testing.T, h http.Handler) *Engine {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	e, err := connect(t.Context(), env(map[string]string{"DOCKER_HOST": "tcp://" + s.Listener.Addr().String()}), t.TempDir())
	testenv.OK(t, err)
	t.Cleanup(func() { e.Close() })
	return e
}

func TestBuildKit(t *testing.T) {
	engine := &buildKitEngine{t: t, canceled: make(chan string, 1)}
	e := connectTo(t, engine)
	if i := e.Info(); !i.BuildKit || len(i.Warnings) != 1 || i.Warnings[0].Text != "bridge-nf-call-iptables is disabled" {
		t.Errorf("%+v", i)
	}
	for _, kit := range []bool{false, true} {
		id, err := e.BuildImage(t.Context(), strings.NewReader("tar"), BuildOptions{BuildKit: kit}, nil)
		want := map[bool]string{false: "sha256:classic", true: "sha256:kit"}[kit]
		testenv.Check(t, err == nil && id == want, "BuildKit %v: %q, %v", kit, id, err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	interrupted := errors.New("interrupted")
	var begun string
	engine.building = func(id string) {
		begun = id
		cancel(interrupted)
	}
	_, err := e.BuildImage(ctx, strings.NewReader("tar"), BuildOptions{BuildKit: true}, nil)
	testenv.Check(t, errors.Is(err, interrupted), "interrupted: %v", err)
	select {
	case id := <-engine.canceled:
		testenv.Check(t, id != "" && id == begun, "build %q was begun, and %q canceled", begun, id)
	default:
		t.Errorf("build %q was begun, and is not canceled yet", begun)
	}
}

func TestFromRegistry(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want string
	}{
		{errors.New("Get https://r.example/v2/: dial tcp: lookup r.example: no such host"), "cannot reach a registry"},
		{errors.New("pull access denied for r.example/x, repository does not exist or may require 'docker login'"), "docker pull"},
		{errors.New("Head https://r.example/v2/x/manifests/1: no basic auth credentials"), "docker pull"},
		{errors.New("unauthorized: authentication required"), "docker pull"},
		{errors.New("no matching manifest for linux/arm64/v8 in the manifest list entries"), "has no image for the processor of this engine"},
		{errors.New("denied: requested access to the resource is denied"), "docker pull"},
		{errors.New("failed to authorize: failed to fetch anonymous token: 401 Unauthorized"), "docker pull"},
		{errors.New("toomanyrequests: You have reached your pull rate limit"), "docker pull"},
		{errdefs.ErrUnauthenticated.WithMessage("who are you?"), "docker pull"},
		{errdefs.ErrPermissionDenied.WithMessage("not you"), "docker pull"},
		{errors.New("no space left on device"), ""},
		{errors.New("COPY failed: file not found"), ""},
	} {
		got := fromRegistry(tt.err, "r.example/x:1")
		if !errors.Is(got, tt.err) || !strings.Contains(got.Error(), tt.want) || (got.Error() == tt.err.Error()) != (tt.want == "") {
			t.Errorf("%v: %v, want %q", tt.err, got, tt.want)
		}
	}
}
