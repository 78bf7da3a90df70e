package docker

import (
	"cmp"
	"crypto/sha256"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/docker/go-connections/tlsconfig"
	"github.com/moby/moby/client"

	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/internal/text/secret"
)

// endpoint is where an engine is and how to connect to it.
type endpoint struct {
	host    string      // "unix:///var/run/docker.sock", "tcp://10.0.0.5:2376"
	tls     *tls.Config // nil: no TLS
	version string      // DOCKER_API_VERSION; "" negotiates
	from    string      // what names the host, for messages

	proxies map[string]string // see readProxies

	transport http.RoundTripper // replaces connections to host in tests; may be nil
}

const maxFile = 1 << 20 // the most bytes read of a configuration file

// resolve finds the engine as the docker command does: DOCKER_HOST, then DOCKER_CONTEXT, then the
// current context of config.json, then the default socket.
func resolve(getenv func(string) string, home string) (endpoint, error) {
	dir := cmp.Or(getenv("DOCKER_CONFIG"), filepath.Join(home, ".docker"))
	ep, err := find(getenv, dir)
	if err == nil {
		ep.proxies, err = readProxies(dir, ep.host)
	}
	return ep, err
}

func find(getenv func(string) string, dir string) (endpoint, error) {
	name, from := getenv("DOCKER_CONTEXT"), "DOCKER_CONTEXT"
	ep := endpoint{host: getenv("DOCKER_HOST"), version: getenv("DOCKER_API_VERSION"), from: "DOCKER_HOST"}
	if ep.host == "" && name == "" {
		var err error
		if name, err = currentContext(dir); err != nil {
			return ep, err
		}
		from = filepath.Join(dir, "config.json")
	}
	if ep.host == "" && name != "" && name != "default" {
		found, err := readContext(dir, name)
		if err != nil {
			return ep, &ConnectError{"docker", fmt.Sprintf("context %q (of %s)", name, from), err,
				"list the contexts with \"docker context ls\", or set DOCKER_HOST"}
		}
		found.version = ep.version
		return found, found.check()
	}
	if ep.host == "" {
		ep.host, ep.from = client.DefaultDockerHost, "the default"
	}
	certs := getenv("DOCKER_CERT_PATH")
	verify := getenv("DOCKER_TLS_VERIFY") != ""
	if certs == "" && verify {
		certs = dir
	}
	if certs != "" && strings.HasPrefix(ep.host, "tcp://") {
		var err error
		if ep.tls, err = readTLS(certs, !verify); err != nil {
			return ep, fmt.Errorf("certificates of DOCKER_CERT_PATH: %w", err)
		}
	}
	return ep, ep.check()
}

func (ep endpoint) check() error {
	u, err := secret.ParseURL(ep.host)
	if err != nil || u.Scheme == "" {
		return &ConnectError{"docker host", ep.place(), errors.New("not an address"),
			"use unix:///var/run/docker.sock or tcp://host:2376"}
	}
	switch u.Scheme {
	case "unix", "npipe", "tcp", "http", "https":
		return nil
	case "ssh":
		return &ConnectError{"docker host", ep.place(), errors.New("ssh is not supported: it cannot reach container ports"),
			fmt.Sprintf("run locbench on %s, or let its engine listen for TLS and set DOCKER_HOST=tcp://%[1]s:2376",
				u.Hostname())}
	}
	return &ConnectError{"docker host", ep.place(), fmt.Errorf("unknown scheme %q", u.Scheme),
		"use unix, npipe, tcp, http or https"}
}

// place names the host and where it comes from, for messages.
func (ep endpoint) place() string { return secret.Address(ep.host) + " (of " + ep.from + ")" }

// currentContext returns the context that "docker context use" has written; "" for none.
func currentContext(dir string) (string, error) {
	var config struct{ CurrentContext string }
	err := readJSON(filepath.Join(dir, "config.json"), &config)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return config.CurrentContext, err
}

// readContext reads the store of "docker context", whose folders are SHA-256 hashes of names.
func readContext(dir, name string) (endpoint, error) {
	id := fmt.Sprintf("%x", sha256.Sum256([]byte(name)))
	path := filepath.Join(dir, "contexts", "meta", id, "meta.json")
	var meta struct {
		Endpoints map[string]struct {
			Host          string
			SkipTLSVerify bool
		}
	}
	if err := readJSON(path, &meta); errors.Is(err, fs.ErrNotExist) {
		return endpoint{}, errors.New("context not found")
	} else if err != nil {
		return endpoint{}, err
	}
	d := meta.Endpoints["docker"]
	if d.Host == "" {
		return endpoint{}, fmt.Errorf("%s has no docker endpoint", path)
	}
	ep := endpoint{host: d.Host, from: "context " + name}
	certs := filepath.Join(dir, "contexts", "tls", id, "docker")
	if _, err := os.Stat(certs); err == nil {
		if ep.tls, err = readTLS(certs, d.SkipTLSVerify); err != nil {
			return ep, fmt.Errorf("certificates: %w", err)
		}
	} else if d.SkipTLSVerify {
		ep.tls = &tls.Config{InsecureSkipVerify: true}
	}
	return ep, nil
}

// readTLS reads ca.pem, which may be absent, and cert.pem with key.pem, which may be absent too.
func readTLS(dir string, skipVerify bool) (*tls.Config, error) {
	o := tlsconfig.Options{InsecureSkipVerify: skipVerify, ExclusiveRootPools: true}
	for name, file := range map[string]*string{"ca.pem": &o.CAFile, "cert.pem": &o.CertFile, "key.pem": &o.KeyFile} {
		if _, err := os.Stat(filepath.Join(dir, name)); !errors.Is(err, fs.ErrNotExist) {
			*file = filepath.Join(dir, name)
		}
	}
	if o.CertFile == "" {
		o.KeyFile = ""
	}
	return tlsconfig.Client(o)
}

func readJSON(path string, value any) error {
	data, err := safe.ReadFile(path, maxFile)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, value); err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	return nil
}

// client returns a client that has not connected yet.
func (ep endpoint) client() (*client.Client, error) {
	var opts []client.Opt
	if ep.tls != nil {
		transport := &http.Transport{TLSClientConfig: ep.tls}
		web := &http.Client{Transport: transport, CheckRedirect: client.CheckRedirect}
		opts = append(opts, client.WithHTTPClient(web))
	}
	opts = append(opts, client.WithHost(ep.host), client.WithAPIVersion(ep.version))
	if ep.transport != nil {
		opts = append(opts, client.WithHTTPClient(&http.Client{Transport: ep.transport}))
	}
	return client.New(opts...)
}
