// Settings as they count here: what belongs to the repository is read from its store, for a caller who may only be more patient.
import type { Config } from '../config.ts'
import { staleMinutesIn, storedStaleMinutes } from '../coordination/who/alive.ts'
import { openView } from '../coordination/view.ts'
import type { Context } from './command.ts'
import { roomOptions } from '../coordination/room-options.ts'

export async function asInRepository(context: Context, config: Config): Promise<Config> {
  const options = await roomOptions(context)
  const view = openView(options)
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
