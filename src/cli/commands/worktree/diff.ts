// heimdall worktree diff: git's own diff of all that an agent has changed.
import { spawn } from 'node:child_process'
import { HeimdallError } from '../../../errors.ts'
import { escapeControls } from '../../../ids.ts'
import { findProject, type Project } from '../../../paths.ts'
import { withWholeDiff } from '../../../spine/worktrees/agent-diff.ts'
import { parseSince, stoodAt, untouchedSince } from '../../../spine/worktrees/changed-since.ts'
import { ask, fieldsOf, type Git, gitIn, isAncestor } from '../../../spine/worktrees/git.ts'
import { halfMade, repositoryOf } from '../../../spine/worktrees/give.ts'
import { type AgentWorktree, readRecords } from '../../../spine/worktrees/owner-record.ts'
import { notFound } from '../../../spine/worktrees/refusals.ts'
import { registeredWorktrees } from '../../../spine/worktrees/registered.ts'
import { type WorktreeStanding, standingOf } from '../../../spine/worktrees/standing.ts'
import type { Answer, Context, InputOf, Run } from '../../command.ts'
import { momentIn } from '../../moment-in.ts'
import type { worktreeDiff } from '../../table/worktree.ts'

export const run: Run<typeof worktreeDiff> = async (context, { flags, args }) => {
  const project = findProject(context.cwd, context.env)
  repositoryOf(project)
  const record = chosen(project, args.agent)
  const at = gitIn(project.root, context.env)
  const standing = await standingOf(at, record, await registeredWorktrees(at))
  if (standing.presence === 'half made') throw halfMade(record)
  const shown = await withWholeDiff(at, standing, async (where, whole) => {
    const [from, paths] = await sinceThen(context, where, whole, flags.since)
    return context.json
      ? filesOf(where, from, paths, standing)
      : show(context, where, [...formOf(flags), ...from, '--', ...paths])
  })
  if (shown === undefined) throw notFound(record.agent, [])
  if (!context.json && standing.changed.length === 0)
    context.note(
      standing.merged === 'history'
        ? `${record.agent} has nothing that ${escapeControls(standing.against.name)} has not`
        : `${record.agent} has changed nothing`,
    )
  return shown
}

/** What git diff is told instead, where only a part of the work is asked for: commits, and paths. */
async function sinceThen(
  { clock }: Context,
  where: Git,
  whole: readonly string[],
  text: string | undefined,
): Promise<readonly [range: readonly string[], paths: readonly string[]]> {
  if (text === undefined) return [whole, []]
  const atMs = momentIn(text, clock.wallMs())
  const since = atMs === undefined ? await parseSince(where, text) : { atMs }
  const [fork = '', ...tip] = whole
  if ('commit' in since) return [[since.commit, ...tip], []]
  const stood = await stoodAt(where, since.atMs, ...tip)
  // Before the worktree was made: all that the agent has done is later.
  if (stood === undefined || stood.by === 'history' || (await isAncestor(where, stood.commit, fork))) return [whole, []]
  const range = [stood.commit, ...tip]
  // Without its checkout an agent has commits alone.
  if (tip.length > 0) return [range, []]
  const names = await ask(where, ['diff', '--no-renames', '--name-only', '-z', stood.commit, '--'])
  const older = await untouchedSince(where, stood.commit, since.atMs, fieldsOf(names))
  return [range, older.size === 0 ? [] : [':/', ...[...older].map((path) => `:(top,exclude,literal)${path}`)]]
}

function chosen(project: Project, agent: string | undefined): AgentWorktree {
  const records = readRecords(project)
  const own = records.find(({ path }) => path === project.root)
  const found =
    agent === undefined
      ? (own ?? (records.length === 1 ? records[0] : undefined))
      : records.find((one) => one.agent === agent)
  if (found !== undefined) return found
  if (agent === undefined && records.length === 0)
    throw new HeimdallError('WORKTREE_NOT_FOUND', 'no agent has a worktree in this repository', {
      hint: 'heimdall run --worktree makes one',
    })
  if (agent !== undefined) throw notFound(agent, records)
  throw new HeimdallError('USAGE', 'several agents have worktrees here', {
    hint: `name one: ${records.map((one) => one.agent).join(', ')}`,
  })
}

function formOf(flags: InputOf<typeof worktreeDiff>['flags']): string[] {
  return [...(flags.stat === true ? ['--stat'] : []), ...(flags['name-only'] === true ? ['--name-only'] : [])]
}

/** On the terminal or pipe of the caller, so that git's own rules for pagers hold; colour by ours, which know NO_COLOR. */
async function show({ style }: Context, { cwd, env }: Git, words: readonly string[]): Promise<Answer> {
  const color = style.color.bold('x') === 'x' ? 'never' : 'always'
  const child = spawn('git', ['diff', `--color=${color}`, ...words], { cwd, env: { ...env }, stdio: 'inherit' })
  const { code, signal } = await new Promise<{ code: number | null; signal: string | null }>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (ended, by) => resolve({ code: ended, signal: by }))
  })
  // The reader has seen enough (`| head`).
  if (code !== 0 && signal !== 'SIGPIPE' && code !== 141)
    throw new HeimdallError('GIT_FAILED', `git diff ended with ${signal ?? code}`)
  return { data: null, text: '', streamed: true }
}

async function filesOf(
  where: Git,
  range: readonly string[],
  paths: readonly string[],
  { worktree, tip }: WorktreeStanding,
): Promise<Answer> {
  const diff = (form: string): Promise<string> =>
    ask(where, ['diff', '--no-renames', '--no-ext-diff', '-z', form, ...range, '--', ...paths])
  const letters = fieldsOf(await diff('--name-status'))
  const counts = new Map(
    fieldsOf(await diff('--numstat')).map((line) => {
      const [added = '', deleted = '', ...path] = line.split('\t')
      return [path.join('\t'), { added: countOf(added), deleted: countOf(deleted) }] as const
    }),
  )
  const files = []
  for (let i = 0; i + 1 < letters.length; i += 2) {
    const path = letters[i + 1] ?? ''
    files.push({ path, status: letters[i] ?? '', ...(counts.get(path) ?? { added: null, deleted: null }) })
  }
  return { data: { agent: worktree.agent, from: range[0], tip, files }, text: '' }
}

/** Git has a dash for binary files. */
const countOf = (text: string): number | null => (text === '-' ? null : Number(text))
