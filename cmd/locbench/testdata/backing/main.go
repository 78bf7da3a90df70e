// Command backing is a service that contenders need, which starts as MODE says, the client that
// checks it, or a contender that needs a service.
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
	"os/signal"
	"strings"
	"syscall"
	"time"
)

const (
	socket = "/data/socket"
	done   = "/data/done" // it was started before
	line   = "database system is ready to accept connections"
)

func main() {
	mode := os.Getenv("MODE")
	if len(os.Args) > 1 {
		mode = os.Args[1]
	}
	address := net.JoinHostPort(os.Getenv("DB_HOST"), os.Getenv("DB_PORT"))
	_, err := os.Stat(done)
	first := err != nil
	switch mode {
	case "socket": // its first server listens on a socket only
		if first {
			l := listen("unix", socket)
			time.Sleep(2 * time.Second)
			l.Close()
			time.Sleep(time.Second)
		}
		listen("unix", socket)
		serve()
	case "line": // its first server says that it is ready, too
		fmt.Println(line)
		if first {
			time.Sleep(2 * time.Second)
			fmt.Println(line)
		}
		serve()
	case "slow":
		if first {
			time.Sleep(15 * time.Second)
		}
		serve()
	case "serve":
		serve()
	case "ping": // as those that only look for a server
		greet("unix", socket)
	case "sign-in":
		if response := greet("tcp", "db:7000"); response != "ok" {
			log.Fatal(response)
		}
	case "client":
		contend(func() error {
			if response := greet("tcp", address); response != "ok" {
				return errors.New(response)
			}
			return nil
		})
	case "connect": // once
		c, err := net.Dial("tcp", address)
		if err != nil {
			log.Fatal(err)
		}
		c.Close()
		contend(func() error { return nil })
	case "redis":
		contend(redis(address))
	case "mariadb":
		contend(mariadb(address))
	default:
		log.Fatalf("no mode %q", mode)
	}
}

func listen(network, address string) net.Listener {
	l, err := net.Listen(network, address)
	if err != nil {
		log.Fatal(err)
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				if text, _ := bufio.NewReader(c).ReadString('\n'); strings.HasPrefix(text, "GET /health ") {
					fmt.Fprint(c, "HTTP/1.1 200 OK\r\n\r\n")
				} else {
					fmt.Fprintln(c, "ok")
				}
			}()
		}
	}()
	return l
}

func serve() {
	if err := os.WriteFile(done, nil, 0o644); err != nil {
		log.Fatal(err)
	}
	listen("tcp", ":7000")
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM)
	<-stop
}

// greet sends a line and returns the response. It ends the program if nothing listens.
func greet(network, address string) string {
	c, err := net.Dial(network, address)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	fmt.Fprintln(c, "hello")
	text, err := bufio.NewReader(c).ReadString('\n')
	if err != nil {
		log.Fatal(err)
	}
	return strings.TrimSpace(text)
}

// contend serves; each request writes. It ends if its first write fails.
func contend(write func() error) {
	if err := write(); err != nil {
		log.Fatal(err)
	}
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if err := write(); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	})
	log.Fatal(http.ListenAndServe(":"+os.Getenv("PORT"), nil))
}

// redis returns how to increase a number.
func redis(address string) func() error {
	return func() error {
		c, err := net.Dial("tcp", address)
		if err != nil {
			return err
		}
		defer c.Close()
		fmt.Fprint(c, "INCR count\r\n")
		text, err := bufio.NewReader(c).ReadString('\n')
		if err == nil && !strings.HasPrefix(text, ":") {
			err = errors.New(text)
		}
		return err
	}
}

// mariadb returns how to insert a row, as a user without a password.
func mariadb(address string) func() error {
	return func() error {
		c, err := net.Dial("tcp", address)
		if err != nil {
			return err
		}
		defer c.Close()
		if _, err := packet(c); err != nil {
			return err
		}
		const flags = 0x200 | 0x8000 | 8 | 0x80000 // of version 4.1, secure, with a database and a plugin
		hello := binary.LittleEndian.AppendUint32(nil, flags)
		hello = binary.LittleEndian.AppendUint32(hello, 1<<24)
		hello = append(append(hello, 45), make([]byte, 23)...)
		hello = append(hello, os.Getenv("DB_USER")+"\x00\x00"+os.Getenv("DB_NAME")+"\x00mysql_native_password\x00"...)
		if err := send(c, 1, hello); err != nil {
			return err
		}
		return send(c, 0, []byte("\x03INSERT INTO books (title) VALUES ('new')"))
	}
}

// send sends a packet and reads its response.
func send(c net.Conn, number byte, body []byte) error {
	n := len(body)
	if _, err := c.Write(append([]byte{byte(n), byte(n >> 8), byte(n >> 16), number}, body...)); err != nil {
		return err
	}
	response, err := packet(c)
	if err == nil && (len(response) == 0 || response[0] != 0) {
		err = fmt.Errorf("%q", response)
	}
	return err
}

func packet(c net.Conn) ([]byte, error) {
	head := make([]byte, 4)
	if _, err := io.ReadFull(c, head); err != nil {
		return nil, err
	}
	body := make([]byte, int(head[0])|int(head[1])<<8|int(head[2])<<16)
	_, err := io.ReadFull(c, body)
	return body, err
}
