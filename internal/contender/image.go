package contender

import (
	"archive/tar"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/docker"
	"github.com/locbench/locbench/internal/host/cgroup"
	"github.com/locbench/locbench/internal/text/safe"
)

// ImageBuilder is the part of *docker.Engine that builds images.
type ImageBuilder interface {
	BuildImage(ctx context.Context, tar io.Reader, o docker.BuildOptions, out io.Writer) (id string, err error)
	ImageInspect(ctx context.Context, ref string) (docker.Image, error)
	Pull(ctx context.Context, ref string, out io.Writer) error
	Info() docker.Info
}

// BuildOptions say how a contender is built. The zero value is usable.
type BuildOptions struct {
	Out     io.Writer // the builder's output, unfiltered and untrusted; nil: discarded
	Self    string    // the locbench binary that a built-in contender runs; "": this one
	Sources string    // a folder in locbench's sources, for a static binary; "": the working directory
	Cache   string    // folder for builds of the process runtime; "": build in safe.Cache

	Within    time.Duration // time limit; 0: two hours, since a native image may take one
	Processor string        // the processor of builds with =native; "": this machine's

	Run    string      // ID of the run, a mark on build processes for Clean; "": none
	Groups cgroup.Tree // where build processes get their cgroup
}

// bound returns ctx with the time limit of a build.
func (o BuildOptions) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	within := cmp.Or(o.Within, 2*time.Hour)
	return context.WithTimeoutCause(ctx, within, fmt.Errorf("build timed out after %v", within))
}

func (o BuildOptions) out() io.Writer {
	return cmp.Or(o.Out, io.Discard)
}

func (o BuildOptions) self() (string, error) {
	if o.Self != "" {
		return o.Self, nil
	}
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find the running locbench: %w", err)
	}
	return self, nil
}

// BuildImage builds the image of a resolved contender unless it exists: its tag has a hash of all
// that goes into the image, so an unchanged contender is not built again.
func BuildImage(ctx context.Context, b ImageBuilder, svc bench.Service, o BuildOptions) (bench.Artifact, error) {
	ctx, cancel := o.bound(ctx)
	defer cancel()
	var a bench.Artifact
	var err error
	switch {
	case svc.Builtin:
		a, err = buildBuiltin(ctx, b, svc, o)
	case svc.Docker == nil:
		return a, fmt.Errorf("contender %s has no `docker` in its manifest; use --runtime process", label(svc))
	case svc.Docker.Image != "":
		a, err = findImage(ctx, b, svc, o)
	default:
		a, err = buildDockerfile(ctx, b, svc, o)
	}
	if err != nil {
		return bench.Artifact{}, fmt.Errorf("build contender %s: %w", label(svc), err)
	}
	if svc.Docker != nil {
		a.Command = svc.Docker.Command
	}
	return a, nil
}

// BuildNeed builds the image of a need from a Dockerfile, whose folder is its context, like that of
// a contender.
func BuildNeed(ctx context.Context, b ImageBuilder, need, dockerfile string, o BuildOptions) (bench.Artifact, error) {
	ctx, cancel := o.bound(ctx)
	defer cancel()
	a, err := buildDockerfile(ctx, b, needService(need, dockerfile), o)
	if err != nil {
		return bench.Artifact{}, fmt.Errorf("build %s: %w", dockerfile, err)
	}
	return a, nil
}

// NeedHash returns a hash of all that goes into the image of a need.
func NeedHash(dockerfile string) (string, error) {
	_, hash, err := dockerfileContext(needService("", dockerfile), "", BuildOptions{})
	return hash, err
}

func needService(need, dockerfile string) bench.Service {
	dir, name := filepath.Split(dockerfile)
	dir = filepath.Clean(dir)
	return bench.Service{
		Name: "need-" + need, Dir: dir, Files: safe.DirFS(dir), Docker: &bench.DockerRecipe{Dockerfile: name},
	}
}

// findImage returns an existing image, from the engine or from its registry.
func findImage(ctx context.Context, b ImageBuilder, svc bench.Service, o BuildOptions) (bench.Artifact, error) {
	ref := svc.Docker.Image
	start := time.Now()
	img, err := inspect(ctx, b, ref)
	if err == nil {
		return artifact(ref, img, true, 0), nil
	}
	if errors.Is(err, docker.ErrNotFound) {
		if err = b.Pull(ctx, ref, o.out()); err == nil {
			img, err = inspect(ctx, b, ref)
		}
	}
	return artifact(ref, img, false, time.Since(start)), err
}

