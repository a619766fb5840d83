// A slip beside the trail: what was let pass, and on which state of the store. While nobody has written to that, the same may pass again without a look into it.
import { readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { bootId } from '../../boot-id.ts'
import type { Clock } from '../../clock.ts'
import { ledgerSignature } from '../../coordination/ledger/ledger-files.ts'
import { storePath } from '../../coordination/store-path.ts'
import { isWaiting, leaveTrail, makeTrailsDir, slipPath } from '../../coordination/trail.ts'
import { treeByParents } from '../../coordination/who/place.ts'
import type { ProcessRef } from '../../coordination/who/process-ref.ts'
import { HeimdallError, isErrno } from '../../errors.ts'
import type { HookCall, HookTool } from '../../hosts/hooks/hook-call.ts'
import { HOOK_BEAT_MS, HOOK_SLIP_PATHS_MAX, HOOK_SLIP_SETTLED_MS } from '../../limits.ts'
import { type Env, findProject, type Project, stateDir } from '../../paths.ts'
import { folderOf, realPath, writtenPaths } from './hook-place.ts'

export interface HookSurroundings {
  readonly env: Env
  /** Of the hook's own process. */
  readonly cwd: string
  readonly clock: Clock
  /** The process that asks, where it is not this one: a host that calls the hub. */
  readonly pid?: number
  /** The tree of that process, where it is known already. */
  readonly tree?: ProcessRef | undefined
}

/** Where a hook is called that might pass, and by whom. */
export interface Asked {
  readonly call: HookCall
  readonly tool: HookTool
  readonly folder: string
  readonly project: Project
  readonly tree: ProcessRef
  readonly around: HookSurroundings
}

interface Slip {
  /** The state that it was made from: of the database, of the ledger's files, and where our own state lies. */
  readonly on: string
  readonly boot: string
  /** The agent's last beat; one that is older gives the next, which is not done here. */
  readonly beatMs: number
  /** Paths that are the agent's own, each with the file that it led to. */
  readonly paths: Readonly<Record<string, string>>
  /** Nobody else holds anything, so no command has to be looked at when it has run. */
  readonly isNothingHeld: boolean
}

/** Nothing where more is to be said than yes. */
export function askedOf(call: HookCall, around: HookSurroundings): Asked | undefined {
  const { tool, event } = call
  if (tool === undefined || (event !== 'before-tool' && event !== 'after-tool')) return undefined
  const asksGit = tool.commit !== null || tool.aliases.length + tool.losses.length > 0
  if (tool.bypass !== null || asksGit || tool.isUnread) return undefined
  const folder = folderOf(call, around.cwd)
  const project = findProject(folder, around.env)
  const tree = around.tree ?? treeByParents(around.pid)
  if (tree === undefined || isWaiting(project, tree)) return undefined
  return { call, tool, folder, project, tree, around }
}

/** True when the host may go on; the call is in the trail by then. */
export function passesBySlip(call: HookCall, around: HookSurroundings): boolean {
  try {
    const asked = askedOf(call, around)
    const slip = asked === undefined ? undefined : readSlip(asked)
    if (asked === undefined || slip === undefined || !covers(slip, asked)) return false
    leavePass(asked)
    return true
  } catch (error) {
    // A folder that is gone: the long way meets the same and reports it.
    if (error instanceof HeimdallError) return false
    throw error
  }
}

function covers({ on, boot, beatMs, paths, isNothingHeld }: Slip, asked: Asked): boolean {
  const { call, tool, folder, around } = asked
  if (boot !== bootId() || around.clock.monoMs() - beatMs >= HOOK_BEAT_MS) return false
  if (call.event === 'after-tool' && tool.isShell && !isNothingHeld) return false
  if (call.event === 'before-tool') {
    const written = writtenPaths(tool, folder, around.env)
    if (written.some(({ path, isPattern, isGone }) => isPattern || isGone === true || paths[path] !== realPath(path)))
      return false
  }
  return on === stateOf(asked)
}

export function leavePass({ call, tool, project, tree, around }: Asked): void {
  const { host, sessionId: session, event } = call
  leaveTrail(project, tree, { at: around.clock.wallMs(), event, host, session, tool: tool.name, use: tool.useId })
}

/** Taken before the store is read, so that the slip is never newer than what it is about. Nothing while it is being written to. */
export function stateBefore(asked: Asked): string | undefined {
  const settledMs = asked.around.clock.wallMs() - HOOK_SLIP_SETTLED_MS
  // The times of files move in steps: of a write just now, the next might not be told apart.
  return storeFiles(asked.project).some((path) => (statOf(path)?.mtimeMs ?? 0) > settledMs) ? undefined : stateOf(asked)
}

/** What was found to pass on that state. */
export function putSlip(asked: Asked, on: string, found: { beatMs: number; isNothingHeld: boolean }): void {
  const { project, tree, tool, folder, call } = asked
  const known = readSlip(asked)
  const paths = known?.on === on ? Object.entries(known.paths) : []
  const written = call.event === 'before-tool' ? writtenPaths(tool, folder, asked.around.env) : []
  const own = written.flatMap(({ path, isPattern }) => (isPattern ? [] : [[path, realPath(path)] as const]))
  const slip: Slip = {
    on,
    boot: bootId(),
    ...found,
    paths: Object.fromEntries([...paths, ...own].slice(-HOOK_SLIP_PATHS_MAX)),
  }
  const path = slipPath(project, tree)
  const draft = `${path}.${process.pid}`
  makeTrailsDir(project)
  writeFileSync(draft, JSON.stringify(slip), { mode: 0o600 })
  renameSync(draft, path)
}

function readSlip({ project, tree }: Asked): Slip | undefined {
  try {
    const slip = JSON.parse(readFileSync(slipPath(project, tree), 'utf8')) as Partial<Slip> | null
    // Whoever can write it could have written anything.
    return typeof slip?.on === 'string' && slip.paths instanceof Object ? (slip as Slip) : undefined
  } catch (error) {
    if (error instanceof SyntaxError || isErrno(error, 'ENOENT', 'ENOTDIR')) return undefined
    throw error
  }
}

const stateOf = ({ project, around }: Asked): string =>
  JSON.stringify([storeFiles(project).map(stampOf), ledgerSignature(project), stateDir(around.env), project.root])

/** SQLite writes to its log, and from there to the database; what it maps to find its way is in neither. */
const storeFiles = (project: Project): string[] => ['', '-wal'].map((ending) => `${storePath(project)}${ending}`)

function stampOf(path: string): string {
  const stats = statOf(path)
  return stats === undefined ? '' : `${stats.size}:${stats.mtimeMs}:${stats.ino}`
}

const statOf = (path: string) => statSync(path, { throwIfNoEntry: false })
