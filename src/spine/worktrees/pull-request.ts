// Proposes an agent's branch: pushed, and opened as a pull request by the forge's own command, or as a page that the user opens.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { HeimdallError } from '../../errors.ts'
import { escapeControls, printable } from '../../ids.ts'
import { WORKTREE_FORGE_MS } from '../../limits.ts'
import { isCommand } from '../../sessions/command.ts'
import { ask, askIfThere, cleared, git, type Git } from './git.ts'

export interface Proposal {
  readonly branch: string
  readonly into: string
  readonly title: string
  readonly body: string
}

export interface Proposed {
  readonly remote: string
  /** The pull request; null where it was not opened by a command. */
  readonly url: string | null
  /** The page of the forge on which the user opens it. */
  readonly compare: string | null
  /** Why the forge's command did not open it, if one was called. */
  readonly failure: string | null
}

export async function propose(at: Git, { branch, into, title, body }: Proposal): Promise<Proposed> {
  const remote = await remoteOf(at, into)
  await git(at, ['push', '--quiet', '--set-upstream', remote, `refs/heads/${branch}`])
  const address = await ask(at, ['remote', 'get-url', remote])
  const compare = compareUrl(address, into, branch)
  const host = forgeAt(address)?.host ?? ''
  const command = FORGE_COMMANDS.find((one) => one.host.test(host) && isCommand(one.program, at.cwd, at.env))
  if (command === undefined) return { remote, url: null, compare, failure: null }
  const { code, text } = await run(at, [command.program, ...command.args(branch, into, title, body)])
  // One that is open already is named in the refusal.
  const url = /https?:\/\/[^\s"']+/.exec(text)?.[0] ?? null
  if (url !== null && (code === 0 || /already exists/i.test(text))) return { remote, url, compare, failure: null }
  const said = text.trim().split('\n').slice(-3).map(escapeControls).join('; ')
  return { remote, url: null, compare, failure: `${command.program} ended with ${code}: ${said}` }
}

interface ForgeCommand {
  readonly host: RegExp
  readonly program: string
  readonly args: (branch: string, into: string, title: string, body: string) => readonly string[]
}

const FORGE_COMMANDS: readonly ForgeCommand[] = [
  {
    host: /github/i,
    program: 'gh',
    args: (branch, into, title, body) => [
      'pr',
      'create',
      '--head',
      branch,
      '--base',
      into,
      '--title',
      title,
      '--body',
      body,
    ],
  },
  {
    host: /gitlab/i,
    program: 'glab',
    args: (branch, into, title, body) => [
      'mr',
      'create',
      `--source-branch=${branch}`,
      `--target-branch=${into}`,
      `--title=${title}`,
      `--description=${body}`,
      '--yes',
    ],
  },
]

/** The remote of the branch that the work is meant for, or the only one, or `origin`. */
async function remoteOf(at: Git, into: string): Promise<string> {
  const configured = await askIfThere(at, ['config', '--get', `branch.${into}.remote`])
  const remotes = (await ask(at, ['remote'])).split('\n').filter((name) => name !== '')
  const found = remotes.find((name) => name === configured) ?? remotes.find((name) => name === 'origin') ?? remotes[0]
  if (found !== undefined) return found
  throw new HeimdallError('WORKTREE_TARGET_UNFIT', `${printable(at.cwd)} has no remote to push to`, {
    hint: 'git remote add origin URL',
  })
}

/** Host and path of a remote; nothing for a folder, or an address of no known form. */
function forgeAt(address: string): { readonly host: string; readonly path: string } | undefined {
  const [, host, path] =
    /^(?:https?:\/\/|ssh:\/\/)(?:[^@/]+@)?([^/:]+)(?::\d+)?\/(.+?)(?:\.git)?\/?$/.exec(address) ??
    /^(?:[^@/]+@)?([^/:]+):(?!\/)(.+?)(?:\.git)?\/?$/.exec(address) ??
    []
  return host === undefined || path === undefined || !host.includes('.') ? undefined : { host, path }
}

/** The page that compares two branches; null where no host is known. */
export function compareUrl(address: string, into: string, branch: string): string | null {
  const forge = forgeAt(address)
  if (forge === undefined) return null
  const { host, path } = forge
  const [from, to] = [branch, into].map(encodeURIComponent)
  if (/gitlab/i.test(host))
    return `https://${host}/${path}/-/merge_requests/new?merge_request%5Bsource_branch%5D=${from}&merge_request%5Btarget_branch%5D=${to}`
  if (/bitbucket/i.test(host)) return `https://${host}/${path}/pull-requests/new?source=${from}&dest=${to}`
  return `https://${host}/${path}/compare/${into}...${branch}`
}

async function run({ cwd, env }: Git, [program = '', ...args]: readonly string[]) {
  const child = spawn(program, args, {
    cwd,
    env: { ...cleared(env) },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: WORKTREE_FORGE_MS,
  })
  let text = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      text = `${text}${chunk.toString('utf8')}`.slice(-65_536)
    })
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null]
  return { code: code ?? signal, text }
}
