package portable

import "net"

// watch returns what reports whether an HTTP/2 connection has ended. Windows cannot say it of others
// without reading.
func watch(conn net.Conn) (gone func() bool) {
	two, ok := conn.(*http2Conn)
	return func() bool { return ok && !two.usable() }
}
