// The locations service on NestJS: one primary that starts, watches and stops the workers, and workers that serve.
import 'reflect-metadata'
import cluster from 'node:cluster'
import { cpuLimit } from './cgroup.js'
import { type Config, configFromEnv } from './config.js'
import { Store } from './store.js'
import { serve } from './worker.js'

const STOP_WITHIN = 14_000 // ms for the requests in flight

function fail(message: string): never {
  console.error(`the service ends: ${message}`)
  process.exit(1)
}

async function primary(config: Config) {
  const store = new Store(config)
  try {
    await store.ping()
  } catch (err) {
    fail(`cannot reach Elasticsearch at ${config.store.host}: ${(err as Error).message}`)
  }
  await store.onApplicationShutdown()

  const count = cpuLimit()
  let listening = 0
  let stopping = false
  let left = count
  cluster.on('listening', () => {
    if (++listening === count) console.log(`listening on port ${config.port}, ${count} workers`)
  })
  cluster.on('exit', (worker, code, signal) => {
    if (!stopping) fail(`worker ${worker.process.pid} ended (${signal ?? code})`)
    if (--left === 0) process.exit(0)
  })
  const stop = () => {
    if (stopping) return
    stopping = true
    console.log('stopping')
    for (const worker of Object.values(cluster.workers ?? {})) worker?.process.kill('SIGTERM')
    setTimeout(() => fail('requests were broken off'), STOP_WITHIN)
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
  for (let i = 0; i < count; i++) cluster.fork()
}

try {
  const config = configFromEnv(process.env)
  if (cluster.isPrimary) await primary(config)
  else await serve(config)
} catch (err) {
  fail((err as Error).message)
}
