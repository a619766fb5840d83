// One repository's coordination, opened: its store, its clocks, and what every operation on it needs to know.
import { randomBytes } from 'node:crypto'
import type { Clock } from '../clock.ts'
import { HeimdallError } from '../errors.ts'
import { createIdSource } from '../id-source.ts'
import type { Env, Project } from '../paths.ts'
import type { Author } from './log-entry.ts'
import { rootHaid } from './who/haid.ts'
import { type Machine, momentOf, readMachine } from './moment.ts'
import { gitEmail } from './ledger/git-config.ts'
import { fateOf } from './who/process-ref.ts'
import { openSqliteStore } from './sqlite/open-store.ts'
import { SESSION_VARIABLE } from './who/variables.ts'
import { storePath, type View, type ViewOptions } from './view.ts'

/** Seed 004: of everything that belongs to one run. */
const RUN_VARIABLE = 'SUB_RUN_ID'

export interface Coordination extends View {
  readonly clock: Clock
  /** HAID of this human, machine and project, without a role. */
  readonly rootHaid: string
  /** The session and the run that every change of this caller is joined to; what it says of itself, not who it is. */
  readonly startedIn: Omit<Author, 'haid'>
  readonly newId: () => string
  readonly randomBytes: (count: number) => Buffer
}

export interface CoordinationOptions extends ViewOptions {
  readonly env: Env
  readonly randomBytes?: (count: number) => Buffer
}

export function openCoordination(options: CoordinationOptions): Coordination {
  const surroundings = around(options)
  const { clock, newId } = surroundings
  return { ...surroundings, store: openSqliteStore(storePath(options.project), { clock, newId }) }
}

/** For commands that change nothing: no lock is taken and nothing is written. Nothing when the repository has no store yet. */
export function openCoordinationToRead(options: CoordinationOptions): Coordination | undefined {
  const { project, clock } = options
  const store = openSqliteStore(storePath(project), { clock, readOnly: true })
  return store === undefined ? undefined : { ...around(options), store }
}

/** Nothing can be written here, now or ever: whoever only reads goes on with what is known. */
export const isUnwritable = (error: unknown): error is HeimdallError =>
  error instanceof HeimdallError && ['STORE_FULL', 'STORE_UNREADABLE', 'STORE_BUSY'].includes(error.code)

function around(options: CoordinationOptions): Omit<Coordination, 'store'> {
  const { project, env, clock } = options
  const machine = options.machine ?? readMachine()
  const bytes = options.randomBytes ?? randomBytes
  return {
    project,
    clock,
    staleMinutes: options.staleMinutes,
    fateOf: options.fateOf ?? fateOf,
    rootHaid: projectHaid(project, env, machine),
    startedIn: { sessionId: textOf(env, SESSION_VARIABLE), runId: textOf(env, RUN_VARIABLE) },
    now: () => momentOf(clock, machine),
    newId: createIdSource(clock, () => bytes(4).readUInt32BE() / 2 ** 32),
    randomBytes: bytes,
  }
}

function textOf(env: Env, name: string): string | null {
  const value = env[name] ?? ''
  return value === '' ? null : value
}

export function projectHaid(project: Project, env: Env, machine: Pick<Machine, 'host'>): string {
  return rootHaid({
    email: gitEmail(project, env),
    user: env['USER'] ?? env['LOGNAME'],
    host: machine.host,
    root: project.root,
  })
}
