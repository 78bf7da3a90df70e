package launch

import (
	"net"
	"net/netip"
	"strconv"
)

// Listens is where the processes of a container listen, as its own network names it; nil where that
// cannot be seen from here.
func (c *container) Listens() []netip.AddrPort {
	if c.info.PID == 0 || c.Exit() != nil {
		return nil
	}
	return containerListens(c.info.PID, c.info.ID)
}

// Listens is where the process and its children listen; nil where that cannot be seen.
func (p *process) Listens() []netip.AddrPort {
	if p.Exit() != nil {
		return nil
	}
	return sessionListens(p.info.PID)
}

// Move says that it listens on another port than it was launched for.
func (p *process) Move(port int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.info.Address = net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
}
