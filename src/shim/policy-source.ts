// Where the policy comes from, and how a new one is taken up while calls go on.
import { type FSWatcher, readFileSync, statSync, watch } from 'node:fs'
import { dirname } from 'node:path'
import type { Clock, Timer } from '../clock.ts'
import { HeimdallError, isSystemError } from '../errors.ts'
import { POLICY_JSON_BYTES_MAX, POLICY_SETTLE_MS } from '../limits.ts'
import { compileBundle } from '../policy/bundle/compile.ts'
import { NO_POLICY } from '../policy/bundle/no-policy.ts'
import { openPolicyOnError } from '../policy/decide/on-error.ts'
import { openPolicy, type Policy } from '../policy/decide/plan.ts'
import type { Subject } from '../policy/types.ts'

/** A policy given in words, in a file that may change, or not at all. */
export type PolicyOrigin =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'text'; readonly text: string; readonly name: string }
  | { readonly kind: 'none' }

export interface Loaded {
  readonly policy: Policy
  /** What it was compiled from; null when there was nothing to read. */
  readonly text: string | null
  /** Why the policy that was asked for is not in force. */
  readonly problem: HeimdallError | null
}

/**
 * Never fails: a policy that is missing or broken is replaced by its `decision_on_error`, and the problem is reported.
 * So is one in mode *control* when the identity is unclear: its selectors cannot be matched.
 */
export async function loadPolicy(
  origin: PolicyOrigin,
  identity: Subject,
  unidentified: string | undefined,
): Promise<Loaded> {
  let text: string | null = null
  try {
    text = textOf(origin)
    const name = origin.kind === 'file' ? origin.path : origin.kind === 'text' ? origin.name : 'default'
    const snapshot = await compileBundle(text, { name })
    if (unidentified !== undefined && snapshot.mode === 'control')
      throw new HeimdallError('CONFIG_INVALID', `${unidentified}: a policy in mode control needs a known identity`)
    return { policy: openPolicy(snapshot, identity), text, problem: null }
  } catch (error) {
    if (!(error instanceof HeimdallError)) throw error
    return { policy: await openPolicyOnError(text, identity), text, problem: error }
  }
}

function textOf(origin: PolicyOrigin): string {
  if (origin.kind === 'file') return readPolicyFile(origin.path)
  return origin.kind === 'text' ? origin.text : NO_POLICY
}

function readPolicyFile(path: string): string {
  try {
    const { size } = statSync(path)
    if (size > POLICY_JSON_BYTES_MAX)
      throw new HeimdallError('POLICY_INVALID', `${path} has ${size} bytes, limit ${POLICY_JSON_BYTES_MAX}`)
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (!isSystemError(error)) throw error
    throw new HeimdallError('POLICY_UNREADABLE', `cannot read ${path}: ${error.message}`, { cause: error })
  }
}

export interface PolicyWatch {
  /** Looks now, whether or not the system has reported a change. */
  look(): void
  close(): void
}

/** Calls `onChange` with the new text when the file's content changes. The folder is watched, because editors replace files. */
export function watchPolicy(options: {
  readonly path: string
  /** What is in force; the file may have changed since it was read. */
  readonly loaded: string | null
  readonly clock: Clock
  readonly onChange: (change: { readonly text: string } | { readonly problem: HeimdallError }) => void
  readonly note: (line: string) => void
}): PolicyWatch {
  const { path, clock, onChange } = options
  let last = options.loaded
  let timer: Timer | undefined
  const look = (): void => {
    timer = undefined
    try {
      const text = readPolicyFile(path)
      if (text === last) return
      last = text
      onChange({ text })
    } catch (error) {
      if (!(error instanceof HeimdallError)) throw error
      // A file that is gone for a moment is being replaced; one that stays away is told of once.
      if (last === null) return
      last = null
      onChange({ problem: error })
    }
  }
  // Not put off by what comes while it waits: a file of events beside the policy changes with every call.
  const watcher = openWatcher(dirname(path), options.note, () => {
    timer ??= clock.after(POLICY_SETTLE_MS, look, { background: true })
  })
  look()
  return {
    look,
    close() {
      timer?.cancel()
      watcher?.close()
    },
  }
}

function openWatcher(folder: string, note: (line: string) => void, onEvent: () => void): FSWatcher | undefined {
  try {
    const watcher = watch(folder, { persistent: false }, onEvent)
    watcher.on('error', (error) => note(`the policy's folder is not watched any more: ${error.message}`))
    return watcher
  } catch (error) {
    if (!isSystemError(error)) throw error
    note(`the policy's folder cannot be watched: ${error.message}; SIGUSR2 still makes the shim look`)
    return undefined
  }
}
