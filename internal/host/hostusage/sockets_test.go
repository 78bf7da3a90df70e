package hostusage

import (
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/testenv"
)

// TestListeners finds sockets of this process in the tables of this machine.
func TestListeners(t *testing.T) {
	for _, c := range []struct{ listen, table string }{{"127.0.0.1:0", "tcp"}, {"[::1]:0", "tcp6"}, {"[::]:0", "tcp6"}} {
		l, err := net.Listen("tcp", c.listen)
		if err != nil {
			t.Skipf("%s: %v", c.listen, err)
		}
		defer l.Close()
		data, err := os.ReadFile("/proc/self/net/" + c.table)
		if err != nil {
			t.Skip(err)
		}
		all := Listeners(data)
		i := slices.IndexFunc(all, func(one Listener) bool { return one.Address.String() == l.Addr().String() })
		if i < 0 {
			t.Errorf("%s is not among %v", l.Addr(), all)
			continue
		}
		found := false
		fds, _ := os.ReadDir("/proc/self/fd")
		for _, fd := range fds {
			to, _ := os.Readlink("/proc/self/fd/" + fd.Name())
			found = found || to == "socket:["+all[i].Inode+"]"
		}
		testenv.Check(t, found, "%s: no file of this process is socket:[%s]", l.Addr(), all[i].Inode)
	}
}

func TestListenersOfNonsense(t *testing.T) {
	line := func(address, state string) string {
		return fmt.Sprintf("   0: %s 00000000:0000 %s 00000000:00000000 00:00000000 00000000     0        0 1234 1 0000000000000000 100 0 0 10 0\n", address, state)
	}
	for _, text := range []string{
		"", "sl  local_address rem_address   st\n", "\x00\xff\n", line("0100007F:1F90", "01"), line("0100007F", "0A"), line("0100007:1F90", "0A"), line("01:1F90", "0A"),
		line("0100007F:1F9000", "0A"), line(":1F90", "0A"), line(strings.Repeat("00", 400)+":1F90", "0A"),
	} {
		got := Listeners([]byte(text))
		testenv.Check(t, len(got) == 0, "%.60q: %v", text, got)
	}
	got := Listeners([]byte(strings.Repeat(line("00000000:1F90", "0A"), 5000)))
	testenv.Check(t, len(got) == maxSockets, "%d of them", len(got))
}
