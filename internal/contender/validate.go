package contender

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/needs/kinds"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

// check checks what the types of the fields do not express.
func (m *manifest) check(v strictyaml.Value) {
	if !namePattern.MatchString(m.Name) {
		v.At("name").Wrong("write lower-case letters, digits, `-`, `_` and `.`, such as `name: go-echo`")
	}
	for i, item := range v.At("tags").Items() {
		if i >= len(m.Tags) || tagPattern.MatchString(m.Tags[i]) {
			continue
		}
		if low := strings.ToLower(m.Tags[i]); tagPattern.MatchString(low) {
			item.Wrong(fmt.Sprintf("write `%s`", low))
		} else {
			item.Wrong("write one word of lower-case letters, digits and `-`, such as `jvm`")
		}
	}
	CheckEnv(v.At("env"), m.Env)
	if !strings.HasPrefix(m.Ready.Path, "/") || strings.ContainsAny(m.Ready.Path, " \t\r\n#") {
		v.At("ready", "path").Wrong("write the path of a URL, such as `/`")
	}
	if m.StopSignal != "" && bench.SignalNumber(m.StopSignal) == 0 {
		v.At("stop_signal").Wrong(bench.SignalHint)
	}
	m.checkReadyHeader(v.At("ready", "header"))
	for _, wrong := range kinds.List(m.Needs).Wrong() {
		if at := v.Find(wrong.Path); wrong.What == "" {
			at.Wrong(wrong.Hint)
		} else {
			at.Mistake(wrong.What, wrong.Hint)
		}
	}
	if m.Docker != nil {
		m.checkDocker(v.At("docker"))
	}
	if m.Process != nil {
		checkArgv(v.At("process", "command"), m.Process.Command, true)
		checkBuild(v.At("process", "build"), m.Process.Build)
	}
	m.checkVariants(v)
	runnable := m.Builtin || m.Docker != nil || m.Process != nil || len(m.Variants) > 0
	if !runnable && !v.At("docker").Failed() && !v.At("process").Failed() {
		v.At("docker").Mistake("nothing says how to run it",
			"add `docker: {dockerfile: Dockerfile}`, `docker: {image: NAME}` or `process: {command: [...]}`")
	}
}

func (m *manifest) checkReadyHeader(v strictyaml.Value) {
	for _, f := range v.Fields() {
		if value, ok := m.Ready.Header[f.Key]; ok {
			if what, hint := WrongHeader(f.Key, value); what != "" {
				f.Value.Mistake(what, hint)
			}
		}
	}
}

// WrongHeader returns what is wrong with a header of a request, and what to write; "" if nothing is.
func WrongHeader(name, value string) (what, hint string) {
	control := func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }
	switch {
	case !headerPattern.MatchString(name):
		return fmt.Sprintf("%.100q is not the name of a header", name), "write letters, digits and `-`, such as `Accept`"
	case strings.ContainsFunc(value, control):
		return fmt.Sprintf("the header %s has more than one line", name), "write a value of one line"
	}
	return "", ""
}

func (m *manifest) checkDocker(v strictyaml.Value) {
	d := m.Docker
	if d.Dockerfile == "" && d.Image == "" && !v.At("dockerfile").Failed() && !v.At("image").Failed() {
		v.At("dockerfile").Wrong("write `dockerfile: Dockerfile`, or `image: name:tag` for an existing image")
	}
	m.checkImage(v, bench.Variant{
		Dockerfile: d.Dockerfile, Image: d.Image, Target: d.Target, Args: d.Args, Command: d.Command,
	}, false)
	if d.Privileges.Processes > 0 && d.Privileges.Processes <= bench.DefaultProcesses {
		v.At("processes").Wrong(fmt.Sprintf("write more than the default of %d, or limit a run with "+
			"`limits: {pids: …}` in its profile", bench.DefaultProcesses))
	}
	for i, item := range v.At("capabilities").Items() {
		if i < len(d.Privileges.Capabilities) && !slices.Contains(strings.Fields(capabilities), d.Privileges.Capabilities[i]) {
			item.Wrong("write a Linux capability without `CAP_`, such as `NET_RAW`, or `ALL`")
		}
	}
}

