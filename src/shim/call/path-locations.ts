// Where a path in arguments leads: every place that some reading of it means, with links followed as far as they exist.
import { lstatSync, readlinkSync, realpathSync } from 'node:fs'
import { isAbsolute, join, normalize, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isErrno, isSystemError } from '../../errors.ts'
import { LINKS_FOLLOWED_MAX } from '../../limits.ts'
import { inside } from '../../policy/match/locations.ts'
import type { Location, Locations } from '../../policy/types.ts'

export class PathLocations {
  readonly #cwd: string
  readonly #home: string | undefined
  /** Calls that arrive together are judged on one look at the disk: most of their paths begin alike. */
  readonly #seen = new Map<string, string | undefined | null>()

  /** `cwd` is where the server runs. */
  constructor(cwd: string, home: string | undefined) {
    this.#cwd = realFolder(cwd)
    this.#home = home
  }

  locate(texts: readonly string[]): Locations {
    return new Map(texts.map((text) => [text, this.#placesOf(text)]))
  }

  /** None where a reading leads nowhere that can be told: then nobody may take the path for a place inside. */
  #placesOf(text: string): readonly Location[] {
    const readings = this.#readingsOf(text)
    if (readings === null) return []
    const places = new Set<string>()
    for (const reading of readings) {
      const path = isAbsolute(reading) ? reading : `${this.#cwd}/${reading}`
      // The system follows a link before it goes up from it; programs that tidy paths first do not.
      for (const spelling of new Set([path, normalize(path)])) {
        const place = this.#followed(spelling)
        if (place === null) return []
        places.add(place)
      }
    }
    return [...places].map((absolute) => ({ absolute, relative: inside(this.#cwd, absolute) }))
  }

  /** The real path step by step; what does not exist is kept as written. Null when links lead in a circle or cannot be read. */
  #followed(path: string): string | null {
    let links = 0
    let place = '/'
    const left = path.split('/').toReversed()
    while (left.length > 0) {
      const name = left.pop()
      if (name === undefined || name === '' || name === '.') continue
      if (name === '..') {
        place = resolve(place, '..')
        continue
      }
      const next = place === '/' ? `/${name}` : `${place}/${name}`
      const target = this.#target(next)
      if (target === null) return null
      if (target === undefined) {
        place = next
        continue
      }
      links += 1
      if (links > LINKS_FOLLOWED_MAX) return null
      if (isAbsolute(target)) place = '/'
      left.push(...target.split('/').toReversed())
    }
    return place
  }

  #target(path: string): string | undefined | null {
    const seen = this.#seen.get(path)
    if (seen !== undefined || this.#seen.has(path)) return seen
    // Until what runs now is done.
    if (this.#seen.size === 0) queueMicrotask(() => this.#seen.clear())
    const target = linkTarget(path)
    this.#seen.set(path, target)
    return target
  }

  #readingsOf(text: string): readonly string[] | null {
    if (text.includes('\0') || /^[A-Za-z]:[\\/]/.test(text) || /^~[^/\\]/.test(text)) return null
    if (/^file:/i.test(text)) {
      const path = pathOfUrl(text)
      return path === null ? null : [path]
    }
    const readings = [text]
    if (text.startsWith('~')) {
      if (this.#home === undefined) return null
      readings.push(join(this.#home, text.slice(1)))
    }
    // Servers written for several systems turn these into slashes and dots.
    if (/%(?:2e|2f|5c)/i.test(text))
      readings.push(text.replace(/%2e/gi, '.').replace(/%2f/gi, '/').replace(/%5c/gi, '\\'))
    return [...readings, ...readings.filter((one) => one.includes('\\')).map((one) => one.replaceAll('\\', '/'))]
  }
}

/** A folder that is gone is where its name says: nothing can be a link in it. */
function realFolder(path: string): string {
  try {
    return realpathSync(path)
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'ENOTDIR')) return resolve(path)
    throw error
  }
}

function pathOfUrl(text: string): string | null {
  try {
    return fileURLToPath(text)
  } catch (error) {
    // Another host's file, or no address at all.
    if (error instanceof TypeError) return null
    throw error
  }
}

/** Where a link points; undefined when there is none; null when that cannot be told. */
function linkTarget(path: string): string | undefined | null {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true ? readlinkSync(path) : undefined
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'ENOTDIR')) return undefined
    if (isSystemError(error)) return null
    throw error
  }
}
