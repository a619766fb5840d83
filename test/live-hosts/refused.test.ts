// How a call that policy refuses reaches the model of each real host, as an error and as a tool's answer; and what a run is that policy ends.
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { spine, type Spine } from '../spine/spine.ts'
import { installedHosts } from '../support/hosts/installed.ts'
import { modelServer } from '../support/hosts/model-server.ts'
import { type HomeServer, prepareHost } from '../support/hosts/prepared.ts'
import { act, dialogue, type HostName, say } from '../support/hosts/script.ts'
import { launcher } from '../support/programs.ts'
import { ofType } from '../support/shim-client.ts'

const SERVER = resolve(import.meta.dirname, '../../node_modules/@modelcontextprotocol/server-filesystem/dist/index.js')
/** Codex hands a server only the variables that are named for it. */
const OURS = [
  'HEIMDALL_SESSION_ID',
  'HEIMDALL_AGENT_ID',
  'HEIMDALL_HAID',
  'HEIMDALL_RUN_DIR',
  'SUB_RUN_ID',
  'SUB_AGENT_ID',
  'SUB_CLIENT',
  'XDG_STATE_HOME',
  'HOME',
]

const POLICY = {
  policy_id: 'live',
  version: '1',
  mode: 'guardrails',
  defaults: { decision_on_error: 'BLOCK' },
  rules: [
    {
      rule_id: 'only-src',
      kind: 'deny',
      severity: 'warn',
      match: { tool_name: { glob: ['write_file'] }, args: { path_outside: ['src'] } },
      effect: {
        action: 'REJECT_WITH_HINT',
        message: 'only src/ may be touched',
        hint: { hint_text: 'use a path below src/' },
      },
    },
    {
      rule_id: 'no-moves',
      kind: 'budget',
      severity: 'critical',
      match: { tool_name: { glob: ['move_file'] } },
      effect: { message: 'nothing is moved', budget: { limit_calls: 0, on_exceed: 'TERMINATE_RUN' } },
    },
  ],
}

function shimmed(project: Spine, denyAs: 'error' | 'tool_result'): HomeServer {
  project.write('src/.keep', '')
  const policy = project.write('../policy.json', JSON.stringify(POLICY))
  const flags = ['--server-name=fs', `--policy=${policy}`, `--deny-as=${denyAs}`]
  return {
    name: 'fs',
    command: [...launcher('heimdall'), 'mcp', 'shim', ...flags, '--', process.execPath, SERVER, project.root],
    envNames: OURS,
  }
}

const write = (path: string) => act({ server: 'fs', tool: 'write_file', input: { path, content: 'x' } })

/** What every one of them is told. */
const HINT = 'only src/ may be touched'
const CELLS: Record<
  HostName,
  Record<'error' | 'tool_result', { has: readonly string[]; hasNot: readonly string[] }>
> = {
  claude: {
    error: { has: [HINT, 'use a path below src/'], hasNot: ['-32083', 'subluminal'] },
    tool_result: { has: [HINT, 'use a path below src/'], hasNot: ['subluminal'] },
  },
  codex: {
    error: { has: [HINT, 'use a path below src/', '-32083', 'subluminal'], hasNot: [] },
    tool_result: { has: [HINT, 'use a path below src/'], hasNot: ['subluminal'] },
  },
  gemini: {
    error: { has: [HINT, 'use a path below src/', '-32083'], hasNot: ['subluminal'] },
    tool_result: { has: [HINT, 'use a path below src/'], hasNot: ['Structured content'] },
  },
}

const rows = installedHosts().flatMap((name) => [[name, 'error'] as const, [name, 'tool_result'] as const])

test.each(rows)('%s, refused with %s: the model is told why and what to do, and does it', async (name, denyAs) => {
  const project = spine()
  const model = await modelServer(
    dialogue('make a note', [write(project.path('docs.txt')), write(project.path('src/note.txt')), say('it is made')]),
  )
  const host = prepareHost(name, { project, model, servers: [shimmed(project, denyAs)] })
  const { code, stdout, stderr } = await project.run(
    'heimdall',
    ['run', '--agent', 'amber-otter', '--', ...host.headless('make a note')],
    { env: host.env },
  )
  expect(code, stdout + stderr).toBe(0)
  const answer = model.exchanges[1]?.asked.turns.findLast(({ from }) => from === 'tool')?.text ?? ''
  const { has, hasNot } = CELLS[name][denyAs]
  expect({ answer, missing: has.filter((words) => !answer.includes(words)) }).toEqual({ answer, missing: [] })
  expect({ answer, unwanted: hasNot.filter((words) => answer.includes(words)) }).toEqual({ answer, unwanted: [] })
  expect(existsSync(project.path('docs.txt'))).toBe(false)
  expect(project.read('src/note.txt')).toBe('x')
  const [run = ''] = project.runs()
  expect(project.runs()).toHaveLength(1)
  expect(ofType(project.events(run), 'tool_call_decision').map(({ decision }) => decision.action)).toEqual([
    'REJECT_WITH_HINT',
    'ALLOW',
  ])
})

test.each(installedHosts())('%s: TERMINATE_RUN ends the host, and the run with it', async (name) => {
  const project = spine()
  const move = { source: project.path('src/.keep'), destination: project.path('src/moved') }
  const model = await modelServer(
    // Past its first call there is nothing more to hear: who goes on would go on for ever.
    dialogue('make a note', [act({ server: 'fs', tool: 'move_file', input: move }), act({ shell: 'sleep 600' })]),
  )
  const host = prepareHost(name, { project, model, servers: [shimmed(project, 'error')] })
  await project.run('heimdall', ['run', '--agent', 'amber-otter', '--', ...host.headless('make a note')], {
    env: host.env,
  })
  const [run = ''] = project.runs()
  expect(ofType(project.events(run), 'run_end')).toMatchObject([{ run: { status: 'TERMINATED' } }])
  expect(existsSync(project.path('src/moved'))).toBe(false)
})