// checkImage checks how an image is built or found, and its command. named says that the variant
// changes a service with an existing image.
func (m *manifest) checkImage(v strictyaml.Value, r bench.Variant, named bool) {
	image := v.At("image")
	if r.Dockerfile != "" && r.Image != "" {
		image.Mistake("an image is both named and built from a Dockerfile", "keep one of the two")
	}
	if (r.Image != "" || named && r.Dockerfile == "") && (r.Target != "" || len(r.Args) > 0) {
		at := v
		if v.Has("image") {
			at = image
		}
		at.Mistake("`target` and `args` belong to a Dockerfile", "remove them, or write `dockerfile` instead of `image`")
	}
	if r.Image != "" && !imagePattern.MatchString(r.Image) {
		image.Wrong("write the name of an image, such as `example.org/team/service:1.2`")
	}
	file := v.At("dockerfile")
	switch {
	case r.Dockerfile == "":
	case !fs.ValidPath(r.Dockerfile):
		file.Wrong("write a path inside the contender's folder, such as `Dockerfile`")
	case m.files != nil:
		if info, err := fs.Stat(m.files, r.Dockerfile); err != nil || !info.Mode().IsRegular() {
			file.Mistake(fmt.Sprintf("there is no file `%s` in the folder", r.Dockerfile), "")
		}
	}
	for _, f := range v.At("args").Fields() {
		if _, ok := r.Args[f.Key]; ok && !argPattern.MatchString(f.Key) {
			f.Value.Mistake(fmt.Sprintf("%q is not a valid name of a build argument", f.Key), "write letters, digits and `_`")
		}
	}
	checkArgv(v.At("command"), r.Command, false)
}

// capabilities has the names in linux/capability.h (kernel 6.12), and the engine's ALL.
const capabilities = `ALL AUDIT_CONTROL AUDIT_READ AUDIT_WRITE BLOCK_SUSPEND BPF CHECKPOINT_RESTORE CHOWN DAC_OVERRIDE
	DAC_READ_SEARCH FOWNER FSETID IPC_LOCK IPC_OWNER KILL LEASE LINUX_IMMUTABLE MAC_ADMIN MAC_OVERRIDE MKNOD NET_ADMIN
	NET_BIND_SERVICE NET_BROADCAST NET_RAW PERFMON SETFCAP SETGID SETPCAP SETUID SYSLOG SYS_ADMIN SYS_BOOT SYS_CHROOT
	SYS_MODULE SYS_NICE SYS_PACCT SYS_PTRACE SYS_RAWIO SYS_RESOURCE SYS_TIME SYS_TTY_CONFIG WAKE_ALARM`

func (m *manifest) checkVariants(v strictyaml.Value) {
	seen := map[string]bool{}
	items := v.At("variants").Items()
	for i, one := range m.Variants[:min(len(m.Variants), len(items))] {
		at := items[i]
		switch {
		case one.Name == "":
		case !namePattern.MatchString(one.Name):
			at.At("name").Wrong("write lower-case letters, digits, `-`, `_` and `.`")
		case seen[one.Name]:
			at.At("name").Mistake(fmt.Sprintf("variant %q is a duplicate", one.Name), "give each its own name")
		}
		seen[one.Name] = true
		builtin := m.Builtin
		if one.Builtin != nil {
			builtin = *one.Builtin
		}
		image := one.Dockerfile != "" || one.Image != ""
		recipe := image || one.Target != "" || one.Args != nil || one.Build != nil || one.Command != nil
		switch {
		case builtin && recipe:
			at.Mistake(fmt.Sprintf("variant %q is built in, but says how to build or run it", one.Name),
				"write `builtin: false`, or remove the keys of its build and start")
		case !builtin && m.Docker == nil && m.Process == nil && !image && !at.Failed() &&
			(one.Build == nil || one.Command == nil) && !v.At("docker").Failed() && !v.At("process").Failed():
			at.Mistake(fmt.Sprintf("nothing says how to run variant %q", one.Name),
				"add `dockerfile`, `image`, or `build` and `command`")
		}
		m.checkImage(at, one, m.Docker != nil && m.Docker.Image != "")
		CheckEnv(at.At("env"), one.Env)
		checkBuild(at.At("build"), one.Build)
	}
}

// ValidImage reports whether name can be the name of an image.
func ValidImage(name string) bool { return imagePattern.MatchString(name) }

// CheckEnv reports variables of a contender that have an invalid name, or a template that cannot be
// filled in, at their places below v.
func CheckEnv(v strictyaml.Value, env map[string]string) {
	for _, f := range v.Fields() {
		value, ok := env[f.Key]
		if !ok {
			continue
		}
		if !envPattern.MatchString(f.Key) {
			f.Value.Mistake(fmt.Sprintf("%q is not a valid name of a variable", f.Key), "write letters, digits and `_`")
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

// checkArgv checks a command. With needed it must begin with the name of a program.
func checkArgv(v strictyaml.Value, argv []string, needed bool) {
	if v.Failed() {
		return
	}
	if needed && (len(argv) == 0 || argv[0] == "") {
		v.Mistake("a command is empty", "write a program and its arguments, such as `[go, build, .]`")
		return
	}
	for i, item := range v.Items() {
		if i < len(argv) {
			checkTemplate(item, argv[i])
		}
	}
}

func checkTemplate(v strictyaml.Value, text string) {
	if _, err := fill(text, bench.Template{}); err != nil && !v.Failed() {
		v.Wrong(err.Error())
	}
}
