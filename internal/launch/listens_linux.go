package launch

import (
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"locbench/internal/procfs"
)

// maxFiles bounds the open files that are looked at: a process may have very many.
const maxFiles = 20_000

// listens is where those processes listen, of all that there are, that own accepts and that live in the network of pid.
func listens(pid int, own func(pid int) bool) (addresses []netip.AddrPort) {
	sockets := map[string]netip.AddrPort{}
	for _, table := range []string{"net/tcp", "net/tcp6"} {
		data, err := readProc(pid, table)
		if err != nil {
			continue
		}
		for _, l := range procfs.Listeners(data) {
			sockets["socket:["+l.Inode+"]"] = l.Address
		}
	}
	if len(sockets) == 0 {
		return nil
	}
	looked := 0
	for _, pid := range allPIDs() {
		if !own(pid) {
			continue
		}
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

// isInSession says whether a process is of the session that another one leads.
func isInSession(pid, leader int) bool {
	s, err := readStat(pid)
	return err == nil && s.session == leader
}
