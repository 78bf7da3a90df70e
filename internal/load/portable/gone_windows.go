package portable

import "net"

// gone: Windows does not say without reading, but of HTTP/2, which is read all the time.
func gone(conn net.Conn) bool {
	two, ok := conn.(*http2Conn)
	return ok && !two.usable()
}
