// The third rung: while anything of ours runs for an agent, writes of its processes into what others hold are noticed, whatever made them.
import { statSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock, Timer } from '../../clock.ts'
import { WATCH_LOOK_MS, WATCH_MARK_MS, WATCH_PATHS_MAX, WATCH_SETTLE_MS } from '../../limits.ts'
import type { Project } from '../../paths.ts'
import type { Standing } from '../claims/conflicts.ts'
import { changedFiles } from '../claims/held-files.ts'
import { claimsOfOthers } from '../claims/stray-writes.ts'
import { writeScopes, writeStanding } from '../claims/writes.ts'
import type { Coordination } from '../coordination.ts'
import type { ResidentRoom } from '../resident-room.ts'
import { clearWatched, markWatched, unmarkWatched } from '../trail.ts'
import { incursionFor, type KeptIdentity, strayFor } from '../who/kept.ts'
import { fateOf, processRef, type ProcessRef } from '../who/process-ref.ts'
import type { Agent } from '../store.ts'
import { FileChanges, type FileChange } from './file-changes.ts'
import { ignoredPaths, trackedPaths } from './git-answers.ts'
import { allHeard, NO_SAMPLE, type Sample, TreeWrites } from './tree-writes.ts'
import { suspects, whoseWrite, type SeenWrite } from './whose-write.ts'

export interface WriteWatchParts {
  readonly project: Project
  /** The session that is watched, and the process that it descends from. */
  readonly agent: KeptIdentity
  readonly tree: ProcessRef
  readonly clock: Clock
  readonly room: ResidentRoom
}

