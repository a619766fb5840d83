// What is missing and what works all the same, in words, for each part of a project that cannot be read.
import type { Fleet } from '../../spine/fleet/fleet.ts'
import type { Banner } from '../contract.ts'

interface Words {
  readonly missing: string
  readonly stillWorks: string
}

const PARTS: Readonly<Record<string, Words>> = {
  coordination: {
    missing: 'claims, notes, tasks and who is alive',
    stillWorks: 'terminals, runs with their waits, calls and decisions',
  },
  runs: { missing: 'runs and what they wait for', stillWorks: 'claims, notes and plain sessions' },
  'token ledger': { missing: 'tokens', stillWorks: 'everything else' },
  approvals: {
    missing: 'calls that wait for your word',
    stillWorks: 'everything else; heimdall approve may list more',
  },
  pins: { missing: 'tools that have changed', stillWorks: 'everything else; changed tools stay refused' },
  sessions: { missing: 'how sessions ended', stillWorks: 'everything else' },
  snoozed: { missing: 'what you have snoozed, so all of it is shown', stillWorks: 'everything' },
  calls: { missing: 'calls and decisions', stillWorks: 'who waits, terminals, claims and notes' },
}

/** What to do about it, by code. */
const MEND: Readonly<Record<string, string>> = {
  STORE_NEWER: 'a newer Heimdall has written it: install that version, and start the hub anew',
  STORE_BUSY: 'another process holds it; it is tried again by itself',
  STORE_CORRUPT: 'heimdall doctor',
  STORE_FULL: 'free some room on the disk',
  STORE_UNREADABLE: 'heimdall doctor',
  STATE_UNSAFE: 'heimdall doctor',
}

type Missing = Fleet['missing'][number]

/** Keeps from when on something is missing: the same trouble is one banner for as long as it lasts. */
export class Banners {
  readonly #since = new Map<string, string>()

  of(project: string, missing: readonly Missing[], at: string): Banner[] {
    const banners = missing.map(({ what, code, message }): Banner => {
      const id = `${project}.${what}.${code}`
      const words = PARTS[what] ?? { missing: what, stillWorks: 'everything else' }
      this.#since.set(id, this.#since.get(id) ?? at)
      return {
        banner_id: id,
        project,
        code,
        since: this.#since.get(id) ?? at,
        missing: `${words.missing}: ${message}`,
        still_works: words.stillWorks,
        mend: MEND[code] ?? null,
      }
    })
    const now = new Set(banners.map(({ banner_id: id }) => id))
    for (const id of this.#since.keys()) if (id.startsWith(`${project}.`) && !now.has(id)) this.#since.delete(id)
    return banners
  }
}
