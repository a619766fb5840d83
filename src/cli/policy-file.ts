// A policy file, or stdin for `-`, as text and as a snapshot.
import { isUtf8 } from 'node:buffer'
import { readFile, stat } from 'node:fs/promises'
import { HeimdallError, isErrno } from '../errors.ts'
import { POLICY_JSON_BYTES_MAX } from '../limits.ts'
import { compileBundle } from '../policy/bundle/compile.ts'
import { invalidPolicy } from '../policy/bundle/problems.ts'
import type { Snapshot } from '../policy/types.ts'
import type { Context } from './command.ts'
import { readAll } from './stdin.ts'

export async function readPolicyFile(context: Context, file: string): Promise<string> {
  const bytes = file === '-' ? await readAll(context.stdin) : await readBytes(context, file)
  if (!isUtf8(bytes)) throw invalidPolicy(file, [{ path: '', message: 'is not UTF-8' }])
  return bytes.toString()
}

async function readBytes(context: Context, file: string): Promise<Buffer> {
  const path = context.resolve(file)
  try {
    const { size } = await stat(path)
    if (size > POLICY_JSON_BYTES_MAX)
      throw invalidPolicy(file, [{ path: '', message: `has ${size} bytes, at most ${POLICY_JSON_BYTES_MAX} are read` }])
    return await readFile(path)
  } catch (error) {
    if (!isErrno(error, 'ENOENT', 'EACCES', 'EISDIR', 'ENOTDIR', 'ELOOP')) throw error
    throw new HeimdallError('POLICY_UNREADABLE', `${file} cannot be read (${error.code})`, {
      cause: error,
      ...(error.code === 'ENOENT' && { hint: 'heimdall policy init --from careful writes a first one' }),
    })
  }
}

export async function loadSnapshot(context: Context, file: string): Promise<Snapshot> {
  return compileBundle(await readPolicyFile(context, file), { name: file })
}
