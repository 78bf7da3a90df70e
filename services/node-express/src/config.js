/** Reads PORT (default 8080), ELASTICSEARCH_URL and ACCESS_LOG ("off" turns the request log off). */
export function configFromEnv(env) {
  const port = env.PORT ? Number(env.PORT) : 8080
  if (!Number.isInteger(port) || port < 1 || port > 65535) throw new Error('PORT is no number from 1 to 65535')
  if (!env.ELASTICSEARCH_URL) {
    throw new Error('ELASTICSEARCH_URL is not set: want the URL of Elasticsearch, for example http://localhost:9200')
  }
  let store
  try {
    store = new URL(env.ELASTICSEARCH_URL)
  } catch {
    // told below
  }
  // The value is not repeated in the message: it may hold a password.
  if (!store?.hostname || !['http:', 'https:'].includes(store.protocol)) {
    throw new Error('ELASTICSEARCH_URL is malformed: want a URL such as http://localhost:9200')
  }
  return { port, store, accessLog: env.ACCESS_LOG !== 'off' }
}
