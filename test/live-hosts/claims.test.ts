// Real hosts behind the watch: a path that another agent holds is refused to an edit, a shell command, an MCP tool and a commit, and the model is told who holds it.
import { appendFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { installedHosts } from '../support/hosts/installed.ts'
import { modelServer } from '../support/hosts/model-server.ts'
import { prepareHost } from '../support/hosts/prepared.ts'
import { act, dialogue, type HostName, say } from '../support/hosts/script.ts'
import { temporaryProject } from '../support/project.ts'
import { holdFor } from '../support/held-path.ts'

const FILESYSTEM = join(process.cwd(), 'node_modules/@modelcontextprotocol/server-filesystem/dist/index.js')

/** What a person has in the host's files besides: comments, a hook of somebody else, a formatting of their own. */
const OTHERS: Record<HostName, (home: string) => void> = {
  claude(home) {
    mkdirSync(join(home, '.claude'), { recursive: true })
    const hook = '{ "hooks": [ { "type": "command", "command": "true" } ] }'
    writeFileSync(join(home, '.claude/settings.json'), `{\n\t"hooks": { "Stop": [ ${hook} ] },\r\n\t"theme":"dark" }`)
  },
  codex: (home) =>
    appendFileSync(join(home, '.codex/config.toml'), '\n# mine, at the end\n[tui]\nanimations = false # slow'),
  gemini(home) {
    const path = join(home, '.gemini/settings.json')
    writeFileSync(path, readFileSync(path, 'utf8').replace('{', '{ // mine\n\t"ui": { "hideBanner": true },'))
  },
}

/** Every file below the home that is not ours, by its path. */
function homeOf(home: string): Map<string, string> {
  const paths = readdirSync(home, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
  return new Map(
    paths.filter((path) => !path.startsWith(join(home, '.local/'))).map((path) => [path, readFileSync(path, 'latin1')]),
  )
}

const differing = (one: Map<string, string>, other: Map<string, string>): string[] =>
  [...new Set([...one.keys(), ...other.keys()])].filter((path) => one.get(path) !== other.get(path)).toSorted()

/** As a host writes the file by itself: our server taken out of it, and the person's as they were. */
function withoutOurs(written: string, before: string): string {
  const { mcpServers } = JSON.parse(before) as { mcpServers: object }
  return JSON.stringify({ ...(JSON.parse(written) as object), mcpServers }, null, 2)
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
        // As Claude Code writes its messages. Gemini CLI runs git without hooks: there nobody else is asked.
        act({ shell: `git commit --all --message="$(cat <<'EOF'\nsay "don't"\nEOF\n)"` }),
        act({ server: 'fs', tool: 'write_file', input: { path: free, content: 'corrected\n' } }),
        say('done'),
      ]),
    )
    const host = prepareHost(name, {
      project,
      model,
      servers: [{ name: 'fs', command: [process.execPath, FILESYSTEM, project.root] }],
    })
    OTHERS[name](project.home)
    const before = homeOf(project.home)
    expect((await project.run('heimdall', ['init', name, '--yes'])).code).toBe(0)
    const watched = homeOf(project.home)
    const ours = differing(before, watched)
    await holdFor(project, 'amber-otter', 'src/held.ts')
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

    const used = homeOf(project.home)
    expect((await project.run('heimdall', ['uninstall', '--yes'])).code).toBe(0)
    const after = homeOf(project.home)
    // Of all that the host has in its home by now, what init put there and nothing else was touched.
    expect(differing(used, after)).toEqual(ours)
    const rewritten = ours.filter((path) => used.get(path) !== watched.get(path))
    for (const path of ours)
      expect([path, after.get(path)]).toEqual([
        path,
        rewritten.includes(path) ? withoutOurs(used.get(path) ?? '', before.get(path) ?? '') : before.get(path),
      ])
    // Claude Code keeps its own state where its servers stand; the others leave their configuration to people.
    expect(rewritten).toEqual(name === 'claude' ? [join(project.home, '.claude.json')] : [])
    expect(
      JSON.stringify(JSON.parse((await project.run('heimdall', ['uninstall', '--json', '--dry-run'])).stdout)),
    ).toContain('"files":[]')
  })
})
