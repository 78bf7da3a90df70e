// Command image writes a container image of only locbench, for `docker load`, podman and
// skopeo: an archive that is an OCI layout and has Docker's manifest.json too. It needs no engine
// and no registry. For other systems than Linux it writes nothing.
//
//	go run ./internal/testenv/image -binary locbench -os linux -arch amd64 -version 0.1.0 -dir dist
package main

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// options say what the image is of.
type options struct {
	binary, os, arch, version, dir string
}

func main() {
	var o options
	flag.StringVar(&o.binary, "binary", "", "a static locbench")
	flag.StringVar(&o.os, "os", "linux", "its system")
	flag.StringVar(&o.arch, "arch", "", "its architecture")
	flag.StringVar(&o.version, "version", "", "its version")
	flag.StringVar(&o.dir, "dir", ".", "where the archive is written")
	flag.Parse()
	if err := o.write(); err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(1)
	}
}

func (o options) write() error {
	if o.os != "linux" {
		return nil
	}
	info, err := os.Stat(o.binary)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(o.binary)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(o.dir, 0o755); err != nil {
		return err
	}
	name := fmt.Sprintf("locbench_%s_linux_%s_image.tar.gz", o.version, o.arch)
	f, err := os.Create(filepath.Join(o.dir, name))
	if err != nil {
		return err
	}
	z := gzip.NewWriter(f)
	err = archive(z, data, o, info.ModTime().UTC().Truncate(time.Second))
	return cmp.Or(err, z.Close(), f.Close())
}

// blob is a part of an image that is known by its digest.
type blob struct {
	MediaType string `json:"mediaType"`
	Digest    string `json:"digest"`
	Size      int    `json:"size"`
	data      []byte
}

func newBlob(mediaType string, data []byte) blob {
	sum := sha256.Sum256(data)
	return blob{MediaType: mediaType, Digest: "sha256:" + hex.EncodeToString(sum[:]), Size: len(data), data: data}
}

func (b blob) path() string { return "blobs/" + strings.Replace(b.Digest, ":", "/", 1) }

type object = map[string]any

const oci = "application/vnd.oci.image."

// archive writes the image: a layer with the binary, a folder for temporary files and one for
// results, and what describes it.
func archive(w io.Writer, binary []byte, o options, made time.Time) error {
	var files bytes.Buffer
	err := pack(&files, made, entry{"locbench", 0o755, binary}, entry{"tmp/", 0o1777, nil}, entry{"work/", 0o1777, nil})
	if err != nil {
		return err
	}
	layer := newBlob(oci+"layer.v1.tar", files.Bytes())
	tag := strings.ReplaceAll(o.version, "+", "-") // tags have no plus sign
	config := newBlob(oci+"config.v1+json", encoded(object{
		"created": made, "architecture": o.arch, "os": o.os,
		"config": object{
			"Entrypoint": []string{"/locbench"}, "WorkingDir": "/work", "Env": []string{"PATH=/", "HOME=/tmp"},
			"Labels": object{
				"org.opencontainers.image.title":    "locbench",
				"org.opencontainers.image.version":  o.version,
				"org.opencontainers.image.source":   "https://github.com/locbench/locbench",
				"org.opencontainers.image.licenses": "MIT",
			},
		},
		"rootfs":  object{"type": "layers", "diff_ids": []string{layer.Digest}},
		"history": []object{{"created": made, "created_by": "locbench " + o.version}},
	}))
	manifest := newBlob(oci+"manifest.v1+json", encoded(object{
		"schemaVersion": 2, "mediaType": oci + "manifest.v1+json", "config": config, "layers": []blob{layer},
	}))
	index := encoded(object{
		"schemaVersion": 2, "mediaType": oci + "index.v1+json",
		"manifests": []object{{
			"mediaType": manifest.MediaType, "digest": manifest.Digest, "size": manifest.Size,
			"platform":    object{"os": o.os, "architecture": o.arch},
			"annotations": object{"org.opencontainers.image.ref.name": tag},
		}},
	})
	docker := encoded([]object{{
		"Config": config.path(), "RepoTags": []string{"locbench:" + tag}, "Layers": []string{layer.path()},
	}})
	return pack(w, made,
		entry{"oci-layout", 0o644, encoded(object{"imageLayoutVersion": "1.0.0"})},
		entry{"index.json", 0o644, index},
		entry{"manifest.json", 0o644, docker},
		entry{manifest.path(), 0o644, manifest.data},
		entry{config.path(), 0o644, config.data},
		entry{layer.path(), 0o644, layer.data})
}

// entry is a file of a tar archive, or a folder if its name ends with a slash.
type entry struct {
	name string
	mode int64
	data []byte
}

func pack(w io.Writer, made time.Time, entries ...entry) error {
	t := tar.NewWriter(w)
	for _, e := range entries {
		h := &tar.Header{Name: e.name, Mode: e.mode, Size: int64(len(e.data)), ModTime: made, Typeflag: tar.TypeReg}
		if strings.HasSuffix(e.name, "/") {
			h.Typeflag = tar.TypeDir
		}
		if err := t.WriteHeader(h); err != nil {
			return err
		}
		if _, err := t.Write(e.data); err != nil {
			return err
		}
	}
	return t.Close()
}

// encoded returns a value of this file as JSON: all of them have one.
func encoded(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return data
}
