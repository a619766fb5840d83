// Real hosts behind the watch: a path that another agent holds is refused to an edit, a shell command, an MCP tool and a commit, and the model is told who holds it.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { installedHosts } from '../support/hosts/installed.ts'
import { modelServer } from '../support/hosts/model-server.ts'
import { prepareHost } from '../support/hosts/prepared.ts'
import { act, dialogue, type HostName, say } from '../support/hosts/script.ts'
import { temporaryProject } from '../support/project.ts'

const FILESYSTEM = join(process.cwd(), 'node_modules/@modelcontextprotocol/server-filesystem/dist/index.js')

/** Files that init changes and the host does not write to by itself. */
const FILES: Record<HostName, string> = {
  claude: '.claude/settings.json',
  codex: '.codex/hooks.json',
  gemini: '.gemini/settings.json',
}

describe.each(installedHosts())('%s', (name) => {
  test('claims hold wherever it writes, and uninstall leaves nothing', async () => {
    const project = temporaryProject()
    const held = project.write('src/held.ts', 'held\n')
    const free = project.path('src/free.ts')
    project.git('add', '.')
    project.git('commit', '--quiet', '--message=files')
    const path = name === 'codex' ? 'src/held.ts' : held
    const model = await modelServer(
      dialogue('please write', [
        act({ write: path, content: 'mine\n' }),
        act({ shell: 'echo mine >> src/held.ts' }),
        act({ server: 'fs', tool: 'write_file', input: { path: held, content: 'mine\n' } }),
        act({ shell: 'git commit --all --message=mine' }),
        act({ server: 'fs', tool: 'write_file', input: { path: free, content: 'corrected\n' } }),
        say('done'),
      ]),
    )
    const host = prepareHost(name, {
      project,
      model,
      servers: [{ name: 'fs', command: [process.execPath, FILESYSTEM, project.root] }],
    })
    const file = join(project.home, FILES[name])
    const before = name === 'gemini' ? readFileSync(file, 'utf8') : undefined
    expect((await project.run('heimdall', ['init', name, '--yes'])).code).toBe(0)
    await project.run('heimdall', ['agent', 'register', '--name', 'amber-otter', '--role', 'backend'])
    await project.run('heimdall', [
      'agent',
      'reserve',
      '--agent',
      'amber-otter',
      '--scope',
      'src/held.ts',
      '--bead',
      'T-9',
    ])
    project.write('src/held.ts', 'the holder is at work\n')
    // What a person says once at Codex's own prompt; headless it has no such prompt.
    const ended = await host.run('please write', name === 'codex' ? ['--dangerously-bypass-hook-trust'] : [])
    // The last time that it is asked, the model is handed the whole talk.
    const turns = model.exchanges.map(({ asked }) => asked.turns).toSorted((one, other) => other.length - one.length)[0]
    const told = (turns ?? []).filter(({ from }) => from === 'tool').map(({ text }) => text)
    const refusals = told.filter((text) => text.includes('held by amber-otter'))
    expect([ended.code, refusals.length], `${ended.stdout}\n${ended.stderr}\n${JSON.stringify(told)}`).toEqual([0, 4])
    for (const text of refusals) {
      expect(text).toContain('src/held.ts is held by amber-otter (active) for T-9, lease until ')
      expect(text).toContain('heimdall claim wait src/held.ts')
    }
    expect(project.read('src/held.ts')).toBe('the holder is at work\n')
    expect(project.read('src/free.ts')).toBe('corrected\n')
    expect(project.git('log', '--oneline').trim().split('\n')).toHaveLength(2)
    // It was briefed before it began.
    expect(JSON.stringify(model.exchanges[0]?.asked.body)).toContain('Held by others: amber-otter: src/held.ts for T-9')

    const runs = JSON.parse((await project.run('heimdall', ['runs', 'list', '--json'])).stdout) as {
      data: { runs: { agent_id: string; cost: object }[] }
    }
    expect(runs.data.runs).toHaveLength(1)
    // Nobody keeps this run: its hooks have booked what it cost, to the token.
    const { cacheWrite: cache_write, ...spent } = model.said()
    expect(runs.data.runs[0]?.cost).toMatchObject({ tokens: { ...spent, cache_write }, unread: 0 })
    expect(runs.data.runs[0]?.agent_id).toMatch(/^(claude-code|codex|gemini-cli)$/)
    const doctor = JSON.parse((await project.run('heimdall', ['doctor', '--json'])).stdout) as {
      data: { checks: { check: string; state: string; found: string }[] }
    }
    expect(doctor.data.checks.find(({ check }) => check === `${name} hooks`)).toMatchObject({
      state: 'ok',
      found: expect.stringContaining('last called') as string,
    })
    expect((await project.run('heimdall', ['uninstall', '--yes'])).code).toBe(0)
    if (before !== undefined) expect(readFileSync(file, 'utf8')).toBe(before)
    expect(
      JSON.stringify(JSON.parse((await project.run('heimdall', ['uninstall', '--json', '--dry-run'])).stdout)),
    ).toContain('"files":[]')
  })
})