func artifact(ref string, img docker.Image, cached bool, took time.Duration) bench.Artifact {
	return bench.Artifact{
		Image: ref, ImageID: img.ID, Contents: img.Contents, ImageSize: img.Size, Healthcheck: img.Healthcheck != nil, BuildCached: cached, BuildTime: took,
	}
}

// inspect returns an image that the engine can run.
func inspect(ctx context.Context, b ImageBuilder, ref string) (docker.Image, error) {
	img, err := b.ImageInspect(ctx, ref)
	if err == nil {
		err = runsOn(b.Info(), ref, img)
	}
	return img, err
}

// runsOn returns an error if an image is for another processor or system than the engine's. A
// result of emulation would be misleading.
func runsOn(info docker.Info, ref string, img docker.Image) error {
	same := img.Arch == "" || info.Arch == "" || img.Arch == info.Arch ||
		info.Arch == "amd64" && img.Arch == "386" || info.Arch == "arm64" && img.Arch == "arm" // without emulation
	if same && (img.OS == "" || info.OS == "" || img.OS == info.OS) {
		return nil
	}
	theirs, ours := img.OS+"/"+img.Arch, info.OS+"/"+info.Arch
	return fmt.Errorf("image %s is for %s, the engine runs on %s: pull or build one for it "+
		"(docker pull --platform %[3]s …, docker build --platform %[3]s …)", ref, theirs, ours)
}

func buildDockerfile(ctx context.Context, b ImageBuilder, svc bench.Service, o BuildOptions) (bench.Artifact, error) {
	list, hash, err := dockerfileContext(svc, b.Info().Arch, o)
	if err == nil {
		err = errors.Join(outside(svc, list)...)
	}
	if err != nil {
		return bench.Artifact{}, err
	}
	d := svc.Docker
	// An engine's cache does not distinguish processors: its disk may come from another machine.
	native := len(o.processorFor(keyValues(d.Args))) > 0
	opts := docker.BuildOptions{
		Dockerfile: d.Dockerfile, Target: d.Target, Args: d.Args, NoCache: native, BuildKit: b.Info().BuildKit && needsBuildKit(svc),
	}
	a, err := build(ctx, b, svc, o, opts, hash, func(w io.Writer) error { return writeTar(w, svc.Files, list) })
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("%w (built with only %s as its context; if 'docker build' succeeds: docker build -t %s ., "+
			"and `image: %[3]s` in place of the Dockerfile)", err, safe.Line(svc.Dir, 300), svc.Name)
	}
	return a, err
}

// buildKitWords matches what only BuildKit can build, and some of what the classic builder could.
var buildKitWords = regexp.MustCompile(`(?im)\s--(mount|network|security|chmod|checksum|exclude)=|\s--(link|parents|keep-git-dir)\b|` +
	`<<-?["']?\w|\b(BUILD|TARGET)(PLATFORM|OS|ARCH|VARIANT)\b|^ADD.*(git@|\.git\b)`)

// needsBuildKit reports whether a contender's Dockerfile may need BuildKit. An unreadable one is
// reported by the builder.
func needsBuildKit(svc bench.Service) bool {
	f, err := svc.Files.Open(svc.Docker.Dockerfile)
	if err != nil {
		return false
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxIgnoreSize))
	return err == nil && buildKitWords.Match(text)
}

// dockerfileContext returns the build context of a contender, and its hash. The context has the
// manifest, which a Dockerfile may copy; the hash has only what in it matters to the image.
func dockerfileContext(svc bench.Service, arch string, o BuildOptions) ([]entry, string, error) {
	d := svc.Docker
	list, err := sources(svc, d.Dockerfile)
	if err != nil {
		return nil, "", err
	}
	args := keyValues(d.Args)
	others := slices.Concat([]string{"dockerfile", d.Dockerfile, d.Target, arch}, args, o.processorFor(args))
	counts := slices.DeleteFunc(slices.Clone(list), func(e entry) bool { return e.name == ManifestName })
	hash, err := hashOf(others, func(w io.Writer) error { return writeTar(w, svc.Files, counts) })
	return list, hash, err
}

