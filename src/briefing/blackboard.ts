// The blackboard: facts discovered once and read by key, each with who set it and when.
import { isoSeconds } from '../clock.ts'
import { HeimdallError } from '../errors.ts'
import { parseId } from '../ids.ts'
import { VALUE_BYTES_MAX } from '../limits.ts'
import { didYouMean } from '../suggest.ts'
import { isObject } from '../plain-object.ts'
import { FILES, logged, type Planning } from './planning.ts'
import { readTable, type TableFile, updateTable } from './state-file.ts'
import { checkText } from './values.ts'

interface Provenance {
  readonly by: string | null
  readonly ts: string
}

export interface Fact extends Partial<Provenance> {
  readonly key: string
  readonly value: string
}

/** `facts` is the seed's; `provenance` stands beside it, so that a 2.0.0 reader finds what it expects. */
export const BLACKBOARD: TableFile<Map<string, Provenance>> = {
  file: FILES.blackboard,
  field: 'facts',
  readExtra(raw) {
    const entries = isObject(raw['provenance']) ? Object.entries(raw['provenance']) : []
    return new Map(
      entries.flatMap(([key, entry]) =>
        isObject(entry) && typeof entry['ts'] === 'string'
          ? [[key, { by: typeof entry['by'] === 'string' ? entry['by'] : null, ts: entry['ts'] }]]
          : [],
      ),
    )
  },
  writeExtra: (provenance) => ({ provenance: Object.fromEntries(provenance) }),
}

export function listFacts(planning: Planning): Fact[] {
  const { entries, extra } = readTable(planning, BLACKBOARD)
  return [...entries].map(([key, value]) => ({ key, value, ...extra.get(key) }))
}

function unknownFact(planning: Planning, key: string): HeimdallError {
  const known = listFacts(planning).map((fact) => fact.key)
  return new HeimdallError('FACT_UNKNOWN', `unknown fact: ${parseId('fact', key)}`, {
    hint: didYouMean(key, known, 'heimdall fact list shows the blackboard'),
  })
}

/** With `maxAgeMs`, a fact that is older, or whose age nobody recorded, is refused: stale truth is worse than none. */
export function getFact(planning: Planning, key: string, maxAgeMs?: number): Fact {
  return logged(planning, 'blackboard', ['get', 'get-failed'], key, () => {
    const { entries, extra } = readTable(planning, BLACKBOARD)
    const value = entries.get(key)
    if (value === undefined || value === '') throw unknownFact(planning, key)
    const provenance = extra.get(key)
    if (maxAgeMs !== undefined) refuseStale(planning, key, provenance, maxAgeMs)
    return { key, value, ...provenance }
  })
}

export async function setFact(planning: Planning, key: string, value: string, by: string | null): Promise<void> {
  parseId('fact', key)
  checkText('the value', value, VALUE_BYTES_MAX)
  await updateTable(planning, BLACKBOARD, ({ entries, extra }) => {
    entries.set(key, value)
    extra.set(key, { by, ts: isoSeconds(planning.clock.wallMs()) })
    return true
  })
  planning.log('blackboard', 'set', `${key}=${value}`)
}

/** False where it was not there, which is no error to the seed's own command. */
export async function deleteFact(planning: Planning, key: string): Promise<boolean> {
  const deleted = await updateTable(planning, BLACKBOARD, ({ entries, extra }) => {
    extra.delete(key)
    return entries.delete(key)
  })
  if (!deleted) parseId('fact', key)
  planning.log('blackboard', 'del', key)
  return deleted
}

function refuseStale(planning: Planning, key: string, provenance: Provenance | undefined, maxAgeMs: number): void {
  const setMs = provenance === undefined ? Number.NaN : Date.parse(provenance.ts)
  const ageMs = planning.clock.wallMs() - setMs
  // A fact from the future has a clock of its own; its age is as unknown as that of one without a time.
  if (ageMs >= -1_000 && ageMs <= maxAgeMs) return
  const age = Number.isNaN(ageMs) || ageMs < 0 ? 'of unknown age' : `${Math.round(ageMs / 1_000)} s old`
  throw new HeimdallError('FACT_STALE', `${key} is ${age}, at most ${Math.round(maxAgeMs / 1_000)} s were asked for`, {
    hint: 'find it out again and set it',
  })
}
