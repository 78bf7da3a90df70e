package load

import "net"

// gone: Windows does not tell without reading.
func gone(net.Conn) bool { return false }
