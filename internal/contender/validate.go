package contender

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"locbench/internal/bench"
	"locbench/internal/strictyaml"
)

// ValidateStrict looks at what the types of the fields do not say.
func (m *manifest) ValidateStrict(v strictyaml.Value) {
	if !namePattern.MatchString(m.Name) {
		v.At("name").Wrong("write small letters, digits, `-`, `_` and `.`, for example `name: go-echo`")
	}
	for i, item := range v.At("tags").Items() {
		if i >= len(m.Tags) || tagPattern.MatchString(m.Tags[i]) {
			continue
		}
		if low := strings.ToLower(m.Tags[i]); tagPattern.MatchString(low) {
			item.Wrong(fmt.Sprintf("write `%s`", low))
		} else {
			item.Wrong("write one word of small letters, digits and `-`, for example `jvm`")
		}
	}
	checkEnv(v.At("env"), m.Env)
	if !strings.HasPrefix(m.Ready.Path, "/") || strings.ContainsAny(m.Ready.Path, " \t\r\n#") {
		v.At("ready", "path").Wrong("write the path of a URL, for example `/`")
	}
	if m.Docker != nil {
		m.checkDocker(v.At("docker"))
	}
	if m.Process != nil {
		checkArgv(v.At("process", "command"), m.Process.Command, true)
		checkBuild(v.At("process", "build"), m.Process.Build)
	}
	m.checkVariants(v)
	if !m.runnable() && !v.At("docker").Failed() && !v.At("process").Failed() {
		v.Mistake("nothing says how to run it", "add `docker: {dockerfile: Dockerfile}`, `docker: {image: NAME}` or `process: {command: [...]}`")
	}
}

func (m *manifest) runnable() bool {
	return m.Builtin || m.Docker != nil || m.Process != nil || len(m.Variants) > 0
}

func (m *manifest) checkDocker(v strictyaml.Value) {
	d := m.Docker
	if d.Dockerfile == "" && d.Image == "" && !v.At("dockerfile").Failed() && !v.At("image").Failed() {
		v.At("dockerfile").Wrong("write `dockerfile: Dockerfile`, or `image: name:tag` for one that exists already")
	}
	checkOneImage(v, d.Dockerfile, d.Image)
	if d.Image != "" && (d.Target != "" || len(d.Args) > 0) {
		v.At("image").Mistake("`target` and `args` belong to a Dockerfile", "remove them, or write `dockerfile` instead of `image`")
	}
	m.checkDockerfile(v.At("dockerfile"), d.Dockerfile)
	checkImage(v.At("image"), d.Image)
	checkArgs(v.At("args"), d.Args)
	checkArgv(v.At("command"), d.Command, false)
	if d.Processes > 0 && d.Processes <= bench.DefaultProcesses {
		v.At("processes").Wrong(fmt.Sprintf("write more than the %d that it has without, or limit a run by `limits: {pids: …}` of its profile", bench.DefaultProcesses))
	}
	for i, item := range v.At("capabilities").Items() {
		if i < len(d.Capabilities) && !slices.Contains(capabilities, d.Capabilities[i]) {
			item.Wrong("write a Linux capability without `CAP_`, for example `NET_RAW`, or `ALL`")
		}
	}
}

// capabilities are the names of linux/capability.h (kernel 6.12), and the engine's word for all.
var capabilities = []string{
	"ALL", "AUDIT_CONTROL", "AUDIT_READ", "AUDIT_WRITE", "BLOCK_SUSPEND", "BPF", "CHECKPOINT_RESTORE", "CHOWN", "DAC_OVERRIDE",
	"DAC_READ_SEARCH", "FOWNER", "FSETID", "IPC_LOCK", "IPC_OWNER", "KILL", "LEASE", "LINUX_IMMUTABLE", "MAC_ADMIN", "MAC_OVERRIDE",
	"MKNOD", "NET_ADMIN", "NET_BIND_SERVICE", "NET_BROADCAST", "NET_RAW", "PERFMON", "SETFCAP", "SETGID", "SETPCAP", "SETUID",
	"SYSLOG", "SYS_ADMIN", "SYS_BOOT", "SYS_CHROOT", "SYS_MODULE", "SYS_NICE", "SYS_PACCT", "SYS_PTRACE", "SYS_RAWIO", "SYS_RESOURCE",
	"SYS_TIME", "SYS_TTY_CONFIG", "WAKE_ALARM",
}

