package docker

import (
	"bufio"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/build"
	"github.com/moby/moby/client"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/text/safe"
)

// ErrNotFound is wrapped by errors about an image or container that the engine does not have.
var ErrNotFound = errors.New("not found")

// BuildOptions say how an image is built. Every field may be empty.
type BuildOptions struct {
	Dockerfile string // path within the build context; "": Dockerfile
	Tag        string // "name:tag"
	Target     string // stage of a multi-stage Dockerfile
	Args       map[string]string
	NoCache    bool
	BuildKit   bool // use the engine's BuildKit, not its classic builder
}

// BuildImage builds an image from a build context in tar form, with the classic builder, which
// every engine has, or with BuildKit, and returns the image's ID. It writes the builder's output to
// out, in lines of bounded length; out may be nil. Like "docker build" it adds the proxies of Docker's
// configuration to the build arguments; their passwords are masked.
func (e *Engine) BuildImage(ctx context.Context, tar io.Reader, o BuildOptions, out io.Writer) (id string, err error) {
	args := make(map[string]*string, len(o.Args))
	for k, v := range e.proxies {
		args[k] = &v
	}
	for k, v := range o.Args {
		args[k] = &v
	}
	known := passwords(e.proxies)
	defer func() { err = known.Error(err) }()
	if out != nil {
		out = safe.NewWriter(out, known.Text)
	}
	opts := client.ImageBuildOptions{
		Version: build.BuilderV1, Dockerfile: o.Dockerfile, Target: o.Target, BuildArgs: args,
		NoCache: o.NoCache, Remove: true, ForceRemove: true,
	}
	if o.Tag != "" {
		opts.Tags = []string{o.Tag}
	}
	if o.BuildKit {
		s, err := e.openSession(ctx)
		if err != nil {
			return "", fmt.Errorf("build image %s: %w", o.Tag, orCause(ctx, err))
		}
		defer s.stop()
		opts.Version, opts.SessionID, opts.BuildID = build.BuilderBuildKit, s.id, rand.Text()
		canceled := make(chan struct{})
		stop := context.AfterFunc(ctx, func() {
			defer close(canceled)
			e.cancelBuild(ctx, opts.BuildID)
		})
		defer func() {
			if !stop() {
				<-canceled // locbench may exit next
			}
		}()
	}
	resp, err := e.cli.ImageBuild(ctx, tar, opts)
	if err == nil {
		defer resp.Body.Close()
		err = follow(resp.Body, out, func(m message) { id = cmp.Or(m.builtID(), id) })
	}
	if err != nil {
		return "", fmt.Errorf("build image %s: %w", o.Tag, fromRegistry(orCause(ctx, err), "BASE_IMAGE"))
	}
	if id == "" {
		return "", fmt.Errorf("build image %s: the engine returned no image ID", o.Tag)
	}
	return id, nil
}

// Pull fetches an image from its registry, without credentials. It writes its progress to out at
// most once a second; out may be nil.
func (e *Engine) Pull(ctx context.Context, ref string, out io.Writer) error {
	ctx, cancel := within(ctx, pullTimeout)
	defer cancel()
	body, err := e.cli.ImagePull(ctx, ref, client.ImagePullOptions{})
	if err == nil {
		defer body.Close()
		err = follow(body, out, nil)
	}
	if err == nil {
		return nil
	}
	if errdefs.IsNotFound(err) {
		err = fmt.Errorf("%w in its registry: %w", ErrNotFound, err)
	}
	return fmt.Errorf("pull %s: %w", ref, fromRegistry(orCause(ctx, err), ref))
}

// fromRegistry adds to the error of a build or pull what to do if an image could not be fetched.
// The engine passes on only the words of the registry or the resolver, so it looks for these.
func fromRegistry(err error, image string) error {
	text := strings.ToLower(err.Error())
	has := func(signs ...string) bool {
		return slices.ContainsFunc(signs, func(s string) bool { return strings.Contains(text, s) })
	}
	switch {
	case has("dial tcp", "no such host", "client.timeout", "i/o timeout", "connection refused", "tls handshake",
		"proxyconnect"):
		return fmt.Errorf("the engine cannot reach a registry; use \"docker load\", or set up a mirror or proxy: %w", err)
	case has("no matching manifest"):
		return fmt.Errorf("%s has no image for the processor of this engine; choose another tag, or build one: %w", image, err)
	case errdefs.IsUnauthorized(err), errdefs.IsPermissionDenied(err), has("access denied",
		"access to the resource is denied", "unauthorized", "authentication required", "basic auth credentials",
		"authorization failed", "toomanyrequests"):
		return fmt.Errorf("the registry requires a login and locbench has no credentials; "+
			"run \"docker login\" and \"docker pull %s\" first: %w", image, err)
	}
	return err
}

