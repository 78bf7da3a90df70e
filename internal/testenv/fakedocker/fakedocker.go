// Package fakedocker is a Docker engine in memory, for plain tests: a handler of HTTP requests, or
// a transport, so the time can be virtual. It has one container, whose course the test decides, one
// network, and the lists of others. It records what it is sent. Any volume can be made.
package fakedocker

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// The IDs of the container, of the network, and of the container that the tested process runs in.
const (
	ID        = "5f3c8a1e9d7b4f60a2c1d3e4f5061728394a5b6c7d8e9f00112233445566aabb"
	NetworkID = "77aa8a1e9d7b4f60a2c1d3e4f5061728394a5b6c7d8e9f00112233445566ccdd"
	OwnID     = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
)

// Engine is the engine. Its fields are read under a lock: once it is in use, Change sets them.
type Engine struct {
	API       string              // the version of its API
	Component string              // its first component, which says whose engine it is
	Info      map[string]any      // what it says of itself
	Ahead     time.Duration       // its clock minus this machine's
	Responses map[string]Response // by "METHOD PATH": replaces the response
	Latency   time.Duration       // of each response
	Away      bool                // refuses connections
	Silent    bool                // accepts requests and never responds
	OnRequest func(string)        // called with "METHOD PATH" before the response, under the lock

	// Of the container. Its networks and ports are as an inspection shows them.
	Running  bool
	Gone     bool // removed
	Starts   int  // of the main process
	Code     int
	OOM      bool // the flag of the state
	Paused   bool
	Config   map[string]any // of the container
	PID      int
	Networks map[string]any
	Ports    map[string]any
	Log      []byte // frames, sent at once
	Stats    string
	OnKill   func(signal string) // called under the lock; a stop has the signal "stop"

	Archive []byte            // of any of its folders
	Reads   int64             // bytes that it reads of a request; 0: all
	Modes   map[string]uint32 // of paths in it, as Go has them
	Output  []byte            // frames that a command writes in it
	Ends    int               // exit code of the command

	Others []Thing

	OwnMode  string // the network of the container with OwnID; "": there is no such container
	Joined   bool   // that container is in the network
	Homeless bool   // it gets no address there

	mu       sync.Mutex
	changed  chan struct{} // closed and replaced when anything changes
	ended    time.Time
	past     []event
	requests []Request
	named    string // the network
}

// Response is a scripted response.
type Response struct {
	Status int
	Body   string
}

// Request is a request that the engine has received.
type Request struct {
	Method, Path string // without the version
	Query        url.Values
	Body         []byte
}

// Thing is a container, a network or a volume in the engine's lists.
type Thing struct {
	Kind, Name string // "container", "network", "volume"
	Labels     map[string]string
}

// New returns an engine of four CPUs whose container runs.
func New() *Engine {
	info := map[string]any{
		"OSType": "linux", "Architecture": "x86_64", "NCPU": 4, "ServerVersion": "20.10.24", "CgroupVersion": "2",
	}
	for _, limit := range []string{"CpuCfsPeriod", "CpuCfsQuota", "CPUSet", "MemoryLimit", "SwapLimit", "PidsLimit"} {
		info[limit] = true
	}
	return &Engine{
		API: "1.41", Component: "Engine", Info: info, Responses: map[string]Response{}, Running: true, Starts: 1,
		changed: make(chan struct{}),
	}
}

// Podman returns an engine that differs from New's as Podman 4.3.1 does from Docker: its name, what it says of
// options of networks that it does not know, and of the network of a container.
func Podman() *Engine {
	e := New()
	e.Component, e.Info["ServerVersion"] = PodmanComponent, "4.3.1"
	return e
}

// PodmanComponent is the name of the first component of Podman.
const PodmanComponent = "Podman Engine"

// Change calls do with the lock held.
func (e *Engine) Change(do func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	do()
	e.wake()
}

// After calls do with the lock held once d has passed.
func (e *Engine) After(d time.Duration, do func()) { time.AfterFunc(d, func() { e.Change(do) }) }

func (e *Engine) wake() {
	close(e.changed)
	e.changed = make(chan struct{})
}

// End makes the main process exit; the lock is held.
func (e *Engine) End(code int) {
	e.Running, e.Code, e.ended = false, code, time.Now()
	e.Event(ID, "die", "exitCode", strconv.Itoa(code))
}

// Event adds an event of a container; the lock is held.
func (e *Engine) Event(id, action string, attributes ...string) {
	one := event{Type: "container", Action: action, TimeNano: e.now().UnixNano()}
	one.Actor.ID, one.Actor.Attributes = id, map[string]string{}
	for pair := range slices.Chunk(attributes, 2) {
		one.Actor.Attributes[pair[0]] = pair[1]
	}
	e.past = append(e.past, one)
}

func (e *Engine) now() time.Time { return time.Now().Add(e.Ahead) }