export class WriteWatch {
  readonly #parts: WriteWatchParts
  readonly #changes: FileChanges
  readonly #writes = new TreeWrites()
  #head = -1
  #claims = new Set<string>()
  /** What was seen while the store could not be written to: it is not seen a second time. */
  readonly #unrecorded: ((room: Coordination) => Promise<unknown>)[] = []
  /** There are other claims than when it was noted who has written how much. */
  #isNew = false
  /** The newest last, none of which has writes before it that are still to be heard of. */
  #samples: readonly Sample[] = [NO_SAMPLE]
  #sampledMs = -Infinity
  #others: { head: number; seenMs: number; trees: ReadonlySet<ProcessRef> } = {
    head: -1,
    seenMs: -Infinity,
    trees: new Set(),
  }
  #tookMs = 0
  #lookedMs: number
  #followedMs = -Infinity
  #timer: { readonly dueMs: number; readonly timer: Timer } | undefined
  #looking: Promise<unknown> = Promise.resolve()
  #isOver = false

  constructor(parts: WriteWatchParts) {
    const { project, clock, tree } = parts
    this.#parts = parts
    this.#lookedMs = clock.wallMs()
    this.#changes = new FileChanges({
      project,
      clock,
      onChange: () => this.#arm(WATCH_SETTLE_MS),
      since: () => this.#samples.at(-1) ?? NO_SAMPLE,
    })
    clearWatched(project, (one) => fateOf(one) === 'gone')
    const self = processRef(process.pid)
    if (self !== undefined) markWatched(project, tree, self)
    this.#arm(0)
  }

  /** The last look is over when this resolves. */
  async stop(): Promise<void> {
    if (this.#isOver) return
    this.#isOver = true
    this.#timer?.timer.cancel()
    await this.#looking
    this.#changes.stop()
    unmarkWatched(this.#parts.project, this.#parts.tree)
  }

  #arm(ms: number): void {
    const { clock } = this.#parts
    const dueMs = clock.monoMs() + ms
    if (this.#isOver || (this.#timer !== undefined && this.#timer.dueMs <= dueMs)) return
    this.#timer?.timer.cancel()
    const timer = clock.after(
      ms,
      () => {
        this.#timer = { dueMs: -Infinity, timer }
        this.#looking = this.#parts.room
          .act((room) => this.#look(room))
          .then(() => {
            this.#timer = undefined
            this.#arm(WATCH_LOOK_MS)
          })
      },
      { background: true },
    )
    this.#timer = { dueMs, timer }
  }

  async #look(room: Coordination): Promise<void> {
    const { agent, clock } = this.#parts
    const own = room.store.read((rows) => rows.agent(agent.haid))
    if (own === undefined || own.runtime.epoch !== agent.epoch || own.runtime.endedMs !== null) return
    await this.#record(room)
    const head = room.store.read((rows) => rows.head())
    const isDue = clock.monoMs() - this.#followedMs >= WATCH_MARK_MS
    const late = head === this.#head && !isDue && !this.#changes.isOld ? [] : await this.#follow(room, own)
    this.#head = head
    const heard = await this.#changes.take()
    const seen = [...(await this.#written(room, own, heard)), ...late]
    if (seen.length > 0) await this.#judge(room, own, seen.slice(0, WATCH_PATHS_MAX))
    await this.#sample(room, own)
  }

  /** Claims that others hold by now. Files that were written before somebody listened are found by their times. */
  async #follow(room: Coordination, own: Agent): Promise<SeenWrite[]> {
    const { project, clock } = this.#parts
    const lookedMs = this.#lookedMs
    this.#lookedMs = clock.wallMs()
    this.#followedMs = clock.monoMs()
    const theirs = claimsOfOthers(room, { haid: own.haid, tree: this.#parts.tree })
    const isOld = this.#changes.isOld
    const fresh = theirs.filter(({ claim }) => isOld || !this.#claims.has(claim.claimId))
    const isSame = fresh.length === 0 && theirs.length === this.#claims.size
    this.#claims = new Set(theirs.map(({ claim }) => claim.claimId))
    if (isSame) return []
    this.#isNew = true
    await this.#changes.follow(theirs.flatMap(({ claim }) => claim.scopes))
    const sinceOf = ({ claim }: Standing): number => (isOld ? Math.max(lookedMs, claim.createdMs) : claim.createdMs)
    const paths = fresh.flatMap((standing) => changedFiles(project.root, standing.claim.scopes, sinceOf(standing)))
    return paths.flatMap((path) => {
      const atMs = writtenMs(project.root, path, lookedMs)
      // What was written before anybody had counted is nobody's.
      const since = this.#samples.findLast(({ wallMs }) => wallMs < atMs) ?? NO_SAMPLE
      return this.#conflicts(room, own, path, { atMs, since })
    })
  }

  /** Of what was heard of, what was written: files whose times or names say so, and known files that are gone. */
  async #written(room: Coordination, own: Agent, heard: ReadonlyMap<string, FileChange>): Promise<SeenWrite[]> {
    const { project } = this.#parts
    const gone: string[] = []
    const found = [...heard].filter(([path, { atMs, isName }]) => {
      const stats = statSync(join(project.root, path), { throwIfNoEntry: false })
      if (stats === undefined && isName) gone.push(path)
      return stats !== undefined && !stats.isDirectory() && (isName || stats.mtimeMs >= atMs - RECENT_MS)
    })
    const known = await trackedPaths(project, gone.slice(0, WATCH_PATHS_MAX))
    const removed = [...heard].filter(([path]) => known.has(path))
    return [...found, ...removed].flatMap(([path, change]) => this.#conflicts(room, own, path, change))
  }

  /** Whose claims it lies in; those that were made after the write were not in its way. */
  #conflicts(
    room: Coordination,
    own: Agent,
    path: string,
    { atMs, since }: Omit<SeenWrite, 'path' | 'conflict'>,
  ): SeenWrite[] {
    const scopes = writeScopes(room, [{ path: join(room.project.root, path), isPattern: false }])
    const { held } = writeStanding(room, scopes, { haid: own.haid, tree: this.#parts.tree })
    return held
      .filter((conflict) => Date.parse(conflict.since) <= writtenMs(room.project.root, path, atMs))
      .map((conflict) => ({ path, conflict, atMs, since }))
  }

  async #judge(room: Coordination, own: Agent, seen: readonly SeenWrite[]): Promise<void> {
    const { agent, tree, project } = this.#parts
    const judged = seen.map((one) => ({ ...one, whose: whoseWrite(room, own, tree, this.#writes, one) }))
    const shown = judged.filter(({ whose }) => whose.by !== 'elsewhere')
    if (shown.length === 0) return
    const ignored = await ignoredPaths(
      project,
      shown.map(({ path }) => path),
    )
    const kept = shown.filter(({ path }) => !ignored.has(path))
    const ours = kept.filter(({ whose }) => whose.by === 'own').map(({ conflict }) => conflict)
    if (ours.length > 0) this.#unrecorded.push((open) => incursionFor(open, agent, ours))
    for (const { conflict, whose } of kept)
      if (whose.by === 'unclear') this.#unrecorded.push((open) => strayFor(open, conflict, whose.suspects))
    await this.#record(room)
  }

  async #record(room: Coordination): Promise<void> {
    for (let next = this.#unrecorded[0]; next !== undefined; next = this.#unrecorded[0]) {
      await next(room)
      this.#unrecorded.shift()
    }
  }

  /** What is written from here on is compared with now. The longer that takes, the more seldom: it has the machine to share. */
  async #sample(room: Coordination, own: Agent): Promise<void> {
    const { tree, clock } = this.#parts
    const nowMs = clock.monoMs()
    const everyMs = Math.min(Math.max(WATCH_LOOK_MS / 2, SAMPLE_SHARE * this.#tookMs), WATCH_MARK_MS)
    if (!this.#isNew && nowMs - this.#sampledMs < everyMs) return
    this.#isNew = false
    this.#sampledMs = nowMs
    const others = this.#othersAt(room, own, nowMs)
    const before = process.cpuUsage()
    const sample = this.#writes.sample(tree, others, { wallMs: clock.wallMs(), monoMs: nowMs })
    const { user, system } = process.cpuUsage(before)
    this.#tookMs = (user + system) / 1_000
    await allHeard()
    this.#samples = [...this.#samples, sample].slice(-SAMPLES_MAX)
  }

  /** Who else is at work: as it was, while nothing has come to the log and that is not long ago. */
  #othersAt(room: Coordination, own: Agent, nowMs: number): ReadonlySet<ProcessRef> {
    const { tree } = this.#parts
    // Without anything that others hold there is nothing to tell apart.
    if (this.#claims.size === 0) return new Set()
    if (this.#others.head === this.#head && nowMs - this.#others.seenMs < WATCH_MARK_MS) return this.#others.trees
    const trees = suspects(room, own, tree, this.#writes).flatMap(({ runtime }) => runtime.tree ?? [])
    this.#others = { head: this.#head, seenMs: nowMs, trees: new Set(trees) }
    return this.#others.trees
  }
}

/** A hundredth of a processor goes into knowing who has written. */
const SAMPLE_SHARE = 100
/** For files that were written before anybody listened there. */
const SAMPLES_MAX = 8

/** An event is heard at once; a file that was written longer ago has had its mode changed, or was read. */
const RECENT_MS = 2_000

const writtenMs = (root: string, path: string, otherwise: number): number =>
  statSync(join(root, path), { throwIfNoEntry: false })?.mtimeMs ?? otherwise
