// A person is asked about a call of a real host, allows it at a terminal of their own, and the call that was held goes through.
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { spine } from '../spine/spine.ts'
import { installedHosts } from '../support/hosts/installed.ts'
import { modelServer } from '../support/hosts/model-server.ts'
import { prepareHost } from '../support/hosts/prepared.ts'
import { act, dialogue, say } from '../support/hosts/script.ts'
import { ownTerminal } from '../support/own-terminal.ts'
import { launcher } from '../support/programs.ts'
import { type Json, ofType } from '../support/shim-client.ts'
import { until } from '../support/wait.ts'

const SERVER = resolve(import.meta.dirname, '../../node_modules/@modelcontextprotocol/server-filesystem/dist/index.js')

const POLICY = {
  policy_id: 'live',
  version: '1',
  mode: 'guardrails',
  defaults: { decision_on_error: 'BLOCK' },
  rules: [
    {
      rule_id: 'ask-folders',
      kind: 'deny',
      severity: 'warn',
      match: { tool_name: { glob: ['create_directory'] } },
      effect: { action: 'ASK', message: 'folders are asked about', ask: { question: 'May it?', wait_ms: 50_000 } },
    },
  ],
}

test.each(installedHosts())('%s: an approval is asked, given and used', async (name) => {
  const project = spine()
  const folder = project.path('made')
  const model = await modelServer(
    dialogue('make a folder', [
      act({ server: 'fs', tool: 'create_directory', input: { path: folder } }),
      say('it is made'),
    ]),
  )
  const policy = project.write('../policy.json', JSON.stringify(POLICY))
  const shim = [...launcher('heimdall'), 'mcp', 'shim', '--server-name=fs', `--policy=${policy}`, '--'] as const
  const host = prepareHost(name, {
    project,
    model,
    servers: [
      {
        name: 'fs',
        command: [...shim, process.execPath, SERVER, project.root],
        envNames: ['SUB_RUN_ID', 'SUB_AGENT_ID', 'HEIMDALL_SESSION_ID', 'HEIMDALL_HAID', 'HOME', 'XDG_STATE_HOME'],
      },
    ],
  })
  const running = project.start(['--agent', 'amber-otter', '--', ...host.headless('make a folder')], { env: host.env })
  running.child.stdin?.end()
  const id = await until('a question', async () => {
    const { requests } = (await project.json(['approve'])) as { requests: Json[] }
    return requests.find(({ answer }) => answer === null)?.['id'] as string | undefined
  })
  expect(existsSync(folder)).toBe(false)
  const person = ownTerminal([...launcher('heimdall'), 'approve', id], {
    cwd: project.root,
    env: project.env,
  })
  expect(await person.ended, person.written()).toBe(0)
  const { code, stdout, stderr } = await running.ended
  expect(code, stdout + stderr).toBe(0)
  expect(existsSync(folder)).toBe(true)
  const [run = ''] = project.runs()
  expect(ofType(project.events(run), 'approval_decided')).toMatchObject([{ approval: { id } }])
  const answer = model.exchanges.at(-1)?.asked.turns.findLast(({ from }) => from === 'tool')?.text ?? ''
  expect(answer).toContain('Successfully created directory')
})