func (m *manifest) checkVariants(v strictyaml.Value) {
	seen := map[string]bool{}
	items := v.At("variants").Items()
	for i, one := range m.Variants[:min(len(m.Variants), len(items))] {
		at := items[i]
		switch {
		case one.Name == "":
		case !namePattern.MatchString(one.Name):
			at.At("name").Wrong("write small letters, digits, `-`, `_` and `.`")
		case seen[one.Name]:
			at.At("name").Mistake(fmt.Sprintf("variant %q is here again", one.Name), "give each a name of its own")
		}
		seen[one.Name] = true
		builtin := m.Builtin
		if one.Builtin != nil {
			builtin = *one.Builtin
		}
		own := one.Dockerfile != "" || one.Image != "" || one.Target != "" || one.Args != nil || one.Build != nil || one.Command != nil
		switch {
		case builtin && own:
			at.Mistake(fmt.Sprintf("variant %q is built in, and says how to build or run it", one.Name), "write `builtin: false` or remove the latter")
		case !builtin && m.Docker == nil && m.Process == nil && one.Dockerfile == "" && one.Image == "" && !at.Failed() &&
			(one.Build == nil || one.Command == nil) && !v.At("docker").Failed() && !v.At("process").Failed():
			at.Mistake(fmt.Sprintf("nothing says how to run variant %q", one.Name), "add `dockerfile`, `image`, or `build` and `command`")
		}
		checkOneImage(at, one.Dockerfile, one.Image)
		named := one.Image != "" || one.Dockerfile == "" && m.Docker != nil && m.Docker.Image != ""
		if named && (one.Target != "" || len(one.Args) > 0) {
			at.Mistake("`target` and `args` belong to a Dockerfile", "remove them, or write `dockerfile` instead of `image`")
		}
		m.checkDockerfile(at.At("dockerfile"), one.Dockerfile)
		checkImage(at.At("image"), one.Image)
		checkEnv(at.At("env"), one.Env)
		checkArgs(at.At("args"), one.Args)
		checkArgv(at.At("command"), one.Command, false)
		checkBuild(at.At("build"), one.Build)
	}
}

func (m *manifest) checkDockerfile(v strictyaml.Value, name string) {
	switch {
	case name == "":
	case !fs.ValidPath(name):
		v.Wrong("write a path inside the contender's folder, for example `Dockerfile`")
	case m.files != nil:
		if info, err := fs.Stat(m.files, name); err != nil || !info.Mode().IsRegular() {
			v.Mistake(fmt.Sprintf("there is no file `%s` in the folder", name), "")
		}
	}
}

func checkOneImage(v strictyaml.Value, dockerfile, image string) {
	if dockerfile != "" && image != "" {
		v.At("image").Mistake("an image is both named and built from a Dockerfile", "keep one of the two")
	}
}

func checkImage(v strictyaml.Value, name string) {
	if name != "" && !imagePattern.MatchString(name) {
		v.Wrong("write the name of an image, for example `example.org/team/service:1.2`")
	}
}

func checkArgs(v strictyaml.Value, args map[string]string) {
	for _, f := range v.Fields() {
		if _, ok := args[f.Key]; ok && !argPattern.MatchString(f.Key) {
			f.Value.Mistake(fmt.Sprintf("%q is no name of a build argument", f.Key), "write letters, digits and `_`")
		}
	}
}

func checkEnv(v strictyaml.Value, env map[string]string) {
	for _, f := range v.Fields() {
		value, ok := env[f.Key]
		if !ok {
			continue
		}
		if !envPattern.MatchString(f.Key) {
			f.Value.Mistake(fmt.Sprintf("%q is no name of an environment variable", f.Key), "write letters, digits and `_`")
		}
		checkTemplate(f.Value, value)
	}
}

func checkBuild(v strictyaml.Value, commands [][]string) {
	items := v.Items()
	for i, argv := range commands[:min(len(commands), len(items))] {
		checkArgv(items[i], argv, true)
	}
}

// checkArgv looks at a command. One that must not be empty has a program's name in front.
func checkArgv(v strictyaml.Value, argv []string, needed bool) {
	if v.Failed() {
		return
	}
	if needed && (len(argv) == 0 || argv[0] == "") {
		v.Mistake("a command is empty", "write a program and its arguments, for example `[go, build, .]`")
		return
	}
	for i, item := range v.Items() {
		if i < len(argv) {
			checkTemplate(item, argv[i])
		}
	}
}

func checkTemplate(v strictyaml.Value, text string) {
	if err := validTemplate(text); err != nil && !v.Failed() {
		v.Wrong(err.Error())
	}
}
