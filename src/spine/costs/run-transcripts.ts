// Which transcripts are a run's: by the host's own word on its process where there is one, else by folder and time, and never where another run could be meant.
import { type Transcript } from '../../hosts/usage/transcript-places.ts'
import type { TranscriptFacts } from '../../hosts/usage/usage.ts'
import { readTrail } from '../../coordination/trail.ts'
import type { ProcessRef } from '../../coordination/who/process-ref.ts'
import { contains, type Project } from '../../paths.ts'
import type { KeptRun } from '../kept-run.ts'
import { sessionOf } from './cost-book.ts'

/** `unclear`: it may be this run's or another's. */
export type Belongs = 'ours' | 'others' | 'unclear'

export interface RunSurroundings {
  readonly cwd: string
  /** Sessions, each with its host, that are known to be this run's. */
  readonly known: ReadonlySet<string>
  /** Whatever is not among these is another's. */
  readonly isKnownOnly: boolean
  /** Other runs that go on. */
  readonly others: readonly Pick<KeptRun, 'cwd' | 'identity' | 'hostSessions'>[]
  /** Of a session of Claude Code that runs: whether its process is one of this run's. Nothing where no process tells. */
  readonly isOwnProcess: (session: string) => boolean | undefined
}

export const sessionKey = (host: string, session: string): string => `${host} ${session}`

/** Sessions whose hooks were called below this process: no folder and no time is needed to know whose they are. */
export function heardSessions(project: Project, tree: ProcessRef): string[] {
  const { lines } = readTrail(project, tree)
  return [...new Set(lines.flatMap(({ host, session }) => (session === undefined ? [] : [sessionKey(host, session)])))]
}

export function belongs(transcript: Transcript, facts: TranscriptFacts, around: RunSurroundings): Belongs {
  const session = sessionOf({ transcript, facts })
  if (session === null) return 'unclear'
  const key = sessionKey(transcript.host, session)
  if (around.known.has(key)) return 'ours'
  if (around.isKnownOnly) return 'others'
  if (around.others.some(({ hostSessions }) => hostSessions?.includes(key) === true)) return 'others'
  if (facts.cwd !== null && !contains(around.cwd, facts.cwd)) return 'others'
  const isOwn = transcript.host === 'claude' ? around.isOwnProcess(session) : undefined
  if (isOwn !== undefined) return isOwn ? 'ours' : 'others'
  return around.others.some((other) => couldBe(other, transcript, around.cwd)) ? 'unclear' : 'ours'
}

/** A run that is started as one host says nothing in the files of another. */
function couldBe({ cwd, identity }: Pick<KeptRun, 'cwd' | 'identity'>, { host }: Transcript, own: string): boolean {
  const { client } = identity
  if ((client === 'claude' || client === 'codex') && client !== host) return false
  return contains(own, cwd) || contains(cwd, own)
}
