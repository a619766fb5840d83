// Follows what the hosts of a run write about their models, and books it in the run's record as it comes; also when the run is over and nobody has followed.
import { realpathSync } from 'node:fs'
import type { Clock, Timer } from '../../clock.ts'
import { HeimdallError, isErrno } from '../../errors.ts'
import { GrowingFile } from '../../hosts/usage/growing-file.ts'
import { claudeProcesses, READERS, type Transcript, transcriptsIn } from '../../hosts/usage/transcript-places.ts'
import type { MessageUsage, SessionTotal, UsageReader } from '../../hosts/usage/usage.ts'
import { COST_LOOK_MS, TRANSCRIPTS_LOOK_MS, TRANSCRIPTS_MAX } from '../../limits.ts'
import type { Env } from '../../paths.ts'
import type { ModelUsage, UsageTotal } from '../../runs/owned-run.ts'
import type { KeptRun } from '../kept-run.ts'
import { CostBook, sessionOf } from './cost-book.ts'
import { belongs, sessionKey, type RunSurroundings } from './run-transcripts.ts'

export interface CostParts {
  readonly run: Pick<KeptRun, 'cwd' | 'hostSessions'> & { readonly start: Pick<KeptRun['start'], 'started_at'> }
  /** Only the sessions that are known are the run's: it has no folder to itself. */
  readonly isKnownOnly?: true
  /** Sessions that hooks have told of by now, each with its host. */
  readonly heard?: () => readonly string[]
  /** What the record has already. */
  readonly booked: readonly ModelUsage[]
  readonly book: (usage: ModelUsage) => void
  /** What others may read of the run by now. */
  readonly onChange: (cost: UsageTotal, hostSessions: readonly string[]) => void
  readonly others: () => RunSurroundings['others']
  /** Whether a process that runs is one of this run's; nothing when it does not run. */
  readonly isMember: (pid: number) => boolean | undefined
  readonly env: Env
  readonly clock: Clock
  readonly note: (line: string) => void
}

interface Followed {
  readonly transcript: Transcript
  file: GrowingFile
  reader: UsageReader
  /** Read, and not yet known to be this run's. */
  waiting: { news: MessageUsage | SessionTotal; atMs: number | null }[]
  isOurs: boolean
  strange: number
  lastMs: number | null
}

export class CostWatch {
  readonly #parts: CostParts
  readonly #book: CostBook
  readonly #cwd: string
  readonly #sinceMs: number
  readonly #known: Set<string>
  readonly #followed = new Map<string, Followed>()
  /** Files of others, and those past the limit; each is said once. */
  readonly #passed = new Set<string>()
  readonly #said = new Set<string>()
  #timer: Timer
  #foundMs = -Infinity
  #isActive = true

  constructor(parts: CostParts) {
    this.#parts = parts
    this.#sinceMs = Date.parse(parts.run.start.started_at)
    this.#cwd = realPath(parts.run.cwd)
    this.#known = new Set(parts.run.hostSessions)
    this.#book = new CostBook(this.#sinceMs, parts.book)
    for (const usage of parts.booked) this.#book.restore(usage)
    this.#timer = this.#arm()
  }

  /** There was output: a host that says something has spent something. */
  happened(): void {
    this.#isActive = true
  }

