// `heimdall hook HOST` without the frame: hosts wait for it before every tool.
import { readSync, writeSync } from 'node:fs'
import { systemClock } from '../clock.ts'
import { isErrno, isSystemError } from '../errors.ts'
import { blindOutput, type HookOutput } from '../hosts/hooks/hook-answer.ts'
import { HOOK_HOSTS, type HookHost } from '../hosts/hooks/hook-table.ts'
import { HOOK_BYTES_MAX, HOOK_READ_BYTES } from '../limits.ts'
import type { Env } from '../paths.ts'
import { answerHook } from '../spine/hooks/answer-hook.ts'

export const hookHost = (word: string | undefined): HookHost | undefined => HOOK_HOSTS.find((host) => host === word)

/** Reads what the host hands over, answers in its own form, and returns the exit code: 0, or 2 where that is the host's word for no. */
export async function runHook(host: HookHost, isStrict: boolean, env: Env, cwd: string): Promise<number> {
  const { stdout, stderr, exit, refuses } = await answered(host, isStrict, env, cwd)
  if (stderr !== '') isWritten(2, `${stderr}\n`)
  if (stdout === '' || isWritten(1, `${stdout}\n`)) return exit
  // Nobody reads the answer, or it fits nowhere: a no can still be said by the exit code, and anything else is said by nothing.
  return refuses === true ? 2 : exit
}

/** False when whoever was to read it has gone, or its disk is full. */
function isWritten(fd: 1 | 2, text: string): boolean {
  try {
    writeSync(fd, text)
    return true
  } catch (error) {
    if (isSystemError(error)) return false
    throw error
  }
}

/** Whatever goes wrong, the host gets an answer in words that it knows: any other exit code is a hook that did not happen. */
async function answered(host: HookHost, isStrict: boolean, env: Env, cwd: string): Promise<HookOutput> {
  try {
    const text = await handedOver()
    if (text === undefined) return blindOutput(host, `${host} handed over more than ${HOOK_BYTES_MAX} bytes`, isStrict)
    return await answerHook({ host, isStrict, text, env, cwd, clock: systemClock })
  } catch (error) {
    const why = error instanceof Error ? (error.stack ?? error.message) : String(error)
    return blindOutput(host, `the hook failed: ${why}`, isStrict)
  }
}

/** Nothing past the limit; it is read to its end all the same, because a host may not bear a pipe that breaks, and not kept. */
async function handedOver(): Promise<string | undefined> {
  const kept: Buffer[] = []
  let bytes = 0
  const keep = (chunk: Buffer): void => {
    bytes += chunk.byteLength
    if (bytes <= HOOK_BYTES_MAX) kept.push(Buffer.from(chunk))
    else kept.length = 0
  }
  const buffer = Buffer.allocUnsafe(HOOK_READ_BYTES)
  try {
    for (let read = readSync(0, buffer); read > 0; read = readSync(0, buffer)) keep(buffer.subarray(0, read))
  } catch (error) {
    // A pipe that its writer has made non-blocking: only the stream waits for it.
    if (!isErrno(error, 'EAGAIN')) throw error
    for await (const chunk of process.stdin) keep(chunk as Buffer)
  }
  return bytes > HOOK_BYTES_MAX ? undefined : Buffer.concat(kept).toString('utf8')
}
