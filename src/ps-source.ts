// Processes by way of `ps`, for systems without /proc: a picture of all of them, with the rarer questions asked when they come up.
import { statSync } from 'node:fs'
import { isErrno } from './errors.ts'
import { TREE_SCAN_BY_PS_MS } from './limits.ts'
import {
  type FileId,
  type ProcessSource,
  type ProcessStat,
  type ProcessTable,
  readTreatment,
  type SignalTreatment,
} from './process-table.ts'
import { ask, dialect, ps, psAside } from './ps-command.ts'

const COLUMNS = ['-A', '-o', 'pid=,ppid=,pgid=,tty=,stat=,lstart=']
const COMMAND_LINES = ['-A', '-ww', '-o', 'pid=,args=']

export const psSource = sourceOf(dialect.environment)
/** As on a system, or for programs, whose environment is nobody's to see. */
export const psSourceWithoutEnvironment = sourceOf([])

function sourceOf(environmentFlags: readonly string[]): ProcessSource {
  return {
    look: () => new Picture(ps(COLUMNS), environmentFlags),
    lookAside: async () => new Picture(await psAside(COLUMNS), environmentFlags),
    isReadingTerminal: () => false,
    scanMs: TREE_SCAN_BY_PS_MS,
    // Whole seconds, which some systems work out anew each time from a clock that is corrected meanwhile.
    startTolerance: 2,
    tickMs: 1_000,
    markedScript: markedScript(environmentFlags),
  }
}

/** What is in the command line too was said about the mark, by a `grep` for instance, and is no mark. */
function markedScript(flags: readonly string[]): string {
  if (flags.length === 0) return ':'
  return (
    `ps ${flags.join(' ')} -o pid=,args= | while read -r p rest; do case " $rest " in *" $1 "*) ` +
    `case " $(ps -ww -o args= -p "$p") " in *" $1 "*) ;; *) echo "$p" ;; esac ;; esac; done`
  )
}

class Picture implements ProcessTable {
  readonly #environmentFlags: readonly string[]
  readonly #processes: ReadonlyMap<number, ProcessStat>
  readonly #terminals: ReadonlyMap<number, string>
  readonly #holders = new Map<string, ReadonlySet<number>>()
  #commandLines: ReadonlyMap<number, string> | undefined
  #environments: ReadonlyMap<number, string> | undefined
  #signals: ReadonlyMap<number, string> | undefined

  constructor(text: string, environmentFlags: readonly string[]) {
    this.#environmentFlags = environmentFlags
    const rows = parseRows(text)
    this.#processes = new Map(rows.map(({ stat }) => [stat.pid, stat]))
    this.#terminals = new Map(rows.flatMap(({ stat, tty }) => (tty === undefined ? [] : [[stat.pid, tty]])))
  }

  stat(pid: number): ProcessStat | undefined {
    return this.#processes.get(pid)
  }

  all(): readonly ProcessStat[] {
    return [...this.#processes.values()]
  }

  childrenOf(pid: number): readonly number[] {
    return this.all()
      .filter(({ ppid }) => ppid === pid)
      .map((one) => one.pid)
  }

  /** Parted at blanks: where the words really end is not to be seen. */
  commandWords(pid: number): readonly string[] {
    const line = this.#lines().get(pid)?.trim() ?? ''
    return line === '' ? [] : line.split(/\s+/)
  }

  hasInEnvironment(pid: number, beginning: string): boolean {
    this.#environments ??= this.#readEnvironments()
    const text = this.#environments.get(pid) ?? ''
    // Entries are parted by blanks here, and so are the words of a value: whoever put the text there meant it.
    return beginning.endsWith('\0')
      ? `${text} `.includes(` ${beginning.slice(0, -1)} `)
      : text.includes(` ${beginning}`)
  }

  /** Up to the next blank: where an entry with blanks in it really ends is not to be seen. */
  inEnvironment(pid: number, name: string): string | undefined {
    this.#environments ??= this.#readEnvironments()
    const text = this.#environments.get(pid) ?? ''
    const at = text.indexOf(` ${name}=`)
    return at < 0 ? undefined : text.slice(at + name.length + 2).split(' ', 1)[0]
  }

  hasAsStream(pid: number, { path }: FileId): boolean {
    const known = this.#holders.get(path)
    const holders = known ?? new Set((ask('fuser', [path])?.match(/\d+/g) ?? []).map(Number))
    if (known === undefined) this.#holders.set(path, holders)
    return holders.has(pid)
  }

  treatmentOf(pid: number, signal: NodeJS.Signals): SignalTreatment | undefined {
    // Not every ps has these columns.
    this.#signals ??= parseLines(ask('ps', ['-A', '-o', 'pid=,ignored=,caught=']) ?? '')
    const [ignored, caught] = this.#signals.get(pid)?.match(/[0-9a-f]+/gi) ?? []
    return readTreatment(ignored, caught, signal)
  }

  terminalOf(pid: number): string | undefined {
    const tty = this.#terminals.get(pid)
    return tty === undefined ? undefined : `/dev/${tty}`
  }

  /** Not to be seen here. */
  holdersOf(): readonly number[] {
    return []
  }

  /** Not to be seen either. */
  terminalsOpenIn(): undefined {
    return undefined
  }

  /** Nor this: it would take `lsof`. */
  folderOf(): undefined {
    return undefined
  }

  bytesWritten(): undefined {
    return undefined
  }

  hasOpenToWrite(): undefined {
    return undefined
  }

  #lines(): ReadonlyMap<number, string> {
    this.#commandLines ??= parseLines(ps(COMMAND_LINES))
    return this.#commandLines
  }

