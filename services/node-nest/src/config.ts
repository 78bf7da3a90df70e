export interface Config {
  port: number
  store: URL
  accessLog: boolean
}

/** The token under which Nest injects the Config. */
export const CONFIG = Symbol('config')

/** Reads PORT (default 8080), ELASTICSEARCH_URL and ACCESS_LOG ("off" turns the request log off). */
export function configFromEnv(env: NodeJS.ProcessEnv): Config {
  const port = env.PORT ? Number(env.PORT) : 8080
  if (!Number.isInteger(port) || port < 1 || port > 65535) throw new Error('PORT is no number from 1 to 65535')
  if (!env.ELASTICSEARCH_URL) {
    throw new Error('ELASTICSEARCH_URL is not set: want the URL of Elasticsearch, for example http://localhost:9200')
  }
  // The value is not repeated in the message: it may hold a password.
  const store = URL.canParse(env.ELASTICSEARCH_URL) ? new URL(env.ELASTICSEARCH_URL) : undefined
  if (!store?.hostname || !['http:', 'https:'].includes(store.protocol)) {
    throw new Error('ELASTICSEARCH_URL is malformed: want a URL such as http://localhost:9200')
  }
  return { port, store, accessLog: env.ACCESS_LOG !== 'off' }
}
