// An agent of another machine of the fleet in the hub: which machine it is on, and its terminal, over ssh and nothing else.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { fleetReply } from '../../src/hub/contract.ts'
import { testEngine } from '../fleet/engine.ts'
import { type Spine, spine } from '../spine/spine.ts'
import { startHub } from '../support/hub.ts'
import { launcher } from '../support/programs.ts'
import { standInSsh } from '../support/stand-in-ssh.ts'
import { until } from '../support/wait.ts'

const engine = testEngine()

async function fleet(here: Spine, box: Spine): Promise<void> {
  const made = await here.run('heimdall', ['fleet', 'create', '--machine', 'here', '--json'], {
    stdin: await engine.server.database(),
  })
  const { join: line } = (JSON.parse(made.stdout) as { data: { join: string } }).data
  expect(await box.run('heimdall', ['fleet', 'join', '--machine', 'box'], { stdin: line })).toMatchObject({ code: 0 })
}

test('an agent on another machine is shown with it, its terminal opens over ssh, survives a cut, and takes keys', async () => {
  const [here, box] = [spine(), spine()]
  await fleet(here, box)
  const ssh = standInSsh(box.home)
  const claim = [...launcher('heimdall'), 'claim', 'src/api'].map((word) => `'${word}'`).join(' ')
  await box.detached('api-otter', ['sh', '-c', `${claim} >/dev/null; echo ready; exec cat`], ['--id', 'api'])
  const settings = join(here.home, '.config/heimdall/heimdall.toml')
  const hub = await startHub({ ...here, env: { ...here.env, ...ssh.env } })
  const browser = await hub.browser()
  const agent = await until('the agent of the other machine', async () => {
    const { agents } = fleetReply.parse(await browser.get('/api/fleet'))
    return agents.find(({ agent_id: id, session_id: session }) => id === 'api-otter' && session !== null)
  })
  expect(agent).toMatchObject({
    machine: 'box',
    session_id: 'api@box',
    command: 'hm --host box attach api --read-only',
  })

  // Nobody has said what ssh calls it: that is told, and no ssh is started.
  const early = await browser.terminal('/api/terminals/api@box')
  expect(await early.hears('error')).toMatchObject({
    code: 'REMOTE_UNREACHABLE',
    hint: expect.stringContaining('[[machines]]') as string,
  })
  expect(ssh.calls()).toEqual([])

  mkdirSync(join(here.home, '.config/heimdall'), { recursive: true })
  writeFileSync(settings, '[[machines]]\nname = "box"\nssh = "ana@box.example"\n')
  const terminal = await browser.terminal('/api/terminals/api@box')
  await terminal.shows('ready')
  await terminal.hears('live')
  for (const call of ssh.calls()) expect(call).toMatch(/-o BatchMode=yes .* -- ana@box\.example hm pipe api$/)

  ssh.cut()
  terminal.say({ type: 'keyboard', take: true })
  await until('the keyboard', () => terminal.messages.some((message) => message.type === 'keyboard' && message.yours))
  terminal.type('by hand\r')
  await terminal.shows('by hand')

  const reply = await browser.post('/api/agents/api-otter/end', {})
  expect(reply.json()).toMatchObject({ done: true })
  await terminal.hears('exit')
  await browser.terminal('/api/terminals/other@box').then(
    () => expect.unreachable('a session that no agent of the project has was opened'),
    () => undefined,
  )
  expect(await hub.stop()).toBe(0)
})
