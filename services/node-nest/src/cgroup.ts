import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { dirname, join } from 'node:path'

const ROOT = '/sys/fs/cgroup'

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch {
    return undefined
  }
}

/** The CPUs that a cgroup's folder allows; Infinity without a limit. */
function quota(dir: string): number {
  const v2 = read(join(dir, 'cpu.max'))?.split(' ')
  const [limit, period] = (v2 ?? [read(join(dir, 'cpu.cfs_quota_us')), read(join(dir, 'cpu.cfs_period_us'))]).map(Number)
  return limit > 0 && period > 0 ? limit / period : Infinity // "max" in version 2, -1 in version 1
}

/**
 * The CPU limit of the container rounded up, at most what the process may run on. Node itself looks at the host's CPUs only.
 * Reads cgroup versions 2 and 1: the process's own group and those above it.
 */
export function cpuLimit(): number {
  let limit = availableParallelism()
  for (const line of (read('/proc/self/cgroup') ?? '').split('\n')) {
    const [id, controllers, path] = line.split(':')
    if (path === undefined || (id !== '0' && !controllers.split(',').includes('cpu'))) continue
    const mount = id === '0' ? ROOT : join(ROOT, 'cpu')
    for (let dir = path; ; dir = dirname(dir)) {
      limit = Math.min(limit, quota(join(mount, dir)))
      if (dir === '/' || dir === '.') break
    }
  }
  return Math.max(1, Math.ceil(limit))
}
