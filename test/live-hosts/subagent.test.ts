// A subagent of a real host is its parent: what it writes is the parent's, what others hold is refused to it, and what it cost is in the one run, all by the hooks of a host that was started by its own name.
import { expect, test } from 'vitest'
import { spine } from '../spine/spine.ts'
import { holdFor } from '../support/held-path.ts'
import { installedHosts } from '../support/hosts/installed.ts'
import { modelServer } from '../support/hosts/model-server.ts'
import { prepareHost } from '../support/hosts/prepared.ts'
import { act, dialogue, type HostName, oneOf, type Reply, say } from '../support/hosts/script.ts'
import { type Json, ofType } from '../support/shim-client.ts'

/** Codex ends when its own part is done, unless it is told to wait for others. */
const WAITS: Record<HostName, readonly Reply[]> = {
  claude: [],
  codex: [act({ call: 'collaboration.wait_agent', input: { timeout_ms: 60_000 } }, { input: 17, output: 9 })],
  gemini: [],
}

test.each(installedHosts())('%s: its subagent is the same agent, in the same run', async (name) => {
  const project = spine()
  project.write('src/held.ts', 'held\n')
  project.git('add', '.')
  project.git('commit', '--quiet', '--message=files')
  const place = (path: string): string => (name === 'codex' ? path : project.path(path))
  const model = await modelServer(
    oneOf(
      dialogue('count the sheep', [
        act({ shell: 'echo child >> src/parent.ts' }, { input: 11, cached: 22, output: 33 }),
        act({ write: place('src/child.ts'), content: 'child\n' }, { input: 12, output: 3 }),
        act({ shell: 'echo child >> src/held.ts' }, { input: 13, output: 3 }),
        say('one sheep', { input: 7, cached: 9, output: 3 }),
      ]),
      dialogue('make a note', [
        act({ write: place('src/parent.ts'), content: 'parent\n' }, { input: 100, cached: 1000, output: 20 }),
        act({ subagent: 'count the sheep' }, { input: 200, cached: 2000, output: 30 }),
        ...WAITS[name],
        say('done with it', { input: 300, cached: 3000, output: 40 }),
      ]),
    ),
  )
  const host = prepareHost(name, { project, model })
  expect((await project.run('heimdall', ['init', name, '--yes'])).code).toBe(0)
  await holdFor(project, 'amber-otter', 'src/held.ts')
  // What a person says once at Codex's own prompt; headless it has no such prompt.
  const ended = await host.run('make a note', name === 'codex' ? ['--dangerously-bypass-hook-trust'] : [])
  expect(ended.code, ended.stdout + ended.stderr).toBe(0)

  const ofChild = model.exchanges.filter(({ asked }) =>
    asked.turns.some(({ from, text }) => from === 'user' && text.includes('count the sheep')),
  )
  const told = ofChild.flatMap(({ asked }) => asked.turns).filter(({ from }) => from === 'tool')
  expect(told.filter(({ text }) => text.includes('held by amber-otter')).length, JSON.stringify(told)).toBeGreaterThan(
    0,
  )
  // Its parent's path was not refused to it.
  expect(project.read('src/parent.ts').match(/\w+/g)).toEqual(['parent', 'child'])
  expect(project.read('src/child.ts').trim()).toBe('child')
  expect(project.read('src/held.ts')).toBe('held\n')

  const parent = { claude: 'claude-code', codex: 'codex', gemini: 'gemini-cli' }[name]
  const events = (await project.json(['claim', 'history'])) as unknown as Json[]
  const of = (type: string): unknown[] =>
    events.filter(({ event_type: is }) => is === type).map(({ from_agent: who, scope }) => [who, scope])
  expect(of('CLAIM')).toEqual([
    ['amber-otter', 'src/held.ts'],
    [parent, 'src/parent.ts'],
    [parent, 'src/child.ts'],
  ])
  expect(events.find(({ event_type: is }) => is === 'INCURSION')).toMatchObject({
    scope: 'src/held.ts',
    payload: { incoming_agent: parent },
  })
  const agents = (await project.json(['status']))['agents'] as Json[]
  expect(new Set(agents.map(({ agent_id: id }) => id))).toEqual(new Set(['amber-otter', parent]))
  expect(agents).toHaveLength(2)
  const [run = ''] = project.runs()
  expect(project.runs()).toHaveLength(1)
  const booked = ofType(project.events(run), 'model_usage').map((event) => event['usage'] as Json)
  const { cacheWrite: cache_write, ...said } = model.said()
  expect(booked.at(-1)?.['total']).toMatchObject({ tokens: { ...said, cache_write }, unread: 0 })
  expect(booked.filter((usage) => usage['is_subagent'] === true)).toHaveLength(ofChild.length)
})
