package docker

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"

	"github.com/moby/moby/client"
	"google.golang.org/protobuf/encoding/protowire"
)

// session is the second connection that BuildKit needs for a build. On it the engine calls the
// client by gRPC: for a health check, which succeeds, and for credentials, secrets and files, of
// which there are none. As with the classic builder, an image of a private registry must already be
// present.
//
// The health check is the only service, so HTTP/2 without a gRPC library is enough.
type session struct {
	id   string
	stop func()
}

func (e *Engine) openSession(ctx context.Context) (*session, error) {
	s := &session{id: rand.Text()}
	conn, err := e.cli.DialHijack(ctx, "/session", "h2c", map[string][]string{
		"X-Docker-Expose-Session-Uuid": {s.id}, "X-Docker-Expose-Session-Name": {"locbench"},
	})
	if err != nil {
		return nil, fmt.Errorf("open a session: %w", err)
	}
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	server := &http.Server{Handler: http.HandlerFunc(serveBuildKit), Protocols: protocols}
	l := make(oneConnection, 1)
	l <- conn
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.Serve(l) // until Close
	}()
	s.stop = func() {
		_ = server.Close()
		<-served
		conn.Close()
	}
	return s, nil
}

// oneConnection is a listener with one open connection. The server closes the listener once.
type oneConnection chan net.Conn

func (l oneConnection) Accept() (net.Conn, error) {
	if conn, open := <-l; open {
		return conn, nil
	}
	return nil, net.ErrClosed
}

func (l oneConnection) Close() error {
	close(l)
	return nil
}

func (l oneConnection) Addr() net.Addr { return &net.UnixAddr{} }

const (
	grpcOK            = "0"
	grpcUnimplemented = "12"
)

func serveBuildKit(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/grpc")
	if r.URL.Path != "/grpc.health.v1.Health/Check" {
		w.Header().Set("Grpc-Status", grpcUnimplemented)
		return
	}
	w.Header().Set("Trailer", "Grpc-Status")
	// An uncompressed message of two bytes: HealthCheckResponse{status: SERVING}.
	_, _ = w.Write([]byte{0, 0, 0, 0, 2, 0x08, 0x01})
	w.Header().Set("Grpc-Status", grpcOK)
}

// cancelBuild ends a build of BuildKit, which would continue without its client.
func (e *Engine) cancelBuild(ctx context.Context, id string) {
	ctx, cancel := detached(ctx, cleanupTimeout)
	defer cancel()
	_, _ = e.cli.BuildCancel(ctx, id, client.BuildCancelOptions{})
}

// The fields of BuildKit's messages (moby.buildkit.v1, api/services/control/control.proto).
const (
	statusVertexes, statusLogs = 1, 3

	vertexName, vertexCached, vertexStarted, vertexCompleted, vertexError = 3, 4, 5, 6, 7

	logText = 4
)

// trace writes BuildKit's progress from a StatusResponse: the steps as they begin, and their
// output. It skips what it cannot decode, since the output is only for display.
func trace(aux json.RawMessage, out io.Writer) {
	var encoded []byte
	if json.Unmarshal(aux, &encoded) != nil {
		return
	}
	eachField(encoded, func(number protowire.Number, part []byte, _ uint64) {
		switch number {
		case statusVertexes:
			traceVertex(part, out)
		case statusLogs:
			eachField(part, func(n protowire.Number, text []byte, _ uint64) {
				if n == logText {
					_, _ = out.Write(text)
				}
			})
		}
	})
}

func traceVertex(message []byte, out io.Writer) {
	fields := map[protowire.Number][]byte{}
	cached := ""
	eachField(message, func(n protowire.Number, b []byte, v uint64) {
		fields[n] = b
		if n == vertexCached && v != 0 {
			cached = " (cached)"
		}
	})
	switch {
	case fields[vertexError] != nil:
		fmt.Fprintf(out, "%s: %s\n", fields[vertexName], fields[vertexError])
	case fields[vertexStarted] != nil && (fields[vertexCompleted] == nil || cached != ""):
		fmt.Fprintf(out, "%s%s\n", fields[vertexName], cached)
	}
}

// eachField calls do with each field of a protobuf message that holds bytes or a number.
func eachField(message []byte, do func(number protowire.Number, bytes []byte, value uint64)) {
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return
		}
		message = message[n:]
		size := protowire.ConsumeFieldValue(number, kind, message)
		if size < 0 {
			return
		}
		switch kind {
		case protowire.BytesType:
			b, _ := protowire.ConsumeBytes(message)
			do(number, b, 0)
		case protowire.VarintType:
			v, _ := protowire.ConsumeVarint(message)
			do(number, nil, v)
		}
		message = message[size:]
	}
}