  /** `ps` puts the environment behind the command line: what is not the one is the other. */
  #readEnvironments(): ReadonlyMap<number, string> {
    if (this.#environmentFlags.length === 0) return new Map()
    const before = this.#lines()
    const whole = parseLines(ps([...this.#environmentFlags, '-o', 'pid=,args=']))
    // Who became another program between the two is asked for once more.
    const isTorn = [...whole].some(([pid, text]) => !text.startsWith(before.get(pid) ?? ''))
    const after = isTorn ? parseLines(ps(COMMAND_LINES)) : before
    return new Map(
      [...whole].flatMap(([pid, text]) => {
        const line = [before.get(pid), after.get(pid)].find((one) => one !== undefined && text.startsWith(one))
        return line === undefined ? [] : [[pid, text.slice(line.length)] as const]
      }),
    )
  }
}

interface Row {
  readonly stat: ProcessStat
  readonly tty: string | undefined
}

function parseRows(text: string): Row[] {
  const deviceOf = devices()
  const rows = text.split('\n').flatMap((line) => {
    const [pid = '', ppid, pgrp, tty = '', state = '', ...start] = line.trim().split(/\s+/)
    if (!/^\d+$/.test(pid)) return []
    const terminal = /^(\?+|-)$/.test(tty) ? undefined : tty
    return {
      tty: terminal,
      isLeader: state.includes('s'),
      pid: Number(pid),
      ppid: Number(ppid),
      pgrp: Number(pgrp),
      ttyNr: terminal === undefined ? 0 : deviceOf(terminal),
      // Seconds since 1970.
      startTicks: Date.parse(`${start.join(' ')} UTC`) / 1_000,
      isZombie: state.startsWith('Z'),
      isStopped: state.startsWith('T'),
    }
  })
  // A terminal belongs to one session, so its leader is the leader of all who have that terminal.
  const leaders = new Map(rows.filter((row) => row.isLeader).map((row) => [row.tty, row.pid]))
  return rows.map(({ tty, isLeader, ...stat }) => {
    const session = isLeader ? stat.pid : tty === undefined ? 0 : (leaders.get(tty) ?? 0)
    return { tty, stat: { ...stat, session } }
  })
}

/** A name that leads to no device is a terminal all the same. */
const UNKNOWN_DEVICE = -1

function devices(): (tty: string) => number {
  const known = new Map<string, number>()
  return (tty) => {
    const device = known.get(tty) ?? deviceAt(`/dev/${tty}`)
    known.set(tty, device)
    return device
  }
}

function deviceAt(path: string): number {
  try {
    return statSync(path).rdev
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'EACCES', 'ENOTDIR')) return UNKNOWN_DEVICE
    throw error
  }
}

function parseLines(text: string): Map<number, string> {
  return new Map(
    text.split('\n').flatMap((line) => {
      const [, pid = '', rest = ''] = /^\s*(\d+) ?(.*)$/.exec(line) ?? []
      return pid === '' ? [] : [[Number(pid), rest] as const]
    }),
  )
}
