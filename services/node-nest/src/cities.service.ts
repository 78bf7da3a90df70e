import { Injectable } from '@nestjs/common'
import type { Language } from './params.js'
import { Store } from './store.js'

type Names = Record<`name.${Language}`, string>
type City = Names & { id: number; countryIso: string; regionId: number; isFeatured: boolean }

export interface CityResponse {
  countryIso: string
  id: number
  isFeatured: boolean
  name: string
  regionName: string
}

/** Cities are read from the store each time; regions, which are tens, are kept for ever. */
@Injectable()
export class CitiesService {
  private readonly regions = new Map<number, Names>()

  constructor(private readonly store: Store) {}

  /** The city in that language; undefined if there is none. */
  async get(id: string, language: Language): Promise<CityResponse | undefined> {
    const city = await this.store.source<City>('city', id)
    if (!city) return undefined
    const region = this.regions.get(city.regionId) ?? (await this.region(city.regionId))
    const name = `name.${language}` as const
    return { countryIso: city.countryIso, id: city.id, isFeatured: city.isFeatured, name: city[name], regionName: region[name] }
  }

  private async region(id: number): Promise<Names> {
    const region = await this.store.source<Names>('region', id)
    if (!region) throw new Error(`region ${id}: the store does not have it`)
    this.regions.set(id, region)
    return region
  }
}