// Started returns the start of the main process, as the engine writes it.
func (e *Engine) Started() string {
	return time.Date(2026, 11, 22, 0, 0, e.Starts, 0, time.UTC).Format(time.RFC3339Nano)
}

// Requests returns the requests so far whose "METHOD PATH" matches a pattern.
func (e *Engine) Requests(pattern string) (found []Request) {
	e.mu.Lock()
	defer e.mu.Unlock()
	is := regexp.MustCompile("^(?:" + pattern + ")$")
	for _, r := range e.requests {
		if is.MatchString(r.Method + " " + r.Path) {
			found = append(found, r)
		}
	}
	return found
}

// Signals returns the signals that the container was sent.
func (e *Engine) Signals() (all []string) {
	for _, r := range e.Requests("POST /containers/" + ID + "/kill") {
		all = append(all, r.Query.Get("signal"))
	}
	return all
}

// Removed returns the names or IDs of what was removed, in that order.
func (e *Engine) Removed() (all []string) {
	for _, r := range e.Requests("DELETE .*") {
		all = append(all, r.Path[strings.LastIndexByte(r.Path, '/')+1:])
	}
	return all
}

var versioned = regexp.MustCompile(`^/v1\.[0-9]+`)

// receive records a request and returns its response; nil: the connection breaks.
func (e *Engine) receive(r *http.Request) *http.Response {
	e.mu.Lock()
	silent, latency, reads := e.Silent, e.Latency, e.Reads
	e.mu.Unlock()
	if silent {
		<-r.Context().Done()
		return nil
	}
	time.Sleep(latency / 2)
	body, _ := io.ReadAll(io.LimitReader(r.Body, cmp.Or(reads, math.MaxInt64)))
	e.mu.Lock()
	defer time.Sleep(latency / 2)
	defer e.mu.Unlock()
	if e.Away {
		return nil
	}
	path := versioned.ReplaceAllString(r.URL.Path, "")
	e.requests = append(e.requests, Request{r.Method, path, r.URL.Query(), body})
	if e.OnRequest != nil {
		e.OnRequest(r.Method + " " + path)
	}
	if scripted, ok := e.Responses[r.Method+" "+path]; ok {
		return e.response(scripted.Status, scripted.Body)
	}
	return e.respond(r, path, body)
}

func (e *Engine) respond(r *http.Request, path string, body []byte) *http.Response {
	about, of := strings.CutPrefix(path, "/containers/"+ID)
	switch {
	case path == "/_ping":
		return e.response(200, "OK")
	case path == "/info":
		info := maps.Clone(e.Info)
		info["SystemTime"] = e.now().Format(time.RFC3339Nano)
		return e.response(200, info)
	case path == "/version":
		return e.response(200, map[string]any{"Components": []any{map[string]any{"Name": e.Component}}})
	case path == "/events":
		return e.stream(r, e.eventsFor(r))
	case path == "/containers/create":
		e.Running, e.Gone = false, false
		return e.response(201, map[string]any{"Id": ID, "Warnings": []string{"as scripted"}})
	case path == "/containers/json":
		return e.response(200, e.list("container", r))
	case path == "/containers/"+OwnID+"/json":
		return e.own()
	case of && e.Gone:
		return e.response(404, map[string]any{"message": "No such container: " + ID})
	case of && r.Method == http.MethodDelete:
		e.Gone, e.Running = true, false
		e.wake()
		return e.response(204, nil)
	case of:
		return e.container(r, about)
	case strings.HasPrefix(path, "/exec/"):
		return e.exec(path)
	case path == "/volumes":
		return e.response(200, map[string]any{"Volumes": e.list("volume", r)})
	case path == "/volumes/create":
		return e.response(201, map[string]any{})
	case strings.HasPrefix(path, "/networks"):
		return e.network(r, path, body)
	case r.Method == http.MethodDelete:
		e.Others = slices.DeleteFunc(e.Others, func(t Thing) bool { return path == "/"+t.Kind+"s/"+t.Name })
		return e.response(204, nil)
	}
	return e.response(404, map[string]any{"message": fmt.Sprintf("%s %s: not found", r.Method, path)})
}

func (e *Engine) container(r *http.Request, about string) *http.Response {
	switch about {
	case "/attach":
		return e.response(http.StatusSwitchingProtocols, nil)
	case "/start":
		e.Running = true
		e.wake()
		return e.response(204, nil)
	case "/json":
		status := map[bool]string{true: "running", false: "exited"}[e.Running]
		return e.response(200, map[string]any{
			"Id": ID, "Image": "sha256:image", "Config": e.Config,
			"NetworkSettings": map[string]any{"Networks": e.Networks, "Ports": e.Ports},
			"State": map[string]any{
				"Status": status, "Running": e.Running, "Paused": e.Paused, "OOMKilled": e.OOM, "ExitCode": e.Code,
				"Pid": e.PID, "StartedAt": e.Started(), "FinishedAt": e.ended.Add(e.Ahead).Format(time.RFC3339Nano),
			},
		})
	case "/wait":
		return e.stream(r, func(w io.Writer) bool {
			if !e.Running {
				fmt.Fprintf(w, `{"StatusCode":%d}`, e.Code)
			}
			return e.Running
		})
	case "/kill":
		signal := r.URL.Query().Get("signal")
		e.Event(ID, "kill", "signal", signal)
		if e.OnKill != nil {
			e.OnKill(signal)
		}
		e.wake()
		return e.response(204, nil)
	case "/stop":
		if e.OnKill != nil {
			e.OnKill("stop")
		}
		e.wake()
		return e.response(204, nil)
	case "/archive":
		return e.archive(r)
	case "/exec":
		return e.response(201, map[string]any{"Id": "e1"})
	case "/stats":
		return e.response(200, e.Stats)
	}
	return e.response(404, nil)
}

