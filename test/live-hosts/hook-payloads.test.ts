// What each real host hands to its hooks, recorded for npm test and held against the recording.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { HOOKS } from '../../src/hosts/hooks/hook-table.ts'
import { installedHosts } from '../support/hosts/installed.ts'
import { modelServer } from '../support/hosts/model-server.ts'
import { prepareHost } from '../support/hosts/prepared.ts'
import { expectSameVersion, keepLines } from '../support/hosts/recordings.ts'
import { act, dialogue, type HostName, say } from '../support/hosts/script.ts'
import { temporaryProject, type TemporaryProject } from '../support/project.ts'

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

const nameOf = (text: string): string => {
  const { hook_event_name: event, tool_name: tool = '' } = JSON.parse(text) as Record<string, string>
  return `${event} ${tool}`
}
