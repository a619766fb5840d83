// Is an agent of this repository alive: its process where it was made for one, its beats, and the repository's own patience (seed 002 §4).
import { type Liveness, livenessOf, silenceMs } from './liveness.ts'
import type { Env } from '../../paths.ts'
import type { Moment } from '../moment.ts'
import type { Fate, ProcessRef } from './process-ref.ts'
import type { Agent, Reader, Writer } from '../store.ts'

/** What a reader brings along: how patient it is by its own configuration, if that says anything, and its view of processes. */
export interface Observer {
  readonly staleMinutes: number | undefined
  readonly fateOf: (ref: ProcessRef) => Fate
}

export const STALE_SETTING = 'stale-minutes'
export const STALE_MINUTES_DEFAULT = 15

/**
 * The threshold belongs to the repository: whoever could shorten it for itself could take what others hold.
 * A caller may be more patient than that, never less.
 */
export function staleMinutesIn(observer: Pick<Observer, 'staleMinutes'>, rows: Pick<Reader, 'setting'>): number {
  const ofRepository = storedStaleMinutes(rows) ?? observer.staleMinutes ?? STALE_MINUTES_DEFAULT
  return Math.max(ofRepository, observer.staleMinutes ?? 0)
}

/** Says that BB_AGENT_STALE_MINUTES has no effect, where it has none (seed 002 §4.1). */
export function ignoredStaleMinutes(
  { staleMinutes }: Pick<Observer, 'staleMinutes'>,
  rows: Pick<Reader, 'setting'>,
  env: Env,
): string | undefined {
  const asked = env['BB_AGENT_STALE_MINUTES']
  const stored = storedStaleMinutes(rows)
  if (asked === undefined || asked === '' || staleMinutes === undefined || stored === undefined) return undefined
  if (staleMinutes >= stored) return undefined
  return `BB_AGENT_STALE_MINUTES=${staleMinutes} has no effect: this repository's threshold is ${stored} minutes; a human can change it: heimdall config set agent_stale_minutes ${staleMinutes}`
}

/** Nothing where none is stored, and where it is none: whoever reads a word there as a number would take everybody for gone. */
export function storedStaleMinutes(rows: Pick<Reader, 'setting'>): number | undefined {
  const stored = Number(rows.setting(STALE_SETTING))
  return isStaleMinutes(stored) ? stored : undefined
}

export const isStaleMinutes = (minutes: number): boolean => Number.isSafeInteger(minutes) && minutes >= 1

/** The first change of a repository settles it, while there is nobody yet whom it could hurt. */
export function settleStaleMinutes(observer: Pick<Observer, 'staleMinutes'>, rows: Writer): void {
  if (rows.setting(STALE_SETTING) === undefined)
    rows.putSetting(STALE_SETTING, String(observer.staleMinutes ?? STALE_MINUTES_DEFAULT))
}

export function livenessIn(observer: Observer, rows: Pick<Reader, 'setting'>, agent: Agent, now: Moment): Liveness {
  if (isOver(observer, agent)) return 'evicted'
  return livenessOf(silenceMs(agent.beat, agent.seen, now), staleMinutesIn(observer, rows) * 60_000)
}

/** Its session has ended, or the process that the session was made for is provably gone: nobody is left to wait for. */
export function isOver({ fateOf }: Pick<Observer, 'fateOf'>, { runtime }: Agent): boolean {
  return runtime.endedMs !== null || (runtime.process !== null && fateOf(runtime.process) === 'gone')
}

/** The process that the agent was made for, or that it was registered in, provably runs. */
export function isRunning({ fateOf }: Pick<Observer, 'fateOf'>, { runtime }: Agent): boolean {
  const process = runtime.process ?? runtime.tree
  return runtime.endedMs === null && process !== null && fateOf(process) === 'alive'
}
