package docker

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/testenv/fakedocker"
)

// tarOf returns an archive; a file has its base name as content, as often as its size says.
func tarOf(t *testing.T, entries ...tar.Header) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range entries {
		content := strings.Repeat(path.Base(h.Name), int(h.Size))
		h.Size = int64(len(content))
		testenv.OK(t, w.WriteHeader(&h))
		testenv.OK(t, testenv.Err(w.Write([]byte(content))))
	}
	testenv.OK(t, w.Close())
	return b.Bytes()
}

// TestCopyVolume: the archive that the engine sends is what it gets back, byte by byte, with
// owners, and the two containers are removed, whatever fails.
func TestCopyVolume(t *testing.T) {
	archive := tarOf(t, tar.Header{Name: "locbench-volume/", Typeflag: tar.TypeDir, Uid: 999},
		tar.Header{Name: "locbench-volume/row", Typeflag: tar.TypeReg, Size: 100})
	archive = append(archive, make([]byte, 8192)...) // as the engine pads it
	for name, tt := range map[string]struct {
		request string
		status  int
		body    string
		err     string
		removed int
	}{
		"copied":   {removed: 2},
		"no image": {"POST /containers/create", 404, refused, "copy volume v1: not found: " + failed, 0},
		"not read": {"GET " + ours + "/archive", 500, refused, "copy volume v1: " + failed, 2},
		"not written": {"PUT " + ours + "/archive", 500, `{"message":"no space left on device"}`,
			"copy volume v1: the disk of the container engine is full; free space there, such as with \"docker image prune\": " +
				"Error response from daemon: no space left on device", 2},
		"not an archive": {"", 0, strings.Repeat("x", 1024), "copy volume v1: archive/tar: invalid tar header", 2},
	} {
		t.Run(name, func(t *testing.T) {
			f := fakedocker.New()
			f.Archive = archive
			if f.Responses[tt.request] = reply(tt.status, tt.body); tt.request == "" && tt.body != "" {
				f.Archive = []byte(tt.body)
			}
			f.OnRequest = func(string) { f.Gone = false } // one of two containers
			files, err := groupOf(t, f).CopyVolume(t.Context(), "v1", "v2", "img:1", 1<<30)
			testenv.Check(t, len(f.Removed()) == tt.removed, "removed: %q", f.Removed())
			if tt.err != "" {
				testenv.Check(t, err != nil && strings.HasPrefix(err.Error(), tt.err), "%v, want %s", err, tt.err)
				return
			}
			put := f.Requests("PUT " + ours + "/archive")
			if err != nil || files != 300 || len(put) != 1 || !bytes.Equal(put[0].Body, archive) || put[0].Query.Get("copyUIDGID") != "" {
				t.Errorf("%d bytes, %v", files, err)
			}
			var created strings.Builder
			for _, r := range f.Requests("POST /containers/create") {
				created.WriteString("name: " + strings.TrimRight(r.Query.Get("name"), "0123456789abcdef") + "*\n" + fakedocker.Fields(r.Body))
			}
			testenv.Golden(t, "testdata/copy_volume.golden", created.String())
		})
	}
	f := fakedocker.New()
	f.Archive, f.Reads = append(archive, make([]byte, 4<<20)...), int64(len(archive))
	f.OnRequest = func(string) { f.Gone = false }
	testenv.OK(t, testenv.Err(groupOf(t, f).CopyVolume(t.Context(), "v1", "v2", "img:1", 1<<30)))
	_, err := groupOf(t, f).CopyVolume(t.Context(), "v1", "v2", "img:1", 100)
	testenv.Check(t, errors.Is(err, ErrTooLarge), "more than 100 bytes: %v", err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	f = fakedocker.New()
	_, err = groupOf(t, f).CopyVolume(ctx, "v1", "v2", "img:1", 1<<30)
	testenv.Check(t, err != nil && len(f.Requests(".*")) == 0, "canceled: %v, %d requests", err, len(f.Requests(".*")))
}

// TestFreeSpace: where space is free, if the engine is on this machine.
func TestFreeSpace(t *testing.T) {
	e := groupOf(t, fakedocker.New())
	_, folder := e.FreeSpace()
	testenv.Check(t, folder == "", "an engine elsewhere has %s", folder)
	e.local.Store(true)
	e.info.Root = t.TempDir()
	free, folder := e.FreeSpace()
	testenv.Check(t, folder == e.info.Root && free > 0, "%d in %s", free, folder)
	e.info.Root += "/none"
	_, folder = e.FreeSpace()
	testenv.Check(t, folder == "", "a folder that is not here: %s", folder)
}

// TestCreateVolume: it has the labels and a name of the run, and does not outlive an interruption.
func TestCreateVolume(t *testing.T) {
	f := fakedocker.New()
	name, err := groupOf(t, f).CreateVolume(t.Context(), "db")
	if err != nil || !strings.HasPrefix(name, "locbench-r1-db-") || !named(groupOf(t, f).labels("db"), name) {
		t.Errorf("%q, %v", name, err)
	}
	want := "Labels.locbench.name: \"db\"\nLabels.locbench.owner: \"o\"\nLabels.locbench.run: \"r1\"\nName: \"" + name + "\"\n"
	testenv.Equal(t, fakedocker.Fields(f.Requests("POST /volumes/create")[0].Body), want)
	ctx, cancel := context.WithCancel(t.Context())
	f.OnRequest = func(string) { cancel() }
	_, err = groupOf(t, f).CreateVolume(ctx, "db")
	testenv.Check(t, err != nil && len(f.Removed()) == 1, "interrupted: %v, removed %q", err, f.Removed())
	f.Responses["DELETE /volumes/v1"] = reply(404, refused)
	f.Responses["DELETE /volumes/v2"] = reply(409, refused)
	e := groupOf(t, f)
	testenv.OK(t, e.RemoveVolume(ctx, "v1"))
	testenv.Fails(t, e.RemoveVolume(ctx, "v2"), "remove volume v2: "+failed)
}

// TestExec: the last of both streams of a command, and its exit code.
func TestExec(t *testing.T) {
	long := strings.Repeat("0123456789abcde\n", 5<<10)
	for name, tt := range map[string]struct {
		output  []byte
		code    int
		request string // that fails
		want    string
	}{
		"both streams": {slices.Concat(frame(1, "a\n"), frame(2, "b")), 0, "", "0 a\nb"},
		"a failure":    {frame(2, "no"), 3, "", "3 no"},
		"silent":       {nil, 0, "", "0 "},
		"long": {slices.Concat(frame(1, "x"), frame(1, long), frame(2, "end")), 0, "", "0 " +
			(long + "end")[len(long)+3-64<<10:]},
		"not running":    {nil, 0, "POST " + ours + "/exec", `0 , run "cmd" in container 5f3c8a1e9d7b: ` + failed},
		"an outage":      {frame(1, "a"), 0, "GET /exec/e1/json", `0 a, run "cmd" in container 5f3c8a1e9d7b: ` + failed},
		"half an output": {frame(1, "abc")[:9], 0, "", `0 a, run "cmd" in container 5f3c8a1e9d7b: unexpected EOF`},
	} {
		t.Run(name, func(t *testing.T) {
			f := fakedocker.New()
			f.Output, f.Ends = tt.output, tt.code
			if tt.request != "" {
				f.Responses[tt.request] = reply(409, refused)
			}
			f.OnRequest = func(request string) {
				if request != "GET /exec/e1/json" || tt.request != "" {
					return
				}
				if _, seen := f.Responses[request]; seen {
					delete(f.Responses, request)
				} else { // it has not noticed the exit
					f.Responses[request] = reply(200, `{"Running":true,"ExitCode":null}`)
				}
			}
			out, code, err := containerOf(t, f).Exec(t.Context(), []string{"cmd", "arg"}, nil)
			got := fmt.Sprintf("%d %s", code, out)
			if err != nil {
				got += ", " + err.Error()
			}
			testenv.Equal(t, got, tt.want)
			want := "AttachStderr: true\nAttachStdout: true\nCmd: [\"cmd\",\"arg\"]\nEnv: [\"LOCBENCH_EXEC=MARK\"]\n"
			sent := fakedocker.Fields(f.Requests("POST " + ours + "/exec")[0].Body)
			testenv.Equal(t, regexp.MustCompile("=[A-Z0-9]{26}\"").ReplaceAllString(sent, `=MARK"`), want)
		})
	}
}

// TestWritten: changed and deleted files, but nothing of mounts, no folders, and not those that are
// gone.
func TestWritten(t *testing.T) {
	f := fakedocker.New()
	f.Responses["GET "+ours+"/json"] = reply(200, `{"Mounts":[{"Destination":"/data"},{"Destination":"/seed/a.sql"}],
		"HostConfig":{"Tmpfs":{"/run/":""}},"State":{}}`)
	f.Responses["GET "+ours+"/changes"] = reply(200, `[{"Path":"/var","Kind":0},{"Path":"/var/lib","Kind":0},{"Path":"/var/lib/b","Kind":1},
		{"Path":"/database","Kind":1},{"Path":"/data","Kind":1},{"Path":"/data/x","Kind":1},{"Path":"/seed","Kind":1},{"Path":"/seed/a.sql","Kind":1},
		{"Path":"/run","Kind":0},{"Path":"/run/pid","Kind":1},{"Path":"/tmp","Kind":0},{"Path":"/gone","Kind":1},{"Path":"/etc/old","Kind":2},
		{"Path":"/etc","Kind":0}]`)
	dir := uint32(fs.ModeDir)
	f.Modes = map[string]uint32{"/var": dir, "/var/lib": dir, "/var/lib/b": 0o600, "/database": 0o644, "/tmp": dir, "/etc": dir, "/seed": dir, "/data": dir,
		"/data/x": 0o600, "/seed/a.sql": 0o600, "/run": dir, "/run/pid": 0o600}
	got, err := containerOf(t, f).Written(t.Context())
	want := []string{"/database", "/etc/old", "/var/lib/b"}
	testenv.Check(t, err == nil && slices.Equal(got, want), "%q, %v, want %q", got, err, want)
	var many []string
	for i := range 150 {
		many = append(many, fmt.Sprintf(`{"Path":"/f%03d","Kind":2}`, i))
	}
	f.Responses["GET "+ours+"/changes"] = reply(200, "["+strings.Join(many, ",")+"]")
	got, err = containerOf(t, f).Written(t.Context())
	testenv.Check(t, err == nil && len(got) == 100 && got[99] == "/f099", "%d of 150 files, %v", len(got), err)
	f.Responses["GET "+ours+"/changes"] = reply(500, refused)
	testenv.Fails(t, testenv.Err(containerOf(t, f).Written(t.Context())), "read the changes of container 5f3c8a1e9d7b: "+failed)
}

// TestEnd: a clean end is an exit with code 0. The container stays until Kill, which removes it
// once.
func TestEnd(t *testing.T) {
	for code, want := range map[int]bool{0: true, 1: false, 137: false} {
		synctest.Test(t, func(t *testing.T) {
			f := fakedocker.New()
			f.OnKill = func(signal string) { f.End(code) }
			c, _, err := engineOf(t, f).run(t.Context(), ContainerSpec{Image: "img"})
			testenv.OK(t, err)
			clean, err := c.End(t.Context(), 1500*time.Millisecond)
			testenv.Check(t, err == nil && clean == want && c.Exit().Code == code && len(f.Removed()) <= 0,
				"%d: clean %v, %v, %v, removed %q", code, clean, err, c.Exit(), f.Removed())
			sent := f.Requests("POST " + ours + "/stop")
			testenv.Check(t, len(sent) == 1 && sent[0].Query.Encode() == "t=2", "%+v", sent)
			testenv.OK(t, c.Kill(t.Context()))
			testenv.OK(t, c.Kill(t.Context()))
			removed := f.Requests("DELETE .*")
			testenv.Check(t, len(removed) == 1 && removed[0].Query.Encode() == "force=1&v=1", "%+v", removed)
		})
	}
	synctest.Test(t, func(t *testing.T) {
		f := fakedocker.New()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		c, _, err := engineOf(t, f).run(t.Context(), ContainerSpec{Image: "img"})
		testenv.OK(t, err)
		clean, err := c.End(ctx, time.Second)
		testenv.Check(t, !clean && err != nil, "it does not end: clean %v, %v", clean, err)
		f.Change(func() { f.OnKill = func(string) { f.End(137) } })
		testenv.OK(t, c.Kill(ctx))
		got := f.Signals()
		testenv.Check(t, slices.Equal(got, []string{"SIGKILL"}) && c.Exit().Code == 137, "%q, %v", got, c.Exit())
	})
}

// TestImageInspect: what an image says of itself.
func TestImageInspect(t *testing.T) {
	for body, want := range map[string]string{
		`{"Id":"1","Size":7,"Os":"linux","Architecture":"amd64"}`: "{ID:1 Size:7 OS:linux Arch:amd64 Emulated:false Contents: Env:map[] Volumes:[] Ports:[] Healthcheck:[] StopSignal: User:}",
		`{"Id":"1","Architecture":"386"}`:                         "{ID:1 Size:0 OS: Arch:386 Emulated:false Contents: Env:map[] Volumes:[] Ports:[] Healthcheck:[] StopSignal: User:}",
		`{"Id":"1","Architecture":"arm64","Config":{"Env":["A=1=2","B"],"Volumes":{"/b":{},"/a":{}},"StopSignal":"SIGINT","User":"u",
			"ExposedPorts":{"5432/tcp":{},"80":{},"53/udp":{}},"Healthcheck":{"Test":["CMD","x","y z"]}}}`: "{ID:1 Size:0 OS: Arch:arm64 Emulated:true Contents: Env:map[A:1=2 B:] " +
			"Volumes:[/a /b] Ports:[80 5432] Healthcheck:[x y z] StopSignal:SIGINT User:u}",
	} {
		f := fakedocker.New()
		f.Responses["GET /images/x/json"] = reply(200, body)
		e := engineOf(t, f)
		e.info.Arch = "amd64"
		testenv.Equal(t, said(e.ImageInspect(t.Context(), "x")), want)
	}
	for name, tt := range map[string]struct{ test, shell, want []string }{
		"a command":     {[]string{"CMD", "a", "b"}, nil, []string{"a", "b"}},
		"a line":        {[]string{"CMD-SHELL", "a b"}, nil, []string{"/bin/sh", "-c", "a b"}},
		"another shell": {[]string{"CMD-SHELL", "a b"}, []string{"bash", "-c"}, []string{"bash", "-c", "a b"}},
		"none":          {[]string{"NONE"}, nil, nil},
		"inherited":     {nil, nil, nil},
		"unknown":       {[]string{"NEW", "a"}, nil, nil},
	} {
		got := command(tt.test, tt.shell)
		testenv.Check(t, slices.Equal(got, tt.want), "%s: %q, want %q", name, got, tt.want)
	}
}

// TestRun_Joins: a contender joins the network of its needs before it starts, and keeps its
// address in that of the run. Without that network, nothing of it is left.
func TestRun_Joins(t *testing.T) {
	for name, missing := range map[string]bool{"joins": false, "missing": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := fakedocker.New()
				var order []string
				f.Change(func() {
					f.Networks = map[string]any{"own": map[string]any{"IPAddress": "172.31.0.2"}, "run": map[string]any{"IPAddress": "172.30.0.2"}}
					f.OnRequest = func(request string) {
						if strings.HasSuffix(request, "/connect") || strings.HasSuffix(request, "/start") {
							order = append(order, request[strings.LastIndexByte(request, '/')+1:])
						}
					}
				})
				joins := fakedocker.NetworkID
				if missing {
					joins = "none"
				}
				c, _, err := engineOf(t, f).run(t.Context(), ContainerSpec{Image: "i", Port: 80, Joins: joins, in: place{network: "run"}})
				if missing {
					testenv.Fails(t, err, "connect to network none: ")
					testenv.Check(t, f.Gone, "the container is left")
					return
				}
				testenv.OK(t, err)
				testenv.Equal(t, strings.Join(order, " "), "connect start")
				testenv.Equal(t, c.NetworkAddress(), "172.30.0.2:80")
				_, _ = c.Stop(t.Context(), 0)
			})
		})
	}
}

// TestSizeIn_Link: an image that has a link where a volume is mounted to be copied is an error: the
// archive is that link, not the files.
func TestSizeIn_Link(t *testing.T) {
	link := tar.Header{Name: volumeAt, Typeflag: tar.TypeSymlink, Linkname: "/other"}
	_, err := sizeIn(bytes.NewReader(tarOf(t, link)))
	testenv.Fails(t, err, "the image has a link or a file at /locbench-volume")
}