// build sends a context to the engine unless the resulting image exists.
func build(
	ctx context.Context, b ImageBuilder, svc bench.Service, o BuildOptions, opts docker.BuildOptions, hash string,
	pack func(io.Writer) error,
) (bench.Artifact, error) {
	opts.Tag = imageTag(svc, hash)
	if img, err := inspect(ctx, b, opts.Tag); !errors.Is(err, docker.ErrNotFound) {
		return artifact(opts.Tag, img, true, 0), err
	}
	start := time.Now()
	r, w := io.Pipe()
	packed := make(chan error, 1)
	go func() {
		err := pack(w)
		w.CloseWithError(err)
		packed <- err
	}()
	_, err := b.BuildImage(ctx, r, opts, o.out())
	r.Close() // after an early error of the engine, pack is still writing
	if packErr := <-packed; packErr != nil && !errors.Is(packErr, io.ErrClosedPipe) {
		err = packErr // the cause of the engine's error
	}
	if err != nil {
		return bench.Artifact{}, err
	}
	took := time.Since(start)
	img, err := inspect(ctx, b, opts.Tag)
	return artifact(opts.Tag, img, false, took), err
}

// BuiltAs returns the variant of which the image is: contenders whose settings differ only in what
// they get when they start have one image.
func BuiltAs(svc bench.Service) string {
	if svc.BuiltAs != nil {
		return *svc.BuiltAs
	}
	return svc.Variant
}

// imageTag returns "locbench/<name>:<variant>-<hash>".
func imageTag(svc bench.Service, hash string) string {
	tag := hash
	if variant := BuiltAs(svc); variant != "" {
		tag = variant + "-" + hash
	}
	// Unlike a contender's, a repository's name may not end in a separator or have two in a row.
	return "locbench/" + strings.Trim(separators.ReplaceAllString(svc.Name, "-"), "._-") + ":" + tag
}

var separators = regexp.MustCompile(`[._-]{2,}`)

func label(svc bench.Service) string {
	return bench.Selection{Contender: svc.Name, Variant: svc.Variant}.String()
}

// builtinDockerfile needs no base image, so nothing is pulled.
const builtinDockerfile = `FROM scratch
COPY locbench /
USER 65534:65534
EXPOSE 8080
ENTRYPOINT ["/locbench"]
CMD ["serve"]
`

func buildBuiltin(ctx context.Context, b ImageBuilder, svc bench.Service, o BuildOptions) (bench.Artifact, error) {
	self, err := staticBinary(ctx, o, b.Info().Arch)
	if err != nil {
		return bench.Artifact{}, err
	}
	hash, err := builtinHash(self)
	if err != nil {
		return bench.Artifact{}, err
	}
	return build(ctx, b, svc, o, docker.BuildOptions{}, hash, func(w io.Writer) error { return packBuiltin(w, self) })
}

// builtinHash returns the hash of all that goes into the image of a binary.
func builtinHash(binary string) (string, error) {
	f, err := safe.Open(binary)
	if err != nil {
		return "", err
	}
	defer f.Close()
	return hashOf([]string{builtinDockerfile}, func(w io.Writer) error {
		_, err := io.Copy(w, f)
		return err
	})
}

// maxBinary bounds the binary in an image, in bytes.
const maxBinary = 256 << 20

func packBuiltin(w io.Writer, binary string) error {
	data, err := safe.ReadFile(binary, maxBinary)
	tw := tar.NewWriter(w)
	for name, content := range map[string][]byte{"Dockerfile": []byte(builtinDockerfile), "locbench": data} {
		if err == nil {
			err = tw.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(content))})
		}
		if err == nil {
			_, err = tw.Write(content)
		}
	}
	if err != nil {
		return fmt.Errorf("pack locbench: %w", err)
	}
	return tw.Close()
}

// nativeArg matches arguments that make a compiler produce code for the processor it runs on:
// TARGET_CPU=native, -march=native, target-cpu=native.
var nativeArg = regexp.MustCompile(`=native\b`)

// processorFor returns a description of the processor if one of the arguments is native, else
// nothing. Native code may not run on another processor, so it must not count as built there.
func (o BuildOptions) processorFor(args []string) []string {
	switch {
	case !slices.ContainsFunc(args, nativeArg.MatchString):
		return nil
	case o.Processor != "":
		return []string{o.Processor}
	}
	return []string{processor()}
}

// processor describes this machine's processor: by the first one in /proc/cpuinfo, without the lines
// that change between readings, or else by the host name.
func processor() string {
	data, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		host, _ := os.Hostname() // without a name all such machines count as one
		return host
	}
	first, _, _ := bytes.Cut(data, []byte("\n\n"))
	return string(changingLine.ReplaceAll(first, nil))
}

// changingLine matches lines of x86, ARM, POWER, RISC-V and S/390 about speed.
var changingLine = regexp.MustCompile(`(?im)^(cpu mhz|bogomips|clock|cpu .*mhz).*$\n?`)
