// Git as the user has it: the real program, with argument lists, in a named folder, and free of what a hook above us has in its environment.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { HeimdallError, isErrno } from '../../errors.ts'
import { escapeControls } from '../../ids.ts'
import { GIT_ANSWER_BYTES_MAX } from '../../limits.ts'
import { type Env, gitFoldersOf, type GitFolders } from '../../paths.ts'

export interface Git {
  readonly cwd: string
  readonly env: Env
}

interface Said {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

interface Asking {
  readonly input?: string
  /** Exit codes that are answers; 0 always is one. */
  readonly answers?: readonly number[]
}

/** Runs git to its end; a code that is no answer is refused with git's own words. */
export async function git(at: Git, args: readonly string[], { input = '', answers = [] }: Asking = {}): Promise<Said> {
  const said = await run(at, args, input)
  if (said.code === 0 || answers.includes(said.code)) return said
  throw new HeimdallError('GIT_FAILED', `git ${verbOf(args)}: ${lastWords(said)}`)
}

/** What git prints, without its last line feed. */
export async function ask(at: Git, args: readonly string[]): Promise<string> {
  return (await git(at, args)).stdout.replace(/\n$/, '')
}

/** The same where exit 1 means that there is no such thing. */
export async function askIfThere(at: Git, args: readonly string[]): Promise<string | undefined> {
  const { code, stdout } = await git(at, args, { answers: [1] })
  return code === 0 ? stdout.replace(/\n$/, '') : undefined
}

/** The commit that a revision names, if it names one. */
export function commitOf(at: Git, revision: string): Promise<string | undefined> {
  return askIfThere(at, ['rev-parse', '--quiet', '--verify', '--end-of-options', `${revision}^{commit}`])
}

/** The commits of those of the branches that exist, by their names. */
export async function tipsOf(at: Git, branches: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const refs = branches.map((name) => `refs/heads/${name}`)
  const text = await ask(at, ['for-each-ref', '--format=%(objectname) %(refname:lstrip=2)', ...refs])
  return new Map(text.split('\n').map((line) => [line.slice(line.indexOf(' ') + 1), line.slice(0, line.indexOf(' '))]))
}

/** The git folders of the checkout that is asked about, read and not asked for. */
export function foldersOf({ cwd }: Git): GitFolders {
  const found = gitFoldersOf(cwd)
  if (found !== undefined) return found
  // Of a repository whose git folder is elsewhere, git lists that folder as the main checkout.
  if (existsSync(join(cwd, 'HEAD'))) return { gitDir: cwd, commonDir: cwd }
  throw new HeimdallError('GIT_FAILED', `${escapeControls(cwd)} is not a git checkout`)
}

export async function isAncestor(at: Git, ancestor: string, of: string): Promise<boolean> {
  return (await git(at, ['merge-base', '--is-ancestor', ancestor, of], { answers: [1] })).code === 0
}

/** Fields of an answer that was asked for with -z. */
export const fieldsOf = (text: string): string[] => text.split('\0').filter((field) => field !== '')

/** What git and its hooks said last, as a line that no terminal obeys. */
export function lastWords({ stderr, stdout, code }: Said): string {
  const lines = (stderr.trim() === '' ? stdout : stderr)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('hint:'))
  const words = lines.slice(-WORDS_LINES).join('; ')
  return words === '' ? `exit code ${code}` : escapeControls(words)
}

const WORDS_LINES = 4

/** The subcommand: what is before it are options of git itself. */
function verbOf(args: readonly string[]): string {
  const at = args.findIndex((word, index) => !word.startsWith('-') && args[index - 1] !== '-c')
  return args[at] ?? ''
}

/** What `git rev-parse --local-env-vars` lists: with these, another repository than that of the folder would be meant. */
const LOCAL_VARIABLES: ReadonlySet<string> = new Set([
  'GIT_ALTERNATE_OBJECT_DIRECTORIES',
  'GIT_CONFIG',
  'GIT_OBJECT_DIRECTORY',
  'GIT_DIR',
  'GIT_WORK_TREE',
  'GIT_IMPLICIT_WORK_TREE',
  'GIT_GRAFT_FILE',
  'GIT_INDEX_FILE',
  'GIT_NO_REPLACE_OBJECTS',
  'GIT_REPLACE_REF_BASE',
  'GIT_PREFIX',
  'GIT_SHALLOW_FILE',
  'GIT_COMMON_DIR',
  'GIT_INTERNAL_SUPER_PREFIX',
  'GIT_NAMESPACE',
])

export function cleared(env: Env): Env {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !LOCAL_VARIABLES.has(name)))
}

/** The same repository and folder through another index, for questions that must not touch the real one. */
export const withIndex = ({ cwd, env }: Git, index: string): Git => ({ cwd, env: { ...env, GIT_INDEX_FILE: index } })

export const gitIn = (cwd: string, env: Env): Git => ({ cwd, env: cleared(env) })

function run({ cwd, env }: Git, args: readonly string[], input: string): Promise<Said> {
  return new Promise((resolve, reject) => {
    const child = spawn('git', [...args], { cwd, env: { ...env }, stdio: 'pipe' })
    const parts: Record<'stdout' | 'stderr', Buffer[]> = { stdout: [], stderr: [] }
    let bytes = 0
    for (const name of ['stdout', 'stderr'] as const)
      child[name].on('data', (chunk: Buffer) => {
        bytes += chunk.byteLength
        if (bytes > GIT_ANSWER_BYTES_MAX) child.kill('SIGKILL')
        else parts[name].push(chunk)
      })
    // Git may end without reading what it is told.
    child.stdin.on('error', (error) => {
      if (!isErrno(error, 'EPIPE', 'ECONNRESET')) reject(error)
    })
    child.once('error', (error) => {
      const why = isErrno(error, 'ENOENT') ? `git is not installed, or ${escapeControls(cwd)} is gone` : error.message
      reject(new HeimdallError('GIT_FAILED', `git ${verbOf(args)}: ${why}`, { cause: error }))
    })
    child.once('close', (code) => {
      const text = (name: 'stdout' | 'stderr'): string => Buffer.concat(parts[name]).toString('utf8')
      if (bytes > GIT_ANSWER_BYTES_MAX)
        reject(new HeimdallError('GIT_FAILED', `git ${verbOf(args)} said more than ${GIT_ANSWER_BYTES_MAX} bytes`))
      else resolve({ code: code ?? 128, stdout: text('stdout'), stderr: text('stderr') })
    })
    child.stdin.end(input)
  })
}
