/** Cities are read from the store each time; regions, which are tens, are kept for ever. */
export class Cities {
  #store
  #regions = new Map()

  constructor(store) {
    this.#store = store
  }

  /** The city in that language; undefined if there is none. */
  async get(id, language) {
    const city = await this.#store.source('city', id)
    if (!city) return undefined
    const region = this.#regions.get(city.regionId) ?? (await this.#region(city.regionId))
    const name = `name.${language}`
    return { countryIso: city.countryIso, id: city.id, isFeatured: city.isFeatured, name: city[name], regionName: region[name] }
  }

  async #region(id) {
    const region = await this.#store.source('region', id)
    if (!region) throw new Error(`region ${id}: the store does not have it`)
    this.#regions.set(id, region)
    return region
  }
}
