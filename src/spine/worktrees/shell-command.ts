// Runs the commands of the settings in a worktree: the one that prepares it, and the one that checks merged files.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, fstatSync, mkdtempSync, openSync, readSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Clock } from '../../clock.ts'
import { HeimdallError, isErrno } from '../../errors.ts'
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

/**
 * Undefined when the command succeeds; otherwise how it ended, with the last lines that it printed. What it has left
 * running in its process group ends with it.
 */
export async function failureOfCommand({
  command,
  cwd,
  checkout,
  env,
  clock,
}: ShellCommand): Promise<string | undefined> {
  // A file and no pipe: a program that outlives the command could hold a pipe open.
  const output = unnamedFile()
  let stoppedBy: NodeJS.Signals | undefined
  let child: ChildProcess | undefined
  const stop = (signal: NodeJS.Signals): void => {
    stoppedBy = signal
    killGroup(child)
  }
  const timer = clock.after(WORKTREE_COMMAND_MS, () => killGroup(child))
  for (const name of STOP_SIGNALS) process.on(name, stop)
  try {
    child = spawn('/bin/sh', ['-c', command], {
      cwd,
      env: { ...cleared(env), HEIMDALL_CHECKOUT: checkout },
      stdio: ['ignore', output, output],
      detached: true,
    })
    const [code, signal] = (await once(child, 'exit')) as [number | null, string | null]
    if (stoppedBy !== undefined)
      throw new HeimdallError('INTERRUPTED', `stopped by ${stoppedBy}: ${escapeControls(command)}`)
    if (code === 0) return undefined
    const lines = endOf(output)
      .split('\n')
      .filter((line) => line.trim() !== '')
    const said = lines.slice(-WORKTREE_COMMAND_LINES_SHOWN).map(escapeControls).join('; ')
    return `exit ${signal ?? code}${said === '' ? '' : `: ${said}`}`
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'ENOTDIR', 'EACCES', 'EAGAIN', 'E2BIG')) return `cannot start: ${error.message}`
    throw error
  } finally {
    timer.cancel()
    for (const name of STOP_SIGNALS) process.off(name, stop)
    killGroup(child)
    closeSync(output)
  }
}

const STOP_SIGNALS = ['SIGINT', 'SIGTERM'] as const

/** Never a group that is not the command's: without a pid nothing was started. */
function killGroup(child: ChildProcess | undefined): void {
  if (child?.pid === undefined) return
  try {
    process.kill(-child.pid, 'SIGKILL')
  } catch (error) {
    // All of it has ended; macOS says EPERM where only a zombie is left.
    if (!isErrno(error, 'ESRCH', 'EPERM')) throw error
  }
}

function unnamedFile(): number {
  const folder = mkdtempSync(join(tmpdir(), 'heimdall-output-'))
  try {
    return openSync(join(folder, 'output'), 'ax+')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function endOf(file: number): string {
  const { size } = fstatSync(file)
  const bytes = Buffer.alloc(Math.min(size, LAST_BYTES))
  return bytes.toString('utf8', 0, readSync(file, bytes, 0, bytes.length, size - bytes.length))
}

const LAST_BYTES = 8_192
