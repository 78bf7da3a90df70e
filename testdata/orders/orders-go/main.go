// A small service with a login and orders, in Go: GET /items/{id}, GET /items?q=WORD, and with a
// token from POST /login also POST /orders, GET /orders/{id} and DELETE /orders. At its end it
// writes a journal.
package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"log"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

type item struct {
	ID    int    `json:"id"`
	Name  string `json:"name"`
	Price int    `json:"price"`
}

type order struct {
	ID    int `json:"id"`
	Item  int `json:"item"`
	Count int `json:"count"`
	Total int `json:"total"`
	seen  int
}

type journal struct {
	Requests map[string]int `json:"requests"` // by route and status
	Hundreds [100]int       `json:"hundreds"` // requested items by id: 1 to 100, 101 to 200 …
	Units    [100]int       `json:"units"`    // … and by their last two digits
	Words    map[string]int `json:"words"`
	Orders   int            `json:"orders"`
	SeenOnce int            `json:"seen_once"` // orders that were requested once
}

type service struct {
	mu     sync.Mutex
	items  []item
	tokens map[string]bool
	orders map[int]*order
	last   int // order
	did    journal
}

func main() {
	s := &service{tokens: map[string]bool{}, orders: map[int]*order{}}
	s.did = journal{Requests: map[string]int{}, Words: map[string]int{}}
	words := []string{"lamp", "chair", "table", "shelf"}
	for id := 1; id <= 10000; id++ {
		s.items = append(s.items, item{id, words[id%len(words)] + " " + strconv.Itoa(id), id % 500})
	}
	routes := http.NewServeMux()
	routes.HandleFunc("GET /health", func(http.ResponseWriter, *http.Request) {})
	for route, response := range map[string]func(*http.Request) (int, any){
		"POST /login": s.login, "GET /items/{id}": s.item, "GET /items": s.search,
		"POST /orders": s.buy, "GET /orders/{id}": s.look, "DELETE /orders": s.clear,
	} {
		routes.HandleFunc(route, func(w http.ResponseWriter, r *http.Request) {
			s.mu.Lock()
			status, body := response(r)
			s.did.Requests[route+" "+strconv.Itoa(status)]++
			text, _ := json.Marshal(body)
			s.mu.Unlock()
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			if status != http.StatusNoContent {
				w.Write(text)
			}
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

type problem struct {
	Error string `json:"error"`
}

func (s *service) login(r *http.Request) (int, any) {
	var who struct{ User, Password string }
	if json.NewDecoder(r.Body).Decode(&who) != nil || who.Password != os.Getenv("PASSWORD") {
		return 401, problem{"wrong password"}
	}
	token := rand.Text()
	s.tokens[token] = true
	return 200, map[string]string{"token": token}
}

func (s *service) item(r *http.Request) (int, any) {
	id, err := strconv.Atoi(r.PathValue("id"))
	if err != nil || id < 1 || id > len(s.items) {
		return 404, problem{"item not found"}
	}
	s.did.Hundreds[(id-1)/100]++
	s.did.Units[id%100]++
	return 200, s.items[id-1]
}

func (s *service) search(r *http.Request) (int, any) {
	word, found := r.URL.Query().Get("q"), []item{}
	s.did.Words[word]++
	for _, it := range s.items {
		if strings.Contains(it.Name, word) {
			if found = append(found, it); len(found) == 10 {
				break
			}
		}
	}
	return 200, map[string]any{"items": found}
}

func (s *service) known(r *http.Request) bool {
	return s.tokens[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]
}

func (s *service) buy(r *http.Request) (int, any) {
	if !s.known(r) {
		return 401, problem{"log in first"}
	}
	var o order
	if json.NewDecoder(r.Body).Decode(&o) != nil || o.Item < 1 || o.Item > len(s.items) || o.Count < 1 {
		return 400, problem{"an order is an item and a count"}
	}
	s.last++
	s.did.Orders++
	o.ID, o.Total = s.last, o.Count*s.items[o.Item-1].Price
	s.orders[o.ID] = &o
	return 201, o
}

func (s *service) look(r *http.Request) (int, any) {
	id, _ := strconv.Atoi(r.PathValue("id"))
	o, ok := s.orders[id]
	switch {
	case !s.known(r):
		return 401, problem{"log in first"}
	case !ok:
		return 404, problem{"order not found"}
	}
	switch o.seen++; o.seen {
	case 1:
		s.did.SeenOnce++
	case 2:
		s.did.SeenOnce--
	}
	return 200, o
}

func (s *service) clear(r *http.Request) (int, any) {
	if !s.known(r) {
		return 401, problem{"log in first"}
	}
	clear(s.orders)
	return 204, nil
}
