/** An answer other than 200. Its message names the parameter at fault. */
export class Problem extends Error {
  constructor(status, message) {
    super(message)
    this.status = status
  }
}

const LANGUAGES = ['cs', 'de', 'en', 'pl', 'sk']
const MAX_ID = 2n ** 63n - 1n
const MAX_DELAY = 10_000 // ms: well within the time that a stop leaves to a request

/** id as a string of digits (it may be larger than a number holds exactly) and language. */
export function cityParams({ id, language }) {
  const problems = []
  if (typeof id !== 'string' || !/^-?\d{1,19}$/.test(id) || BigInt(id) > MAX_ID || BigInt(id) < -MAX_ID) {
    problems.push('id: want a whole number')
  }
  if (!LANGUAGES.includes(language)) problems.push(`language: want one of ${LANGUAGES.join(', ')}`)
  if (problems.length > 0) throw new Problem(400, problems.join('; '))
  return { id: BigInt(id).toString(), language }
}

/** delay in ms. */
export function delayParam({ delay = '0' }) {
  if (typeof delay !== 'string' || !/^\d{1,9}$/.test(delay) || Number(delay) > MAX_DELAY) {
    throw new Problem(400, `delay: want milliseconds from 0 to ${MAX_DELAY}`)
  }
  return Number(delay)
}
