// `heimdall hook HOST` without parsing and context: hosts wait for it before every tool.
import { readSync, writeSync } from 'node:fs'
import { systemClock } from '../clock.ts'
import { isErrno, isSystemError } from '../errors.ts'
import { blindOutput, type HookOutput } from '../hosts/hooks/hook-answer.ts'
import { HOOK_HOSTS, type HookHost } from '../hosts/hooks/hook-table.ts'
import { HOOK_BYTES_MAX, HOOK_READ_BYTES } from '../limits.ts'
import type { Env } from '../paths.ts'
import { answerHook } from '../spine/hooks/answer-hook.ts'

export const hookHost = (word: string | undefined): HookHost | undefined => HOOK_HOSTS.find((host) => host === word)

/** Reads the payload from stdin, writes the answer in the format of the host, and returns the exit code: 0, or 2 where the host expects that for a denial. */
export async function runHook(host: HookHost, isStrict: boolean, env: Env, cwd: string): Promise<number> {
  const { stdout, stderr, exit, refuses } = await answered(host, isStrict, env, cwd)
  if (stderr !== '') isWritten(2, `${stderr}\n`)
  if (stdout === '' || isWritten(1, `${stdout}\n`)) return exit
  // The answer could not be written: the exit code can still deny.
  return refuses === true ? 2 : exit
}

/** False when the reader has gone or the disk is full. */
function isWritten(fd: 1 | 2, text: string): boolean {
  try {
    writeSync(fd, text)
    return true
  } catch (error) {
    if (isSystemError(error)) return false
    throw error
  }
}

/** Every failure becomes an answer in the format of the host: hosts ignore a hook that exits with another code. */
async function answered(host: HookHost, isStrict: boolean, env: Env, cwd: string): Promise<HookOutput> {
  try {
    const text = await readPayload()
    if (text === undefined) return blindOutput(host, `the payload has more than ${HOOK_BYTES_MAX} bytes`, isStrict)
    return await answerHook({ host, isStrict, text, env, cwd, clock: systemClock })
  } catch (error) {
    const why = error instanceof Error ? (error.stack ?? error.message) : String(error)
    return blindOutput(host, `the hook failed: ${why}`, isStrict)
  }
}

/** Undefined for more than the limit, which is read to its end all the same: a host may fail at a broken pipe. */
async function readPayload(): Promise<string | undefined> {
  const chunks: Buffer[] = []
  let bytes = 0
  const keep = (chunk: Buffer): void => {
    bytes += chunk.byteLength
    if (bytes <= HOOK_BYTES_MAX) chunks.push(Buffer.from(chunk))
    else chunks.length = 0
  }
  const buffer = Buffer.allocUnsafe(HOOK_READ_BYTES)
  try {
    for (let read = readSync(0, buffer); read > 0; read = readSync(0, buffer)) keep(buffer.subarray(0, read))
  } catch (error) {
    // A non-blocking pipe: the stream waits for it.
    if (!isErrno(error, 'EAGAIN')) throw error
    for await (const chunk of process.stdin) keep(chunk as Buffer)
  }
  return bytes > HOOK_BYTES_MAX ? undefined : Buffer.concat(chunks).toString('utf8')
}
