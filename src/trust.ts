// Which settings files of projects a person has trusted: one record for each content of a project, in the user's state folder.
import { lstatSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Env, findProject, stateFolder } from './paths.ts'

/** True when exactly this text was trusted in exactly this project. A changed byte is another text. */
export function isTrusted(env: Env, path: string, text: string): boolean {
  if (env['HOME'] === undefined && env['XDG_STATE_HOME'] === undefined) return false
  const record = lstatSync(trustRecordPath(env, path, text), { throwIfNoEntry: false })
  return record !== undefined && record.isFile() && record.uid === process.getuid?.() && (record.mode & 0o022) === 0
}

/**
 * Where the record lies. Linked worktrees are one project; a clone elsewhere is another, because what a relative
 * path in the same text means there is for others to decide.
 */
export function trustRecordPath(env: Env, path: string, text: string): string {
  const { gitCommonDir, root } = findProject(dirname(path), env)
  return join(trustDir(env), `${sha256(`${gitCommonDir ?? root}\0${text}`)}.json`)
}

export const trustDir = (env: Env): string => stateFolder(env, 'trusted')

/** Asked for here: every command may read settings, and few find a project's file that has to be trusted. */
export const sha256 = (text: string): string =>
  process.getBuiltinModule('node:crypto').createHash('sha256').update(text).digest('hex')
