import { BadRequestException, Injectable, type PipeTransform } from '@nestjs/common'

const LANGUAGES = ['cs', 'de', 'en', 'pl', 'sk'] as const
export type Language = (typeof LANGUAGES)[number]

const MAX_ID = 2n ** 63n - 1n
const MAX_DELAY = 10_000 // ms: well within the time that a stop leaves to a request

type Query = Record<string, unknown>

/** id stays a string of digits: it may be larger than a number holds exactly. */
export interface CityParams {
  id: string
  language: Language
}

/** Makes CityParams of a query and tells all that is wrong with it at once. */
@Injectable()
export class CityParamsPipe implements PipeTransform<Query, CityParams> {
  transform({ id, language }: Query): CityParams {
    const problems: string[] = []
    const whole = typeof id === 'string' && /^-?\d{1,19}$/.test(id) ? BigInt(id) : undefined
    if (whole === undefined || whole > MAX_ID || whole < -MAX_ID) problems.push('id: want a whole number')
    if (!LANGUAGES.includes(language as Language)) problems.push(`language: want one of ${LANGUAGES.join(', ')}`)
    if (problems.length > 0) throw new BadRequestException(problems.join('; '))
    return { id: String(whole), language: language as Language }
  }
}

/** Makes milliseconds of the parameter delay. */
@Injectable()
export class DelayPipe implements PipeTransform<unknown, number> {
  transform(delay: unknown = '0'): number {
    if (typeof delay !== 'string' || !/^\d{1,9}$/.test(delay) || Number(delay) > MAX_DELAY) {
      throw new BadRequestException(`delay: want milliseconds from 0 to ${MAX_DELAY}`)
    }
    return Number(delay)
  }
}
