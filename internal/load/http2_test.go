package load

import (
	"crypto/tls"
	"testing"
)

func plan2(url string, connections int, requests int64) Plan {
	p := counted(url, connections, requests)
	p.HTTP2 = true
	return p
}

func TestHTTP2OpenLoop(t *testing.T) {
	s := &site{}
	e := s.start(t, false, true)
	p := openCounted(s.URL, 1000, 8, 150)
	p.HTTP2 = true
	holds(t, run(t, e, p), s, "scheduled=150 ok=sent sent=asked sent>0")
}

func TestHTTP2IsNotSpokenByOthers(t *testing.T) {
	holds(t, run(t, Engine{}, plan2(newSite(t, nil).URL, 1, 3)), nil, "ok=0 failed=3")
	s := &site{}
	e := s.start(t, true, false)
	e.TLS = &tls.Config{RootCAs: e.TLS.RootCAs}
	holds(t, run(t, e, plan2(s.URL, 1, 3)), s, "ok=0 failed=3 asked=0")
}

func TestHTTP2ConnectionsAreKeptBetweenSteps(t *testing.T) {
	s := &site{}
	e := s.start(t, true, true)
	e.Keep = &Kept{}
	defer e.Keep.Close()
	for connections, want := range []string{2: "connections=2", 4: "connections=4"} {
		if want != "" {
			holds(t, run(t, e, plan2(s.URL, connections, 60)), s, "ok=60 "+want)
		}
	}
	holds(t, run(t, e, plan2(s.URL, 3, 60)), s, "ok=60 connections=4")
}
