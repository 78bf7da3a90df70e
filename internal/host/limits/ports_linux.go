package limits

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
)

// PortsTo counts the local ports of connections to any of addrs, including closed ones that the
// system still keeps.
func PortsTo(addrs []netip.AddrPort) (n int64, ok bool) {
	names := map[string]bool{}
	for _, a := range addrs {
		names[procAddress(a)] = true
		if a.Addr().Is4() { // as an IPv6 socket shows it
			names[procAddress(netip.AddrPortFrom(netip.AddrFrom16(a.Addr().As16()), a.Port()))] = true
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
			if fields := strings.Fields(lines.Text()); len(fields) > 3 && names[fields[2]] {
				n++
			}
		}
		f.Close()
	}
	return n, ok
}

// connections returns how many TCP sockets there are, including closed ones that the system still
// keeps. It reads counters, where PortsTo walks through all sockets.
func connections() (n int64, ok bool) {
	for _, file := range []string{"/proc/net/sockstat", "/proc/net/sockstat6"} {
		content, err := os.ReadFile(file)
		if err != nil {
			return 0, false
		}
		for line := range strings.Lines(string(content)) {
			fields := strings.Fields(line) // "TCP: inuse 5 orphan 0 tw 2 alloc 7 mem 1"
			if len(fields) == 0 || !strings.HasPrefix(fields[0], "TCP") {
				continue
			}
			for i := 1; i+1 < len(fields); i += 2 {
				if slices.Contains([]string{"inuse", "orphan", "tw"}, fields[i]) {
					count, err := strconv.ParseInt(fields[i+1], 10, 64)
					n, ok = n+count, err == nil
				}
			}
		}
	}
	return n, ok
}

// procAddress returns an address as in /proc/net: 32-bit words in native byte order, colon, port.
func procAddress(a netip.AddrPort) string {
	var b strings.Builder
	raw := a.Addr().AsSlice()
	for ; len(raw) >= 4; raw = raw[4:] {
		fmt.Fprintf(&b, "%08X", binary.NativeEndian.Uint32(raw))
	}
	fmt.Fprintf(&b, ":%04X", a.Port())
	return b.String()
}
