package cgroup

import (
	"fmt"
	"testing"

	"github.com/locbench/locbench/internal/testenv"
)

// Each physical disk counts once: what is stacked on it, and what is in memory, does not.
func TestReader_Disk(t *testing.T) {
	devices := files{
		"sys/dev/block/254:0": "-> ../../devices/virtio/block/vda", "sys/devices/virtio/block/vda/slaves/": "",
		"sys/dev/block/7:1": "-> ../../devices/virtual/block/loop1", "sys/devices/virtual/block/loop1/size": "1",
		"sys/dev/block/252:0": "-> ../../devices/virtual/block/dm-0", "sys/devices/virtual/block/dm-0/slaves/vda": "",
		"sys/dev/block/253:0": "-> ../../devices/virtual/block/zram0", "sys/devices/virtual/block/zram0/size": "1",
		"sys/dev/block/1:0": "-> ../../devices/virtual/block/ram0", "sys/devices/virtual/block/ram0/size": "1",
	}
	v2 := func(stat string) files {
		return with(devices, files{"proc/self/mountinfo": "30 25 0:1 / /top rw - cgroup2 cgroup2 rw\n", "proc/7/cgroup": "0::/g\n",
			"top/g/cpu.stat": "usage_usec 1\n", "top/g/io.stat": stat})
	}
	v1 := func(group, top, bytes, calls string) files {
		return with(devices, files{
			"proc/self/mountinfo":        "31 25 0:2 / /cpu rw - cgroup cgroup rw,cpuacct,cpu\n32 25 0:3 / /blkio rw - cgroup cgroup rw,blkio\n",
			"proc/7/cgroup":              "1:cpuacct,cpu:/docker/g\n2:blkio:/docker/" + group + "\n",
			"cpu/docker/g/cpuacct.usage": "1", "blkio/" + blkioBytes: top, "blkio/docker/" + blkioBytes: "",
			"blkio/docker/" + group + "/" + blkioBytes: bytes, "blkio/docker/" + group + "/" + blkioCalls: calls,
		})
	}
	const (
		bytes = "254:0 Read 100\n254:0 Write 200\n254:0 Sync 300\n254:0 Total 300\n252:0 Read 100\n252:0 Write 200\nTotal 600\n"
		calls = "254:0 Read 3\n254:0 Write 4\n254:0 Total 7\n252:0 Read 3\n"
		top   = "254:0 Read 5\n"
	)
	recursive := v1("g", top, "254:0 Read 1\n", "254:0 Read 1\n")
	recursive["blkio/docker/g/"+blkioBytes+"_recursive"] = "254:0 Read 10\n254:0 Write 20\n"
	recursive["blkio/docker/g/"+blkioCalls+"_recursive"] = "254:0 Read 1\n254:0 Write 2\n"
	for name, test := range map[string]struct {
		files files
		want  string
	}{
		"v2": {v2("254:0 rbytes=100 wbytes=200 rios=3 wios=4 dbytes=50 dios=5\n8:16 rbytes=1 wbytes=1 rios=1 wios=1\n"),
			"{io.stat 101 201 4 5}"},
		"v2, stacked and in memory": {v2("252:0 rbytes=7 wbytes=7 rios=7 wios=7\n254:0 rbytes=1 wios=2\n7:1 rbytes=7\n253:0 rbytes=7\n1:0 rbytes=7\n"),
			"{io.stat 1 0 0 2}"},
		"v2, nothing yet":       {v2(""), "{io.stat 0 0 0 0}"},
		"v2, out of bounds":     {v2("254:0 rbytes=9223372036854775807 wbytes=-1 rios=x\n8:0 rbytes=1\n8:1 \n"), "{io.stat 9223372036854775807 0 0 0}"},
		"v1":                    {v1("g", top, bytes, calls), "{blkio.throttle 100 200 3 4}"},
		"v1, nothing yet":       {v1("g", top, "Total 0\n", "Total 0\n"), "{blkio.throttle 0 0 0 0}"},
		"v1, not counted":       {v1("g", "Total 0\n", "Total 0\n", "Total 0\n"), ""},
		"v1, of others":         {v1("h", top, bytes, calls), ""},
		"v1, with groups below": {recursive, "{blkio.throttle 10 20 1 2}"},
	} {
		t.Run(name, func(t *testing.T) {
			r := follow(t, test.files, 7)
			for range 2 {
				u := testenv.Must(r.Read())(t)
				got := ""
				if u.Disk != nil {
					got = fmt.Sprint(*u.Disk)
				}
				testenv.Equal(t, got, test.want, "disk")
			}
		})
	}
}
