// The pid file of a session: who runs it, as one text that others in the field read as well. Pure.
import type { RecordedProcess } from '../process-table.ts'
import { fromJson, isWords } from './json-text.ts'

/** Who runs a session: the first two lines are pids, as in the field; `name value` lines follow. */
export interface Holder {
  readonly supervisorPid: number
  /** 0 while the child has not been started. */
  readonly childPid: number
  /** Undefined in files that another program wrote: then the pid alone has to do. */
  readonly supervisorStart: number | undefined
  readonly childStart: number | undefined
  readonly boot: string | undefined
  /** Marks every process of the tree in its environment. */
  readonly key: string | undefined
  readonly startedAtMs: number | undefined
  /** Which frames the session knows; see `PROTOCOL`. */
  readonly protocol: number | undefined
  readonly command: readonly string[] | undefined
  readonly cwd: string | undefined
}

export function encodeHolder(holder: Holder): string {
  const more = {
    supervisor_start: holder.supervisorStart,
    child_start: holder.childStart,
    boot: holder.boot,
    key: holder.key,
    started_at_ms: holder.startedAtMs,
    protocol: holder.protocol,
    command: json(holder.command),
    cwd: json(holder.cwd),
  }
  const lines = Object.entries(more).flatMap(([name, value]) => (value === undefined ? [] : [`${name} ${value}`]))
  return [holder.supervisorPid, holder.childPid, ...lines, ''].join('\n')
}

/** On one line, whatever it holds. */
const json = (value: unknown): string | undefined => (value === undefined ? undefined : JSON.stringify(value))

function text(line: string | undefined): string | undefined {
  const value = fromJson(line)
  return typeof value === 'string' ? value : undefined
}

function words(line: string | undefined): readonly string[] | undefined {
  const value = fromJson(line)
  return isWords(value) ? value : undefined
}

/** Nothing for a file that is not one of these: torn, empty, or another program's. */
export function parseHolder(file: string): Holder | undefined {
  const [supervisor = '', child = '', ...rest] = file.split('\n')
  const more = new Map(
    rest.map((line): [string, string] => [line.split(' ', 1)[0] ?? '', line.slice(line.indexOf(' ') + 1)]),
  )
  const number = (name: string): number | undefined => {
    const value = more.get(name)
    return value !== undefined && /^\d+$/.test(value) ? Number(value) : undefined
  }
  if (!/^\d+$/.test(supervisor) || Number(supervisor) === 0) return undefined
  return {
    supervisorPid: Number(supervisor),
    childPid: /^\d+$/.test(child) ? Number(child) : 0,
    supervisorStart: number('supervisor_start'),
    childStart: number('child_start'),
    boot: more.get('boot'),
    key: more.get('key'),
    startedAtMs: number('started_at_ms'),
    protocol: number('protocol'),
    command: words(more.get('command')),
    cwd: text(more.get('cwd')),
  }
}

/** One and the same process, or nobody in both. */
export const isSameHolder = (one: Holder | undefined, other: Holder | undefined): boolean =>
  one?.supervisorPid === other?.supervisorPid && one?.supervisorStart === other?.supervisorStart

/** The process that a pid file names, and when it was started, as far as the file knows. */
export const supervisorOf = ({ supervisorPid, supervisorStart, boot }: Holder): RecordedProcess => ({
  pid: supervisorPid,
  startTicks: supervisorStart,
  boot,
})
