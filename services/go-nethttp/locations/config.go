package locations

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strconv"
)

// Config is what the service needs to know.
type Config struct {
	Listen    string    // IP address to listen on; "": all of IPv4
	Port      int       // to listen on; 0: any free one
	Store     *url.URL  // of Elasticsearch
	AccessLog bool      // a line for each request
	Log       io.Writer // start-up, trouble and requests, a line each
}

// ConfigFromEnv reads LISTEN (default 0.0.0.0), PORT (default 8080), ELASTICSEARCH_URL and ACCESS_LOG ("off" turns the request log off).
func ConfigFromEnv(getenv func(string) string, log io.Writer) (Config, error) {
	cfg := Config{Port: 8080, AccessLog: getenv("ACCESS_LOG") != "off", Log: log}
	if s := getenv("LISTEN"); s != "" {
		if net.ParseIP(s) == nil {
			return cfg, fmt.Errorf("LISTEN is %q: want an IP address, such as 127.0.0.1", s)
		}
		cfg.Listen = s
	}
	if s := getenv("PORT"); s != "" {
		port, err := strconv.ParseUint(s, 10, 16)
		if err != nil {
			return cfg, fmt.Errorf("PORT is %q: want a number from 0 to 65535", s)
		}
		cfg.Port = int(port)
	}
	s := getenv("ELASTICSEARCH_URL")
	if s == "" {
		return cfg, errors.New("ELASTICSEARCH_URL is not set: want the URL of Elasticsearch, for example http://localhost:9200")
	}
	// The value is not repeated in the message: it may hold a password.
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return cfg, errors.New("ELASTICSEARCH_URL is malformed: want a URL such as http://localhost:9200")
	}
	cfg.Store = u
	return cfg, nil
}
