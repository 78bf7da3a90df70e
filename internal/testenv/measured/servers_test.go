//go:build acceptance && linux

package main

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/testenv"
)

// waits are how long the server waits before it responds to a path.
var waits = map[string]time.Duration{"/short": 600 * time.Microsecond, "/wait": 12 * time.Millisecond, "/long": 100 * time.Millisecond}

// body returns JSON of that length.
func body(size int) string {
	begin, end := `{"id":7,"data":{"token":"0123456789abcdef"},"pad":"`, `"}`
	return begin + strings.Repeat("x", size-len(begin)-len(end)) + end
}

func response(header, body string) []byte {
	return fmt.Appendf(nil, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n%sContent-Length: %d\r\n\r\n%s", header, len(body), body)
}

// serve starts the server of most rows. It does as little as possible, to leave the machine to the clients.
func serve(b *testing.B) (url string) {
	listener := testenv.Must(net.Listen("tcp", "127.0.0.1:0"))(b)
	b.Cleanup(func() { listener.Close() })
	short := response("", body(100))
	others := map[string][]byte{
		"/10kB": response("", body(10_000)), "/login": response("Set-Cookie: user=u; Path=/\r\n", `{"token":"0123456789abcdef"}`),
	}
	exchange := func(conn net.Conn) {
		defer conn.Close()
		r := bufio.NewReaderSize(conn, 1024)
		for {
			line, err := r.ReadSlice('\n')
			path, _, _ := strings.Cut(strings.TrimPrefix(string(line), "GET "), " ")
			for len(line) > 2 && err == nil {
				line, err = r.ReadSlice('\n')
			}
			if err != nil {
				return
			}
			send := others[path]
			if send == nil {
				time.Sleep(waits[path])
				send = short
			}
			if _, err := conn.Write(send); err != nil {
				return
			}
		}
	}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go exchange(conn)
		}
	}()
	return "http://" + listener.Addr().String()
}

// nginx starts an nginx that sends two files.
func nginx(b *testing.B, path string) (url string) {
	listener := testenv.Must(net.Listen("tcp", "127.0.0.1:0"))(b) // a free port
	address := listener.Addr().String()
	listener.Close()
	as := ""
	if os.Getuid() == 0 {
		as = "user root root;" // whose files these are
	}
	dir := testenv.Folder(b, map[string]string{"100B": body(100), "10kB": body(10_000), "nginx.conf": `
daemon off; worker_processes auto; pid pid; error_log stderr; ` + as + `
events { worker_connections 8192; }
http {
  access_log off; sendfile on; tcp_nopush on; open_file_cache max=10; default_type application/json; keepalive_requests 1000000000;
  client_body_temp_path b; proxy_temp_path p; fastcgi_temp_path f; uwsgi_temp_path u; scgi_temp_path s;
  server { listen ` + address + ` backlog=8192; root .; index 100B; }
}`})
	cmd := exec.CommandContext(b.Context(), path, "-e", "stderr", "-p", dir, "-c", "nginx.conf")
	cmd.Stderr = os.Stderr
	testenv.OK(b, cmd.Start())
	b.Cleanup(func() { _ = cmd.Process.Signal(os.Interrupt); _ = cmd.Wait() })
	testenv.Until(b, 10*time.Second, "nginx", func() bool {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
	return "http://" + address
}
