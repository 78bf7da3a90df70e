package load

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"net/netip"
	"os"
	"strings"
)

// portsTo counts the local ports of connections to any of addrs, those among them that the system
// still keeps after their end.
func portsTo(addrs []netip.AddrPort) (n int64, ok bool) {
	wanted := map[string]bool{}
	for _, a := range addrs {
		wanted[procAddress(a)] = true
		if a.Addr().Is4() { // as a socket of IPv6 would name it
			wanted[procAddress(netip.AddrPortFrom(netip.AddrFrom16(a.Addr().As16()), a.Port()))] = true
		}
	}
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		f, err := os.Open(table)
		if err != nil {
			continue
		}
		ok = true
		for lines := bufio.NewScanner(f); lines.Scan(); {
			// "sl local_address rem_address st …"
			if fields := strings.Fields(lines.Text()); len(fields) > 3 && wanted[fields[2]] {
				n++
			}
		}
		f.Close()
	}
	return n, ok
}

// procAddress returns an address as /proc/net has it: 32-bit words in the order of the machine, a colon,
// the port.
func procAddress(a netip.AddrPort) string {
	var b strings.Builder
	raw := a.Addr().AsSlice()
	for ; len(raw) >= 4; raw = raw[4:] {
		fmt.Fprintf(&b, "%08X", binary.NativeEndian.Uint32(raw))
	}
	fmt.Fprintf(&b, ":%04X", a.Port())
	return b.String()
}
