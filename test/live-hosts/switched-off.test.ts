// A file of the project that switches hooks off: the real host calls none, and doctor says which file it is.
import { expect, test } from 'vitest'
import { installedHosts } from '../support/hosts/installed.ts'
import { modelServer } from '../support/hosts/model-server.ts'
import { prepareHost } from '../support/hosts/prepared.ts'
import { act, dialogue, type HostName, say } from '../support/hosts/script.ts'
import { temporaryProject } from '../support/project.ts'

const OFF: Readonly<Record<HostName, { readonly path: string; readonly text: string }>> = {
  claude: { path: '.claude/settings.json', text: '{ "disableAllHooks": true }' },
  codex: { path: '.codex/config.toml', text: '[features]\nhooks = false\n' },
  gemini: { path: '.gemini/settings.json', text: '{ "hooksConfig": { "disabled": ["heimdall"] } }' },
}

interface Check {
  readonly check: string
  readonly state: string
  readonly found: string
}

test.each(installedHosts())(
  '%s: hooks that the project switches off are not called, and doctor says why',
  async (name) => {
    const project = temporaryProject()
    const model = await modelServer(dialogue('make a note', [act({ shell: 'echo a > note.txt' }), say('it is made')]))
    const host = prepareHost(name, { project, model })
    expect((await project.run('heimdall', ['init', name, '--yes', '--no-guard'])).code).toBe(0)
    project.write(OFF[name].path, OFF[name].text)
    const works = async (): Promise<void> => {
      const flags = name === 'codex' ? ['--dangerously-bypass-hook-trust'] : []
      const { code, stdout, stderr } = await host.run('make a note', flags)
      expect(code, stdout + stderr).toBe(0)
    }
    const hooks = async (): Promise<Check | undefined> => {
      const { stdout } = await project.run('heimdall', ['doctor', '--json'])
      const { data } = JSON.parse(stdout) as { data: { checks: Check[] } }
      return data.checks.find(({ check }) => check === `${name} hooks`)
    }
    const says = (words: string): string => expect.stringContaining(words) as string
    await works()
    expect(await hooks()).toMatchObject({ state: 'fail', found: says(project.path(OFF[name].path)) })
    project.write(OFF[name].path, name === 'codex' ? '' : '{}')
    expect(await hooks()).toMatchObject({ state: 'warn', found: says('were never called') })
    // It was that file alone.
    await works()
    expect(await hooks()).toMatchObject({ state: 'ok', found: says('last called') })
  },
)
