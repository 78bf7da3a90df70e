package hostusage

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"net/netip"
	"strconv"
	"strings"
)

// maxSockets is the largest number of listening sockets reported from one table.
const maxSockets = 1000

// Listener is a listening TCP socket.
type Listener struct {
	Address netip.AddrPort
	Inode   string // as in a link /proc/PID/fd/N: socket:[INODE]
}

// here reports whether l listens on the port of the loopback interface or of all interfaces.
func (l Listener) here(port uint16) bool {
	ip := l.Address.Addr()
	return l.Address.Port() == port && (ip.IsLoopback() || ip.IsUnspecified())
}

// Listeners reads /proc/PID/net/tcp or tcp6. The lines are "sl local_address rem_address st … uid
// timeout inode", with state 0A for a listening socket and addresses in 32-bit words in the
// machine's byte order.
func Listeners(data []byte) (all []Listener) {
	for line := range bytes.Lines(data) {
		f := strings.Fields(string(line))
		if len(f) < 10 || f[3] != "0A" || len(all) == maxSockets {
			continue
		}
		address, port, _ := strings.Cut(f[1], ":")
		raw, err := hex.DecodeString(address)
		n, portErr := strconv.ParseUint(port, 16, 16)
		if err != nil || portErr != nil || len(raw)%4 != 0 {
			continue
		}
		for word := raw; len(word) > 0; word = word[4:] {
			binary.BigEndian.PutUint32(word, binary.NativeEndian.Uint32(word))
		}
		if ip, ok := netip.AddrFromSlice(raw); ok {
			all = append(all, Listener{netip.AddrPortFrom(ip.Unmap(), uint16(n)), f[9]})
		}
	}
	return all
}
