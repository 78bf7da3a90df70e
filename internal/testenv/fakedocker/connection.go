package fakedocker

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
)

// Transport returns a transport to the engine that opens no socket.
func (e *Engine) Transport() *http.Transport {
	dial := func(context.Context, string, string) (net.Conn, error) {
		e.mu.Lock()
		defer e.mu.Unlock()
		if e.Away {
			return nil, syscall.ECONNREFUSED
		}
		ours, theirs := net.Pipe()
		go func() { _ = (&http.Server{Handler: e}).Serve(&listener{conn: ours}) }()
		return theirs, nil
	}
	return &http.Transport{DisableKeepAlives: true, DialContext: dial}
}

// listener has one connection.
type listener struct{ conn net.Conn }

func (l *listener) Accept() (conn net.Conn, err error) {
	if conn, l.conn = l.conn, nil; conn == nil {
		err = net.ErrClosed
	}
	return conn, err
}

func (l *listener) Close() error   { return nil }
func (l *listener) Addr() net.Addr { return &net.UnixAddr{} }

// ServeHTTP responds to a request.
func (e *Engine) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	resp := e.receive(r)
	if resp == nil {
		panic(http.ErrAbortHandler)
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusSwitchingProtocols {
		if conn, _, err := w.(http.Hijacker).Hijack(); err == nil {
			e.attach(conn, strings.HasPrefix(versioned.ReplaceAllString(r.URL.Path, ""), "/exec/"))
		}
		return
	}
	for key, values := range resp.Header {
		w.Header()[key] = values
	}
	w.WriteHeader(resp.StatusCode)
	flush := http.NewResponseController(w)
	_ = flush.Flush()
	for buf := make([]byte, 4<<10); ; {
		n, err := resp.Body.Read(buf)
		_, _ = w.Write(buf[:n])
		_ = flush.Flush()
		switch err {
		case nil:
		case io.EOF:
			return
		default:
			panic(http.ErrAbortHandler)
		}
	}
}

// attach sends the container's log, and ends with the container or the connection. If command, it
// sends what a command writes, and ends.
func (e *Engine) attach(conn net.Conn, command bool) {
	defer conn.Close()
	e.mu.Lock()
	log := e.Log
	if command {
		log = e.Output
	}
	e.mu.Unlock()
	_, _ = io.WriteString(conn, "HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n")
	_, _ = conn.Write(log)
	if command {
		return
	}
	left := make(chan struct{})
	go func() { defer close(left); _, _ = io.Copy(io.Discard, conn) }()
	for {
		e.mu.Lock()
		over, changed := !e.Running && !e.ended.IsZero() || e.Gone || e.Away, e.changed
		e.mu.Unlock()
		if over {
			conn.Close()
			<-left
			return
		}
		select {
		case <-changed:
		case <-left:
			return
		}
	}
}
