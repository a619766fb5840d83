// What each real host hands to its hooks, recorded for npm test and held against the recording.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { HOOKS } from '../../src/hosts/hooks/hook-table.ts'
import { spine } from '../spine/spine.ts'
import { ASKS, inPane } from '../support/hosts/in-pane.ts'
import { installedHosts } from '../support/hosts/installed.ts'
import { modelServer } from '../support/hosts/model-server.ts'
import { prepareHost } from '../support/hosts/prepared.ts'
import { expectSameVersion, keepLines } from '../support/hosts/recordings.ts'
import { act, dialogue, type HostName, say } from '../support/hosts/script.ts'
import { temporaryProject, type TemporaryProject } from '../support/project.ts'
import { until } from '../support/wait.ts'

/** A hook for each event that is known, which keeps what it is handed in a file of its own. */
function addHooks(name: HostName, { home }: TemporaryProject): string {
  const kept = join(home, 'kept')
  mkdirSync(kept)
  const command = `cat > "$(mktemp ${kept}/XXXXXXXX)"`
  const hooks = Object.fromEntries(
    Object.keys(HOOKS[name].events).map((event) => [event, [{ matcher: '*', hooks: [{ type: 'command', command }] }]]),
  )
  if (name === 'codex') writeFileSync(join(home, '.codex/hooks.json'), JSON.stringify({ hooks }))
  else {
    const path = join(home, name === 'claude' ? '.claude/settings.json' : '.gemini/settings.json')
    mkdirSync(join(path, '..'), { recursive: true })
    const settings = name === 'claude' ? {} : (JSON.parse(readFileSync(path, 'utf8')) as object)
    writeFileSync(path, JSON.stringify({ ...settings, hooks }))
  }
  return kept
}

test.each(installedHosts())('%s hands its hooks what it did when it was recorded', async (name) => {
  const project = temporaryProject()
  const model = await modelServer(
    dialogue('make a note', [
      act({ shell: 'echo a > a.txt' }),
      act({ write: project.path('b.txt'), content: 'b' }),
      say('done with it'),
    ]),
  )
  const host = prepareHost(name, { project, model })
  const kept = addHooks(name, project)
  const flags = name === 'codex' ? ['--dangerously-bypass-hook-trust'] : []
  const { code, stdout, stderr } = await host.run('make a note', flags)
  expect(code, stdout + stderr).toBe(0)
  const payloads = readdirSync(kept)
    .map((file) => readFileSync(join(kept, file), 'utf8'))
    .map((text) => JSON.stringify(JSON.parse(text)))
    .toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))
  keepLines(name, 'hooks.jsonl', payloads, project)
  expectSameVersion(name)
})

/** What of the kept payloads a person was asked by. */
const asksIn = (name: HostName, kept: string): string[] =>
  readdirSync(kept)
    .map((file) => readFileSync(join(kept, file), 'utf8'))
    // A file that is still empty is being written.
    .filter((text) => text.trimEnd().endsWith('}'))
    .map((text) => JSON.stringify(JSON.parse(text)))
    .filter((text) => HOOKS[name].events[nameOf(text).split(' ')[0] ?? ''] === 'asks-person')

test.each(installedHosts())(
  '%s hands its hooks the question to a person as it did when it was recorded',
  async (name) => {
    const project = spine()
    const model = await modelServer(
      dialogue('make a note', [act({ shell: 'touch asked.txt', asks: true }), say('done')]),
    )
    const host = prepareHost(name, { project, model })
    const kept = addHooks(name, project)
    const flags = name === 'codex' ? ['--dangerously-bypass-hook-trust'] : []
    const pane = await inPane({ ...host, interactive: () => host.interactive(flags) })
    await pane.prompt('make a note')
    await pane.see(ASKS[name])
    const [first = ''] = await until('the hook to be called', () => {
      const asks = asksIn(name, kept)
      return asks.length > 0 ? asks : undefined
    })
    keepLines(name, 'asks.jsonl', [first], project)
  },
)

const nameOf = (text: string): string => {
  const { hook_event_name: event, tool_name: tool = '' } = JSON.parse(text) as Record<string, string>
  return `${event} ${tool}`
}
