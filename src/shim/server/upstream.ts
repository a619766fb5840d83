// The MCP server behind the shim: a process group of its own, ended with everything it started.
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { Readable, Writable } from 'node:stream'
import { type Clock, pause, whileMoving, within } from '../../clock.ts'
import { UPSTREAM_GRACE_MS } from '../../limits.ts'
import type { ProcessTree } from '../../process-tree.ts'
import { signal, treeOf, watchTree } from './descendants.ts'
import { startGuardian } from './guardian.ts'

/** How the server ended: by itself with a code, by a signal, or it could not be started at all. */
export interface UpstreamExit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly error: Error | null
}

export interface Upstream {
  readonly stdin: Writable
  readonly stdout: Readable
  readonly stderr: Readable
  readonly exited: Promise<UpstreamExit>
  /** Ends the server and all that came of it: end of input, a moment, SIGTERM, the grace time, SIGKILL. */
  end(options: EndOptions): Promise<void>
}

export interface EndOptions {
  /** How long it may take to go by itself once its input has ended; `null` for SIGTERM at once. */
  readonly patienceMs: (() => number) | null
  /** Changes while it still takes input or answers: then the patience begins anew. */
  readonly moved?: () => number
  /** Cuts the patience short: nothing is left that is worth waiting for. */
  readonly settled?: Promise<void>
  readonly afterSettledMs?: number
}

export function startUpstream(options: {
  readonly command: readonly string[]
  /** All that the server gets. */
  readonly env: NodeJS.ProcessEnv
  readonly cwd: string
  /** In its environment: by this it is found again. */
  readonly mark: string
  readonly clock: Clock
  readonly note: (line: string) => void
}): Upstream {
  const { clock, mark } = options
  const [file = '', ...args] = options.command
  // First the guardian: a shim killed between the two leaves at most a guardian, which then finds nothing and goes.
  const guardian = startGuardian(mark, options.note)
  const child: ChildProcessByStdio<Writable, Readable, Readable> = spawn(file, args, {
    cwd: options.cwd,
    env: options.env,
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const group = child.pid
  const tree = treeOf(group, mark)
  if (group !== undefined) guardian.watch(group)
  const watch = group === undefined ? null : watchTree(tree, group, guardian, clock, options.note)
  const exited = new Promise<UpstreamExit>((resolve) => {
    child.once('error', (error) => resolve({ code: null, signal: null, error }))
    child.once('exit', (code, name) => resolve({ code, signal: name, error: null }))
  })
  // Upstream may close its input while we write; what that means is told by its exit.
  child.stdin.on('error', () => {})
  return {
    stdin: child.stdin,
    stdout: child.stdout,
    stderr: child.stderr,
    exited,
    async end({ patienceMs, moved = () => 0, settled, afterSettledMs }) {
      child.stdin.end()
      if (patienceMs !== null) {
        const moment = settled?.then(() => within(clock, afterSettledMs ?? 0, exited)) ?? exited
        await whileMoving(clock, patienceMs, moved, Promise.race([exited, moment]))
      }
      watch?.cancel()
      await endAll(group, tree, clock)
      guardian.dismiss()
    },
  }
}

/** A server that was not started, for a reason that whoever waits for it is told. */
export function unstarted(why: string): Upstream {
  return {
    stdin: new Writable({ write: (_chunk, _encoding, done) => done() }),
    // Read by nobody, they would not end.
    stdout: Readable.from([]).resume(),
    stderr: Readable.from([]).resume(),
    exited: Promise.resolve({ code: null, signal: null, error: new Error(why) }),
    end: () => Promise.resolve(),
  }
}

/** Signals whatever is left of the group and of the rest of the tree, and waits until none is. */
async function endAll(group: number | undefined, tree: ProcessTree, clock: Clock): Promise<void> {
  let left = tree.members()
  if (left.length === 0) return
  // The group first and as one, so that a parent cannot start anew what a signal has just ended.
  const send = (name: NodeJS.Signals): void => {
    if (group !== undefined) signal(-group, name)
    for (const { pid } of left) signal(pid, name)
  }
  send('SIGTERM')
  const deadlineMs = clock.monoMs() + UPSTREAM_GRACE_MS
  for (let pauseMs = 10; left.length > 0 && clock.monoMs() < deadlineMs; pauseMs = Math.min(pauseMs * 2, 80)) {
    await pause(clock, pauseMs)
    left = tree.members()
  }
  if (left.length > 0) send('SIGKILL')
}