func (e *Engine) network(r *http.Request, path string, body []byte) *http.Response {
	switch r.Method + " " + path {
	case "GET /networks":
		return e.response(200, e.list("network", r))
	case "POST /networks/create":
		var asked struct{ Name string }
		_ = json.Unmarshal(body, &asked)
		e.named = asked.Name
		made := map[string]any{"Id": NetworkID}
		if strings.Contains(string(body), "enable_icc") && e.Component == PodmanComponent {
			made["Warning"] = `"com.docker.network.bridge.enable_icc: false" is not a recognized option`
		}
		return e.response(201, made)
	case "GET /networks/" + NetworkID:
		subnet := map[string]any{"Subnet": "172.30.0.0/16", "Gateway": "172.30.0.1"}
		return e.response(200, map[string]any{"Id": NetworkID, "IPAM": map[string]any{"Config": []any{subnet}}})
	case "POST /networks/" + NetworkID + "/connect", "POST /networks/" + NetworkID + "/disconnect":
		e.Joined = strings.HasSuffix(path, "/connect")
		return e.response(200, nil)
	case "DELETE /networks/" + NetworkID:
		if e.Joined {
			return e.response(403, map[string]any{"message": "network has active endpoints"})
		}
		return e.response(204, nil)
	}
	if r.Method == http.MethodDelete {
		e.Others = slices.DeleteFunc(e.Others, func(t Thing) bool { return path == "/networks/"+t.Name })
		return e.response(204, nil)
	}
	return e.response(404, map[string]any{"message": "network not found"})
}

// own is the inspection of the container that the tested process runs in.
func (e *Engine) own() *http.Response {
	if e.OwnMode == "" {
		return e.response(404, map[string]any{"message": "No such container"})
	}
	in := map[string]any{"bridge": map[string]any{"NetworkID": "net0", "IPAddress": "172.17.0.9"}}
	if e.Joined && !e.Homeless {
		id := NetworkID
		if e.Component == PodmanComponent {
			id = e.named
		}
		in[e.named] = map[string]any{"NetworkID": id, "IPAddress": "172.30.0.7"}
	}
	return e.response(200, map[string]any{
		"Id": OwnID, "HostConfig": map[string]any{"NetworkMode": e.OwnMode},
		"NetworkSettings": map[string]any{"Networks": in},
	})
}

// response returns a response whose body is a text, or a value as JSON.
func (e *Engine) response(status int, body any) *http.Response {
	resp := &http.Response{StatusCode: status, Body: http.NoBody, ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{
		"Content-Type": {"application/json"}, "Api-Version": {e.API}, "Ostype": {"linux"},
	}}
	text, ok := body.(string)
	if !ok && body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			panic(err)
		}
		text = string(data)
	}
	if text != "" {
		resp.Body = io.NopCloser(strings.NewReader(text))
	}
	return resp
}

// Created returns the last request that created a container: its name without the random end, and
// the fields that are set.
func (e *Engine) Created() string {
	all := e.Requests("POST /containers/create")
	if len(all) == 0 {
		return ""
	}
	last := all[len(all)-1]
	name := last.Query.Get("name")
	return "name: " + name[:max(0, len(name)-len("01234567"))] + "*\n" + Fields(last.Body)
}

// Fields returns the fields of a JSON object that are set, one a line: "outer.inner: value".
func Fields(data []byte) string {
	var object map[string]any
	if err := json.Unmarshal(data, &object); err != nil {
		return err.Error()
	}
	var all strings.Builder
	writeFields(&all, "", object)
	return all.String()
}

func writeFields(to *strings.Builder, prefix string, object map[string]any) {
	for _, key := range slices.Sorted(maps.Keys(object)) {
		field := object[key]
		switch inner, ok := field.(map[string]any); {
		case ok:
			writeFields(to, prefix+key+".", inner)
			continue
		case field == nil, field == "", field == false, field == 0.0 && key != "PidsLimit": // where null is none
			continue
		}
		text, _ := json.Marshal(field)
		fmt.Fprintf(to, "%s%s: %s\n", prefix, key, text)
	}
}
