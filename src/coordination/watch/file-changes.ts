// Hears of files that change below some scopes: from the system as far as it has watches, from git beyond that.
import { type FSWatcher, statSync, watch } from 'node:fs'
import { join } from 'node:path'
import type { Clock } from '../../clock.ts'
import { isSystemError } from '../../errors.ts'
import { WATCH_FOLDERS_MAX, WATCH_LOOK_MS } from '../../limits.ts'
import type { Project } from '../../paths.ts'
import type { Scope } from '../../scopes/scope.ts'
import { changedPaths } from './git-answers.ts'
import { heldFolders } from './held-folders.ts'
import { NO_SAMPLE, type Sample } from './tree-writes.ts'

export interface FileChange {
  /** When it was heard of, by the wall. */
  readonly atMs: number
  /** The name came, went or stands for another file; else the content changed. */
  readonly isName: boolean
  /** It was written after this. */
  readonly since: Sample
}

export interface FileChangesParts {
  readonly project: Pick<Project, 'root' | 'gitCommonDir'>
  readonly clock: Clock
  readonly onChange: () => void
  /** The last one of which is sure that nothing that was written before it is still to be heard of. */
  readonly since: () => Sample
}

export class FileChanges {
  readonly #parts: FileChangesParts
  readonly #watchers = new Map<string, FSWatcher>()
  readonly #heard = new Map<string, FileChange>()
  #scopes: readonly Scope[] = []
  /** A folder has come, or a watch was lost. */
  #isOld = false
  /** More folders than the system will tell of. */
  #asksGit = false
  #askedMs = -Infinity
  #tookMs = 0
  #lastAsked = { atMs: 0, since: NO_SAMPLE }

  constructor(parts: FileChangesParts) {
    this.#parts = parts
  }

  async follow(scopes: readonly Scope[]): Promise<void> {
    this.#scopes = scopes
    this.#isOld = false
    const folders = await heldFolders(this.#parts.project, scopes, WATCH_FOLDERS_MAX)
    for (const [folder, watcher] of this.#watchers)
      if (folders?.has(folder) !== true) {
        watcher.close()
        this.#watchers.delete(folder)
      }
    const wasAsking = this.#asksGit
    this.#asksGit = folders === undefined
    for (const folder of folders ?? []) this.#watch(folder)
    if (this.#asksGit && !wasAsking) this.#lastAsked = this.#now()
  }

  /** True when what is there has to be followed anew: files in new folders were not heard of. */
  get isOld(): boolean {
    return this.#isOld
  }

  /** What has changed since the last time, from the root on. */
  async take(): Promise<ReadonlyMap<string, FileChange>> {
    if (this.#asksGit) await this.#askGit()
    const taken = new Map(this.#heard)
    this.#heard.clear()
    return taken
  }

  stop(): void {
    for (const watcher of this.#watchers.values()) watcher.close()
    this.#watchers.clear()
  }

  #watch(folder: string): void {
    if (this.#watchers.has(folder)) return
    const { project, onChange } = this.#parts
    try {
      const watcher = watch(join(project.root, folder), { persistent: false }, (kind, name) => {
        if (name === null) return
        const path = folder === '' ? name : `${folder}/${name}`
        const isName = kind === 'rename'
        if (isName && isFolder(join(project.root, path))) this.#isOld = true
        const before = this.#heard.get(path)
        this.#heard.set(path, {
          ...this.#now(),
          isName: isName || before?.isName === true,
          // Of several writes, the first may have been another's than the last.
          ...(before === undefined ? {} : { since: before.since }),
        })
        onChange()
      })
      watcher.on('error', () => this.#lose(folder))
      this.#watchers.set(folder, watcher)
    } catch (error) {
      if (!isSystemError(error)) throw error
      // Gone by now, or the system has no watches left: of the latter git can tell.
      if (isFolder(join(project.root, folder))) this.#asksGit = true
    }
  }

  #lose(folder: string): void {
    this.#watchers.get(folder)?.close()
    this.#watchers.delete(folder)
    this.#isOld = true
  }

  /** The longer it takes, the more seldom: it has the machine to share. */
  async #askGit(): Promise<void> {
    const { project, clock } = this.#parts
    const nowMs = clock.monoMs()
    if (nowMs - this.#askedMs < Math.max(WATCH_LOOK_MS, 4 * this.#tookMs) - WATCH_LOOK_MS / 10) return
    this.#askedMs = nowMs
    const { atMs: sinceMs, since } = this.#lastAsked
    this.#lastAsked = this.#now()
    for (const path of await changedPaths(project)) {
      const writtenMs = statSync(join(project.root, path), { throwIfNoEntry: false })?.mtimeMs
      if (writtenMs !== undefined && writtenMs >= sinceMs && this.#scopes.length > 0)
        this.#heard.set(path, { atMs: clock.wallMs(), isName: false, since })
    }
    this.#tookMs = clock.monoMs() - nowMs
  }

  #now(): { readonly atMs: number; readonly since: Sample } {
    return { atMs: this.#parts.clock.wallMs(), since: this.#parts.since() }
  }
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