  stop(): void {
    this.#timer.cancel()
    for (const { file } of this.#followed.values()) file.close()
  }

  /** Reads everything to its end. The host is gone by then. */
  settle(): void {
    this.#timer.cancel()
    this.#safely(() => {
      this.#find()
      this.#readAll()
      for (const one of this.#followed.values()) {
        one.file.readRest(visitorOf(one))
        this.#take(one)
        this.#sayStrange(one)
        if (!one.isOurs) this.#sayUnclear(one)
        else if (one.strange > 0) this.#book.sayUnread({ transcript: one.transcript, facts: one.reader.facts })
      }
      this.#book.settle()
      this.#changed()
    })
  }

  #arm(): Timer {
    return this.#parts.clock.after(COST_LOOK_MS, () => {
      this.#safely(() => this.#look())
      this.#timer = this.#arm()
    })
  }

  #look(): void {
    const { clock } = this.#parts
    const isDue = clock.monoMs() - this.#foundMs >= TRANSCRIPTS_LOOK_MS
    if (!this.#isActive && !isDue) return
    this.#isActive = false
    if (isDue) this.#find()
    const before = this.#book.total
    this.#readAll()
    if (this.#book.total !== before) this.#changed()
  }

  /** A folder that cannot be read is said once, and tried again. */
  #safely(act: () => void): void {
    try {
      act()
    } catch (error) {
      if (!(error instanceof HeimdallError)) throw error
      this.#say(`costs: ${error.message}`)
    }
  }

  #say(line: string): void {
    if (this.#said.has(line)) return
    this.#said.add(line)
    this.#parts.note(line)
  }

  #find(): void {
    const { env, clock, heard } = this.#parts
    this.#foundMs = clock.monoMs()
    for (const session of heard?.() ?? []) this.#known.add(session)
    for (const transcript of transcriptsIn(this.#cwd, this.#sinceMs, env)) {
      const { path, host } = transcript
      if (this.#followed.has(path) || this.#passed.has(path)) continue
      if (this.#followed.size >= TRANSCRIPTS_MAX) {
        this.#say(`costs: more than ${TRANSCRIPTS_MAX} transcripts; what stands in others is not counted`)
        return
      }
      const reader = READERS[host]()
      const file = new GrowingFile(path, reader.marks)
      this.#followed.set(path, { transcript, file, reader, waiting: [], isOurs: false, strange: 0, lastMs: null })
    }
  }

  #readAll(): void {
    for (const one of this.#followed.values()) {
      if (one.file.read(visitorOf(one)) === 'rewritten') {
        // Begun anew with a new reader; what was booked is known by its ids.
        one.reader = READERS[one.transcript.host]()
        one.file.read(visitorOf(one))
      }
      this.#take(one)
    }
  }

  /** Books what is this run's, and lets go of what is not. */
  #take(one: Followed): void {
    const { transcript, reader } = one
    one.isOurs ||= this.#isOurs(one)
    if (!one.isOurs) return
    this.#book.unread(this.#strange())
    const found = { transcript, facts: reader.facts }
    for (const { news, atMs } of one.waiting)
      if ('totals' in news) this.#book.count(news, found, atMs)
      else this.#book.message(news, found)
    one.waiting = []
  }

  #isOurs(one: Followed): boolean {
    const { transcript, reader } = one
    const answer = belongs(transcript, reader.facts, {
      cwd: this.#cwd,
      known: this.#known,
      isKnownOnly: this.#parts.isKnownOnly === true,
      others: this.#parts.others(),
      isOwnProcess: (session) => this.#isOwnProcess(session),
    })
    if (answer === 'others') {
      one.file.close()
      this.#followed.delete(transcript.path)
      this.#passed.add(transcript.path)
    }
    const session = sessionOf({ transcript, facts: reader.facts })
    if (answer === 'ours' && session !== null) this.#known.add(sessionKey(transcript.host, session))
    return answer === 'ours'
  }

  #isOwnProcess(session: string): boolean | undefined {
    const { env, isMember } = this.#parts
    const running = claudeProcesses(env).find((one) => one.session === session)
    return running === undefined ? undefined : isMember(running.pid)
  }

  #changed(): void {
    const { total } = this.#book
    if (total.messages > 0 || total.unread > 0) this.#parts.onChange(total, [...this.#known])
  }

  #strange(): number {
    return [...this.#followed.values()].reduce((sum, one) => sum + (one.isOurs ? one.strange : 0), 0)
  }

  #sayStrange({ transcript, reader, strange, isOurs }: Followed): void {
    if (!isOurs) return
    const { version, messages, usages } = reader.facts
    const writer = `${transcript.host}${version === null ? '' : ` ${version}`}`
    if (strange > 0)
      this.#say(
        `costs: ${strange} lines that ${writer} wrote were not understood and are in no sum: ${transcript.path}`,
      )
    if (messages > 0 && usages === 0)
      this.#say(`costs: ${writer} does not tell what its messages cost in a way that is known here: ${transcript.path}`)
  }

  #sayUnclear({ transcript, waiting }: Followed): void {
    if (waiting.length === 0) return
    this.#say(
      `costs: ${transcript.path} may be this run’s or another’s in the same folder, and is not counted; hooks tell them apart (heimdall init), and so do worktrees`,
    )
  }
}

const visitorOf = (one: Followed) => ({
  line(text: string): void {
    const news = one.reader.read(text)
    if (news === 'strange') one.strange += 1
    else if (news !== undefined) {
      if (!('totals' in news)) one.lastMs = news.atMs ?? one.lastMs
      one.waiting.push({ news, atMs: one.lastMs })
    }
  },
  tooLong(): void {
    one.strange += 1
  },
})

function realPath(path: string): string {
  try {
    return realpathSync.native(path)
  } catch (error) {
    if (!isErrno(error, 'ENOENT', 'ENOTDIR', 'EACCES')) throw error
    return path
  }
}
