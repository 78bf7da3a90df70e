package cli

import (
	"fmt"
	"net"
	"net/url"

	"locbench/internal/bench"
	"locbench/internal/docker"
)

// ownNetwork is an error where the engine is a rootless one with a network of its own and contenders need a store on this machine, which
// they would never reach. With a store elsewhere, or none, published ports do.
func ownNetwork(engine *docker.Engine, store bench.StoreSpec) error {
	if engine == nil || !storeHere(store) {
		return nil
	}
	enter, apart := engine.Apart()
	if !apart {
		return nil
	}
	return fmt.Errorf("this Docker engine is rootless and has a network of its own, in which contenders do not reach a store on this machine; "+
		"begun as '%s locbench …' it is in that network too", enter)
}

// storeHere reports whether the store is one that locbench starts, or listens on loopback.
func storeHere(s bench.StoreSpec) bool {
	if s.Kind == bench.StoreNone {
		return false
	}
	if s.URL == "" {
		return true
	}
	u, err := url.Parse(s.URL)
	return err == nil && (u.Hostname() == "localhost" || net.ParseIP(u.Hostname()).IsLoopback())
}
