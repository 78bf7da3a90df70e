package launch

import (
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"locbench/internal/host/hostusage"
)

// maxFiles bounds the open files that are looked at: a process may have very many.
const maxFiles = 20_000

// sessionListens returns where the processes of a session listen.
func sessionListens(leader int) []netip.AddrPort { return listens(leader, inSession(leader)) }

// containerListens returns where the processes of a container listen, in the network of its main one.
func containerListens(pid int, id string) []netip.AddrPort {
	return listens(pid, slices.DeleteFunc(allPIDs(), func(pid int) bool { return !isContainer(pid, id) }))
}

// listens returns where processes listen in the network of pid.
func listens(pid int, pids []int) (addresses []netip.AddrPort) {
	sockets := map[string]netip.AddrPort{}
	for _, table := range []string{"net/tcp", "net/tcp6"} {
		data, err := readProc(pid, table)
		if err != nil {
			continue
		}
		for _, l := range hostusage.Listeners(data) {
			sockets["socket:["+l.Inode+"]"] = l.Address
		}
	}
	if len(sockets) == 0 {
		return nil
	}
	looked := 0
	for _, pid := range pids {
		dir := filepath.Join("/proc", strconv.Itoa(pid), "fd")
		d, err := os.Open(dir)
		if err != nil {
			continue
		}
		names, _ := d.Readdirnames(maxFiles - looked)
		d.Close()
		looked += len(names)
		for _, name := range names {
			if to, err := os.Readlink(filepath.Join(dir, name)); err == nil {
				if address, ok := sockets[to]; ok {
					addresses = append(addresses, address)
				}
			}
		}
		if looked >= maxFiles {
			break
		}
	}
	slices.SortFunc(addresses, netip.AddrPort.Compare)
	return slices.Compact(addresses)
}
