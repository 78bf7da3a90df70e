package main

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"strconv"
)

type config struct {
	port      int
	store     *url.URL
	accessLog bool
}

// configFromEnv reads PORT (default 8080), ELASTICSEARCH_URL and ACCESS_LOG ("off" turns the request log off).
func configFromEnv() (config, error) {
	cfg := config{port: 8080, accessLog: os.Getenv("ACCESS_LOG") != "off"}
	if s := os.Getenv("PORT"); s != "" {
		port, err := strconv.ParseUint(s, 10, 16)
		if err != nil || port == 0 {
			return cfg, fmt.Errorf("PORT is %q: want a number from 1 to 65535", s)
		}
		cfg.port = int(port)
	}
	s := os.Getenv("ELASTICSEARCH_URL")
	if s == "" {
		return cfg, errors.New("ELASTICSEARCH_URL is not set: want the URL of Elasticsearch, for example http://localhost:9200")
	}
	// The value is not repeated in the message: it may hold a password.
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return cfg, errors.New("ELASTICSEARCH_URL is malformed: want a URL such as http://localhost:9200")
	}
	cfg.store = u
	return cfg, nil
}
