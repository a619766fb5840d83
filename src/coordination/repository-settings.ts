// Settings that are stored in the repository's coordination store: the stale threshold of agents.
import type { Config } from '../config.ts'
import { roomOptions, type Surroundings } from './room-options.ts'
import { openView } from './view.ts'
import { staleMinutesIn, storedStaleMinutes } from './who/alive.ts'

/** The settings with the stored ones in effect: a caller's own value counts only if it is more patient. */
export async function withRepositorySettings(surroundings: Surroundings, config: Config): Promise<Config> {
  const view = openView(await roomOptions(surroundings))
  if (view === undefined) return config
  try {
    return view.store.read((rows) => {
      const stored = storedStaleMinutes(rows)
      const value = staleMinutesIn(view, rows)
      if (stored === undefined || value > stored) return config
      return { ...config, agent_stale_minutes: { value, origin: 'repository' } }
    })
  } finally {
    view.store.close()
  }
}
