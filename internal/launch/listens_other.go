//go:build !linux

package launch

import "net/netip"

func sessionListens(int) []netip.AddrPort           { return nil }
func containerListens(int, string) []netip.AddrPort { return nil }
