// Runs the commands of the settings in a worktree: the one that prepares it, and the one that checks merged files.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Clock } from '../../clock.ts'
import { escapeControls } from '../../ids.ts'
import { WORKTREE_COMMAND_LINES_SHOWN, WORKTREE_COMMAND_MS } from '../../limits.ts'
import type { Env } from '../../paths.ts'
import { cleared } from './git.ts'

export interface ShellCommand {
  readonly command: string
  readonly cwd: string
  /** The user's checkout, for files that git does not have. */
  readonly checkout: string
  readonly env: Env
  readonly clock: Clock
}

/** Undefined when the command succeeds; otherwise how it ended, with the last lines that it printed. */
export async function failureOfCommand({
  command,
  cwd,
  checkout,
  env,
  clock,
}: ShellCommand): Promise<string | undefined> {
  // A group of its own, so that nothing that it starts outlives the time limit.
  const child = spawn('/bin/sh', ['-c', command], {
    cwd,
    env: { ...cleared(env), HEIMDALL_CHECKOUT: checkout },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  let last = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      last = `${last}${chunk.toString('utf8')}`.slice(-LAST_CHARS)
    })
  const timer = clock.after(WORKTREE_COMMAND_MS, () => process.kill(-(child.pid ?? 0), 'SIGKILL'))
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null]
  timer.cancel()
  if (code === 0) return undefined
  const lines = last.split('\n').filter((line) => line.trim() !== '')
  const said = lines.slice(-WORKTREE_COMMAND_LINES_SHOWN).map(escapeControls).join('; ')
  return `exit ${signal ?? code}${said === '' ? '' : `: ${said}`}`
}

const LAST_CHARS = 8_192
