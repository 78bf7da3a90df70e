// The locations service on Express: one primary that starts, watches and stops the workers, and workers that serve.
import cluster from 'node:cluster'
import { configFromEnv } from './config.js'
import { cpuLimit } from './cgroup.js'
import { Store } from './store.js'
import { serve } from './worker.js'

const STOP_WITHIN = 14_000 // ms for the requests in flight

function fail(message) {
  console.error(`the service ends: ${message}`)
  process.exit(1)
}

async function primary(config) {
  const store = new Store(config.store)
  try {
    await store.ping()
  } catch (err) {
    fail(`cannot reach Elasticsearch at ${config.store.host}: ${err.message}`)
  }
  await store.close()

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
    for (const worker of Object.values(cluster.workers)) worker.process.kill('SIGTERM')
    setTimeout(() => fail('requests were broken off'), STOP_WITHIN)
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
  for (let i = 0; i < count; i++) cluster.fork()
}

try {
  const config = configFromEnv(process.env)
  if (cluster.isPrimary) await primary(config)
  else serve(config)
} catch (err) {
  fail(err.message)
}
