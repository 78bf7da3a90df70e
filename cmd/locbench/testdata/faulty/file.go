package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
)

// serveFile responds to every request with the same bytes of a file. It has no parser, and sends
// without a copy (sendfile).
func serveFile(port string) error {
	body := bytes.Repeat([]byte("locbench"), 8<<10)
	response := fmt.Appendf(nil, "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nContent-Length: %d\r\n\r\n%s",
		len(body), body)
	if err := os.WriteFile("/response", response, 0o600); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", ":"+port)
	if err != nil {
		return err
	}
	for {
		conn, err := listener.Accept()
		if err != nil {
			return err
		}
		go respondAll(conn)
	}
}

// respondAll takes each read for a request: a client that waits for its response sends one at a
// time, and a small one in one piece.
func respondAll(conn net.Conn) {
	defer conn.Close()
	f, err := os.Open("/response")
	if err != nil {
		return
	}
	defer f.Close()
	for request := make([]byte, 16<<10); err == nil; {
		if _, err = conn.Read(request); err == nil {
			_, err = f.Seek(0, io.SeekStart)
		}
		if err == nil {
			_, err = io.Copy(conn, f)
		}
	}
}
