// Command books serves rows of a PostgreSQL that trusts its clients, with the few messages of its
// protocol that this takes. NAME is the title of its own books, POOL its number of connections.
package main

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
)

// connection is one to the database.
type connection struct {
	mu sync.Mutex
	c  net.Conn
	r  *bufio.Reader
}

func open() (*connection, error) {
	c, err := net.Dial("tcp", net.JoinHostPort(os.Getenv("DB_HOST"), os.Getenv("DB_PORT")))
	if err != nil {
		return nil, err
	}
	d := &connection{c: c, r: bufio.NewReader(c)}
	text := "user\x00" + os.Getenv("DB_USER") + "\x00database\x00" + os.Getenv("DB_NAME") + "\x00\x00"
	start := binary.BigEndian.AppendUint32(nil, uint32(8+len(text)))
	start = binary.BigEndian.AppendUint32(start, 196608)
	if _, err := c.Write(append(start, text...)); err != nil {
		return nil, err
	}
	_, err = d.rows()
	return d, err
}

// rows reads until the server is ready, and returns the first column of the last row.
func (d *connection) rows() (value string, err error) {
	for {
		head := make([]byte, 5)
		if _, err := io.ReadFull(d.r, head); err != nil {
			return "", err
		}
		body := make([]byte, binary.BigEndian.Uint32(head[1:])-4)
		if _, err := io.ReadFull(d.r, body); err != nil {
			return "", err
		}
		switch head[0] {
		case 'E':
			err = errors.New(string(body))
		case 'D':
			value = string(body[6:])
		case 'Z':
			return value, err
		}
	}
}

func (d *connection) query(sql string) (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	message := append([]byte{'Q'}, binary.BigEndian.AppendUint32(nil, uint32(5+len(sql)))...)
	if _, err := d.c.Write(append(append(message, sql...), 0)); err != nil {
		return "", err
	}
	return d.rows()
}

func main() {
	name := os.Getenv("NAME")
	size, _ := strconv.Atoi(os.Getenv("POOL"))
	var pool []*connection
	for range max(size, 1) {
		db, err := open()
		if err != nil {
			log.Fatal(err)
		}
		pool = append(pool, db)
	}
	var calls atomic.Int64
	serve := func(pattern, form string, status int, sql func(*http.Request) string) {
		http.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			value, err := pool[int(calls.Add(1))%len(pool)].query(sql(r))
			if err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
			w.WriteHeader(status)
			fmt.Fprintf(w, form, value)
		})
	}
	serve("GET /books/{id}", `{"title":%q}`, 200, func(r *http.Request) string {
		id, _ := strconv.Atoi(r.PathValue("id"))
		return fmt.Sprintf("SELECT title FROM books WHERE id = %d", id)
	})
	serve("GET /count", `{"count":%s}`, 200, func(*http.Request) string { return "SELECT count(*) FROM books" })
	serve("POST /books", "%s", 201, func(*http.Request) string { return "INSERT INTO books (title) VALUES ('" + name + "')" })
	serve("GET /others", `{"count":%s}`, 200, func(*http.Request) string {
		return "SELECT count(*) FROM books WHERE title NOT LIKE 'book %' AND title <> '" + name + "'"
	})
	log.Fatal(http.ListenAndServe(net.JoinHostPort(os.Getenv("LISTEN"), os.Getenv("PORT")), nil))
}
