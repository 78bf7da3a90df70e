package launch

import (
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/locbench/locbench/internal/docker"
	"github.com/locbench/locbench/internal/host/cgroup"
	"github.com/locbench/locbench/internal/host/hostusage"
)

// maxFiles bounds the number of open files that are read: a process may have very many.
const maxFiles = 20_000

// sessionListens returns the addresses on which the processes of a session listen.
func sessionListens(leader int) []netip.AddrPort { return listens(leader, inSession(leader)) }

// containerListens returns the addresses of a container's listening processes, in its network.
func containerListens(pid int, id string) []netip.AddrPort {
	return listens(pid, slices.DeleteFunc(allPIDs(), func(pid int) bool { return !docker.InContainer(pid, id) }))
}

// listens returns the addresses on which the processes pids listen in the network of pid.
func listens(pid int, pids []int) (addresses []netip.AddrPort) {
	sockets := map[string]netip.AddrPort{}
	for _, table := range []string{"net/tcp", "net/tcp6"} {
		data, err := cgroup.ReadProc(pid, table)
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
	read := 0
	for _, pid := range pids {
		dir := filepath.Join("/proc", strconv.Itoa(pid), "fd")
		d, err := os.Open(dir)
		if err != nil {
			continue
		}
		names, _ := d.Readdirnames(maxFiles - read)
		d.Close()
		read += len(names)
		for _, name := range names {
			if to, err := os.Readlink(filepath.Join(dir, name)); err == nil {
				if address, ok := sockets[to]; ok {
					addresses = append(addresses, address)
				}
			}
		}
		if read >= maxFiles {
			break
		}
	}
	slices.SortFunc(addresses, netip.AddrPort.Compare)
	return slices.Compact(addresses)
}
