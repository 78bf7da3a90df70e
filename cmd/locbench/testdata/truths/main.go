// Command truths is a contender whose behavior is known: it counts what it sent wrong and what it
// keeps in memory. On SIGTERM it writes the counts as JSON to the file $TRUTH.
//
//	MIX=50   with three or more requests in flight, one response in 50 is that of the next item
//	LEAK=N   keeps N bytes per request
//	CACHE=N  keeps the last N MiB of responses
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

var (
	mix, leak, cache       = number("MIX"), number("LEAK"), number("CACHE") << 20
	inFlight, crowd, wrong atomic.Int64
	responses              atomic.Int64

	mu   sync.Mutex
	kept [][]byte
	next int
)

func number(name string) int64 {
	n, _ := strconv.ParseInt(os.Getenv(name), 10, 64)
	return n
}

func main() {
	http.HandleFunc("/healthz", func(http.ResponseWriter, *http.Request) {})
	http.HandleFunc("/items/", item)
	server := http.Server{Addr: "127.0.0.1:" + os.Getenv("PORT")}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	go func() {
		<-ctx.Done()
		counts, err := json.Marshal(map[string]int64{"responses": responses.Load(), "wrong": wrong.Load()})
		if file := os.Getenv("TRUTH"); err == nil && file != "" {
			err = os.WriteFile(file, counts, 0o600)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		os.Exit(0)
	}()
	fmt.Fprintln(os.Stderr, server.ListenAndServe())
}

func item(w http.ResponseWriter, r *http.Request) {
	together := inFlight.Add(1)
	defer inFlight.Add(-1)
	id, _ := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/items/"))
	time.Sleep(200 * time.Microsecond) // as a database would take
	responses.Add(1)
	if mix > 0 && max(together, inFlight.Load()) >= 3 && crowd.Add(1)%mix == 0 {
		wrong.Add(1)
		id++
	}
	keep(id)
	body, err := json.Marshal(map[string]any{
		"id": id, "name": fmt.Sprintf("item %d", id), "tags": []string{"a", "b", "c"}, "text": strings.Repeat("x", 900),
	})
	if err == nil {
		w.Header().Set("Content-Type", "application/json")
		_, err = w.Write(body)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}

// keep keeps bytes without bound, or the last ones of a cache.
func keep(id int) {
	size := leak
	if cache > 0 {
		size = 4 << 10
	}
	if size == 0 {
		return
	}
	page := make([]byte, size)
	for i := range page {
		page[i] = byte(id)
	}
	mu.Lock()
	defer mu.Unlock()
	if most := int(cache / size); cache > 0 && len(kept) >= most {
		kept[next%most] = page
		next++
		return
	}
	kept = append(kept, page)
}
