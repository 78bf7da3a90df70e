package bench

import (
	"slices"
	"strconv"
	"strings"
)

// signalNames are those of Linux by their numbers, from 1.
var signalNames = strings.Fields(`SIGHUP SIGINT SIGQUIT SIGILL SIGTRAP SIGABRT SIGBUS SIGFPE SIGKILL SIGUSR1 SIGSEGV SIGUSR2 SIGPIPE
	SIGALRM SIGTERM SIGSTKFLT SIGCHLD SIGCONT SIGSTOP SIGTSTP SIGTTIN SIGTTOU SIGURG SIGXCPU SIGXFSZ SIGVTALRM SIGPROF
	SIGWINCH SIGIO SIGPWR SIGSYS`)

const (
	firstRealTime = 34
	lastRealTime  = 64
)

// SignalHint says how a signal is written.
const SignalHint = "write one such as SIGINT"

// SignalNumber returns the number of a signal on Linux, of its name or number as images and compose
// files have it: SIGINT, INT, 2, SIGRTMIN+3; 0 for another text.
func SignalNumber(name string) int {
	if n, err := strconv.Atoi(name); err == nil && n > 0 && n <= lastRealTime {
		return n
	}
	name = "SIG" + strings.TrimPrefix(strings.ToUpper(name), "SIG")
	from, sign, text := firstRealTime, 1, ""
	if rest, ok := strings.CutPrefix(name, "SIGRTMIN"); ok {
		text = strings.TrimPrefix(rest, "+")
	} else if rest, ok := strings.CutPrefix(name, "SIGRTMAX"); ok {
		from, sign, text = lastRealTime, -1, strings.TrimPrefix(rest, "-")
	} else {
		return slices.Index(signalNames, name) + 1
	}
	n, err := strconv.Atoi(text)
	if n = from + sign*n; text != "" && err != nil || n < firstRealTime || n > lastRealTime {
		return 0
	}
	return n
}

// SignalName returns the name of a signal by its number: "SIGINT"; its text if it has none.
func SignalName(number int) string {
	if number > 0 && number <= len(signalNames) {
		return signalNames[number-1]
	}
	return strconv.Itoa(number)
}
