// A service as people have it, in Go: a login by cookie, bookings with a Location and an ETag, pages with a link to the
// next, responses in gzip, 422 for what it cannot take. At its end it writes a journal.
package main

import (
	"compress/gzip"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

type booking struct {
	ID    string `json:"id"`
	Guest string `json:"guest"`
	Room  int    `json:"room"`
}

type journal struct {
	Requests map[string]int `json:"requests"` // by route and status
	Own      int            `json:"own"`      // bookings that were read by their guest
	Others   int            `json:"others"`   // … and by another
	Next     int            `json:"next"`     // pages after the first
	Guests   map[string]int `json:"guests"`   // logins by guest
}

type service struct {
	mu       sync.Mutex
	sessions map[string]string // guest by session
	bookings []booking
	at       map[string]int // in bookings, by id
	did      journal
}

func main() {
	s := &service{sessions: map[string]string{}, at: map[string]int{}}
	s.did = journal{Requests: map[string]int{}, Guests: map[string]int{}}
	for n := range 100 {
		s.add("house", n)
	}
	routes := http.NewServeMux()
	routes.HandleFunc("GET /healthz", func(http.ResponseWriter, *http.Request) {})
	for route, answer := range map[string]func(http.Header, *http.Request) (int, any){
		"POST /login": s.login, "POST /bookings": s.book, "GET /bookings": s.list, "GET /bookings/{id}": s.look,
	} {
		routes.HandleFunc(route, func(w http.ResponseWriter, r *http.Request) {
			s.mu.Lock()
			status, body := answer(w.Header(), r)
			s.did.Requests[route+" "+strconv.Itoa(status)]++
			s.mu.Unlock()
			write(w, r, status, body)
		})
	}
	server := &http.Server{Addr: ":" + os.Getenv("PORT"), Handler: routes}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	ended := make(chan struct{})
	go func() {
		<-ctx.Done()
		server.Shutdown(context.Background())
		close(ended)
	}()
	log.Println("listening on", server.Addr)
	if err := server.ListenAndServe(); err != http.ErrServerClosed {
		log.Fatal(err)
	}
	<-ended
	json.NewEncoder(os.Stdout).Encode(&s.did)
}

// write sends a body as JSON, in gzip to those that take it; nil: none.
func write(w http.ResponseWriter, r *http.Request, status int, body any) {
	if body == nil {
		w.WriteHeader(status)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		w.WriteHeader(status)
		json.NewEncoder(w).Encode(body)
		return
	}
	w.Header().Set("Content-Encoding", "gzip")
	w.WriteHeader(status)
	packed := gzip.NewWriter(w)
	defer packed.Close()
	json.NewEncoder(packed).Encode(body)
}

type problem struct {
	Error string `json:"error"`
}

func (s *service) add(guest string, room int) string {
	id := strings.ToLower(rand.Text())
	s.at[id] = len(s.bookings)
	s.bookings = append(s.bookings, booking{id, guest, room})
	return id
}

// login sets two cookies of one name, as frameworks do: one that ends, and the session's.
func (s *service) login(h http.Header, r *http.Request) (int, any) {
	guest := r.FormValue("guest")
	if r.FormValue("phrase") != "words of "+guest {
		return 401, problem{"wrong phrase"}
	}
	id := rand.Text()
	s.sessions[id] = guest
	s.did.Guests[guest]++
	h.Add("Set-Cookie", "sid=; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT")
	h.Add("Set-Cookie", (&http.Cookie{Name: "sid", Value: id, Path: "/bookings", HttpOnly: true, Expires: time.Now().Add(time.Hour)}).String())
	return 204, nil
}

// guest returns who sends the request; "" if that is not known.
func (s *service) guest(r *http.Request) string {
	c, err := r.Cookie("sid")
	if err != nil {
		return ""
	}
	return s.sessions[c.Value]
}

func (s *service) book(h http.Header, r *http.Request) (int, any) {
	guest := s.guest(r)
	var b struct{ Room *int }
	switch err := json.NewDecoder(r.Body).Decode(&b); {
	case guest == "":
		return 401, problem{"log in first"}
	case err != nil || b.Room == nil:
		return 422, problem{"room is missing"}
	}
	h.Set("Location", "/bookings/"+s.add(guest, *b.Room))
	return 201, nil
}

func (s *service) look(h http.Header, r *http.Request) (int, any) {
	n, ok := s.at[r.PathValue("id")]
	guest := s.guest(r)
	switch {
	case guest == "":
		return 401, problem{"log in first"}
	case !ok:
		return 404, problem{"booking not found"}
	case s.bookings[n].Guest != guest:
		s.did.Others++
		return 403, problem{"not yours"}
	}
	s.did.Own++
	tag := fmt.Sprintf(`"%s-%d"`, s.bookings[n].ID, s.bookings[n].Room)
	h.Set("ETag", tag)
	if r.Header.Get("If-None-Match") == tag {
		return 304, nil
	}
	return 200, s.bookings[n]
}

// list returns a page: the bookings after one, and a link to the next page.
func (s *service) list(h http.Header, r *http.Request) (int, any) {
	limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
	from := 0
	if after := r.URL.Query().Get("after"); after != "" {
		n, ok := s.at[after]
		if !ok {
			return 404, problem{"page not found"}
		}
		from = n + 1
		s.did.Next++
	}
	limit = max(1, min(limit, 50))
	page := struct {
		Items []booking `json:"items"`
		Next  string    `json:"next,omitempty"`
	}{Items: s.bookings[from:min(from+limit, len(s.bookings)):min(from+limit, len(s.bookings))]}
	if from+limit < len(s.bookings) {
		page.Next = fmt.Sprintf("/bookings?limit=%d&after=%s", limit, page.Items[len(page.Items)-1].ID)
	}
	return 200, page
}
