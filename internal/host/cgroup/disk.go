package cgroup

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"

	"github.com/locbench/locbench/internal/bench"
)

// Files of cgroup v1. Each has lines such as "254:0 Write 626688", for each disk.
const (
	blkioBytes = "blkio.throttle.io_service_bytes"
	blkioCalls = "blkio.throttle.io_serviced"
)

// disks knows which devices are disks. Not safe for concurrent use.
type disks struct {
	root  string // root of the file system with /sys
	known map[string]bool
}

// real reports whether "254:0" is a physical disk. What is stacked on disks (LVM, LUKS, RAID, loop
// devices) would count the same bytes twice, and memory is not a disk.
func (d *disks) real(device string) bool {
	if is, ok := d.known[device]; ok {
		return is
	}
	is := true
	at := filepath.Join(d.root+"/", "sys/dev/block", device)
	if to, err := os.Readlink(at); err == nil {
		name := filepath.Base(to)
		below, _ := os.ReadDir(filepath.Join(at, "slaves"))
		is = len(below) == 0 && !strings.HasPrefix(name, "loop") && !strings.HasPrefix(name, "zram") && !strings.HasPrefix(name, "ram")
	}
	if d.known == nil {
		d.known = map[string]bool{}
	}
	if len(d.known) < 1000 {
		d.known[device] = is
	}
	return is
}

// openDisk opens the files of disks. Newer kernels count nothing in those of v1 until a limit is
// set for any group, so the one of the uppermost group says whether they count.
func (r *Reader) openDisk(dirs map[string]string) {
	dir := dirs["blkio"]
	if !r.cpuV1 {
		r.try(dirs[""], "io.stat")
		return
	}
	if dir == "" || filepath.Base(dir) != filepath.Base(dirs["cpuacct"]) { // of other processes, too
		return
	}
	for _, name := range []string{blkioBytes, blkioCalls} { // with the groups below, where the kernel adds them
		if f, err := os.Open(filepath.Join(dir, name+"_recursive")); err == nil {
			r.files[name] = f
		} else {
			r.try(dir, name)
		}
	}
	top := dir
	for {
		above := filepath.Dir(top)
		if _, err := os.Stat(filepath.Join(above, blkioBytes)); err != nil || above == top {
			break
		}
		top = above
	}
	if f, err := os.Open(filepath.Join(top, blkioBytes)); err == nil {
		r.files[topBlkio] = f
	}
}

// topBlkio is the key of the uppermost group's file among the open ones.
const topBlkio = "top/" + blkioBytes

// disk reads what the group read and wrote; nil if the kernel does not count it.
func (r *Reader) disk() *bench.Disk {
	if data, ok := r.read("io.stat"); ok {
		return ioStat(data, r.disks.real)
	}
	if data, ok := r.read(topBlkio); !ok || !bytes.Contains(data, []byte(":")) {
		return nil
	}
	d := bench.Disk{Source: "blkio.throttle"}
	var ok1, ok2 bool
	d.Read, d.Written, ok1 = r.blkio(blkioBytes)
	d.Reads, d.Writes, ok2 = r.blkio(blkioCalls)
	if !ok1 || !ok2 {
		return nil
	}
	return &d
}

// blkio adds up a file of v1 over the disks.
func (r *Reader) blkio(name string) (read, written int64, ok bool) {
	data, ok := r.read(name)
	if !ok {
		return 0, 0, false
	}
	for line := range bytes.Lines(data) {
		f := strings.Fields(string(line))
		if len(f) != 3 || f[1] != "Read" && f[1] != "Write" || !r.disks.real(f[0]) {
			continue
		}
		to := &read
		if f[1] == "Write" {
			to = &written
		}
		if n, ok := number([]byte(f[2])); ok && *to+n >= *to {
			*to += n
		}
	}
	return read, written, true
}

// ioStat adds up lines such as "254:0 rbytes=90112 wbytes=4096 rios=11 wios=1 dbytes=0 dios=0".
func ioStat(data []byte, real func(device string) bool) *bench.Disk {
	d := bench.Disk{Source: "io.stat"}
	to := map[string]*int64{"rbytes": &d.Read, "wbytes": &d.Written, "rios": &d.Reads, "wios": &d.Writes}
	for line := range bytes.Lines(data) {
		f := strings.Fields(string(line))
		if len(f) < 2 || !real(f[0]) {
			continue
		}
		for _, pair := range f[1:] {
			name, value, _ := strings.Cut(pair, "=")
			n, ok := number([]byte(value))
			if at := to[name]; ok && at != nil && *at+n >= *at {
				*at += n
			}
		}
	}
	return &d
}
