package relay

import "syscall"

// beforeItIsThere lets a socket listen at an address that no interface has.
func beforeItIsThere(network, _ string, c syscall.RawConn) error {
	if network != "tcp4" {
		return nil
	}
	var err error
	if failed := c.Control(func(fd uintptr) { err = syscall.SetsockoptInt(int(fd), syscall.SOL_IP, syscall.IP_FREEBIND, 1) }); failed != nil {
		return failed
	}
	return err
}
