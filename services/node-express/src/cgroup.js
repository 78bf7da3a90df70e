import { readFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { dirname, join } from 'node:path'

const ROOT = '/sys/fs/cgroup'

function read(path) {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch {
    return undefined
  }
}

/** The CPUs that a cgroup's folder allows; Infinity without a limit. */
function quota(dir) {
  const v2 = read(join(dir, 'cpu.max'))?.split(' ')
  const [limit, period] = (v2 ?? [read(join(dir, 'cpu.cfs_quota_us')), read(join(dir, 'cpu.cfs_period_us'))]).map(Number)
  return limit > 0 && period > 0 ? limit / period : Infinity // "max" in version 2, -1 in version 1
}

/** The number of CPUs that the process may run on. */
function affinity(root) {
  const list = /^Cpus_allowed_list:\s*(\S+)$/m.exec(read(join(root, '/proc/self/status')) ?? '')?.[1]
  if (list === undefined) return cpus().length
  return list
    .split(',')
    .map((range) => range.split('-').map(Number))
    .reduce((sum, [from = 0, to = from]) => sum + to - from + 1, 0)
}

/**
 * The CPU limit of the container rounded up, at most what the process may run on. Node's availableParallelism() ignores the
 * limit up to Node 20, and rounds it down from Node 22 on: 1 worker for 1.5 CPUs.
 * Reads cgroup versions 2 and 1: the process's own group and those above it. root is before all paths.
 */
export function cpuLimit(root = '/') {
  let limit = affinity(root)
  for (const line of (read(join(root, '/proc/self/cgroup')) ?? '').split('\n')) {
    const [id, controllers, path] = line.split(':')
    if (path === undefined || (id !== '0' && !controllers?.split(',').includes('cpu'))) continue
    const mount = id === '0' ? ROOT : join(ROOT, 'cpu')
    for (let dir = path; ; dir = dirname(dir)) {
      limit = Math.min(limit, quota(join(root, mount, dir)))
      if (dir === '/' || dir === '.') break
    }
  }
  return Math.max(1, Math.ceil(limit))
}
