// How long and how much of runs is kept, from the settings.
import type { Config } from '../config.ts'
import type { Retention } from './prune.ts'

const DAY_MS = 86_400_000

/** 0 is no bound. */
export function retentionOf({ runs_keep_days, runs_keep_mib }: Config): Retention {
  const days = Number(runs_keep_days.value)
  const mib = Number(runs_keep_mib.value)
  return { ageMs: days === 0 ? null : days * DAY_MS, bytes: mib === 0 ? null : mib * 2 ** 20 }
}