// contents returns the hash of an image without its times; "" without layers.
func contents(layers []string, config any) string {
	data, err := json.Marshal(config)
	if len(layers) == 0 || err != nil || string(data) == "null" {
		return ""
	}
	return fmt.Sprintf("sha256:%x", sha256.Sum256(fmt.Appendf(data, "%q", layers)))
}

// RemoveImage removes an image by reference or ID; one that does not exist is not an error.
func (e *Engine) RemoveImage(ctx context.Context, ref string) error {
	ctx, cancel := within(ctx, cleanupTimeout)
	defer cancel()
	_, err := e.cli.ImageRemove(ctx, ref, client.ImageRemoveOptions{Force: true, PruneChildren: true})
	if err != nil && !errdefs.IsNotFound(err) {
		return fmt.Errorf("remove image %s: %w", ref, err)
	}
	return nil
}

func translateNotFound(err error) error {
	if errdefs.IsNotFound(err) {
		return fmt.Errorf("%w: %w", ErrNotFound, err)
	}
	return err
}

// orCause returns the cause of ctx if it has ended, such as "interrupted", and otherwise err.
func orCause(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// message is one JSON object in the response stream of a build or a pull.
type message struct {
	Stream      string `json:"stream"`
	Status      string `json:"status"`
	ID          string `json:"id"`
	Error       string `json:"error"`
	ErrorDetail struct {
		Message string `json:"message"`
	} `json:"errorDetail"`
	Detail struct {
		Current int64 `json:"current"`
		Total   int64 `json:"total"`
	} `json:"progressDetail"`
	Aux json.RawMessage `json:"aux"` // the ID of a built image, or what trace reads from BuildKit
}

// builtID returns the ID of the image that was built; "" if the message is about something else.
func (m message) builtID() string {
	var image struct {
		ID string `json:"ID"`
	}
	_ = json.Unmarshal(m.Aux, &image) // fails for other messages, which have no ID
	return image.ID
}

// layersEvery is between two lines about the layers of an image, which the engine reports some hundred
// times a second.
const layersEvery = time.Second

// progress returns what the message says, such as "a3ed95caeb02: Downloading, 1 MiB of 4 MiB".
func (m message) progress() string {
	text := strings.TrimPrefix(m.ID+": ", ": ") + m.Status
	if m.Detail.Total > 0 {
		text += fmt.Sprintf(", %s of %s", units.Bytes(max(0, m.Detail.Current)), units.Bytes(m.Detail.Total))
	}
	return text
}

// traceID marks the messages of BuildKit.
const traceID = "moby.buildkit.trace"

const (
	// maxMessage bounds one message; a builder's output comes in pieces of 32 KiB.
	maxMessage = 1 << 20
	lastLines  = 10 // lines of output in an error of the builder
)

// follow reads the stream to its end and returns the error in it, with the last lines of output.
func follow(r io.Reader, out io.Writer, each func(message)) error {
	if out == nil {
		out = io.Discard
	}
	last := safe.Ring{Size: lastLines}
	var failed error // of out; returned at the end, since the build continues
	w := safe.NewLineWriter("", time.Now, func(l bench.LogLine) {
		last.Add(l)
		if failed == nil {
			_, failed = fmt.Fprintln(out, l.Text)
		}
	})
	var shown time.Time // when a layer was
	s := bufio.NewScanner(r)
	s.Buffer(make([]byte, 0, 64<<10), maxMessage)
	for s.Scan() {
		if strings.TrimSpace(s.Text()) == "" {
			continue
		}
		var m message
		if err := json.Unmarshal(s.Bytes(), &m); err != nil {
			return fmt.Errorf("read the engine's response: %w", err)
		}
		if text := cmp.Or(m.ErrorDetail.Message, m.Error); text != "" {
			w.Flush()
			return outputError(text, last.Lines())
		}
		io.WriteString(w, m.Stream)
		if m.ID == traceID {
			trace(m.Aux, w)
		}
		if m.Status != "" && (m.ID == "" || time.Since(shown) >= layersEvery) {
			if m.ID != "" {
				shown = time.Now()
			}
			io.WriteString(w, m.progress()+"\n")
		}
		if each != nil {
			each(m)
		}
	}
	w.Flush()
	if err := s.Err(); err != nil {
		return fmt.Errorf("read the engine's response: %w", err)
	}
	if failed != nil {
		return fmt.Errorf("write the engine's output: %w", failed)
	}
	return nil
}

func outputError(text string, last []bench.LogLine) error {
	text = text[:min(len(text), safe.MaxLine)]
	before := "; last lines:\n  "
	for _, l := range last {
		if s := strings.TrimSpace(l.Text); s != "" && s != "--->" { // that is a step without a layer
			text, before = text+before+s, "\n  "
		}
	}
	return errors.New(text)
}
