// The stage: a scratch repository with a plan, some source, a policy, briefs to refer to, and two hosts' configurations.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, realpathSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { putReferences, symbolTable } from '../briefing/demo/arms.ts'
import { loadCorpus } from '../briefing/demo/corpus.ts'
import { measureVerbatim, ROLE } from '../briefing/demo/three-briefings.ts'
import { openPlanning, type Planning } from '../briefing/planning.ts'
import { logText } from '../briefing/token-ledger.ts'
import type { Clock } from '../clock.ts'
import { HeimdallError } from '../errors.ts'
import { type Env, findProject, stateDir } from '../paths.ts'
import { ensureFolder } from '../storage/atomic-file.ts'
import { onDisk } from '../storage/faults.ts'
import { DOWN_VARIABLE } from './servers/tracker.ts'

export interface Stage {
  /** The repository that the fleet works in. */
  readonly root: string
  readonly planning: Planning
  readonly policy: string
  /** Every program of the fleet gets this: the person's state, and neither settings nor identity of theirs. */
  readonly env: Readonly<Record<string, string>>
  /** Configurations of the two workers' hosts. */
  readonly hosts: { readonly north: Readonly<Record<string, string>>; readonly south: Readonly<Record<string, string>> }
  /** With this file the tracker of the worker north is dead. */
  readonly trackerDown: string
}

const FILES: Readonly<Record<string, string>> = {
  '.gitignore': '.planning/\n',
  'db/migrations/0006.sql': 'create table days (book_date date, currency text, checksum bytea);\n',
  'src/money/round.ts': 'export const divideHalfEven = (n: bigint, d: bigint): bigint => n / d\n',
  'src/book/execute.ts': 'export const execute = (command: string): string => command\n',
  'src/book/canonical.ts': 'export const canonical = (value: unknown): string => JSON.stringify(value)\n',
  'src/http/problems.ts': "export const PROBLEMS = ['position-limit', 'day-closed']\n",
  'src/read/rows.ts': 'export const readRows = (sql: string): string[] => [sql]\n',
}

const POLICY = {
  policy_id: 'demo',
  version: '1',
  mode: 'guardrails',
  defaults: { decision_on_error: 'BLOCK' },
  rules: [
    {
      rule_id: 'migrations-are-frozen',
      kind: 'deny',
      severity: 'warn',
      match: { tool_name: { glob: ['write_file'] }, args: { path_within: ['db/migrations'] } },
      effect: {
        action: 'REJECT_WITH_HINT',
        message: 'a migration that has run is never edited',
        hint: {
          hint_kind: 'ARG_FIX',
          hint_text: 'read what is there instead: write to src/read/',
          suggested_args: { path: 'src/read/statement.ts' },
        },
      },
    },
    {
      rule_id: 'few-checks',
      kind: 'budget',
      severity: 'warn',
      match: { tool_name: { glob: ['run_checks'] } },
      effect: {
        message: 'three checks are enough for one run',
        budget: { limit_calls: 3, on_exceed: 'REJECT_WITH_HINT', hint_text: 'say what is left to check, and stop' },
      },
    },
  ],
}

interface Setting {
  /** Named by the person; otherwise one is made in the state folder. */
  readonly dir: string | undefined
  readonly env: Env
  readonly clock: Clock
  readonly note: (line: string) => void
  /** `dist/demo.cjs`: agents and servers. */
  readonly program: string
}

export async function setStage({ dir, env, clock, note, program }: Setting): Promise<Stage> {
  const folder = dir ?? join(stateDir(env), 'demo', stamp(clock.wallMs()))
  if (existsSync(folder) && readdirSync(folder).length > 0)
    throw new HeimdallError('DEMO_FOLDER_TAKEN', `${folder} is not empty`, {
      hint: 'name a folder that is empty or not there yet',
    })
  // It may be the first that makes the state folder, which is for its user alone.
  ensureFolder(folder)
  // A folder of its own for what belongs to the stage and not to the work: git must not see it.
  const root = join(realpathSync(folder), 'tally')
  const backstage = join(dirname(root), 'backstage')
  ensureFolder(root)
  ensureFolder(backstage)
  const corpus = loadCorpus()
  const { plan, criteria, invariants } = corpus
  const files = { 'PLAN.md': plan, 'CRITERIA.md': criteria, 'INVARIANTS.md': invariants, ...FILES }
  for (const [path, text] of Object.entries(files)) write(join(root, path), text)
  const ownEnv = envOf(env, backstage)
  const git = (...args: string[]): void => void execFileSync('git', args, { cwd: root, env: ownEnv, stdio: 'pipe' })
  git('init', '--quiet', '--initial-branch=main')
  git('config', 'user.name', 'Demo')
  git('config', 'user.email', 'demo@example.org')
  git('add', '--all')
  git('commit', '--quiet', '--message', 'tally, as far as it is')
  const policy = join(backstage, 'policy.json')
  write(policy, `${JSON.stringify(POLICY, null, 2)}\n`)
  const trackerDown = join(backstage, 'north', 'tracker-is-down')
  const planning = openPlanning(findProject(root, ownEnv), clock, note)
  await putReferences(planning, corpus)
  await measureVerbatim(planning, corpus)
  await logText(planning, { role: ROLE, kind: 'symbol_table', msgId: 'symbols' }, symbolTable(corpus))
  return { root, planning, policy, env: ownEnv, trackerDown, hosts: hostsIn(backstage, program, trackerDown) }
}

/** The same server in two hosts' own files: what is broken for one is not for the other. */
function hostsIn(backstage: string, program: string, trackerDown: string): Stage['hosts'] {
  const server = { command: process.execPath, args: [program, 'tracker'] }
  const north = join(backstage, 'north')
  const south = join(backstage, 'south')
  const broken = { ...server, env: { [DOWN_VARIABLE]: trackerDown } }
  write(join(north, '.claude.json'), `${JSON.stringify({ mcpServers: { tracker: broken } }, null, 2)}\n`)
  write(join(south, '.claude.json'), `${JSON.stringify({ mcpServers: { tracker: server } }, null, 2)}\n`)
  return { north: { CLAUDE_CONFIG_DIR: north }, south: { CLAUDE_CONFIG_DIR: south } }
}

/** Who the person is, and what they have set, is not the fleet's: only where runs and sessions lie. */
function envOf(env: Env, backstage: string): Record<string, string> {
  const kept = Object.entries(env).flatMap(([name, value]) =>
    value === undefined || OURS.test(name) ? [] : [[name, value] as const],
  )
  return { ...Object.fromEntries(kept), XDG_CONFIG_HOME: join(backstage, 'config') }
}

const OURS = /^(HEIMDALL_|SUB_|BB_|BD_ACTOR$|GIT_)/

function write(path: string, text: string): void {
  onDisk(path, () => {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  })
}

const stamp = (atMs: number): string => new Date(atMs).toISOString().slice(0, 19).replaceAll(/[-:]/g, '')
