package portable

import "net"

// gone reports whether an HTTP/2 connection has ended. Windows cannot say it of others without
// reading.
func gone(conn net.Conn) bool {
	two, ok := conn.(*http2Conn)
	return ok && !two.usable()
}
