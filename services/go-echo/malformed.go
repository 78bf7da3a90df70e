package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
)

// malformed is a listener for net/http. What is no HTTP request, such as one for the path /%zz, net/http answers itself, in plain text and
// before any handler of Echo sees it; here such an answer becomes JSON with a message, as all others are.
type malformed struct{ net.Listener }

func (l malformed) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &malformedConn{conn}, nil
}

type malformedConn struct{ net.Conn }

// Write looks for what net/http writes past its handlers: a status line and at once these headers, without the Date of all other answers.
func (c *malformedConn) Write(p []byte) (int, error) {
	status, rest, _ := bytes.Cut(p, []byte("\r\n"))
	text, own := bytes.CutPrefix(rest, []byte("Content-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n"))
	if !own || !bytes.HasPrefix(status, []byte("HTTP/1.1 4")) {
		return c.Conn.Write(p)
	}
	body, err := json.Marshal(map[string]string{"message": "request: " + string(text)})
	if err != nil {
		return 0, err
	}
	if _, err := fmt.Fprintf(c.Conn, "%s\r\nContent-Type: application/json\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", status, len(body), body); err != nil {
		return 0, err
	}
	return len(p), nil
}
