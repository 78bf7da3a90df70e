#!/usr/bin/env bash
# Podman 4.3.1 (Debian 12): who waits for a container's end by the Docker API costs a whole CPU until it ends.
#
# Guess: POST /containers/ID/wait is a request that is answered once, as with Docker: `docker wait`, docker run, Compose, Testcontainers
# and runners of CI hold one open for each container, and it costs nothing.
# Seen: with condition=not-running, the default, the service looks at the container's state without a pause between two looks: 0.9 to 1.1
# CPUs for one container that sleeps. With condition=next-exit, and by Podman's own API (/libpod/containers/ID/wait), it is 0.0.
# (Issue 18150 of Podman; newer versions look four times a second.)
# So a benchmark of containers on Podman has one CPU less than with Docker for each container that a client waits for.
#
# Needs Debian 12 on amd64, root and curl; its packages go to a temporary folder. Exits with 1 if the behavior has changed.
set -euo pipefail

dir=$(mktemp -d)
service=
finish() {
	[ -z "$service" ] || { podman rm -f sleeper >/dev/null 2>&1; kill "$service"; wait "$service"; } 2>/dev/null || true
	umount "$dir/storage/overlay" 2>/dev/null || true
	rm -rf --one-file-system "$dir"
}
trap finish EXIT
cd "$dir"
apt-get -q download podman=4.3.1+ds1-8+deb12u1+b3 conmon=2.1.6+ds1-1 runc=1.1.5+ds1-1+deb12u1 busybox-static \
	libsubid4 libgpgme11 libassuan0 libseccomp2 libdevmapper1.02.1 >log 2>&1 || { cat log; exit 1; }
for deb in *.deb; do dpkg-deb -x "$deb" .; done
mkdir -p root/bin home
cp bin/busybox root/bin/

podman() {
	env LD_LIBRARY_PATH="$dir/usr/lib/x86_64-linux-gnu:$dir/lib/x86_64-linux-gnu" HOME="$dir/home" \
		"$dir/usr/bin/podman" --root "$dir/storage" --runroot "$dir/run" --tmpdir "$dir/tmp" --storage-driver vfs --events-backend file \
		--cgroup-manager cgroupfs --conmon "$dir/usr/bin/conmon" --runtime "$dir/usr/sbin/runc" "$@"
}
# The limits are given, as the default ones need CAP_SYS_RESOURCE.
podman create --name sleeper --network none --log-driver none --security-opt seccomp=unconfined --ulimit nofile=1024:1024 \
	--ulimit nproc=4096:4096 --rootfs "$dir/root" /bin/busybox sleep 600 >id
podman start sleeper >/dev/null
podman system service --time 0 "unix://$dir/socket" &
for _ in $(seq 100); do [ -S socket ] && break; sleep 0.1; done
service=$(pgrep -f "system service --time 0 unix://$dir/socket" | head -n 1)

# ticks prints the CPU time of the service so far, in hundredths of a second.
ticks() { awk '{print $14 + $15}' "/proc/$service/stat"; }
# costs sends a request that stays open for 5 s and prints how many hundredths of a second the service needs for it.
costs() {
	local before
	before=$(ticks)
	curl -s --max-time 5 --unix-socket socket -X POST "http://podman/$1" >/dev/null || true
	echo $(($(ticks) - before))
}
curl -s --unix-socket socket http://podman/v1.41/_ping >/dev/null
docker=$(costs "v1.41/containers/$(cat id)/wait?condition=not-running")
next=$(costs "v1.41/containers/$(cat id)/wait?condition=next-exit")
own=$(costs "v4.3.1/libpod/containers/$(cat id)/wait")
printf 'CPU time of the service in 5 s: %s0 ms with condition=not-running, %s0 ms with next-exit, %s0 ms by its own API\n' "$docker" "$next" "$own"
[ "$docker" -ge 100 ] && [ "$next" -lt 50 ] && [ "$own" -lt 50 ] || { echo "changed: one of these is not as described"; exit 1; }
