package live

import (
	"crypto/sha256"
	_ "embed" // for the shell
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

//go:embed shell.css
var style string

//go:embed shell.js
var script string

type server struct {
	*hub
	render    func() ([]byte, error)
	hosts     []string
	ended     <-chan struct{}
	followers chan struct{} // a place for each

	drawing sync.Mutex
	cached  []byte
	of      int64 // version of cached
}

// hostsOf are the names by which a listener of this machine is called.
func hostsOf(a net.Addr) []string {
	host, port, err := net.SplitHostPort(a.String())
	if err != nil {
		return nil
	}
	hosts := []string{net.JoinHostPort(host, port), net.JoinHostPort("localhost", port)}
	if port == "80" {
		hosts = append(hosts, host, "["+host+"]", "localhost")
	}
	return hosts
}

// allowed tells why a request is not answered; code is 0 when it is.
func (s *server) allowed(r *http.Request) (code int, why string) {
	site := r.Header.Get("Sec-Fetch-Site")
	switch {
	// A page of elsewhere may have a name that has been made to lead here.
	case !slices.ContainsFunc(s.hosts, func(h string) bool { return strings.EqualFold(r.Host, h) }):
		return http.StatusMisdirectedRequest, "this server answers to " + strings.Join(s.hosts[:2], " and ") + " alone"
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		return http.StatusMethodNotAllowed, "the report can only be read"
	case site != "" && site != "same-origin" && site != "none":
		return http.StatusForbidden, "another site has asked for this; type the address instead"
	}
	return 0, ""
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'")
	if code, why := s.allowed(r); code != 0 {
		if code == http.StatusMethodNotAllowed {
			h.Set("Allow", "GET, HEAD")
		}
		http.Error(w, why, code)
		return
	}
	switch r.URL.Path {
	case "/":
		s.shell(w)
	case "/report":
		s.report(w)
	case "/events":
		s.events(w, r)
	case "/favicon.ico":
		w.WriteHeader(http.StatusNoContent)
	default:
		http.Error(w, "there is nothing here but / and /report", http.StatusNotFound)
	}
}

// shell is the page around the report: what runs now, and a frame whose content is replaced.
func (s *server) shell(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; script-src "+source(script)+"; style-src "+source(style)+
		"; connect-src 'self'; frame-src 'self'; img-src data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'")
	fmt.Fprint(w, `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>locbench</title>
<style>`+style+`</style>
</head>
<body>
<header><span id="light" aria-hidden="true"></span><span id="status">connecting</span><a href="/report" target="_blank" rel="noopener">the page alone</a></header>
<main id="frames"></main>
<noscript>Following a run needs JavaScript; <a href="/report">the report</a> as it is now does not.</noscript>
<script>`+script+`</script>
</body>
</html>
`)
}

// report is the page itself, as it is also in the results folder.
func (s *server) report(w http.ResponseWriter) {
	page, err := s.drawn()
	if err != nil {
		http.Error(w, "the report cannot be drawn: "+err.Error(), http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Length", strconv.Itoa(len(page)))
	h.Set("X-Frame-Options", "SAMEORIGIN")
	// The page has a policy of its own for everything else.
	h.Set("Content-Security-Policy", "frame-ancestors 'self'; base-uri 'none'; form-action 'none'")
	_, _ = w.Write(page)
}

// drawn is the newest page; it is drawn once for each version, however many ask.
func (s *server) drawn() ([]byte, error) {
	s.drawing.Lock()
	defer s.drawing.Unlock()
	_, version, _ := s.now()
	if s.cached != nil && s.of == version {
		return s.cached, nil
	}
	page, err := s.render()
	if err == nil {
		s.cached, s.of = page, version
	}
	return page, err
}

// events tells a follower the newest state whenever it has changed.
func (s *server) events(w http.ResponseWriter, r *http.Request) {
	select {
	case s.followers <- struct{}{}:
		defer func() { <-s.followers }()
	default:
		w.Header().Set("Retry-After", "10")
		http.Error(w, fmt.Sprintf("%d pages follow this run already", maxFollowers), http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	if r.Method == http.MethodHead {
		return
	}
	control := http.NewResponseController(w)
	if control.SetReadDeadline(time.Time{}) != nil { // what asks is read, and what comes after it is its end, whenever that is
		return
	}
	send := func(text string) bool {
		if control.SetWriteDeadline(time.Now().Add(10*time.Second)) != nil {
			return false
		}
		_, err := fmt.Fprint(w, text)
		return err == nil && control.Flush() == nil
	}
	pulse := time.NewTicker(beat)
	defer pulse.Stop()
	var sent string
	shown := int64(-1)
	for {
		st, page, changed := s.now()
		text := ""
		if data, err := json.Marshal(st); err == nil && string(data) != sent {
			sent = string(data)
			text = "event: status\ndata: " + sent + "\n\n"
		}
		if page != shown {
			shown = page
			text += fmt.Sprintf("event: page\ndata: %d\n\n", page)
		}
		if text != "" && !send(text) {
			return
		}
		select {
		case <-changed:
		case <-pulse.C:
			if !send(": still there\n\n") {
				return
			}
		case <-r.Context().Done():
			return
		case <-s.ended:
			send("event: end\ndata: 0\n\n")
			return
		}
	}
}

// source is the hash that lets one inline script or style in.
func source(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
