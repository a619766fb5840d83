// Config files of hosts that contain our hooks, from the records of `heimdall init`.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Env, stateFolder } from '../../paths.ts'
import { recordPathIn } from '../record-path.ts'

export const hookRecordsDir = (env: Env): string => stateFolder(env, 'init')

export const hookRecordPath = (env: Env, realPath: string): string => recordPathIn(hookRecordsDir(env), realPath)

/** All of them. One whose record cannot be read is not among them; whoever asks for it by its path finds it. */
export function guardingFiles(env: Env): string[] {
  const folder = hookRecordsDir(env)
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .filter((name) => /^[0-9a-f]{32}\.json$/.test(name))
    .flatMap((name) => /"path":("(?:[^"\\]|\\.)*")/.exec(readFileSync(join(folder, name), 'utf8'))?.[1] ?? [])
    .map((literal) => JSON.parse(literal) as string)
}

export const isGuardingFile = (env: Env, realPath: string): boolean => existsSync(hookRecordPath(env, realPath))
